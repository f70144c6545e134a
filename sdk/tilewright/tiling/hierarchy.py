"""The memory hierarchy as the tiler sees it: the compute level, the levels that feed it, and what copies cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tilewright.errors import PlatformError
from tilewright.platform import Copy, MemoryLevel, Platform, TileCosts

UNLIMITED = 1 << 40
"""Bytes of a level without a size."""


@dataclass(frozen=True)
class Hierarchy:
    """`compute` is where kernels run, `home` where activations lie, `rest` where constants lie at rest.

    `load` and `store` join home and compute level, `fetch` brings constants from rest to home (None where rest is
    home, or where tiles are loaded from rest directly by `load_constants`). Sizes of levels are free bytes;
    `home_bytes` are all that the home level has, `home_reserved` those of stacks in it.
    """

    compute: MemoryLevel
    home: MemoryLevel
    rest: MemoryLevel
    load: Copy
    store: Copy
    load_constants: Copy
    fetch: Copy | None
    cores: int = 1
    costs: TileCosts = field(default_factory=TileCosts)
    table_bytes_per_tile: int = 0
    home_bytes: int = UNLIMITED
    home_reserved: int = 0

    @property
    def capacity(self) -> int:
        """Free bytes of the compute level."""
        return UNLIMITED if self.compute.size is None else self.compute.size

    @property
    def home_capacity(self) -> int:
        """Free bytes of the home level."""
        return UNLIMITED if self.home.size is None else self.home.size

    @property
    def overlaps(self) -> bool:
        """True where copies run beside computing."""
        return self.load.asynchronous and self.store.asynchronous


def hierarchy(
    platform: Platform, levels: Sequence[MemoryLevel] = (), reserved: Mapping[str, int] | None = None
) -> Hierarchy | None:
    """The hierarchy of a platform, None where nothing is copied into the compute level.

    `levels` replace the platform's own where a target gives sizes; `reserved` bytes of a level are not ours.
    """
    reserved_bytes = reserved or {}
    sized = {level.name: level for level in (*platform.memory, *levels)}
    sized = {
        n: replace(x, size=None if x.size is None else max(0, x.size - reserved_bytes.get(n, 0)))
        for n, x in sized.items()
    }
    into = [copy for copy in platform.copies if copy.target == platform.compute_in]
    out = {copy.target: copy for copy in platform.copies if copy.source == platform.compute_in}
    load = next((copy for copy in into if copy.source in out), None)
    if load is None:
        return None
    direct = {copy.source: copy for copy in into}
    rest, fetch = platform.constants_in, None
    for copy in platform.copies:
        if copy.source == rest and copy.target == load.source and rest not in direct:
            fetch = copy
    if rest != load.source and rest not in direct and fetch is None:
        raise PlatformError(
            f"platform '{platform.name}' keeps constants in '{rest}'",
            why=f"no copy leads from there to '{load.source}' or to '{platform.compute_in}'",
            fix="declare one in its memory.py",
        )
    whole = next((level.size for level in (*levels, *platform.memory) if level.name == load.source), None)
    return Hierarchy(
        compute=sized[platform.compute_in], home=sized[load.source], rest=sized[rest], load=load,
        store=out[load.source], load_constants=direct.get(rest, load), fetch=fetch, cores=platform.cores,
        costs=platform.tile_costs, home_bytes=UNLIMITED if whole is None else whole,
        home_reserved=reserved_bytes.get(load.source, 0),
    )  # fmt: skip


def align_up(size: Any, align: int) -> Any:
    """The smallest multiple of `align` that is not below `size`; integers or arrays."""
    return -(-size // align) * align


def start_cycles(engine: Copy, commands: Any) -> Any:
    """Cycles until copies of so many commands are given to the engine."""
    return engine.setup_cycles * commands


def moving_cycles(engine: Copy, size_bytes: Any, bursts: Any) -> Any:
    """Cycles that the engine moves `size_bytes` in `bursts` contiguous runs."""
    return engine.burst_cycles * bursts + np.ceil(size_bytes / engine.bytes_per_cycle)


def copy_cycles(engine: Copy, size_bytes: Any, bursts: Any, commands: Any) -> Any:
    """Cycles of copies: `size_bytes` in `bursts` contiguous runs, given to the engine as `commands`."""
    return start_cycles(engine, commands) + moving_cycles(engine, size_bytes, bursts)


def whole_copy_cycles(engine: Copy, size_bytes: int) -> int:
    """Cycles of one contiguous copy."""
    return int(copy_cycles(engine, size_bytes, 1, 1)) if size_bytes else 0
