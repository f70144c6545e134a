"""Transpose: a view too, for its result is its operand under another layout; binding decides whether bytes move."""

from __future__ import annotations

from tilewright.model import Array
from tilewright.ops.codes import Moves
from tilewright.ops.index.nest import Nest
from tilewright.ops.moves import moved
from tilewright.ops.operands import Arrays, given, result, some_axes
from tilewright.ops.operator import Adjoint, Call, Kind, Operator, TensorType
from tilewright.ops.torch import Torch


def permutation(call: Call) -> tuple[int, ...]:
    """For each axis of the result the axis of the operand; reversed where `perm` is not given."""
    rank = len(call.shape())
    perm = some_axes(call, call.integers("perm", tuple(reversed(range(rank)))), rank)
    if len(perm) != rank:
        raise call.invalid(f"perm {perm} does not name every axis of {call.shape()}")
    return perm


def _infer(call: Call) -> tuple[TensorType, ...]:
    return (result(call, call.tensor(0).dtype, [call.shape()[axis] for axis in permutation(call)]),)


def _evaluate(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    return (given(arrays, 0).transpose(permutation(call)),)


def _nests(call: Call) -> tuple[Nest, ...]:
    perm, (kind,) = permutation(call), _infer(call)
    return moved(call, kind.shape, lambda loops: [loops[perm.index(axis)] for axis in range(len(perm))])


def _keeps(call: Call) -> bool:
    """True where the axes that are longer than 1 keep their order."""
    moving = [axis for axis in permutation(call) if call.shape()[axis] != 1]
    return moving == sorted(moving)


def _gradient(a: Adjoint, index: int) -> str:
    perm = permutation(a.call)
    return a.transpose(a.dy, [perm.index(axis) for axis in range(len(perm))])


OPERATORS = (
    Operator(
        "Transpose",
        _infer,
        _evaluate,
        ("x",),
        nests=_nests,
        kind=Kind.VIEW,
        codes=Moves(whole=True),
        torch=Torch(writer="transpose"),
        sketch="transpose",
        keeps=_keeps,
        gradient=_gradient,
    ),
)
