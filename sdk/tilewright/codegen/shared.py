"""What a network of a bundle takes of the bundle: its memories and constants by their names in C."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tilewright.codegen.c_types import constant_address
from tilewright.codegen.pointers import Memories, memories_of
from tilewright.memory.placed import PlacedPlan


@dataclass(frozen=True)
class Shared:
    """`kit` is the bundle's prefix, `alone` the network as it was placed by itself, of which its header tells.

    `constants` are arrays by frozen slot, `first_values` those that states begin with, by number of the state.
    `settling`: some network of the bundle keeps constants where others write.
    """

    kit: str
    alone: PlacedPlan
    constants: Mapping[int, str]
    first_values: Mapping[int, str]
    settling: bool = False

    @property
    def memories(self) -> Memories:
        """Arena, states and compute level of the bundle."""
        return replace(memories_of(self.kit, False), settled=f"{self.kit}_settled" if self.settling else "")

    @property
    def addresses(self) -> dict[int, str]:
        """C expressions for the first element of constants."""
        slots = self.alone.plan.frozen_slots
        return {slot: constant_address(slots[slot].constant.dtype, name) for slot, name in self.constants.items()}
