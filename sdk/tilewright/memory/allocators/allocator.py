"""What an allocator is given and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tilewright.memory.bound import next_peak
from tilewright.memory.packing import Packing

LEAST_WORK = 0.005  # so that the number of questions is limited, too


@dataclass(frozen=True)
class Task:
    """One packing to place. A peak of `enough` bytes ends the search; `bound` bytes are proved to be needed.

    `effort` scales the deterministic work limits: 1.0 is about a second for each search that is tried. `wanted` is the
    capacity, where there is one: the descent tries it first.
    """

    packing: Packing
    bound: int
    enough: int
    effort: float
    wanted: int | None = None


@dataclass(frozen=True)
class Found:
    """Offsets in units by item, their peak in bytes and the lower bound proved on the way (at least the task's).

    `cut_off` says that the packing was too crowded for all that the allocator would try.
    """

    offsets: tuple[int, ...]
    peak: int
    bound: int
    cut_off: bool = False


@dataclass(frozen=True)
class Answer:
    """Offsets in units where there is a placement; `impossible` where none exists; neither at the end of the work.

    `work` is what the answer cost, in units of effort.
    """

    offsets: tuple[int, ...] | None
    impossible: bool
    work: float


@dataclass(frozen=True)
class Allocator:
    """A way to place a packing. `whole` ones see the problem uncut, as the tools that they stand for do."""

    name: str
    summary: str
    place: Callable[[Task], Found]
    whole: bool = False


def placed_at(packing: Packing, offsets: Sequence[int], bound: int) -> Found:
    """A result with its peak computed."""
    return Found(tuple(offsets), packing.peak(offsets), bound)


def close(task: Task, best: Found, decide: Callable[[Packing, int, float], Answer]) -> Found:
    """The better of `best` and what `decide` finds below it, with the bound that it proves.

    `decide` says whether a packing fits into so many bytes. It is asked at the bound first, where offsets have least
    room; where that is proved impossible, the gap is halved until it closes or the task's effort is spent.
    """
    bound, left = max(task.bound, best.bound), task.effort
    capacity = max(bound, task.enough)
    while best.peak > max(task.enough, bound) and left > 0:
        answer = decide(task.packing, capacity, left)
        left -= max(answer.work, LEAST_WORK)
        if answer.offsets is not None:
            best = placed_at(task.packing, answer.offsets, bound)
        elif answer.impossible:
            bound = next_peak(task.packing, capacity)
        else:
            break
        capacity = max((bound + best.peak - 1) // 2, bound, task.enough)
    return Found(best.offsets, best.peak, min(bound, best.peak))
