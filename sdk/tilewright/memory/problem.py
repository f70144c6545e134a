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
    """A permitted overlap: `later` may start anywhere from `gap` bytes after the start of `earlier` downwards.

    `earlier` dies where `later` is born; they may share memory as long as offset(later) + gap <= offset(earlier)
    or they are disjoint. `gap` is what the kernel proves safe.
    """

    earlier: str
    later: str
    gap: int


@dataclass(frozen=True)
class PlacementProblem:
    """Buffers for one memory level. `capacity` in bytes; None asks only for the smallest peak."""

    buffers: tuple[Buffer, ...]
    capacity: int | None = None
    overlaps: tuple[Overlap, ...] = ()


@dataclass(frozen=True)
class PlacementSolution:
    """Offsets by buffer name. `peak` bytes used, `lower_bound` proved; optimal where they are equal."""

    offsets: Mapping[str, int]
    peak: int
    lower_bound: int
    allocator: str

    @property
    def status(self) -> str:
        """`optimal` or `gap`."""
        return "optimal" if self.peak == self.lower_bound else "gap"
