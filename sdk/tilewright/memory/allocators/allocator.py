"""What an allocator is given and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tilewright.memory.packing import Packing


@dataclass(frozen=True)
class Task:
    """One packing to place. A peak of `enough` bytes ends the search; `bound` bytes are proved to be needed.

    `effort` scales the deterministic work limits: 1.0 is about a second for each search that is tried.
    """

    packing: Packing
    bound: int
    enough: int
    effort: float


@dataclass(frozen=True)
class Found:
    """Offsets in units by item, their peak in bytes and the lower bound proved on the way (at least the task's)."""

    offsets: tuple[int, ...]
    peak: int
    bound: int


@dataclass(frozen=True)
class Allocator:
    """A way to place a packing. `whole` ones see the problem uncut, as the tools that they stand for do."""

    name: str
    summary: str
    place: Callable[[Task], Found]
    whole: bool = False


def found(packing: Packing, offsets: Sequence[int], bound: int) -> Found:
    """A result with its peak computed."""
    return Found(tuple(offsets), packing.peak(offsets), bound)
