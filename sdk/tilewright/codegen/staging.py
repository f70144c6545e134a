"""Constants that do not stay where they rest: copied once to where they are kept, or anew before every run of a layer.

What is kept in the compute level or in the level of the activations is copied by the first run with an arena, and
again where the arena is another one, or where another network of a bundle has run in between. What is streamed is
copied before its layer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tilewright.codegen.c_types import C_TYPES
from tilewright.codegen.code_counts import FunctionText
from tilewright.codegen.pointers import Memories
from tilewright.codegen.render import render
from tilewright.codegen.tables import COPY, Table
from tilewright.memory.placed import PlacedPlan
from tilewright.plan.plan import Instruction, caller_of

TEMPLATE = Path(__file__).parent / "templates" / "staging.c.mako"


@dataclass(frozen=True)
class Copied:
    """One constant: where it rests, as C text, and bytes and place of its copy."""

    source: str
    near: int
    size: int


@dataclass(frozen=True)
class Staging:
    """One function that copies constants, where it is called, and the bytes of its table; `once` for all layers."""

    instruction: Instruction
    function: FunctionText
    argument: str
    table_bytes: int
    once: bool = False


@dataclass(frozen=True)
class StagingText:
    """What the template prints: constants for the arena, then those for the compute level `fast`.

    `settled` is the bundle's variable that says whose constants lie there, empty where the network stands alone.
    """

    name: str
    home: tuple[Copied, ...]
    fast: tuple[Copied, ...]
    fast_name: str
    once: bool
    comment: str
    settled: str = ""

    @property
    def copies(self) -> Table:
        """Every constant as one run: from its own place at rest."""
        whole = ((c.near, 0, c.size, 0, 1, place, 0) for place, c in enumerate((*self.home, *self.fast)))
        return Table(COPY, tuple(whole))


def copied(placed: PlacedPlan, arena: str) -> dict[int, str]:
    """C expressions of the constants that are read from their copy in the arena."""
    addresses = {}
    for index, offset in placed.frozen_offsets.items():
        c_type = C_TYPES[placed.plan.frozen_slots[index].constant.dtype]
        addresses[index] = f"(const {c_type} *)(const void *)({arena} + {offset})"
    return addresses


def staging(placed: PlacedPlan, prefix: str, memories: Memories, elsewhere: Mapping[int, str]) -> list[Staging]:
    """The functions, in the order of their calls; none where every constant is read where it rests."""
    plan, arena = placed.plan, memories.arena
    resident, streamed = list[Copied](), dict[str, list[Copied]]()
    for index, offset in placed.frozen_offsets.items():
        frozen = plan.frozen_slots[index]
        one = Copied(elsewhere.get(index, f"{prefix}_c{index}"), offset, frozen.constant.size_bytes)
        (streamed.setdefault(frozen.node, []) if frozen.streamed else resident).append(one)
    pinned, fast = _pinned(placed, prefix, memories.fast, elsewhere)
    texts = []
    if resident or pinned or memories.settled:
        text = StagingText(
            f"{prefix}_keep", tuple(resident), tuple(pinned), fast, True, "Copy what stays, once", memories.settled
        )
        function = FunctionText(text.name, render(TEMPLATE, m=text))
        size_bytes = text.copies.size_bytes
        argument = arena if placed.arena_bytes else fast or "NULL"
        texts.append(Staging(plan.instructions[0], function, argument, size_bytes, once=True))
    for instruction in plan.instructions:
        if instruction.name in streamed:
            name = f"{prefix}_fetch{instruction.index}"
            text = StagingText(name, tuple(streamed[instruction.name]), (), "", False, "Copy what the next layer reads")
            function = FunctionText(name, render(TEMPLATE, m=text), "fetch", instruction.index)
            texts.append(Staging(caller_of(plan, instruction), function, arena, text.copies.size_bytes))
    return texts


def _pinned(placed: PlacedPlan, prefix: str, owner: str, elsewhere: Mapping[int, str]) -> tuple[list[Copied], str]:
    """Constants of the compute level, and the array that stands for it."""
    copies, fast = list[Copied](), ""
    by_name = {instruction.name: instruction for instruction in placed.plan.instructions}
    for instruction in placed.plan.instructions:
        schedule = instruction.schedule
        if schedule is None:
            continue
        fast = f"{owner}_{schedule.compute_level}"
        for stage in schedule.stages:
            for operand in stage.operands:
                if operand.kind == "constant" and schedule.resident(operand):
                    index = by_name[stage.node].frozen[operand.index]
                    source = elsewhere.get(index, f"{prefix}_c{index}")
                    copies.append(Copied(source, operand.offset, operand.size))
    return copies, fast
