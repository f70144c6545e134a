"""How one instruction, or a fused chain of them, is cut into tiles: what codegen expands and the executor walks.

A schedule has one `Stage` per node, in order; the last one's loops are cut, the tiles of the others follow from what
the next one reads (halo recomputed). An `Operand` is one tensor or constant of a stage with its buffers in the compute
level. A loop that is cut moves every result, or stands behind all loops that move those which it does not: such a
result stays in its buffer, is added to tile by tile, and is stored once, complete, like every other.

    for step in schedule.steps():       # tile by tile, last loop of `order` fastest
        step.loads                      # what to copy in before it: only operands whose index changed
        step.tiles[s], step.boxes[key]  # loop ranges of stage s; box and lacking padding of every operand
        step.stores                     # what to copy out after it

A tile lies dense in its buffer, axes in the order `Operand.axes`. Buffer `b` of an operand starts at byte
`offset + b * size` of the compute level. Operands of depth 2 alternate between two buffers at every load or store, so
the loads of step i+1 and the stores of step i-1 may run while step i is computed.

A schedule with `starts` is a sitting (`sitting.py`): one step, every stage whole; an operand that an earlier stage made
or loaded is a local with that one's key, buffers that are never needed at once may share bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from math import prod
from typing import Literal

import numpy as np

from tilewright.ops.index.affine import Range, Tile
from tilewright.ops.index.fused_chain import hull
from tilewright.ops.index.nest import Access, Box, Footprint
from tilewright.ops.index.transfer import Transfer, transfer

OperandKind = Literal["input", "output", "constant", "local"]


@dataclass(frozen=True)
class Operand:
    """One tensor of a stage. `key` names its buffers: `<stage>.<name>`, a local has the key of the stage that makes it.

    `index` counts `call.inputs`, `call.outputs` or the kernel's constants; `tensor` is the tensor's or constant's name.
    `home` is the level that tiles are copied from or to; where it is the compute level nothing is copied. `origin` is
    where a constant lies at rest: where it differs from `home`, all of it is copied to `home` before the stage runs.
    `axes` lists the logical axes in memory order, outermost first. `bits` is the size of one element.
    """

    key: str
    name: str
    kind: OperandKind
    index: int
    tensor: str
    accesses: tuple[Access, ...]
    bits: int
    axes: tuple[int, ...]
    home: str = ""
    origin: str = ""
    depth: int = 1
    offset: int = 0
    size: int = 0

    @property
    def shape(self) -> tuple[int, ...]:
        """Logical shape of the whole tensor."""
        return self.accesses[0].tensor.shape

    @cached_property
    def loops(self) -> frozenset[str]:
        """Loops of the stage that move the operand."""
        return frozenset(name for access in self.accesses for name in access.loops)

    def footprint(self, tile: Tile) -> Footprint:
        """Hull of what all accesses touch, clipped to the tensor."""
        footprints = [access.footprint(tile) for access in self.accesses]
        if len(footprints) == 1:
            return footprints[0]
        box = hull([f.box for f in footprints]) or footprints[0].box
        before = np.max([f.before for f in footprints], axis=0).tolist()
        return Footprint(box, tuple(before), tuple(np.max([f.after for f in footprints], axis=0).tolist()))

    def bytes_of(self, box: Box) -> int:
        """Bytes of a box."""
        return -(-prod(high - low for low, high in box) * self.bits // 8)

    def transfer(self, box: Box) -> Transfer:
        """Where the box lies in the whole tensor, in elements."""
        return transfer(box, self.shape, self.axes)


@dataclass(frozen=True)
class Stage:
    """One node of a schedule. `feeds` maps its loops to the axis of its local result that the next stage asks for.

    Loops that feed run over that axis's range of the next stage's box; all others of a stage but the last are whole.
    `extents` are all loops, outermost first, those of one step too; a loop `<constant>.part` runs over the part of a
    constant that belongs to one step of the loops it is cut along. Scratch lies at `scratch_offset` of the compute
    level. `adds` are loops over which the kernel adds to results that they do not move, from tile to tile.
    """

    node: str
    extents: Mapping[str, int]
    operands: tuple[Operand, ...]
    feeds: Mapping[str, int] = field(default_factory=dict)
    scratch_bytes: int = 0
    scratch_offset: int = 0
    adds: frozenset[str] = frozenset()

    def local(self) -> Operand | None:
        """The result that stays in the compute level, None for the last stage."""
        return next((o for o in self.operands if o.kind == "local" and o.index < 0), None)


@dataclass(frozen=True)
class TileCopy:
    """One copy between home and compute level: `transfer` in elements of the whole tensor, `address` in bytes."""

    key: str
    buffer: int
    box: Box
    transfer: Transfer
    size_bytes: int
    address: int


@dataclass(frozen=True)
class TileStep:
    """One tile: loop ranges per stage, boxes and buffers per operand, and the copies before and after it.

    `computed` is False for a stage whose tile is the one of the step before: its local result is still there.
    """

    index: int
    tiles: tuple[Tile, ...]
    boxes: Mapping[str, Footprint]
    buffers: Mapping[str, int]
    computed: tuple[bool, ...]
    loads: tuple[TileCopy, ...]
    stores: tuple[TileCopy, ...]


@dataclass(frozen=True)
class Errand:
    """A node that the driver of the cores computes at home during a sitting, behind stage `after`. `reads` and `writes`
    are tensors with bytes of their own, of which others may be views.
    """

    node: str
    after: int
    reads: frozenset[str]
    writes: frozenset[str]


@dataclass(frozen=True)
class TileSchedule:
    """Sizes of the cut loops of the last stage, their order outermost first, and what follows from them.

    `depth` are buffers per operand key; `tiles` the number of steps. `compute_bytes` is what the schedule takes of the
    compute level beside pinned constants, alignment and scratch included; `traffic_bytes` moves between home and
    compute level in one run; `cycles` is the model's estimate of one run. `table_bytes` are tables that codegen may
    put into the compute level. `starts` says of every operand that a sitting loads, by key, beside which stage that
    starts, -1 before the first; it is empty for tiles. `errands` are in the order of the network.
    """

    sizes: Mapping[str, int]
    order: tuple[str, ...]
    depth: Mapping[str, int]
    tiles: int
    stages: tuple[Stage, ...] = ()
    compute_bytes: int = 0
    traffic_bytes: int = 0
    cycles: int = 0
    table_bytes: int = 0
    compute_level: str = ""
    starts: Mapping[str, int] = field(default_factory=dict)
    errands: tuple[Errand, ...] = ()

    @property
    def nodes(self) -> tuple[str, ...]:
        """Names of the nodes, in order; more than one for a fused chain."""
        return tuple(stage.node for stage in self.stages)

    @property
    def double(self) -> bool:
        """True where copies of the neighbouring tiles overlap with computing."""
        return any(depth > 1 for depth in self.depth.values())

    def operand(self, key: str) -> Operand:
        """The operand of a key."""
        return next(o for stage in self.stages for o in stage.operands if o.key == key)

    @cached_property
    def moving(self) -> Mapping[str, frozenset[str]]:
        """Per operand key, the cut loops that change its tile."""
        if self.starts:
            return {operand.key: frozenset() for stage in self.stages for operand in stage.operands}
        return moving_loops(self.stages, self.order)

    def stage_tiles(self, last: Tile) -> tuple[Tile, ...]:
        """Loop ranges of every stage for one tile of the last."""
        if self.starts:
            return tuple({loop: (0, extent) for loop, extent in stage.extents.items()} for stage in self.stages)
        return stage_tiles(self.stages, last)

    def steps(self) -> Iterator[TileStep]:
        """All tiles in order, with their copies."""
        held: dict[str, tuple[Range, ...]] = {}
        buffers: dict[str, int] = {}
        computed_for: dict[int, tuple[tuple[Range, ...], ...]] = {}
        tiles_of_last = list(last_tiles(self.stages[-1].extents, self.sizes, self.order))
        for index, last in enumerate(tiles_of_last):
            following = tiles_of_last[index + 1] if index + 1 < len(tiles_of_last) else None
            tiles = self.stage_tiles(last)
            boxes: dict[str, Footprint] = {}
            loads: list[TileCopy] = []
            stores: list[TileCopy] = []
            computed: list[bool] = []
            for number, (stage, tile) in enumerate(zip(self.stages, tiles, strict=True)):
                changed: list[tuple[Range, ...]] = []
                for operand in stage.operands:
                    key, kind = operand.key, operand.kind
                    boxes[key] = operand.footprint(tile)
                    at = self._moved_to(key, last)
                    changed.append(at)
                    fresh = kind != "local" and held.get(key) != at
                    if fresh:
                        held[key] = at
                        buffers[key] = (buffers.get(key, operand.depth - 1) + 1) % operand.depth
                    buffers.setdefault(key, 0)
                    if kind == "output":
                        fresh = following is None or self._moved_to(key, following) != at
                    if fresh and not self.resident(operand):
                        (stores if kind == "output" else loads).append(self._move(operand, boxes[key], buffers[key]))
                state = tuple(changed)
                computed.append(computed_for.get(number) != state)
                computed_for[number] = state
            yield TileStep(index, tiles, boxes, dict(buffers), tuple(computed), tuple(loads), tuple(stores))

    def _moved_to(self, key: str, last: Tile) -> tuple[Range, ...]:
        """Where an operand is in a tile of the last stage: its buffer holds the same as long as that is the same."""
        return tuple(last[name] for name in self.order if name in self.moving[key])

    @cached_property
    def lives(self) -> Mapping[str, tuple[int, int]]:
        """Per operand key of a sitting, the first and the last stage that its buffer is taken in; what is stored keeps
        it to the end.
        """
        lives: dict[str, tuple[int, int]] = {}
        for number, stage in enumerate(self.stages):
            for operand in stage.operands:
                first = max(self.starts.get(operand.key, number), 0) if operand.kind != "local" else number
                last = len(self.stages) - 1 if operand.kind == "output" else number
                before = lives.get(operand.key, (first, last))
                lives[operand.key] = min(first, before[0]), max(last, before[1])
        return lives

    def resident(self, operand: Operand) -> bool:
        """True where nothing is copied: the operand's home is the compute level itself."""
        return operand.home == self.compute_level

    def _move(self, operand: Operand, footprint: Footprint, buffer: int) -> TileCopy:
        return TileCopy(
            operand.key, buffer, footprint.box, operand.transfer(footprint.box), operand.bytes_of(footprint.box),
            operand.offset + buffer * operand.size,
        )  # fmt: skip


def last_tiles(extents: Mapping[str, int], sizes: Mapping[str, int], order: Sequence[str]) -> Iterator[Tile]:
    """Tiles of the last stage, the last loop of `order` fastest; loops that are not in `order` are whole."""
    whole: Tile = {name: (0, extent) for name, extent in extents.items()}
    cuts = [[(a, min(a + sizes[n], extents[n])) for a in range(0, extents[n], sizes[n])] for n in order]
    for ranges in product(*cuts):
        yield {**whole, **dict(zip(order, ranges, strict=True))}


def stage_tiles(stages: Sequence[Stage], last: Tile) -> tuple[Tile, ...]:
    """Loop ranges of every stage: each one makes what the next one's tile reads."""
    tiles = [last]
    for producer, consumer in zip(stages[-2::-1], stages[:0:-1], strict=True):
        local = producer.local()
        assert local is not None, producer.node
        box = next(o for o in consumer.operands if o.key == local.key).footprint(tiles[0]).box
        whole: Tile = {name: (0, extent) for name, extent in producer.extents.items()}
        tiles.insert(0, {**whole, **{name: box[axis] for name, axis in producer.feeds.items()}})
    return tuple(tiles)


def moving_loops(stages: Sequence[Stage], order: Sequence[str]) -> Mapping[str, frozenset[str]]:
    """Per operand key, the loops of `order` that change its tile, followed through the chain."""
    reach: dict[str, frozenset[str]] = {name: frozenset([name]) for name in order}
    moving: dict[str, frozenset[str]] = {}
    for number in range(len(stages) - 1, -1, -1):
        stage = stages[number]
        for operand in stage.operands:
            moved = frozenset(n for loop in operand.loops for n in reach.get(loop, ()))
            moving[operand.key] = moving.get(operand.key, frozenset()) | moved
        if number:
            producer = stages[number - 1]
            local = producer.local()
            assert local is not None, producer.node
            read = next(o for o in stage.operands if o.key == local.key)
            reach = {
                name: frozenset(
                    n for access in read.accesses for loop in access.subscripts[axis].loops for n in reach.get(loop, ())
                )
                for name, axis in producer.feeds.items()
            }
    return moving
