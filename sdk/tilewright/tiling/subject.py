"""What is tiled at once: one node, or a chain of nodes whose intermediate results stay in the compute level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from tilewright.ops.index.affine import Affine
from tilewright.tiling.geometry import FusedChain
from tilewright.tiling.hierarchy import Hierarchy
from tilewright.tiling.schedule import Operand, Stage
from tilewright.tiling.stages import Work

CALL_CYCLES = 200
"""Modelled cycles of entering a kernel that gives no estimate of its own."""


@dataclass(frozen=True)
class Subject:
    """A chain of works (usually one) with the operands of their stages in their levels.

    `cuttable` are loops of the last stage, `multiples` what tile sizes along them must be multiples of, `wishes` sizes
    worth trying, `digits` pairs of which the inner is whole or the outer single.
    """

    works: tuple[Work, ...]
    stages: tuple[Stage, ...]
    hierarchy: Hierarchy
    cuttable: tuple[str, ...]
    multiples: Mapping[str, int]
    wishes: Mapping[str, tuple[int, ...]]
    digits: tuple[tuple[str, str], ...]

    def keeps_sums(self, order: Sequence[str]) -> bool:
        """True where every result stays in its buffer while loops that do not move it add to it: in such an order of
        the loops that are cut no loop that moves a result stands behind one that does not."""
        for operand in self.stages[-1].operands:
            moves = [name in operand.loops for name in order] if operand.kind == "output" else []
            if moves != sorted(moves, reverse=True):
                return False
        return True

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the nodes."""
        return tuple(work.name for work in self.works)

    @property
    def extents(self) -> Mapping[str, int]:
        """Loops of the last stage."""
        return self.stages[-1].extents

    @cached_property
    def chain(self) -> FusedChain:
        """The stages as the geometry takes them."""
        return FusedChain(self.stages)

    @cached_property
    def copied(self) -> tuple[tuple[int, Operand], ...]:
        """Operands with buffers, with their stage's number; a local once, where it is made."""
        return tuple(
            (number, operand)
            for number, stage in enumerate(self.stages)
            for operand in stage.operands
            if operand.home != self.hierarchy.compute.name and not (operand.kind == "local" and operand.index >= 0)
        )

    @cached_property
    def known(self) -> dict[tuple[object, ...], object]:
        """What was tabulated before, by operand and tile sizes; kept for as long as the subject is."""
        return {}

    @cached_property
    def _loops(self) -> dict[tuple[str, int], tuple[str, ...]]:
        return {}

    def axis_loops(self, number: int, operand: Operand, axis: int) -> tuple[str, ...]:
        """Loops of the last stage that move an axis of an operand."""
        key = (operand.key, axis)
        if key not in self._loops:
            self._loops[key] = self.chain.axis_loops(number, operand, axis)
        return self._loops[key]

    def cycles(self, number: int, sizes: Mapping[str, Any]) -> Any:
        """Modelled cycles of one tile of stage `number`; sizes are integers or arrays."""
        return cycles_of(self.works[number], sizes, self.hierarchy)

    def scratch(self, number: int, sizes: Mapping[str, Any]) -> Any:
        """Bytes of working memory of one tile of stage `number`."""
        work = self.works[number]
        return work.kernel.tile_scratch(work.operands, sizes)


def cycles_of(work: Work, sizes: Mapping[str, Any], hierarchy: Hierarchy) -> Any:
    """Modelled cycles of a tile of a work; sizes of its loops are integers or arrays, as is then the result."""
    cycles = work.kernel.cycles(work.call, sizes)
    if cycles is not None:
        return cycles
    points: Any = 1
    for name, size in sizes.items():
        if "." not in name:
            points = points * size
    return CALL_CYCLES + -(-points // hierarchy.cores)


def subject_of(
    works: Sequence[Work], hierarchy: Hierarchy, pinned: frozenset[str] = frozenset(), resident: bool = True
) -> Subject | None:
    """The subject of one work or of a chain; None where a chain cannot be fused.

    `pinned` are nodes whose constants stay in the compute level; `resident` says that constants are copied from the
    home level, not from where they rest.
    """
    stages = tuple(
        replace(work.stage, operands=tuple(placed_operand(o, number, work, hierarchy, pinned, resident) for o in
                                           work.stage.operands))
        for number, work in enumerate(works)
    )  # fmt: skip
    cuttable = set(works[-1].cuttable)
    multiples = {r.loop: r.value for r in works[-1].rules if r.kind == "multiple"}
    for number in range(len(works) - 2, -1, -1):
        joined = _joined(works[number], stages[number], stages[number + 1])
        if joined is None:
            return None
        stages = (*stages[:number], *joined, *stages[number + 2 :])
    chain = FusedChain(stages)
    for number, work in enumerate(works[:-1]):
        if not _reads_whole(chain, number, work):
            return None
        _limit(chain, number, work, cuttable, multiples)
    wishes: dict[str, tuple[int, ...]] = {}
    for rule in works[-1].rules:
        if rule.kind in ("multiple", "prefer"):
            wishes[rule.loop] = (*wishes.get(rule.loop, ()), rule.value)
    return Subject(
        tuple(works), stages, hierarchy, tuple(n for n in stages[-1].extents if n in cuttable), multiples, wishes,
        works[-1].digits,
    )  # fmt: skip


def placed_operand(
    operand: Operand, number: int, work: Work, hierarchy: Hierarchy, pinned: frozenset[str] = frozenset(),
    resident: bool = True,
) -> Operand:  # fmt: skip
    """The operand with its key in the chain and its levels, see `subject_of`."""
    key = f"{number}.{operand.key.partition('.')[2]}"
    if operand.kind != "constant":
        return replace(operand, key=key, home=hierarchy.home.name, origin=hierarchy.home.name)
    if work.name in pinned:
        return replace(operand, key=key, home=hierarchy.compute.name, origin=hierarchy.rest.name)
    direct = hierarchy.fetch is None or (hierarchy.load_constants.source == hierarchy.rest.name and not resident)
    home = hierarchy.load_constants.source if direct else hierarchy.home.name
    return replace(operand, key=key, home=home, origin=hierarchy.rest.name)


def _joined(work: Work, producer: Stage, consumer: Stage) -> tuple[Stage, Stage] | None:
    """Both stages with the result of the first one local; None where its tile does not follow from the second's."""
    results = [o for o in producer.operands if o.kind == "output"]
    if len(results) != 1:
        return None
    result = results[0]
    readers = [o for o in consumer.operands if o.kind == "input" and o.tensor == result.tensor]
    if len(readers) != 1 or readers[0].shape != result.shape or readers[0].axes != result.axes or result.bits < 8:
        return None
    if len(result.accesses) != 1:
        return None
    feeds: dict[str, int] = {}
    for axis, (sub, size) in enumerate(zip(result.accesses[0].subscripts, result.shape, strict=True)):
        loops = [loop for loop in sub.loops if producer.extents[loop] > 1]
        if size == 1:
            continue
        if len(loops) != 1 or not isinstance(sub, Affine) or sub.coeffs[loops[0]] != 1 or sub.const or sub.div != 1:
            return None
        if producer.extents[loops[0]] != size:
            return None
        feeds[loops[0]] = axis
    local = replace(result, kind="local", index=-1)
    read = replace(readers[0], kind="local", key=result.key)
    first = replace(producer, operands=tuple(local if o is result else o for o in producer.operands), feeds=feeds)
    second = replace(consumer, operands=tuple(read if o is readers[0] else o for o in consumer.operands))
    return first, second


def _reads_whole(chain: FusedChain, number: int, work: Work) -> bool:
    """Whether the next stage reads all of every axis that the producer can only write as a whole."""
    read = chain.read(number)
    for loop, axis in chain.stages[number].feeds.items():
        low, high = chain.axis_range(number + 1, read, axis, {})
        if loop not in work.cuttable and (int(low), int(high)) != (0, read.shape[axis]):
            return False
    return True


def _limit(chain: FusedChain, number: int, work: Work, cuttable: set[str], multiples: dict[str, int]) -> None:
    """Take the producer's rules over to the loops of the last stage that would cut its loops."""
    stage = chain.stages[number]
    read = chain.read(number)
    steps = {r.loop: r.value for r in work.rules if r.kind == "multiple"}
    for loop, axis in stage.feeds.items():
        sources = chain.axis_loops(number + 1, read, axis)
        if loop not in work.cuttable:
            cuttable.difference_update(sources)
        elif loop in steps:
            plain = len(sources) == 1 and all(a.subscripts[axis] == Affine.loop(sources[0]) for a in read.accesses)
            if plain and number == len(chain.stages) - 2:
                multiples[sources[0]] = int(np.lcm(multiples.get(sources[0], 1), steps[loop]))
            else:
                cuttable.difference_update(sources)
