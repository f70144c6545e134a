"""The checker of sittings: plays them stage by stage, byte by byte of the compute level, without what placed them.

What is read must have been made or copied, all of it, and still be there; copies must have the bytes that they write
to themselves from when they start, and what is stored keeps its own to the end.
"""

from __future__ import annotations

import numpy as np

from tilewright.errors import TilewrightError
from tilewright.ops.index.nest import Box
from tilewright.tiling.schedule import Operand, Stage, TileSchedule

NOBODY = -1


class ScheduleFault(TilewrightError):
    """A schedule that would compute something else, or touch memory that is not its own: a bug in tilewright."""


def check_seats(schedule: TileSchedule, where: str) -> None:
    """Raise `ScheduleFault` at the first rule that a sitting breaks."""
    if schedule.order or schedule.double or schedule.tiles != 1:
        raise ScheduleFault(f"the sitting '{where}' is cut", why="its stages are whole")
    _starts(schedule, where)
    seats = _Seats(schedule, where)
    for moment in range(-1, len(schedule.stages)):
        for stage in schedule.stages:
            for operand in stage.operands:
                if _copied(schedule, operand) and schedule.starts[operand.key] == moment:
                    seats.put(stage, operand)
        if moment >= 0:
            seats.compute(moment)


def _copied(schedule: TileSchedule, operand: Operand) -> bool:
    return operand.kind in ("input", "constant") and not schedule.resident(operand)


def _made(operand: Operand) -> bool:
    return operand.kind == "output" or (operand.kind == "local" and operand.index < 0)


def _starts(schedule: TileSchedule, where: str) -> None:
    """Copies start before their stage and behind the errand that writes what they read; errands read what is stored."""
    copied = {o.key: n for n, stage in enumerate(schedule.stages) for o in stage.operands if _copied(schedule, o)}
    if copied.keys() != schedule.starts.keys():
        why = f"{len(copied)} operands are copied"
        raise ScheduleFault(f"'{where}' says of {len(schedule.starts)} copies when they start", why=why)
    for key, number in copied.items():
        if not -1 <= schedule.starts[key] < number:
            raise ScheduleFault(f"'{key}' of '{where}' is copied from stage {schedule.starts[key]} on",
                                why=f"stage {number} reads it")  # fmt: skip
    made = {o.tensor: (n, o.kind) for n, stage in enumerate(schedule.stages) for o in stage.operands if _made(o)}
    for errand in schedule.errands:
        for tensor in errand.reads & made.keys():
            stage, kind = made[tensor]
            if kind != "output" or stage > errand.after:
                raise ScheduleFault(
                    f"'{errand.node}' reads '{tensor}' during '{where}'", why="it is not stored by then"
                )
        for key in copied:
            operand = schedule.operand(key)
            if operand.tensor in errand.writes and operand.kind == "input" and schedule.starts[key] <= errand.after:
                raise ScheduleFault(f"'{key}' of '{where}' is copied before '{errand.node}' writes it")


class _Seats:
    """Whose every byte of the compute level is, and what lies there."""

    def __init__(self, schedule: TileSchedule, where: str) -> None:
        self.schedule, self.where = schedule, where
        self.names = [*schedule.depth, *(f"scratch of stage {n}" for n in range(len(schedule.stages)))]
        ends = [o.offset + o.size for stage in schedule.stages for o in stage.operands]
        ends += [stage.scratch_offset + stage.scratch_bytes for stage in schedule.stages]
        self.owner = np.full(max(ends, default=0), NOBODY, np.int32)
        self.there: dict[str, tuple[Operand, Box]] = {}

    def put(self, stage: Stage, operand: Operand) -> None:
        """The bytes of an operand, which were nobody's, are its own from now on."""
        self.take(operand.offset, operand.size, self.names.index(operand.key))
        self.there[operand.key] = operand, _box(stage, operand)

    def take(self, offset: int, size: int, name: int) -> None:
        """Bytes that were nobody's are somebody's from now on."""
        part = self.owner[offset : offset + size]
        if (others := part[part != NOBODY]).size:
            raise ScheduleFault(f"'{self.names[name]}' and '{self.names[others[0]]}' of '{self.where}' overlap")
        part[:] = name

    def compute(self, moment: int) -> None:
        """A stage finds what it reads; then bytes behind their last reader are nobody's, and so is scratch."""
        stage, scratch = self.schedule.stages[moment], len(self.schedule.depth) + moment
        self.take(stage.scratch_offset, stage.scratch_bytes, scratch)
        for operand in stage.operands:
            if _made(operand):
                self.put(stage, operand)
        for operand in stage.operands:
            if not self.schedule.resident(operand):
                self.find(stage, operand)
        later = {o.key for stage in self.schedule.stages[moment + 1 :] for o in stage.operands}
        later |= {o.key for stage in self.schedule.stages for o in stage.operands if o.kind == "output"}
        left = [n for n, key in enumerate(self.schedule.depth) if key not in later]
        self.owner[np.isin(self.owner, [*left, scratch])] = NOBODY

    def find(self, stage: Stage, operand: Operand) -> None:
        """An operand lies where it is read, all of what is read of it."""
        what = f"'{stage.node}' of '{self.where}' reads '{operand.tensor}'"
        if operand.key not in self.there:
            raise ScheduleFault(what, why="nothing has put it there")
        source, box = self.there[operand.key]
        if (source.offset, source.size) != (operand.offset, operand.size):
            raise ScheduleFault(f"{what} at byte {operand.offset}", why=f"it lies at byte {source.offset}")
        part = self.owner[operand.offset : operand.offset + operand.size]
        if (part != self.names.index(operand.key)).any():
            raise ScheduleFault(what, why="its bytes are another's by then")
        needed, whole = _box(stage, operand), tuple((0, size) for size in operand.shape)
        alike = source.shape == operand.shape and source.axes == operand.axes
        if needed != (box if alike else whole):
            raise ScheduleFault(f"{what} in {needed}", why=f"what lies there is {box} of its bytes")


def _box(stage: Stage, operand: Operand) -> Box:
    return operand.footprint({loop: (0, extent) for loop, extent in stage.extents.items()}).box
