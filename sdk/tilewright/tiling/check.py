"""The schedules' own checker: walks every tile and shares no arithmetic with what chose them.

It enumerates boxes as sets and recounts what the schedule claims. Its time is the number of tiles times the number of
operands; of a schedule with very many tiles it looks at every one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod

import numpy as np

from tilewright.ops.index.affine import Affine, Indices, Tile
from tilewright.ops.index.nest import Box, Subscript
from tilewright.ops.index.table import Table
from tilewright.tiling.check_seats import ScheduleFault as ScheduleFault
from tilewright.tiling.check_seats import check_seats
from tilewright.tiling.schedule import Operand, Stage, TileCopy, TileSchedule, TileStep


def check(schedule: TileSchedule, capacity: int | None = None, align: int = 1) -> None:
    """Raise `ScheduleFault` at the first rule that the schedule breaks."""
    where = " + ".join(schedule.nodes)
    if schedule.starts:
        check_seats(schedule, where)
    _buffers(schedule, where, capacity, align)
    held: dict[str, Box] = {}
    traffic, count = 0, 0
    written: dict[str, list[Box]] = {}
    open_sums: dict[str, tuple[Box, int]] = {}
    made: dict[int, Tile] = {}
    for step in schedule.steps():
        if step.index != count:
            raise ScheduleFault(f"the tiles of '{where}' are numbered wrongly", why=f"{step.index} follows {count - 1}")
        count += 1
        for number, (stage, tile) in enumerate(zip(schedule.stages, step.tiles, strict=True)):
            _points(stage, tile, where)
            if step.computed[number]:
                made[number] = tile
            elif made.get(number) != tile:
                raise ScheduleFault(f"tile {step.index} of '{where}' does not compute '{stage.node}'",
                                    why="what is there is another tile's result")  # fmt: skip
        if not schedule.starts:
            _chain(schedule, step, where)
        traffic += _copies(schedule, step, held, open_sums, where)
        for move in step.stores:
            written.setdefault(move.key, []).append(move.box)
    if count != schedule.tiles:
        raise ScheduleFault(f"'{where}' claims {schedule.tiles} tiles", why=f"it has {count}")
    for key in open_sums:
        raise ScheduleFault(f"'{where}' never stores its last tile of '{schedule.operand(key).tensor}'")
    if traffic != schedule.traffic_bytes:
        raise ScheduleFault(f"'{where}' claims to move {schedule.traffic_bytes} bytes", why=f"it moves {traffic}")
    for stage in schedule.stages if schedule.starts else schedule.stages[-1:]:
        for operand in stage.operands:
            if operand.kind == "output" and not schedule.resident(operand):
                _partition(operand, written.get(operand.key, []), where)
    _loops(schedule, where)


def _buffers(schedule: TileSchedule, where: str, capacity: int | None, align: int) -> None:
    """Buffers, scratch and tables are disjoint, aligned, and end inside the capacity."""
    spans: dict[str, tuple[int, int]] = {}
    for stage in schedule.stages:
        for operand in stage.operands:
            if operand.offset % align:
                raise ScheduleFault(f"buffer '{operand.key}' of '{where}' starts at {operand.offset}",
                                    why=f"it is not a multiple of {align}")  # fmt: skip
            span = operand.offset, operand.offset + operand.size * operand.depth
            if operand.size and spans.setdefault(operand.key, span) != span:
                raise ScheduleFault(f"buffer '{operand.key}' of '{where}' lies at {span} and at {spans[operand.key]}")
    if schedule.starts:
        for number, stage in enumerate(schedule.stages):
            spans[f"{number}.scratch"] = stage.scratch_offset, stage.scratch_offset + stage.scratch_bytes
    else:
        scratch = max((stage.scratch_bytes for stage in schedule.stages), default=0)
        if scratch:
            spans["scratch"] = schedule.stages[0].scratch_offset, schedule.stages[0].scratch_offset + scratch
    ordered = sorted((span, key) for key, span in spans.items())
    for ((_, high), one), ((start, _), other) in pairwise(ordered):
        if start < high and not schedule.starts:
            raise ScheduleFault(
                f"'{one}' and '{other}' of '{where}' overlap",
                why=f"one ends at byte {high}, the other starts at {start}",
            )
    end = max((high for _, high in spans.values()), default=0) + schedule.table_bytes
    if capacity is not None and end > capacity:
        raise ScheduleFault(f"'{where}' ends at byte {end}", why=f"the compute level has {capacity}")


def _points(stage: Stage, tile: Tile, where: str) -> None:
    """Every loop has a range inside its extent."""
    for loop, extent in stage.extents.items():
        low, high = tile[loop]
        if not 0 <= low <= high <= extent:
            raise ScheduleFault(f"loop '{loop}' of '{where}' runs over [{low}, {high})", why=f"its extent is {extent}")


def _chain(schedule: TileSchedule, step: TileStep, where: str) -> None:
    """What a stage reads of a local result has been made, and made whole."""
    for number, stage in enumerate(schedule.stages[:-1]):
        local = stage.local()
        if local is None:
            raise ScheduleFault(f"stage '{stage.node}' of '{where}' leaves no local result")
        made = _box(local, step.tiles[number])
        reader = next(o for o in schedule.stages[number + 1].operands if o.key == local.key)
        needed = _box(reader, step.tiles[number + 1])
        if _empty(needed):
            continue
        for axis, ((low, high), (first, last)) in enumerate(zip(made, needed, strict=True)):
            if (low, high) != (first, last):
                raise ScheduleFault(
                    f"tile {step.index} of '{where}' makes [{low}, {high}) of axis {axis} of '{local.tensor}'",
                    why=f"the next stage reads [{first}, {last})",
                )


def _copies(
    schedule: TileSchedule, step: TileStep, seen: dict[str, Box], open_sums: dict[str, tuple[Box, int]], where: str
) -> int:
    """Every operand is there when it is computed on; returns the bytes moved."""
    loads = {move.key: move for move in step.loads}
    stores = {move.key: move for move in step.stores}
    moved = 0
    for number, stage in enumerate(schedule.stages):
        for operand in stage.operands:
            if operand.kind == "local" or schedule.resident(operand):
                continue
            needed = _box(operand, step.tiles[number])
            if operand.kind == "output":
                here = needed, step.buffers[operand.key]
                if open_sums.pop(operand.key, here) != here:
                    raise ScheduleFault(f"tile {step.index} of '{where}' leaves a sum of '{operand.tensor}' behind")
                if operand.key not in stores and stage.adds:
                    open_sums[operand.key] = here  # the next tile adds to it
                    continue
                if operand.key not in stores or stores[operand.key].box != needed:
                    raise ScheduleFault(f"tile {step.index} of '{where}' is not stored as '{operand.tensor}'")
                moved += _move(operand, stores[operand.key], where)
                continue
            if operand.key in loads:
                if seen.get(operand.key) == loads[operand.key].box and prod(operand.shape) > 1:
                    _same_index(schedule, operand, step, where)
                seen[operand.key] = loads[operand.key].box
                moved += _move(operand, loads[operand.key], where)
            if seen.get(operand.key) != needed and not _empty(needed):
                raise ScheduleFault(
                    f"tile {step.index} of '{where}' reads {needed} of '{operand.tensor}'",
                    why=f"its buffer holds {seen.get(operand.key)}",
                )
    return moved


def _same_index(schedule: TileSchedule, operand: Operand, step: TileStep, where: str) -> None:
    """A copy of a box that is there already is needless, unless borders alone make two indices share it."""
    if not schedule.moving[operand.key]:
        raise ScheduleFault(f"tile {step.index} of '{where}' loads '{operand.tensor}' again", why="it has not changed")


def _move(operand: Operand, move: TileCopy, where: str) -> int:
    """The copy addresses exactly its box, inside the tensor and inside its buffer; returns its bytes."""
    shape = operand.shape
    if any(not 0 <= low <= high <= size for (low, high), size in zip(move.box, shape, strict=True)):
        raise ScheduleFault(f"a copy of '{operand.tensor}' in '{where}' takes {move.box}", why=f"the shape is {shape}")
    if move.size_bytes > operand.size:
        raise ScheduleFault(
            f"a copy of '{operand.tensor}' in '{where}' has {move.size_bytes} bytes",
            why=f"its buffer has {operand.size}",
        )
    if move.address != operand.offset + move.buffer * operand.size or not 0 <= move.buffer < operand.depth:
        raise ScheduleFault(f"a copy of '{operand.tensor}' in '{where}' goes to byte {move.address}")
    elements = prod(high - low for low, high in move.box)
    transfer = move.transfer
    if elements and transfer.run * transfer.bursts != elements:
        moved = transfer.run * transfer.bursts
        raise ScheduleFault(f"a copy of '{operand.tensor}' in '{where}' moves {moved} elements",
                            why=f"its box has {elements}")  # fmt: skip
    if elements:
        end = transfer.offset + sum((count - 1) * stride for count, stride in transfer.repeats) + transfer.run
        first, last = _ends(operand, move.box)
        if (transfer.offset, end) != (first, last + 1):
            raise ScheduleFault(f"a copy of '{operand.tensor}' in '{where}' covers elements [{transfer.offset}, {end})",
                                why=f"its box lies in [{first}, {last + 1})")  # fmt: skip
    lengths, strides = [high - low for low, high in move.box], _strides(operand)
    rows = _rows([(lengths[axis], strides[axis]) for axis in operand.axes])
    if elements and _rows([*transfer.repeats, (transfer.run, 1)]) != rows:
        raise ScheduleFault(f"a copy of '{operand.tensor}' in '{where}' repeats {transfer.run} elements by "
                            f"{list(transfer.repeats)}", why=f"its box lies as {rows}")  # fmt: skip
    return -(-elements * operand.bits // 8)


def _rows(repeats: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Counts and strides, outermost first, as few as say the same."""
    fewest: list[tuple[int, int]] = []
    for count, stride in reversed([pair for pair in repeats if pair[0] != 1]):
        if fewest and fewest[0][0] * fewest[0][1] == stride:
            fewest[0] = (fewest[0][0] * count, fewest[0][1])
        else:
            fewest.insert(0, (count, stride))
    return fewest


def _strides(operand: Operand) -> list[int]:
    """Elements between neighbours along each axis of the whole tensor."""
    strides, stride = [0] * len(operand.shape), 1
    for axis in reversed(operand.axes):
        strides[axis] = stride
        stride *= operand.shape[axis]
    return strides


def _ends(operand: Operand, box: Box) -> tuple[int, int]:
    """Memory index of the first and last element of a box."""
    strides = _strides(operand)
    first = sum(low * s for (low, _), s in zip(box, strides, strict=True))
    return first, sum((high - 1) * s for (_, high), s in zip(box, strides, strict=True))


def _partition(operand: Operand, boxes: list[Box], where: str) -> None:
    """The stored boxes cover the result exactly once."""
    counts = np.zeros(operand.shape or (1,), np.int8)
    for box in boxes:
        part = counts[tuple(slice(low, high) for low, high in box)]
        if part.any():
            raise ScheduleFault(f"'{where}' stores a part of '{operand.tensor}' twice", why=f"the box {box}")
        part += 1
    if not counts.all():
        place = tuple(int(i) for i in np.argwhere(counts == 0)[0])
        raise ScheduleFault(f"'{where}' never stores element {list(place)} of '{operand.tensor}'")


def _loops(schedule: TileSchedule, where: str) -> None:
    """Only loops that move the results are cut, so that every reduction runs from end to end inside one tile; others
    only where the kernel adds over them, behind all that move what it adds to."""
    last = schedule.stages[-1]
    cut = [name for name in schedule.order if last.extents[name] > schedule.sizes[name]]
    for operand in last.operands if cut else ():
        moved = [name for name in cut if name in operand.loops]
        for name in cut if operand.kind == "output" else ():
            if name in moved:
                continue
            if name not in last.adds:
                raise ScheduleFault(f"'{where}' cuts loop '{name}'", why=f"it does not move '{operand.tensor}'")
            if any(cut.index(other) > cut.index(name) for other in moved):
                raise ScheduleFault(f"'{where}' cuts loop '{name}' before '{moved[-1]}'",
                                    why=f"sums of '{operand.tensor}' over it would be stored too early")  # fmt: skip


def _box(operand: Operand, tile: Tile) -> Box:
    """Hull of what the accesses read or write in a tile, from the values of their subscripts."""
    return tuple(_axis(operand, axis, tile) for axis in range(len(operand.shape)))


def _axis(operand: Operand, axis: int, tile: Tile) -> tuple[int, int]:
    size = operand.shape[axis]
    low, high = size, 0
    for access in operand.accesses:
        sub = access.subscripts[axis]
        if any(tile[loop][0] >= tile[loop][1] for loop in sub.loops):
            continue
        if isinstance(sub, Affine) and len(sub.terms) == 1 and sub.terms[0][1] == 1 and sub.div == 1:
            first, end = (edge + sub.const for edge in tile[sub.terms[0][0]])
            first, end = max(first, 0), min(end, size)
        else:
            values = _values(sub, tile)
            inside = values[(values >= 0) & (values < size)]
            first, end = (int(inside.min()), int(inside.max()) + 1) if inside.size else (size, 0)
        low, high = min(low, first), max(high, end)
    return (low, high) if low < high else (0, 0)


def _values(sub: Subscript, tile: Tile) -> Indices:
    """Every value that a subscript takes in a tile."""
    if isinstance(sub, Table):
        part = np.asarray(sub.values[slice(*tile[sub.loop])])
        return np.unique(np.add.outer(part, _values(sub.offset, tile)))
    reached = np.asarray([sub.const])
    for loop, coeff in sub.terms:
        reached = np.unique(np.add.outer(reached, coeff * np.arange(*tile[loop])))
    return reached // sub.div


def _empty(box: Box) -> bool:
    return any(low >= high for low, high in box)
