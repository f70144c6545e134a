"""Rows that are coded as they come, where a float lies next to a tie: the reading of ties that the target had.

Two implementations of float32 differ in the last bits, so of a float that lies next to the middle of two codes they
may take either. Everything behind such a code differs by much more than bits do. A row's largest element, which all its
codes are parts of, may itself differ by a bit or two, and whole numbers that are rounded behind it by one. So NumPy's
values are computed with the other code of a tie, or with the next float for a row's largest element, where, and only
where, the target's results are nearer to those; they are then compared as strictly as without ties, integers exactly.
What no such reading gives stays a difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tilewright.model import Array, DType
from tilewright.ops.row_codes import highest_code
from tilewright.options import RunOptions
from tilewright.plan.execute import Interpreter, run_slots, slot_value, values_before
from tilewright.plan.plan import ExecutionPlan, Instruction
from tilewright.run.slot_comparison import compare_slot

CODED = "RowCodes"
NEAR = 2.0**-17
"""By the highest code, how far from the middle of two codes a tie lies at most: 64 units in the last place of a row's
largest."""
NEXT = (1, -1, 2, -2)
"""Units in the last place by which a row's largest element may be another, the nearest first."""
TRIALS = 256
"""Readings that are tried for one call."""


@dataclass(frozen=True)
class Tie:
    """Element `element` of the codes that the instruction at `at` makes, and how far its float is from the middle."""

    at: int
    element: int
    distance: float


@dataclass(frozen=True)
class Turns:
    """What is read otherwise: codes by instruction and element, largest elements by instruction and units."""

    codes: frozenset[tuple[int, int]] = frozenset()
    largest: frozenset[tuple[int, int]] = frozenset()

    def tie(self, at: int, element: int) -> Turns:
        """With one more code read the other way."""
        return replace(self, codes=self.codes | {(at, element)})

    def units(self, at: int, units: int) -> Turns:
        """With the largest elements of an instruction's rows so many units in the last place away."""
        return replace(self, largest=self.largest | {(at, units)})


@dataclass(frozen=True)
class Stop:
    """The first instruction behind which a result of the target's differs, and in how many elements."""

    at: int
    mismatches: int


def has_ties(plan: ExecutionPlan) -> bool:
    """True where rows are coded as they come, or states are halves, which floats beside a tie part from one another."""
    halves = any(plan.slots[slot].tensor.dtype is DType.F16 for slot in plan.state_slots)
    return halves or any(one.call.node.op == CODED for one in plan.instructions)


def read_slots(
    plan: ExecutionPlan,
    inputs: Sequence[Array],
    states: Sequence[Array] | None,
    wanted: Mapping[int, Array],
    options: RunOptions,
) -> tuple[Array, ...]:
    """Every slot's value after one run as `run_slots` gives them, with ties read as the target did.

    `wanted` are results of the target by slot. Where no reading gives them, ties are read as far as that helps.
    """
    if not has_ties(plan):
        return run_slots(plan, inputs, states)
    search = _Search(plan, wanted, options)
    reading = _Reading(search, values_before(plan, inputs, states))
    stop = reading.go(0, len(plan.instructions))
    while stop is not None and (better := _better(reading, stop)) is not None:
        reading, stop = better, better.go(stop.at, len(plan.instructions))
    if stop is not None:
        reading.interpret(plan.instructions[stop.at + 1 :])
    return tuple(slot_value(plan, reading.values, slot.index) for slot in plan.slots)


@dataclass
class _Search:
    """What all readings of one call share; `trials` are left."""

    plan: ExecutionPlan
    wanted: Mapping[int, Array]
    options: RunOptions
    trials: int = field(default_factory=lambda: TRIALS)
    made: dict[int, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Find which of the results wanted each instruction makes, also those that are views of its own."""
        for wanted in self.wanted:
            root = self.plan.slots[wanted]
            while root.storage is not None:
                root = self.plan.slots[root.storage[0]]
            self.made.setdefault(root.index, []).append(wanted)


class _Reading(Interpreter):
    """One run with some ties read the other way."""

    def __init__(self, search: _Search, values: dict[int, Array], turns: Turns = Turns()) -> None:
        super().__init__(search.plan, values)
        self.search, self.turns = search, turns
        self.ties: dict[int, tuple[Tie, ...]] = {}
        self.before: dict[int, dict[int, Array]] = {}
        self.at = 0

    def go(self, start: int, end: int) -> Stop | None:
        """Run from instruction `start` to before `end`, or behind the first whose results are not the target's."""
        for at in range(start, end):
            self.at, instruction = at, self.plan.instructions[at]
            if instruction.call.node.op == CODED:
                self.before[at] = dict(self.values)
            self.execute(instruction)
            if wrong := self.mismatches(instruction):
                return Stop(at, wrong)
        return None

    def mismatches(self, instruction: Instruction) -> int:
        """Elements of an instruction's results that are not the target's."""
        search, total = self.search, 0
        for slot in (one for output in instruction.outputs for one in search.made.get(output, ())):
            ours = slot_value(self.plan, self.values, slot)
            total += compare_slot(self.plan, slot, search.wanted[slot], ours, search.options).mismatches
        return total

    def evaluate(self, instruction: Instruction, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
        """The results of an instruction, rows coded as is asked."""
        if instruction.call.node.op != CODED or arrays[0] is None or arrays[0].dtype != np.float32:
            return super().evaluate(instruction, arrays)  # in fixed point nothing is read in two ways
        codes, most = super().evaluate(instruction, arrays)
        units = sum(units for at, units in self.turns.largest if at == self.at)
        most = (most.view(np.int32) + np.int32(units)).view(np.float32)
        highest = np.float32(highest_code(instruction.call))
        with np.errstate(invalid="ignore", over="ignore"):
            scaled = (arrays[0] * (highest / most)).astype(np.float64)
            lower = np.floor(scaled)
            distances = np.abs(scaled - lower - 0.5).reshape(-1)
        near = np.flatnonzero(distances < NEAR * highest)
        self.ties[self.at] = tuple(Tie(self.at, int(one), float(distances[one])) for one in near)
        turned = [one.element for one in self.ties[self.at] if (self.at, one.element) in self.turns.codes]
        if turned:
            flat, lower = codes.reshape(-1).copy(), lower.reshape(-1)
            flat[turned] = (2 * lower[turned] + 1 - flat[turned]).astype(np.int8)
            codes = flat.reshape(codes.shape)
        return codes, most

    def turned(self, at: int, turns: Turns) -> _Reading:
        """The run as it stood before an instruction, with what is read otherwise from there on."""
        reading = _Reading(self.search, dict(self.before[at]), turns)
        reading.ties = {one: ties for one, ties in self.ties.items() if one < at}
        reading.before = {one: values for one, values in self.before.items() if one < at}
        return reading


def _better(reading: _Reading, stop: Stop) -> _Reading | None:
    """The run up to `stop` with one thing more read otherwise that brings it nearest to the target. None for none."""
    best, fewest = None, stop.mismatches
    for at, turns in _turns(reading, stop):
        if not reading.search.trials:
            return best
        reading.search.trials -= 1
        trial = reading.turned(at, turns)
        again = trial.go(at, stop.at + 1)
        if again is None:
            return trial
        if again.at == stop.at and again.mismatches < fewest:
            best, fewest = trial, again.mismatches
    return best


def _turns(reading: _Reading, stop: Stop) -> Iterator[tuple[int, Turns]]:
    """What may be read otherwise before `stop`, and from which instruction on: ties, of which the nearest are the
    likeliest, then largest elements, of which the last are."""
    turns, rows = reading.turns, [at for at in sorted(reading.ties) if at <= stop.at]
    for tie in sorted((tie for at in rows for tie in reading.ties[at]), key=lambda one: one.distance):
        if (tie.at, tie.element) not in turns.codes:
            yield tie.at, turns.tie(tie.at, tie.element)
    moved = {at for at, _ in turns.largest}
    for units in NEXT:
        yield from ((at, turns.units(at, units)) for at in reversed(rows) if at not in moved)
