"""Placement as plain values: buffers with lifetimes in, offsets out. A person can type one by hand.

Times are positions in the plan; a buffer lives in the half-open interval [lower, upper). The CSV form is MiniMalloc's
(`id,lower,upper,size`, solution with `offset`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Buffer:
    """`size` bytes that live in [lower, upper); the offset is a multiple of `align`, or `pinned` where given."""

    name: str
    lower: int
    upper: int
    size: int
    align: int = 1
    pinned: int | None = None


@dataclass(frozen=True)
class Overlap:
    """A permitted overlap: `later` may start at `gap` bytes below the start of `earlier`, or anywhere further down.

    `earlier` dies in the step that bears `later` (`earlier.upper <= later.lower + 1`); they may share memory as long as
    offset(later) + gap <= offset(earlier), else they are disjoint. `gap` is what the kernel proves safe: 0 for a
    kernel that reads an element before it writes it, negative where the output may start inside the input.
    """

    earlier: str
    later: str
    gap: int


@dataclass(frozen=True)
class View:
    """Buffer `name` shows the bytes of buffer `of` from `shift` on: offset(name) = offset(of) + shift, no own memory.

    A reshape or slice is a view of its input; a part that is written into a concatenation is a view of the result.
    One that `resumes` is a later part of one life: in between nobody has to keep the bytes.
    """

    name: str
    of: str
    shift: int = 0
    resumes: bool = False


@dataclass(frozen=True)
class PlacementProblem:
    """Buffers for one memory level. `capacity` in bytes; None asks only for the smallest peak."""

    buffers: tuple[Buffer, ...]
    capacity: int | None = None
    overlaps: tuple[Overlap, ...] = ()
    views: tuple[View, ...] = ()


LIVE_SET = "live set"
SEARCH = "search"


@dataclass(frozen=True)
class PlacementSolution:
    """Offsets by buffer name. `peak` bytes used, `lower_bound` proved; optimal where they are equal.

    `bound_by` says how the bound is proved: `live set` (bytes alive at one moment, which the checker recomputes) or
    `search` (a complete search found nothing smaller). `cut_off` says that so many buffers are alive together that the
    allocator did not try all that it would try for fewer.
    """

    offsets: Mapping[str, int]
    peak: int
    lower_bound: int
    allocator: str
    bound_by: str = LIVE_SET
    cut_off: bool = False

    @property
    def status(self) -> str:
        """`optimal` or `gap`."""
        return "optimal" if self.peak == self.lower_bound else "gap"
