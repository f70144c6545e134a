"""A move: one idea of how a deployment may get better, as offers that the search prices and takes or leaves."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import Literal, Protocol

from tilewright.platform import Feature
from tilewright.schedule.deployment import Deployment

Goal = Literal["lower", "no higher", "towards", "any"]
"""When an offer is taken: the peak falls; it does not rise; it falls, or fewer instructions reach it; in any case."""


@dataclass(frozen=True)
class Offer:
    """Deployments of which the search takes the best one that reaches the goal.

    They are compared with `against`, by default with what the search holds. `work` gives the instructions that one
    adds, which decides between equals; `exact_ties` lets the exact allocators decide where the quick one sees no
    difference, and `exact` lets them decide alone. `saved_bytes` is what the report says, by default what the placed
    peak falls. `cut_off` is a sentence on what the move leaves out; an offer may hold nothing else.
    """

    candidates: Iterable[Deployment]
    goal: Goal = "lower"
    against: Deployment | None = None
    work: Callable[[Deployment], float] = lambda deployment: 0.0
    exact_ties: bool = False
    exact: bool = False
    saved_bytes: int | None = None
    cut_off: str = ""


Offers = Generator[Offer, Deployment, None]
"""Offers, one after the other; what comes back for each is the better one of `against` and the best candidate."""


class Move(Protocol):
    """A move by the name that `--without-pass` leaves out and the report tells, "" for one that neither knows."""

    @property
    def name(self) -> str:
        """The move's name."""
        ...

    @property
    def stage(self) -> str:
        """Where the time that it takes is counted."""
        ...

    @property
    def needs(self) -> Feature | None:
        """What a platform's code must be able to be for it; None for nothing."""
        ...

    def propose(self, now: Deployment) -> Offers:
        """Offers that begin at `now`."""
        ...

    def added_work(self, before: Deployment, after: Deployment) -> float:
        """Instructions that `after` runs more, by the estimates of the kernels."""
        ...
