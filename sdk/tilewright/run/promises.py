"""What the report promises of each memory level, held against what a run really used; FenceError where it used more."""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.errors import FenceError
from tilewright.memory.needs import MemoryReport
from tilewright.memory.placed import PlacedPlan
from tilewright.run.glue import caller_memory
from tilewright.run.image import Image, arena_range, state_range
from tilewright.run.simulate import Execution
from tilewright.run.simulator import simulator_of


def keep_promises(placed: PlacedPlan, image: Image, execution: Execution) -> None:
    """FenceError where the stack goes deeper than its proved bound or the arena has another size than was planned."""
    bound, used = image.stack, execution.stack_bytes
    counted = simulator_of(image.target).bounds_stack
    if counted and bound is not None and bound.proved and used is not None and used > bound.size_bytes:
        raise FenceError(
            f"'{image.model}' uses {used} bytes of stack", why=f"the proved bound is {bound.size_bytes} bytes"
        )
    state = state_range(image)[1]
    if state != placed.state_bytes:
        raise FenceError(f"the state of '{image.model}' has {state} bytes", why=f"the plan has {placed.state_bytes}")
    size = arena_range(image)[1]
    if size != placed.arena_bytes:
        raise FenceError(
            f"the arena of '{image.model}' has {size} bytes", why=f"the plan promises {placed.arena_bytes}"
        )


def keep_levels(memory: Mapping[str, MemoryReport], image: Image, touched: Mapping[str, int]) -> None:
    """FenceError where a run touched more bytes of a level than its row promises.

    The stack stands apart, as it is measured. Beside the row a level holds the libraries' data or constants, the code,
    and what the caller brings.
    """
    brought = sum(s.size_bytes for s in image.elf.symbols if s.name.startswith(caller_memory("")))
    data = image.sizes.ram_bytes - arena_range(image)[1] - state_range(image)[1] + brought
    constants = image.sizes.rodata_bytes - sum(row.constants for row in memory.values())
    code = [symbol.address for symbol in image.elf.symbols if symbol.kind == "code" and symbol.size_bytes]
    for level, row in memory.items():
        promised = row.worst_case - (row.stack or 0)
        place = image.target.memories.get(level)
        runs = place is not None and any(0 <= address - place.address < (place.size or 0) for address in code)
        beside = max(0, constants) + image.sizes.text_bytes if row.readonly or row.constants or runs else 0
        beside += 0 if row.readonly else max(0, data)
        used = touched.get(level, 0)
        if used > promised + beside:
            raise FenceError(
                f"'{image.model}' touches {used:,} bytes of memory level '{level}'",
                why=f"the report promises {promised:,}, and {beside:,} lie beside them",
                fix="the plan or its report counts too little",
            )
