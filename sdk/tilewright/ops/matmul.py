"""MatMul with batch broadcasting, and MatMulInteger."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tilewright.model import Array, DType, Node, Shape
from tilewright.ops import product_gradients
from tilewright.ops.check import (
    BYTES,
    FLOATS,
    SIGNED,
    UNSIGNED,
    broadcast_shape,
    given,
    ranked,
    same_type,
    typed,
    widened,
)
from tilewright.ops.clamp import clamped
from tilewright.ops.codes import Products
from tilewright.ops.facts import DescentWindow, descent_matrix
from tilewright.ops.index.affine import Affine
from tilewright.ops.index.body import body, combine
from tilewright.ops.index.build import axes, broadcast, operand
from tilewright.ops.index.nest import Access, Nest, Space, Tensor
from tilewright.ops.operator import Call, Operator, TensorType
from tilewright.ops.torch import Torch

ACCEPTS = FLOATS | {t for t in SIGNED | UNSIGNED if t.bits >= 32}


def result_shape(call: Call) -> Shape:
    """Batch axes broadcast, then rows and columns; an operand of one axis adds none. ModelError where they clash."""
    a, b = ranked(call, 0, 1), ranked(call, 1, 1)
    inner = b[-2] if len(b) > 1 else b[0]
    if a[-1] != inner:
        raise call.invalid(f"the inner lengths {a[-1]} and {inner} of {list(a)} and {list(b)} differ")
    return (*broadcast_shape(call, a[:-2], b[:-2]), *a[-2:-1], *(b[-1:] if len(b) > 1 else ()))


def infer(call: Call) -> tuple[TensorType, ...]:
    """The type of the operands."""
    for index in (0, 1):
        typed(call, index, ACCEPTS)
    return (TensorType(same_type(call, 0, 1), result_shape(call)),)


def matmul_sum(call: Call, a: Array, b: Array) -> Array:
    """The plain sums of products in the element type of the arrays."""
    return np.asarray(np.matmul(a, b))


def evaluate(call: Call, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
    """Float semantics: sums in single or double precision, clamp. Integers wrap."""
    total = matmul_sum(call, widened(given(arrays[0], call, 0)), widened(given(arrays[1], call, 1)))
    return (clamped(call, total).astype(call.outputs[0].dtype.numpy),)


def _place(tensor: Tensor, batch: Sequence[Affine], own: tuple[Affine, ...]) -> Access:
    """The tensor's batch axes right-aligned, then its own one or two axes."""
    own = own[-len(tensor.shape) :] if len(tensor.shape) == 1 else own
    lead = tensor.shape[: -len(own)]
    aligned = batch[len(batch) - len(lead) :]
    return tensor[*(0 if size == 1 else loop for size, loop in zip(lead, aligned, strict=True)), *own]


def _products(call: Call, dtype: DType) -> Nest:
    """`y[b0, m, n] += a[b0, m, k] * b[b0, k, n]`."""
    shape = result_shape(call)
    a, b = operand(call.tensor(0), "a"), operand(call.tensor(1), "b")
    rows, columns = a.shape[-2:-1], b.shape[-1:] if len(b.shape) > 1 else ()
    lead = shape[: len(shape) - len(rows) - len(columns)]
    space = Space.of(
        **axes("b", lead),
        **({"m": rows[0]} if rows else {}),
        **({"n": columns[0]} if columns else {}),
        k=a.shape[-1],
    )
    loops = list(space)
    batch, k = loops[: len(lead)], loops[-1]
    out = Tensor("y", shape, dtype)[*loops[:-1]]
    left = _place(a, batch, (*loops[len(lead) : len(lead) + len(rows)], k))
    right = _place(b, batch, (k, *loops[len(lead) + len(rows) : -1]))
    return Nest(space, out, (left, right), body("mul"), combine("add"))


def nests(call: Call) -> tuple[Nest, ...]:
    """One nest; batch loops `b0`, `b1`, ..., then `m`, `n`, `k`."""
    return (_products(call, infer(call)[0].dtype),)


def _infer_integer(call: Call) -> tuple[TensorType, ...]:
    for index in (0, 1):
        tensor = typed(call, index, BYTES)
        zero = call.optional(index + 2)
        if zero is not None and zero.dtype is not tensor.dtype:
            raise call.invalid(f"zero point '{zero.name}' must have the type of '{tensor.name}'")
    for zero, axis in ((call.optional(2), -2), (call.optional(3), -1)):
        if zero is not None and zero.elements != 1:
            raise_unless_per_row(call, zero.shape, axis)
    return (TensorType(DType.I32, result_shape(call)),)


def raise_unless_per_row(call: Call, shape: Shape, axis: int) -> None:
    """A zero point per row of A or per column of B; ModelError for any other shape."""
    wanted = call.shape(0 if axis == -2 else 1)
    if len(shape) != 1 or len(wanted) < 2 or shape[0] != wanted[axis]:
        raise call.invalid(f"a zero point of shape {list(shape)} does not fit an operand of shape {list(wanted)}")


def _evaluate_integer(call: Call, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
    a, b, za, zb = (*arrays, None, None)[:4]
    left, right = given(a, call, 0).astype(np.int32), given(b, call, 1).astype(np.int32)
    if za is not None:
        left = left - (za.reshape(()) if za.size == 1 else za.reshape(-1, 1)).astype(np.int32)
    if zb is not None:
        right = right - (zb.reshape(()) if zb.size == 1 else zb).astype(np.int32)
    return (np.asarray(np.matmul(left, right)),)


def _integer_nests(call: Call) -> tuple[Nest, ...]:
    """As MatMul with both zero points, one per tensor; an empty chain for other forms."""
    plain = _products(call, DType.I32)
    zeros = [call.optional(2), call.optional(3)]
    if any(zero is not None and zero.shape not in ((), (1,)) for zero in zeros):
        return ()
    names = ("a_zero_point", "b_zero_point")
    accesses = [
        broadcast(operand(zero, name) if zero else Tensor(name, (), DType.I8, (0,)), [Affine()])
        for zero, name in zip(zeros, names, strict=True)
    ]
    return (Nest(plain.space, plain.out, (*plain.ins, *accesses), body("mul_offsets"), combine("add")),)


def _descent(call: Call) -> DescentWindow | None:
    return descent_matrix(turned=True) if len(call.shape(0)) > 1 == len(call.shape(1)) - 1 else None


def _gap(call: Call) -> tuple[str, str]:
    return "it has a zero point per row or column", "quantise with one zero point for each operand"


def _by_channel(node: Node, weights: Array) -> Array | None:
    return None if weights.ndim > 2 else weights.reshape(1, -1) if weights.ndim < 2 else weights.T


CODES = Products(
    result_axis=-1,
    weight_axis=lambda node, rank: rank - 1,
    by_channel=_by_channel,
    depth=lambda node, shape: shape[max(len(shape) - 2, 0)],
    takes_bias=False,
)
OPERATORS = (
    Operator(
        "MatMul",
        infer,
        evaluate,
        ("a", "b"),
        nests=nests,
        codes=CODES,
        clamps=True,
        torch=Torch("{0} @ {1}", layer=True),
        sketch="matmul",
        gradient=product_gradients.matmul,
        descent=_descent,
    ),
    Operator(
        "MatMulInteger",
        _infer_integer,
        _evaluate_integer,
        ("a", "b", "a_zero_point", "b_zero_point"),
        nests=_integer_nests,
        gap=_gap,
        sketch="matmul_integer",
    ),
)
