"""Pad in the modes constant, reflect, edge and wrap; negative pads cut."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tilewright.model import Array
from tilewright.ops.codes import Moves
from tilewright.ops.facts import Range
from tilewright.ops.index.affine import Affine
from tilewright.ops.index.body import finish
from tilewright.ops.index.build import operand
from tilewright.ops.index.nest import Nest, Subscript
from tilewright.ops.index.table import Table
from tilewright.ops.moves import moved
from tilewright.ops.operands import Arrays, given, integer_list, listed, maybe, result, some_axes, zero_code
from tilewright.ops.operator import Call, Operator, TensorType
from tilewright.ops.torch import Torch

_MODES = ("constant", "reflect", "edge", "wrap")


def amounts(call: Call) -> tuple[tuple[int, int], ...]:
    """Elements added before and after each axis; negative where elements are cut."""
    rank, pads = len(call.shape()), listed(call, 1, "pads")
    if pads is None:
        raise call.invalid("pads are missing")
    axes = tuple(range(rank))
    if call.optional(3) is not None:
        axes = some_axes(call, integer_list(call, 3, "axes"), rank)
    value = call.optional(2)
    if value is not None and value.elements > 1:
        raise call.invalid(f"the pad value '{value.name}' has {value.elements} elements, it must be a scalar")
    if len(pads) != 2 * len(axes):
        raise call.invalid(f"{len(pads)} pads are given for {len(axes)} axes")
    amounts = [(0, 0)] * rank
    for place, axis in enumerate(axes):
        amounts[axis] = (pads[place], pads[place + len(axes)])
    return tuple(amounts)


def sources(call: Call) -> tuple[Array, ...]:
    """For every axis and position of the result the position in the operand; -1 where the pad value stands."""
    mode = _mode(call)
    return tuple(
        _positions(mode, size, before, after) for size, (before, after) in zip(call.shape(), amounts(call), strict=True)
    )


def _mode(call: Call) -> str:
    mode = call.text("mode", "constant")
    if mode not in _MODES:
        raise call.invalid(f"mode '{mode}' is none of {', '.join(_MODES)}")
    return mode


def _positions(mode: str, size: int, before: int, after: int) -> Array:
    positions: Array = np.arange(-before, size + after)
    low, high = max(0, -before), size - max(0, -after)  # what a negative pad leaves to copy from
    if mode == "constant":
        return np.where((positions >= 0) & (positions < size), positions, -1)
    inside, count = positions - low, max(high - low, 1)
    if mode == "edge":
        inside = inside.clip(0, count - 1)
    elif mode == "wrap":
        inside = inside % count
    else:
        period = max(2 * (count - 1), 1)
        inside = np.minimum(inside % period, period - inside % period) * (count > 1)
    return inside + low


def pad_value(call: Call, given_value: Array | None) -> int | float:
    """What the constant mode writes: the value given, else the code of 0."""
    if given_value is not None and given_value.size:
        value: int | float = given_value.reshape(-1)[0].item()
        return value
    if "value" in call.node.attributes:
        return call.real("value")
    return zero_code(call)


def _infer(call: Call) -> tuple[TensorType, ...]:
    pads = amounts(call)
    left = [size + min(before, 0) + min(after, 0) for size, (before, after) in zip(call.shape(), pads, strict=True)]
    if min(left, default=0) < 0:
        raise call.invalid(f"pads {pads} cut more than {call.shape()} has")
    if _mode(call) != "constant" and any(size == 0 and max(pair) > 0 for size, pair in zip(left, pads, strict=True)):
        raise call.invalid(f"mode '{_mode(call)}' needs an element to repeat, {call.shape()} padded by {pads} has none")
    shape = [size + max(before, 0) + max(after, 0) for size, (before, after) in zip(left, pads, strict=True)]
    return (result(call, call.tensor(0).dtype, shape),)


def _evaluate(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    padded = given(arrays, 0)
    value = np.asarray(pad_value(call, maybe(arrays, 2))).astype(padded.dtype)
    for axis, positions in enumerate(sources(call)):
        if padded.shape[axis] == 0:
            shape = (*padded.shape[:axis], len(positions), *padded.shape[axis + 1 :])
            padded = np.full(shape, value)
            continue
        copied = padded.take(positions.clip(0), axis)
        outside = (positions < 0).reshape(-1, *(1,) * (padded.ndim - axis - 1))
        padded = np.where(outside, value, copied) if outside.any() else copied
    return (padded,)


def _nests(call: Call) -> tuple[Nest, ...]:
    (kind,), begins = _infer(call), [before for before, _ in amounts(call)]
    if _mode(call) == "constant":
        tensor = call.optional(2)
        if tensor is not None and tensor.quantisation not in (None, call.tensor(0).quantisation):
            return ()  # a finish needs a number, in the operand's own code

        def shifted(loops: list[Affine]) -> list[Subscript]:
            return [i - b for i, b in zip(loops, begins, strict=True)]

        if tensor is None or 2 in call.constants:
            return moved(call, kind.shape, shifted, finish("pad_value", pad_value(call, call.constants.get(2))))
        value = operand(tensor, "value")[*(0,) * len(tensor.shape)]
        return tuple(replace(nest, after=(value,)) for nest in moved(call, kind.shape, shifted, finish("pad_operand")))
    places = sources(call)

    def subscripts(loops: list[Affine]) -> list[Subscript]:
        return [
            loop
            if tuple(positions) == tuple(range(size))
            else Table.over(f"source{axis}", loop, tuple(positions.tolist()))
            for axis, (loop, positions, size) in enumerate(zip(loops, places, call.shape(), strict=True))
        ]

    return moved(call, kind.shape, subscripts)


def _gap(call: Call) -> tuple[str, str]:
    return "the value of the padding has another scale than the operand", "quantise both with one scale"


def _copies(call: Call) -> tuple[Range, ...]:
    added = amounts(call)
    if _mode(call) != "constant" or any(before < 0 or after < 0 for before, after in added):
        return ()
    return (Range(0, 0, tuple(before for before, _ in added), call.shape(), inward=True),)


def _keeps(call: Call) -> bool:
    return not any(map(any, amounts(call)))


OPERATORS = (
    Operator(
        "Pad",
        _infer,
        _evaluate,
        ("x", "pads", "value", "axes"),
        nests=_nests,
        gap=_gap,
        codes=Moves(),
        torch=Torch(writer="pad"),
        sketch="pad",
        keeps=_keeps,
        copies=_copies,
    ),
)
