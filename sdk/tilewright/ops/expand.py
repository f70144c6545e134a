"""Expand and Tile: the same elements read again along some axes."""

from __future__ import annotations

import numpy as np

from tilewright.model import Array
from tilewright.ops.codes import Moves
from tilewright.ops.index.build import axes, operand
from tilewright.ops.index.build import broadcast as across
from tilewright.ops.index.nest import Nest, Space, Tensor
from tilewright.ops.moves import moved
from tilewright.ops.operands import Arrays, broadcast, given, integer_list, result
from tilewright.ops.operator import Call, Operator, TensorType, always
from tilewright.ops.torch import Torch


def _expand(call: Call) -> tuple[TensorType, ...]:
    shape = integer_list(call, 1, "the shape")
    if any(size < 0 for size in shape):
        raise call.invalid(f"the shape {shape} holds a negative size")
    return (result(call, call.tensor(0).dtype, broadcast(call, call.shape(), shape)),)


def _expanded(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    return (np.broadcast_to(given(arrays, 0), call.outputs[0].shape),)


def repeats(call: Call) -> tuple[int, ...]:
    """How often each axis is repeated."""
    counts = integer_list(call, 1, "repeats")
    if len(counts) != len(call.shape()) or any(count < 0 for count in counts):
        raise call.invalid(f"repeats {counts} do not fit the shape {call.shape()}")
    return counts


def _tile(call: Call) -> tuple[TensorType, ...]:
    return (result(call, call.tensor(0).dtype, [n * r for n, r in zip(call.shape(), repeats(call), strict=True)]),)


def _tiled(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    return (np.tile(given(arrays, 0), repeats(call)),)


def _expand_nests(call: Call) -> tuple[Nest, ...]:
    (kind,), x = _expand(call), operand(call.tensor(0), "x")
    return moved(call, kind.shape, lambda loops: across(x, loops).subscripts)


def _tile_nests(call: Call) -> tuple[Nest, ...]:
    (kind,), source = _tile(call), operand(call.tensor(0), "x")
    if 0 in kind.shape:
        return ()
    rank = len(source.shape)
    space = Space.of(**axes("r", repeats(call)), **axes("i", source.shape))
    loops = list(space)
    target = [r * n + i for r, n, i in zip(loops[:rank], source.shape, loops[rank:], strict=True)]
    return (Nest(space, Tensor("y", kind.shape, kind.dtype)[*target], (source[*loops[rank:]],)),)


OPERATORS = (
    Operator(
        "Expand",
        _expand,
        _expanded,
        ("x", "shape"),
        nests=_expand_nests,
        codes=Moves(whole=True),
        torch=Torch(writer="expand"),
        sketch="expand",
        keeps=always,
        gradient=lambda a, index: "" if index else a.unbroadcast(a.dy, a.shape()),
    ),
    Operator(
        "Tile",
        _tile,
        _tiled,
        ("x", "repeats"),
        nests=_tile_nests,
        codes=Moves(whole=True),
        torch=Torch(writer="tile"),
        sketch="expand",
        keeps=always,
    ),
)
