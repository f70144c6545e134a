"""Concat, Split, Slice, Gather and Pad without copies: producers write where the result lies, readers read there.

An instruction of the plan that only copies ranges keeps its place and its meaning, but its operands and results get
the same bytes. Where an operand cannot lie in the result (it is constant, or lies in another result already), its part
alone is copied; what a Pad adds is filled.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from tilewright.layout import Layout
from tilewright.model import DType
from tilewright.ops.facts import Range
from tilewright.plan.aliasing.alias_sets import AliasSets, Life, Part, Relation, view_shift
from tilewright.plan.aliasing.ranges import gaps, ranges_of, same_kind, start_of
from tilewright.plan.execute import evaluate_call
from tilewright.plan.liveness import storages
from tilewright.plan.plan import Aliasing, ExecutionPlan, Fill, Instruction, PartCopy, view_root


@dataclass(frozen=True)
class _Place:
    """A range in bytes: `start` in the larger tensor; `slot` is the smaller one's, -1 where its bytes must be copied.

    Constants must, and parts that would lie at an address that their kernel may not use.
    """

    range: Range
    start: int
    size: int
    slot: int


def with_aliasing(
    plan: ExecutionPlan, align: int, outside: frozenset[int] = frozenset(), only: frozenset[str] | None = None
) -> ExecutionPlan:
    """The plan with `aliasing` wherever that is possible; the same plan where it is nowhere.

    `align` bytes is what every tensor starts at a multiple of; `outside` are slots whose memory is not ours; `only`
    names the instructions that may alias.
    """
    lives = {
        storage.root: Life(storage.size_bytes, storage.first, storage.last, storage.kind)
        for storage in storages(plan, in_place=False)
    }
    fixed = frozenset(view_root(plan, slot) for slot in (*outside, *plan.state_slots))
    alias_sets, made = AliasSets(lives, fixed), list[Instruction]()
    for instruction in plan.instructions:
        places = _places(plan, instruction, align) if only is None or instruction.name in only else []
        aliasing = _aliased(plan, instruction, places, alias_sets) if places else None
        if aliasing is not None:
            instruction = replace(instruction, aliasing=aliasing, schedule=None, scratch_bytes=0, overlaps=())
        made.append(instruction)
    return replace(plan, instructions=tuple(made)) if alias_sets.base else plan


def _places(plan: ExecutionPlan, instruction: Instruction, align: int) -> list[_Place]:
    """Every range of the instruction as a run of bytes; none where one is no run, or where the code is fixed."""
    call, schedule = instruction.call, instruction.schedule
    group = bisect_right(plan.groups, instruction.index, key=lambda group: group[0]) - 1
    swept = group >= 0 and instruction.index < plan.groups[group][1]
    if swept or instruction.fused_into or instruction.errand_of or (schedule is not None and len(schedule.stages) > 1):
        return []
    places = []
    for one in ranges_of(call):
        tensor, slot = call.tensor(one.operand), instruction.inputs[one.operand]
        result = plan.slots[instruction.outputs[one.result]]
        if not same_kind(tensor, result.tensor) or result.local or (slot >= 0 and plan.slots[slot].local):
            return []
        if slot < 0:
            small, large = Layout.default(one.shape), result
            if not one.inward or not result.layout.is_default:
                return []
        else:
            small, large = plan.slots[slot].layout, result
            if not one.inward:
                small, large = result.layout, plan.slots[slot]
        start = start_of(one, (large.layout, large.tensor.shape), small)
        width = tensor.dtype.bits // 8
        if start is None or (start * width % align and not one.inward):
            return []
        if start * width % align:
            slot = -1
        size = (tensor if one.inward else result.tensor).size_bytes
        places.append(_Place(one, start * width, size, slot if one.inward else result.index))
    return places


def _aliased(
    plan: ExecutionPlan, instruction: Instruction, places: Sequence[_Place], alias_sets: AliasSets
) -> Aliasing | None:
    """How the instruction aliases its operands and results, with as many of its ranges as the alias sets allow."""
    inward = places[0].range.inward
    if not inward:
        return _aliasing(places) if _attempt(plan, instruction, places, alias_sets) else None
    runtime = sorted((place for place in places if place.slot >= 0), key=lambda place: -place.size)
    taken = _taken(plan, instruction, runtime, alias_sets)
    if not taken:
        return None
    operands = {place.range.operand for place in taken}
    copies = _copies(plan, instruction, [place for place in places if place.range.operand not in operands])
    fills = _fills(plan, instruction, places)
    if copies is None or fills is None or not _attempt(plan, instruction, taken, alias_sets):
        return None
    aliasing = _aliasing(sorted(taken, key=lambda place: place.start))
    return replace(aliasing, copies=copies, fills=fills)


def _taken(
    plan: ExecutionPlan, instruction: Instruction, runtime: Sequence[_Place], alias_sets: AliasSets
) -> list[_Place]:
    """The ranges that can be shared, one after the other; those that can be all at once are not tried one by one."""
    places: list[_Place] = []
    waiting = [runtime]
    while waiting:
        chunk = waiting.pop()
        if _attempt(plan, instruction, [*places, *chunk], alias_sets, keep=False):
            places += chunk
        elif len(chunk) > 1:
            waiting += [chunk[len(chunk) // 2 :], chunk[: len(chunk) // 2]]
    return places


def _aliasing(places: Sequence[_Place]) -> Aliasing:
    return Aliasing(tuple((p.range.operand, p.range.result, p.start if p.range.inward else -p.start) for p in places))


def _attempt(
    plan: ExecutionPlan, instruction: Instruction, places: Sequence[_Place], alias_sets: AliasSets, keep: bool = True
) -> bool:
    """Whether all these ranges can be shared; the alias sets are those in which they are, if that is to be kept."""
    if not places:
        return False
    relations: list[Relation] = []
    content: dict[int, tuple[Part, ...]] = {}
    for place in places:
        one = place.range
        operand, result = instruction.inputs[one.operand], instruction.outputs[one.result]
        source = view_root(plan, operand)
        shift = place.start if one.inward else -place.start
        relations.append((source, result, shift - view_shift(plan, operand)))
        if not one.inward:
            begin = place.start + view_shift(plan, operand)
            content[result] = _cut(alias_sets.parts(source), begin, begin + place.size)
    if places[0].range.inward:
        content[instruction.outputs[0]] = _assembled(plan, instruction, places, alias_sets)
    return alias_sets.join(relations, content, keep)


def _assembled(
    plan: ExecutionPlan, instruction: Instruction, places: Sequence[_Place], alias_sets: AliasSets
) -> tuple[Part, ...]:
    """What a result holds: the values of the parts that lie in it, its own everywhere else."""
    (result,) = instruction.outputs
    parts: list[Part] = []
    for place in places:
        operand = instruction.inputs[place.range.operand]
        begin = view_shift(plan, operand)
        inner = _cut(alias_sets.parts(view_root(plan, operand)), begin, begin + place.size)
        parts += [replace(part, start=part.start + place.start, end=part.end + place.start) for part in inner]
    rest = gaps([(place.start, place.size) for place in places], alias_sets.lives[result].size)
    parts += [Part(start, start + length, result, start) for start, length in rest]
    return tuple(sorted(parts, key=lambda part: part.start))


def _cut(parts: Sequence[Part], begin: int, end: int) -> tuple[Part, ...]:
    """Bytes [begin, end) of a content, counted from `begin`."""
    pieces = []
    for part in islice(parts, bisect_right(parts, begin, key=lambda part: part.end), None):
        low, high = max(part.start, begin), min(part.end, end)
        if low >= high:
            break
        pieces.append(Part(low - begin, high - begin, part.origin, part.at + low - part.start))
    return tuple(pieces)


def _copies(plan: ExecutionPlan, instruction: Instruction, left: Sequence[_Place]) -> tuple[PartCopy, ...] | None:
    """Copies of the parts that do not lie in the result; None where a constant is not there as plain bytes."""
    names: Mapping[str, int] = {plan.frozen_slots[index].constant.name: index for index in instruction.frozen}
    copies = []
    for place in left:
        number, frozen = place.range.operand, None
        if instruction.inputs[number] < 0:
            frozen = names.get(f"x{number}")
            if frozen is None:
                return None
            values = np.asarray(plan.frozen_slots[frozen].constant.values).reshape(-1)
            wanted = instruction.call.constants[number].reshape(-1)
            if values.nbytes != place.size or not np.array_equal(
                values, wanted, equal_nan=DType.of(values.dtype).is_float
            ):
                return None
        copies.append(PartCopy(number, place.start, place.size, frozen))
    return tuple(copies)


def _fills(plan: ExecutionPlan, instruction: Instruction, places: Sequence[_Place]) -> tuple[Fill, ...] | None:
    """What no operand covers; None where its value is not one byte over and over, or only known at run time."""
    (result,) = instruction.outputs
    tensor = plan.slots[result].tensor
    rest = gaps([(place.start, place.size) for place in places], tensor.size_bytes)
    if not rest:
        return ()
    call = instruction.call
    if any(slot >= 0 for slot in instruction.inputs[1:]):
        return None
    arrays = [None if slot < 0 else np.zeros(call.shape(i), call.tensor(i).dtype.numpy)
              for i, slot in enumerate(instruction.inputs)]  # fmt: skip
    (value,) = evaluate_call(call, arrays)
    raw = np.frombuffer(plan.slots[result].layout.pack(value).tobytes(), np.uint8)
    fills = []
    for start, length in rest:
        if (raw[start : start + length] != raw[start]).any():
            return None
        fills.append(Fill(start, length, int(raw[start])))
    return tuple(fills)
