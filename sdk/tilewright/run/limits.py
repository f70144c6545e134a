"""What an input may hold where nodes read it as indices, lengths or divisors: followed from the input to these nodes.

Values are followed through nodes that pass them on or add or multiply by a constant; other nodes end the way. Where
several nodes limit an input, all of them hold: the smallest axis wins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tilewright.errors import UsageError
from tilewright.model import Array
from tilewright.ops.codes import Pairwise
from tilewright.ops.facts import Reads
from tilewright.ops.operator import Call
from tilewright.plan.plan import ExecutionPlan


@dataclass(frozen=True)
class Limit:
    """The lowest and highest value that suits, and why; `refused` lies outside of what is permitted at all.

    `refused` is None where values outside are permitted, or where not every value of the input is read.
    """

    low: int
    high: int
    why: str
    refused: Callable[[Array], Array] | None = None


@dataclass(frozen=True)
class _Way:
    """How a slot's values come from an input's: times `factor`, plus something from `least` to `most`."""

    source: int
    factor: int = 1
    least: int = 0
    most: int = 0
    whole: bool = True

    def through(self, call: Call, operand: int) -> _Way | None:
        """The way behind a node; None where it ends."""
        op = call.node.op
        passed = call.operator.passes_of(call.node) if call.operator is not None else None
        if passed is not None:
            reaches = passed.data is None or operand in passed.data
            return replace(self, whole=self.whole and passed.whole) if reaches else None
        other = call.constants.get(1 - operand)
        if call.codes != Pairwise(factored=True) or other is None or not other.size or (op == "Sub" and operand):
            return None
        if not np.array_equal(other, np.trunc(other)):
            return None
        low, high = int(other.min()), int(other.max())
        if op == "Mul":
            if low != high or low < 1:
                return None
            return _Way(self.source, self.factor * low, self.least * low, self.most * low, self.whole)
        low, high = (-high, -low) if op == "Sub" else (low, high)
        return _Way(self.source, self.factor, self.least + low, self.most + high, self.whole)

    def limit(self, read: Reads, why: str) -> Limit:
        """A node's limit, and the sentence for it, as one of the input's values."""
        low, high = -(-(read.low - self.least) // self.factor), (read.high - self.most) // self.factor
        refused = None
        if self.whole and self.least == self.most and read.permitted is not None:
            least, most = read.permitted

            def refused(values: Array) -> Array:
                indices = np.trunc(values).astype(np.int64) * self.factor + self.least
                return np.asarray((indices < least) | (indices > most))

        return Limit(low, max(low, high), why, refused)


def input_limits(plan: ExecutionPlan) -> dict[int, Limit]:
    """The limit of every input slot that has one."""
    ways: dict[int, list[_Way]] = {slot: [_Way(slot)] for slot in plan.input_slots}
    limits: dict[int, Limit] = {}
    for instruction in plan.instructions:
        call = instruction.call
        for operand, slot in enumerate(instruction.inputs):
            for way in _ways(plan, ways, slot):
                read = call.operator.reads(call, operand) if call.operator and call.operator.reads else None
                if read is not None:
                    why = f"node '{call.node.name}' ({call.node.op}) {read.why}"
                    limits[way.source] = _both(limits.get(way.source), way.limit(read, why))
                behind = way.through(call, operand) if not call.chain else None
                if behind is not None:
                    for result in instruction.outputs:
                        ways.setdefault(result, []).append(behind)
    return limits


def _ways(plan: ExecutionPlan, ways: Mapping[int, Sequence[_Way]], slot: int) -> Sequence[_Way]:
    """The ways to a slot; a view shows its source's values."""
    if slot < 0:
        return ()
    storage = plan.slots[slot].storage
    if slot not in ways and storage is not None:
        return _ways(plan, ways, storage[0])
    return ways.get(slot, ())


def _both(first: Limit | None, second: Limit) -> Limit:
    if first is None:
        return second
    low, high = max(first.low, second.low), min(first.high, second.high)
    tighter = second if second.high < first.high or (second.high == first.high and second.low > first.low) else first

    def refused(values: Array) -> Array:
        parts = [limit.refused(values) for limit in (first, second) if limit.refused is not None]
        return np.asarray(np.logical_or.reduce(parts) if parts else np.zeros(values.shape, bool))

    return Limit(low, max(low, high), tighter.why, refused)


def check_limits(name: str, values: Array, limit: Limit, file: str) -> None:
    """UsageError where an input holds a value that a node may not read."""
    if limit.refused is None or not (wrong := limit.refused(values)).any():
        return
    raise UsageError(
        f"'{name}' in {file} holds {values[wrong].reshape(-1)[0]}",
        why=f"{int(wrong.sum())} of its {values.size} elements do not suit: {limit.why}",
        fix=f"give values from {limit.low} to {limit.high}",
        tensor=name,
        file=file,
    )
