"""Nodes computed at one sitting of the cores: whole, one after the other, results staying where they are made.

The cores are called once. While they compute a stage, what later ones read is on its way, as far ahead as the compute
level has room; results that nobody else reads never leave it. A buffer is free for others behind its last reader.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from tilewright.binding.graph import BoundGraph, BoundNode
from tilewright.binding.guards import Guard, guards_of_nodes
from tilewright.errors import UnsupportedNode
from tilewright.ops.index.affine import Tile
from tilewright.ops.index.nest import Box, Footprint
from tilewright.platform import Call, TileView
from tilewright.tiling.hierarchy import Hierarchy, align_up
from tilewright.tiling.schedule import Errand, Operand, Stage, TileSchedule
from tilewright.tiling.seats import Life, offsets_of, possible, sitting_cycles, starts_of
from tilewright.tiling.stages import Work
from tilewright.tiling.subject import cycles_of, placed_operand

TURN_BYTES, COPY_BYTES, LIST_BYTES, WORD = 12, 20, 4, 4
"""Of what driver and cores read beside them: a time that they are called, a copy, a list of copies, a number."""
SHARES = (1.0, 0.94, 0.88, 0.8, 0.7)
"""Of the level, that may be alive at once; tried in turn, since buffers lie with gaps."""


@dataclass(frozen=True)
class Reading:
    """Who reads what at home: nodes by the tensor whose bytes they see, and tensors that outlive the network's run.
    `order` are the nodes that compute, `guards` the outcomes of conditions that need them.
    """

    order: tuple[BoundNode, ...]
    at: Mapping[str, int]
    roots: Mapping[str, str]
    readers: Mapping[str, frozenset[str]]
    outputs: frozenset[str]
    guards: Mapping[str, frozenset[Guard[str]]]

    def root(self, tensor: str) -> str:
        """The tensor of which this one shows the bytes."""
        return self.roots.get(tensor, tensor)

    def needed(self, tensor: str, inside: frozenset[str]) -> bool:
        """True where somebody else than the nodes `inside` reads a tensor."""
        return tensor in self.outputs or not self.readers.get(tensor, frozenset()) <= inside


def reading_of(graph: BoundGraph) -> Reading:
    """The readers of every tensor of a graph, through views."""
    roots: dict[str, str] = {}
    readers: dict[str, set[str]] = {}
    for bound in graph.nodes:
        node = bound.call.node
        if bound.kernel is None:
            roots[bound.call.outputs[0].name] = roots.get(node.inputs[0], node.inputs[0])
            continue
        for name in node.inputs:
            readers.setdefault(roots.get(name, name), set()).add(node.name)
    outputs = frozenset(roots.get(name, name) for name in graph.model.outputs)
    order = tuple(bound for bound in graph.nodes if bound.kernel is not None)
    at = {bound.call.node.name: index for index, bound in enumerate(order)}
    users = {name: frozenset(names) for name, names in readers.items()}
    return Reading(order, at, roots, users, outputs, guards_of_nodes(graph, roots))


def errands_between(nodes: Sequence[str], reading: Reading) -> tuple[Errand, ...] | None:
    """What lies between nodes of a graph, for the driver to do; None where something there is nothing for it, or is not
    needed in the same calls: what a sitting computes it computes always, or never.
    """
    errands, after = list[Errand](), -1
    between = reading.order[reading.at[nodes[0]] : reading.at[nodes[-1]] + 1]
    if len({reading.guards[bound.call.node.name] for bound in between}) > 1:
        return None
    for bound in between:
        call, kernel = bound.call, bound.kernel
        if after + 1 < len(nodes) and call.node.name == nodes[after + 1]:
            after += 1
            continue
        if kernel is None or kernel.tileable or call.operator is None or _shares(call):
            return None
        reads = frozenset(reading.root(name) for name in call.node.inputs)
        errands.append(Errand(call.node.name, after, reads, frozenset(call.node.outputs)))
    return tuple(errands) if after + 1 == len(nodes) else None


def sitting_of(
    works: Sequence[Work], reading: Reading, levels: Hierarchy, errands: Sequence[Errand] = (),
    given: Mapping[str, int] | None = None,
) -> TileSchedule | None:  # fmt: skip
    """Works computed at one sitting; None where they cannot be, or do not fit. Their copies start as `given`, or as
    early as there is room and the errands that write what is copied are done.
    """
    stages = _stages(works, reading, levels)
    if stages is None:
        return None
    own = TURN_BYTES + COPY_BYTES + LIST_BYTES + WORD
    table_bytes = align_up(own + sum(map(_program_bytes, works, stages)), levels.compute.align)
    room = levels.capacity - table_bytes
    fixed, loads = _lives(stages, errands, reading)
    times = [cycles_of(work, stage.extents, levels) for work, stage in zip(works, stages, strict=True)]
    times = [
        float(time) + (work.kernel.phases - 1) * levels.costs.turn for time, work in zip(times, works, strict=True)
    ]
    for share in SHARES:
        starts = given or starts_of(fixed, loads, len(stages), int(share * room))
        if starts is None or not possible(starts, loads):
            return None
        lives = [*fixed, *(replace(one, first=max(starts[one.key], 0)) for one in loads)]
        offsets = offsets_of(lives)
        used = max((offsets[one.key] + one.size_bytes for one in lives), default=0)
        if used <= room:
            placed = tuple(_with_offsets(number, stage, offsets) for number, stage in enumerate(stages))
            return TileSchedule(
                sizes={}, order=(), depth={o.key: 1 for stage in stages for o in stage.operands}, tiles=1,
                stages=placed, compute_bytes=used + table_bytes, traffic_bytes=sum(map(_moved_bytes, stages)),
                cycles=sitting_cycles(stages, starts, times, levels), table_bytes=table_bytes,
                compute_level=levels.compute.name, starts=starts, errands=tuple(errands),
            )  # fmt: skip
    return None


# ------------------------------------------------------------------------------------------------------------ stages
@dataclass(frozen=True)
class _Held:
    """An operand that lies in the compute level, and the box of its tensor that is there."""

    operand: Operand
    box: Box


def _stages(works: Sequence[Work], reading: Reading, levels: Hierarchy) -> tuple[Stage, ...] | None:
    """The stages with what each finds in the compute level; None where one reads a part of what lies there whole."""
    inside = frozenset(work.name for work in works)
    held: dict[str, _Held] = {}
    stages = []
    for number, work in enumerate(works):
        tile, operands = _whole(work.stage), list[Operand]()
        for given in work.stage.operands:
            operand = placed_operand(given, number, work, levels)
            root, box = reading.root(operand.tensor), operand.footprint(tile).box
            operand = replace(operand, size=int(align_up(operand.bytes_of(box), levels.compute.align)))
            if operand.kind != "constant" and operand.bits < 8:
                return None
            before = held.get(root) if operand.kind == "input" else None
            if before is not None and not _finds(operand, box, before):
                if before.operand.kind != "input":
                    return None
                before = None
            if before is not None:
                operand = replace(operand, kind="local", key=before.operand.key, size=before.operand.size)
            elif operand.kind == "output":
                if not _is_all(operand, box):
                    return None
                if not reading.needed(root, inside):
                    operand = replace(operand, kind="local", index=-1 - operand.index)
            if operand.kind != "constant":
                held.setdefault(root, _Held(operand, box))
            operands.append(operand)
        scratch = int(work.kernel.tile_scratch(work.operands, work.stage.extents))
        stages.append(replace(work.stage, operands=tuple(operands), scratch_bytes=scratch))
    return tuple(stages)


def _shares(call: Call) -> bool:
    """True where a call copies boxes as they are: they may share bytes instead, and nothing is left to do."""
    if call.operator is None or call.operator.copies is None:
        return False
    try:
        return bool(call.operator.copies(call))
    except UnsupportedNode:
        return False  # which boxes is known when it runs


def _earliest(operand: Operand, errands: Sequence[Errand], reading: Reading) -> int:
    """The first stage beside which a copy may start: behind that of the errand that writes what it reads."""
    root = reading.root(operand.tensor)
    return max((errand.after + 1 for errand in errands if root in errand.writes), default=-1)


def _whole(stage: Stage) -> Tile:
    """Every loop of a stage from end to end."""
    return {loop: (0, extent) for loop, extent in stage.extents.items()}


def _is_all(operand: Operand, box: Box) -> bool:
    return box == tuple((0, size) for size in operand.shape)


def _finds(operand: Operand, box: Box, before: _Held) -> bool:
    """True where what lies there has the very bytes that an operand needs, whatever shape a view gives them."""
    alike = operand.shape == before.operand.shape and operand.axes == before.operand.axes
    return box == before.box if alike else _is_all(operand, box) and _is_all(before.operand, before.box)


def _program_bytes(work: Work, stage: Stage) -> int:
    """Of what the cores are given of a stage: pointers and numbers, a row for each time that they are called; and of
    its copies, each of which may be a list.
    """
    tiled = work.kernel.tiled
    assert tiled is not None, "a kernel that is never cut has no stage"
    tile, operands = _whole(stage), [o for o in stage.operands if o.kind != "constant"]
    boxes, accesses = {o.name: o.footprint(tile) for o in operands}, {o.name: o.accesses for o in operands}
    numbers = len(tiled.tile(work.call, TileView(tile, boxes, accesses, 0)))
    rows = [_copies(operand, boxes.get(operand.name)) for operand in stage.operands if operand.kind != "local"]
    words = len(stage.operands) + (stage.scratch_bytes > 0) + numbers
    return (
        TURN_BYTES * work.kernel.phases + COPY_BYTES * sum(rows) + LIST_BYTES * len(rows) + WORD * (words + len(rows))
    )


def _copies(operand: Operand, footprint: Footprint | None) -> int:
    """Copies of two dimensions that move an operand; of a constant there is one."""
    if footprint is None:
        return 1
    return prod(count for count, _ in operand.transfer(footprint.box).repeats[:-1])


# ------------------------------------------------------------------------------------------------------------- bytes
def _lives(stages: Sequence[Stage], errands: Sequence[Errand], reading: Reading) -> tuple[list[Life], list[Life]]:
    """Buffers by the stages in which they are taken: what is made and scratch, and what is copied from home.

    What is stored stays to the end, since nobody waits for its copy before.
    """
    last: dict[str, int] = {}
    for number, stage in enumerate(stages):
        last |= {operand.key: number for operand in stage.operands}
    made, loads = list[Life](), list[Life]()
    for number, stage in enumerate(stages):
        for operand in stage.operands:
            if operand.kind in ("input", "constant"):
                earliest = _earliest(operand, errands, reading) if operand.kind == "input" else -1
                loads.append(Life(operand.key, operand.size, number, last[operand.key], earliest))
            elif operand.kind == "output" or operand.index < 0:
                end = len(stages) - 1 if operand.kind == "output" else last[operand.key]
                made.append(Life(operand.key, operand.size, number, end))
        if stage.scratch_bytes:
            made.append(Life(_scratch(number), -(-stage.scratch_bytes // 8) * 8, number, number))
    return made, loads


def _scratch(number: int) -> str:
    return f"{number}.scratch"


def _with_offsets(number: int, stage: Stage, offsets: Mapping[str, int]) -> Stage:
    operands = tuple(replace(operand, offset=offsets[operand.key]) for operand in stage.operands)
    return replace(stage, operands=operands, scratch_offset=offsets.get(_scratch(number), 0))


def _moved_bytes(stage: Stage) -> int:
    tile = _whole(stage)
    return sum(o.bytes_of(o.footprint(tile).box) for o in stage.operands if o.kind != "local")
