"""What a caller may switch in tiling: objective, chains, pinned constants, second buffers."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from tilewright.tiling.hierarchy import Hierarchy
from tilewright.tiling.walk import Objective


@dataclass(frozen=True)
class TileOptions:
    """How to tile. `work_limit` is deterministic solver work; `pin` allows constants that stay in the compute level,
    `double` copies that run beside computing, `sit` layers that are computed at one sitting."""

    objective: Objective = "cycles"
    fuse: bool = True
    pin: bool = True
    double: bool = True
    sit: bool = True
    work_limit: float = 20.0
    table_bytes_per_tile: int = 0

    @staticmethod
    def without(passes: Collection[str]) -> TileOptions:
        """The options of a command line that switches any of the tiler's passes off, see `TILING_PASSES`."""
        return TileOptions(
            fuse="tile_fusion" not in passes, pin="pinning" not in passes, double="double_buffering" not in passes,
            sit="sittings" not in passes,
        )  # fmt: skip


def hierarchy_for(whole: Hierarchy, options: TileOptions) -> Hierarchy:
    """The hierarchy with tables counted, and with engines that stand still while the cores compute where asked."""
    if not options.double:
        whole = replace(
            whole, load=replace(whole.load, asynchronous=False), store=replace(whole.store, asynchronous=False)
        )
    return replace(whole, table_bytes_per_tile=options.table_bytes_per_tile)
