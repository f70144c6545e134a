"""Layers at one sitting in C: a function with what its cores are given, and lists of copies in the order they start in.

`templates/sitting.h` takes the turns: the driver opens one when the copies that it needs are done, and starts those of
later ones beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tilewright.codegen.render import render
from tilewright.codegen.tables import COPY, Members, Struct, Table
from tilewright.codegen.tiled import Home, Member, StageText, copy_rows, numbers_of, stage_text, tile_type_of
from tilewright.plan.plan import ExecutionPlan
from tilewright.tiling.schedule import TileCopy, TileSchedule

TEMPLATES = Path(__file__).parent / "templates"
TURNS = TEMPLATES / "sitting.h"
LIST = Struct("tilewright_list", (Members("uint16_t", ("end", "constants")),))
POINTER_BYTES = 4


@dataclass(frozen=True)
class Turn:
    """One call of the cores: their function, the stage whose work it is given, lists of copies started beside it, and
    done before it.
    """

    function: str
    stage: int
    started: int
    done: int
    comment: str


@dataclass(frozen=True)
class SittingText:
    """Everything that the template prints. `homes` are the function's parameters, `constants` arrays of constants;
    `place` is the byte of the compute level where what the cores are given lies.
    """

    name: str
    level: str
    parameters: str
    homes: tuple[str, ...]
    constants: tuple[str, ...]
    stages: tuple[StageText, ...]
    numbers: tuple[str, ...]
    turns: tuple[Turn, ...]
    copies: Table
    lists: Table
    first: int
    place: int
    program_bytes: int
    comment: str

    @property
    def table_bytes(self) -> int:
        """Bytes of the tables in flash."""
        pointers = POINTER_BYTES * (len(self.constants) + 1)
        return self.copies.size_bytes + COPY.size_bytes + self.lists.size_bytes + pointers + self.program_bytes


def sitting_function(
    name: str, level: str, plan: ExecutionPlan, schedule: TileSchedule, members: Sequence[Member]
) -> tuple[str, int]:
    """C of one sitting, and bytes of its tables."""
    (step,) = schedule.steps()
    homes = [home for member in members for home in member.homes]
    fixed = [home for home in homes if home.argument.text.isidentifier()]
    given = [home for home in homes if home not in fixed]
    at = {home.key: (1, place + 1) for place, home in enumerate(fixed)}
    at |= {home.key: (0, place) for place, home in enumerate(given)}
    lists = _Lists(schedule, at)
    loads, stores = _by_stage(schedule, step.loads), _by_stage(schedule, step.stores)
    done, started = dict[int, int](), dict[int, int]()
    for moment in range(-1, len(members)):
        if moment > 0:
            lists.add(stores.get(moment - 1, ()), store=True)
        for number, start in enumerate(schedule.starts):
            if start == moment:
                lists.add(loads.get(number, ()), store=False)
                done[number] = len(lists.rows)
        started[moment] = len(lists.rows)
    lists.add(stores.get(len(members) - 1, ()), store=True)
    stages = tuple(stage_text(plan, number, member, (), level, False) for number, member in enumerate(members))
    turns = [
        Turn(function, s.number, started[s.number], done[s.number], "" if phase else s.comment)
        for s in stages for phase, function in enumerate(s.functions)
    ]  # fmt: skip
    text = SittingText(
        name, level, ", ".join(home.declaration for home in given) or "void", tuple(home.name for home in given),
        tuple(home.argument.text for home in fixed), stages,
        tuple(_numbers(member, numbers_of(member, step, number)) for number, member in enumerate(members)),
        tuple(turns), Table(COPY, tuple(lists.copies)), Table(LIST, tuple(lists.rows)), started[-1],
        _end(schedule), schedule.table_bytes, _comment(schedule),
    )  # fmt: skip
    return render(TEMPLATES / "sitting.c.mako", m=text), text.table_bytes


def given_homes(members: Sequence[Member]) -> tuple[Home, ...]:
    """The operands whose addresses a sitting's function is given: of those that no array of its own stands for."""
    return tuple(h for member in members for h in member.homes if not h.argument.text.isidentifier())


class _Lists:
    """Lists of copies in the order in which they start; the first is what the cores are given."""

    def __init__(self, schedule: TileSchedule, at: Mapping[str, tuple[int, int]]) -> None:
        self.schedule, self.at = schedule, at
        self.copies: list[tuple[int, ...]] = []
        self.rows: list[tuple[int, ...]] = [(1, 1)]

    def add(self, moves: Sequence[TileCopy], *, store: bool) -> None:
        """A list of copies of constants, and one of tensors; none where there are none."""
        for constants in (1, 0):
            own = [move for move in moves if self.at[move.key][0] == constants]
            for move in own:
                self.copies += copy_rows(self.schedule, move, self.at[move.key][1], store)
            if own:
                self.rows.append((len(self.copies) + 1, constants))


def _by_stage(schedule: TileSchedule, moves: Sequence[TileCopy]) -> dict[int, list[TileCopy]]:
    owner = {o.key: n for n, stage in enumerate(schedule.stages) for o in stage.operands if o.kind != "local"}
    by_stage: dict[int, list[TileCopy]] = {}
    for move in moves:
        by_stage.setdefault(owner[move.key], []).append(move)
    return by_stage


def _numbers(member: Member, values: Mapping[str, int]) -> str:
    struct = Struct(tile_type_of(member.instruction.kernel, member.function), (Members("int", tuple(values)),), True)
    return struct.initialiser(tuple(values.values()))


def _end(schedule: TileSchedule) -> int:
    """The first byte behind all buffers."""
    ends = [operand.offset + operand.size for stage in schedule.stages for operand in stage.operands]
    return max([*ends, *(-(-(stage.scratch_offset + stage.scratch_bytes) // 8) * 8 for stage in schedule.stages)])


def _comment(schedule: TileSchedule) -> str:
    return (
        f"{len(schedule.stages)} stages at one sitting, {schedule.compute_bytes} bytes of {schedule.compute_level}, "
        f"{schedule.traffic_bytes} bytes copied"
    )
