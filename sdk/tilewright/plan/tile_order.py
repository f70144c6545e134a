"""The order in which tiles read and write the memory they come from: whether a result may lie over an operand there."""

from __future__ import annotations

from math import prod

import numpy as np

from tilewright.model import Array
from tilewright.ops.index.nest import Box
from tilewright.tiling.schedule import Operand, OperandKind, TileSchedule

Port = tuple[str, int]
"""A node of a schedule and which of its operands, or of its results, is meant."""


def loads_before_stores(schedule: TileSchedule, read: Port, written: Port) -> bool:
    """True where no tile loads elements of an operand that an earlier tile has stored of a result in their place.

    The loads of a tile are done when it is computed, its stores begin behind that: so a store may touch what its own
    tile or earlier ones have loaded, wherever copies beside the cores run ahead. Both lie from one byte on, with
    elements of one size, and neither lies in the compute level.
    """
    loader, target = _loader(schedule, read), _operand(schedule, ("output",), written)
    if loader is None or target is None:
        return False
    stage, source = loader
    if schedule.resident(source) or schedule.resident(target):
        return False
    if source.bits != target.bits or prod(source.shape) != prod(target.shape):
        return False
    if schedule.starts:  # what a stage loads is there before it begins, what it makes is stored behind it
        return schedule.nodes.index(stage) <= schedule.nodes.index(written[0])
    from_, to = _places(source), _places(target)
    loaded = np.full(prod(target.shape), -1, np.int64)
    steps = list(schedule.steps())
    for step in steps:
        for copy in step.loads:
            if copy.key == source.key:
                loaded[_within(from_, copy.box)] = step.index
    return not any(
        (loaded[_within(to, copy.box)] > step.index).any()
        for step in steps
        for copy in step.stores
        if copy.key == target.key
    )


def _loader(schedule: TileSchedule, port: Port) -> tuple[str, Operand] | None:
    """Who loads a node's operand, and as what: at a sitting an earlier stage may have done so, whose buffer is read on;
    None where it does not come from the home level.
    """
    read = _operand(schedule, ("input", "local"), port)
    loads = (
        (stage.node, one)
        for stage in schedule.stages
        for one in stage.operands
        if read is not None and (one.key, one.kind) == (read.key, "input")
    )
    return next(loads, None)


def _operand(schedule: TileSchedule, kinds: tuple[OperandKind, ...], port: Port) -> Operand | None:
    """The operand or result of a node, of some kinds; None where there is none of those."""
    operands = (
        one
        for stage in schedule.stages
        for one in stage.operands
        if stage.node == port[0] and one.kind in kinds and one.index == port[1]
    )
    return next(operands, None)


def _places(operand: Operand) -> Array:
    """Per element of a tensor, in its logical shape, where it lies, in elements."""
    axes = operand.axes
    at: Array = np.arange(prod(operand.shape), dtype=np.int64).reshape([operand.shape[axis] for axis in axes])
    return at.transpose(np.argsort(axes))


def _within(places: Array, box: Box) -> Array:
    return places[tuple(slice(low, high) for low, high in box)]
