"""What the report says of tiles over time: cycles of each, and when cores and copies run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class TileCycles:
    """Cycles of one tile: its kernels, its copies, and the waits for copies that nothing hides."""

    kernel: int
    copy: int
    wait: int


@dataclass(frozen=True)
class TileReport:
    """One tile: first step and number of steps of every cut loop, bytes by way, modelled cycles, measured ones.

    Copies that ran beside a kernel are no part of `wait`. `measured` is null where the target has no model of time.
    """

    first: Mapping[str, int]
    sizes: Mapping[str, int]
    copied_bytes: Mapping[str, int]
    modelled: TileCycles
    measured: TileCycles | None = None


@dataclass(frozen=True)
class TimelineReport:
    """When a tiled layer computes and copies, in modelled cycles from its start: pairs of start and end, in order.

    `cores` are the kernels, one pair a tile; where an engine takes jobs, they are what the cores do with each job, and
    `engine` are its jobs and `unit` its name. `copies` are the lists of copies, those of neighbouring tiles beside a
    kernel where buffers are double.
    """

    cores: tuple[int, ...]
    copies: tuple[int, ...]
    engine: tuple[int, ...] = ()
    unit: str = ""
