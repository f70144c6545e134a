"""How one instruction is cut: tile sizes, loop order and buffer depth per memory level."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class TileSchedule:
    """Sizes per loop name (loops not named are whole), loop order outermost first, copies in flight per operand."""

    sizes: Mapping[str, int]
    order: tuple[str, ...]
    depth: Mapping[str, int]
    tiles: int
