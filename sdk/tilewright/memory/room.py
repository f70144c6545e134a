"""Does a placed plan fit the level that it is placed in?"""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.errors import DoesNotFit
from tilewright.memory.placed import PlacedPlan
from tilewright.platform import MemoryLevel


def require_room(placed: PlacedPlan, levels: Sequence[MemoryLevel]) -> None:
    """Refuse a plan whose buffers are larger than their level; DoesNotFit with the size that would do."""
    level = next(level for level in levels if level.name == placed.level)
    needed = placed.arena_bytes + placed.state_bytes
    if level.size is not None and needed > level.size:
        raise DoesNotFit(
            f"'{level.name}' has {level.size} bytes", why=f"the buffers of the network take {needed}",
            fix=f"give '{level.name}' at least that", smallest={level.name: needed},
        )  # fmt: skip
