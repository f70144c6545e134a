"""Layers at one sitting in C: a function with what its cores are given, and lists of copies in the order they start in.

`templates/sitting.h` takes the turns: the driver opens one when the copies that it needs are done, and starts those of
later ones beside it. At a pause, while a turn goes on, the driver does errands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tilewright.codegen.comments import safe
from tilewright.codegen.parameters import Parameter
from tilewright.codegen.pointers import Pointer
from tilewright.codegen.render import render
from tilewright.codegen.tables import COPY, Members, Struct, Table
from tilewright.codegen.tiled import Member, StageText, copy_rows, numbers_of, stage_text, tile_type_of
from tilewright.plan.plan import ExecutionPlan
from tilewright.tiling.schedule import Errand, TileCopy, TileSchedule
from tilewright.tiling.sitting import TURN_BYTES, WORD

TEMPLATES = Path(__file__).parent / "templates"
TURNS = TEMPLATES / "sitting.h"
TOLD = 3
"""Tensors that a comment names of those that lie in one place."""
LIST = Struct("tilewright_list", (Members("uint16_t", ("end", "constants")),))


@dataclass(frozen=True)
class ErrandCall:
    """What the driver calls for an errand: the function, its parameters, what they are where the network runs, and what
    lies there.
    """

    errand: Errand
    function: str
    parameters: tuple[Parameter, ...]
    arguments: tuple[Pointer, ...]
    tensors: tuple[str, ...]
    comment: str


@dataclass(frozen=True)
class Given:
    """A parameter of a sitting's function, with its argument and the tensors that lie there, one after the other."""

    name: str
    argument: Pointer
    tensors: tuple[str, ...]
    written: bool

    @property
    def declaration(self) -> str:
        """It in C; of any type, since views of one tensor may have several."""
        return f"{'' if self.written else 'const '}void *{self.name}"

    @property
    def comment(self) -> str:
        """What lies there."""
        more = f" and {len(self.tensors) - TOLD} more" if len(self.tensors) > TOLD else ""
        return ", ".join(self.tensors[:TOLD]) + more


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
class Pause:
    """So many more `turns`, then errands beside the last of them: lists that must be `stored` before, and `started`
    behind it.
    """

    turns: int
    stored: int
    calls: tuple[tuple[str, str], ...]
    started: int


@dataclass(frozen=True)
class SittingText:
    """Everything that the template prints. `homes` are those of the `given` parameters that are copied, `constants`
    arrays of constants; `place` is the byte of the compute level where what the cores are given lies, `words` how many
    numbers of tiles are in it.
    """

    name: str
    level: str
    given: tuple[Given, ...]
    homes: tuple[str, ...]
    constants: tuple[str, ...]
    stages: tuple[StageText, ...]
    numbers: tuple[str, ...]
    turns: tuple[Turn, ...]
    pauses: tuple[Pause, ...]
    copies: Table
    lists: Table
    first: int
    place: int
    words: int
    comment: str

    @property
    def table_bytes(self) -> int:
        """Bytes of the tables in flash, where a pointer is a word."""
        words = len(self.constants) + 1 + sum(len(stage.arguments) for stage in self.stages) + self.words
        rows = COPY.size_bytes * (len(self.copies.rows) + 1) + LIST.size_bytes * len(self.lists.rows)
        return TURN_BYTES * (len(self.turns) + 1) + rows + WORD * words

    @property
    def remaining(self) -> int:
        """Turns behind the last pause."""
        return len(self.turns) - sum(pause.turns for pause in self.pauses)


def sitting_function(
    name: str, level: str, plan: ExecutionPlan, schedule: TileSchedule, members: Sequence[Member],
    errands: Sequence[ErrandCall],
) -> tuple[str, int]:  # fmt: skip
    """C of one sitting, and bytes of its tables."""
    (step,) = schedule.steps()
    homes = [home for member in members for home in member.homes]
    fixed, given = [home for home in homes if _fixed(home.argument)], given_to(schedule, members, errands)
    copied = list(dict.fromkeys(_same(home.argument) for home in homes if not _fixed(home.argument)))
    at = {home.key: (1, place + 1) for place, home in enumerate(fixed)}
    at |= {home.key: (0, copied.index(_same(home.argument))) for home in homes if not _fixed(home.argument)}
    names = {_same(one.argument): one.name for one in given}
    stages = tuple(stage_text(plan, number, member, (), level, False) for number, member in enumerate(members))
    order = _Order(schedule, at, stages)
    for moment in range(-1, len(members)):
        order.open(moment, [one for one in errands if one.errand.after + 1 == moment], names)
    order.add(order.stores.get(len(members) - 1, ()), store=True)
    numbers = [numbers_of(member, step, number) for number, member in enumerate(members)]
    turns = [
        Turn(function, s.number, order.started[s.number], order.done[s.number], "" if phase else s.comment)
        for s in stages for phase, function in enumerate(s.functions)
    ]  # fmt: skip
    text = SittingText(
        name, level, given, tuple(names[place] for place in copied), tuple(home.argument.text for home in fixed),
        stages, tuple(map(_numbers, members, numbers)),
        tuple(turns), tuple(order.pauses), Table(COPY, tuple(order.copies)), Table(LIST, tuple(order.rows)),
        order.started[-1], _end(schedule), sum(map(len, numbers)), _comment(schedule),
    )  # fmt: skip
    assert text.table_bytes <= schedule.table_bytes, "tables have no room beside the cores"
    return render(TEMPLATES / "sitting.c.mako", m=text), text.table_bytes


def given_to(schedule: TileSchedule, members: Sequence[Member], errands: Sequence[ErrandCall]) -> tuple[Given, ...]:
    """What a sitting's function is given, once for the same bytes: all that no array of its own stands for."""
    given: dict[str, Given] = {}

    def add(argument: Pointer, tensor: str, *, written: bool) -> None:
        if _fixed(argument):
            return
        known = given.get(_same(argument)) or Given(f"at{len(given)}", argument, (), written)
        if written and not known.written:  # by a pointer that is no constant's
            known = replace(known, argument=argument, written=True)
        told = (*known.tensors, *[safe(tensor)] * (bool(tensor) and safe(tensor) not in known.tensors))
        given[_same(argument)] = replace(known, tensors=told)

    for number, member in enumerate(members):
        for home in member.homes:
            operand = schedule.operand(home.key)
            add(home.argument, operand.tensor, written=operand.kind == "output")
        for one in (one for one in errands if one.errand.after == number):
            for parameter, argument, tensor in zip(one.parameters, one.arguments, one.tensors, strict=True):
                add(argument, tensor, written=not parameter.readonly)
    return tuple(given.values())


def _same(argument: Pointer) -> str:
    return argument.place or argument.text


def _fixed(argument: Pointer) -> bool:
    """True for an array of the network's."""
    return argument.text.isidentifier() and not argument.caller


class _Order:
    """Lists of copies in the order in which they start, of which the first is what the cores are given, and pauses."""

    def __init__(self, schedule: TileSchedule, at: Mapping[str, tuple[int, int]], stages: Sequence[StageText]) -> None:
        (step,) = schedule.steps()
        self.schedule, self.at, self.stages = schedule, at, stages
        self.loads, self.stores = _by_stage(schedule, step.loads), _by_stage(schedule, step.stores)
        self.done = dict.fromkeys(range(len(schedule.stages)), 1)
        self.copies: list[tuple[int, ...]] = []
        self.rows: list[tuple[int, ...]] = [(1, 1)]
        self.started: dict[int, int] = {}
        self.stored: dict[str, int] = {}
        self.pauses: list[Pause] = []
        self.opened = 0

    def open(self, moment: int, errands: Sequence[ErrandCall], names: Mapping[str, str]) -> None:
        """What starts beside stage `moment`: results of the one before, constants, and what errands may write."""
        self.add(self.stores.get(moment - 1, ()), store=True)
        for constants in (1, 0) if errands else (2,):
            self.started[moment] = len(self.rows)
            for number, moves in sorted(self.loads.items()):
                own = [move for move in moves if self.schedule.starts[move.key] == moment]
                own = [move for move in own if constants == 2 or self.at[move.key][0] == constants]
                if own:
                    self.add(own, store=False)
                    self.done[number] = len(self.rows)
        if not errands:
            self.started[moment] = len(self.rows)
            return
        turns = sum(len(stage.functions) for stage in self.stages[:moment]) + 1
        needed = [self.stored.get(tensor, 0) for one in errands for tensor in one.errand.reads]
        calls = tuple((_call(one, names), one.comment) for one in errands)
        self.pauses.append(Pause(turns - self.opened, max(needed), calls, len(self.rows)))
        self.opened = turns

    def add(self, moves: Sequence[TileCopy], *, store: bool) -> None:
        """A list of copies of constants, and one of tensors; none where there are none."""
        for constants in (1, 0):
            own = [move for move in moves if self.at[move.key][0] == constants]
            for move in own:
                self.copies += copy_rows(self.schedule, move, self.at[move.key][1], store)
            if own:
                self.rows.append((len(self.copies) + 1, constants))
        if store:
            self.stored |= {self.schedule.operand(move.key).tensor: len(self.rows) for move in moves}


def _call(one: ErrandCall, names: Mapping[str, str]) -> str:
    arguments = (a.text if _fixed(a) else names[_same(a)] for a in one.arguments)
    return f"{one.function}({', '.join(arguments)})"


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
