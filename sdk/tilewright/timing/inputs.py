"""Where a program's inputs lie, so that they can be made known to the machine."""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.errors import TilewrightError
from tilewright.memory.placed import PlacedPlan
from tilewright.run.glue import caller_memory
from tilewright.run.image import Image, locate


def placed_inputs(placed: PlacedPlan, image: Image, inputs: Sequence[bytes]) -> dict[int, bytes]:
    """The bytes of each input by the address at which the run function reads them."""
    at = {}
    for number, (slot, data) in enumerate(zip(placed.plan.input_slots, inputs, strict=True)):
        if image.interface.takes_pointers:
            symbol = image.elf.symbol(caller_memory(f"input_{number}"))
            if symbol is None:
                raise TilewrightError(f"the image holds no memory for input {number}")
            at[symbol.address] = data
        else:
            at[locate(image, "", placed.slot_offsets[slot], len(data))] = data
    return at
