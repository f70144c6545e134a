"""Gemm: `alpha * op(A) @ op(B) + beta * C`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tilewright.model import Array, Node
from tilewright.ops import product_gradients
from tilewright.ops.check import FLOATS, SIGNED, UNSIGNED, broadcast_shape, given, ranked, same_type, typed, widened
from tilewright.ops.clamp import clamped
from tilewright.ops.codes import Products
from tilewright.ops.facts import DescentWindow, descent_matrix
from tilewright.ops.index.body import body, combine, finish
from tilewright.ops.index.build import broadcast, operand
from tilewright.ops.index.nest import Nest, Space, Tensor
from tilewright.ops.operator import Call, Operator, TensorType
from tilewright.ops.torch import Torch

ACCEPTS = FLOATS | {t for t in SIGNED | UNSIGNED if t.bits >= 32}


def sizes(call: Call) -> tuple[int, int, int]:
    """Rows, inner length and columns (m, k, n) of a Gemm whose shapes fit together; ModelError where they do not."""
    a, b = ranked(call, 0, 2, 2), ranked(call, 1, 2, 2)
    m, k = a[::-1] if call.integer("transA", 0) else a
    inner, n = b[::-1] if call.integer("transB", 0) else b
    if k != inner:
        raise call.invalid(f"the inner lengths {k} and {inner} of {list(a)} and {list(b)} differ")
    c = call.optional(2)
    if c is not None and broadcast_shape(call, c.shape, (m, n)) != (m, n):
        raise call.invalid(f"C of shape {list(c.shape)} cannot be broadcast to [{m}, {n}]")
    return m, k, n


def infer(call: Call) -> tuple[TensorType, ...]:
    """Shape [m, n]."""
    for index in (0, 1):
        typed(call, index, ACCEPTS)
    dtype = same_type(call, 0, 1, 2)
    m, _, n = sizes(call)
    return (TensorType(dtype, (m, n)),)


def gemm_sum(call: Call, a: Array, b: Array) -> Array:
    """The plain sums of products [m, n], without alpha, beta and C, in the element type of the arrays."""
    return np.asarray((a.T if call.integer("transA", 0) else a) @ (b.T if call.integer("transB", 0) else b))


def evaluate(call: Call, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
    """Float semantics: sums in single or double precision, scaled, C added, clamp. Integers wrap."""
    a, b, c = (*arrays, None)[:3]
    total = gemm_sum(call, widened(given(a, call, 0)), widened(given(b, call, 1)))
    alpha, beta = call.real("alpha", 1.0), call.real("beta", 1.0)
    total = total if alpha == 1 else np.asarray(total * alpha).astype(total.dtype)
    if c is not None:
        addend = widened(c)
        total = total + (addend if beta == 1 else np.asarray(addend * beta).astype(addend.dtype))
    return (clamped(call, total).astype(call.outputs[0].dtype.numpy),)


def nests(call: Call) -> tuple[Nest, ...]:
    """`y[m, n] += a[m, k] * b[k, n]`, the operands turned where the attributes say so."""
    (kind,) = infer(call)
    rows, length, columns = sizes(call)
    m, n, k = space = Space.of(m=rows, n=columns, k=length)
    a, b, c = operand(call.tensor(0), "a"), operand(call.tensor(1), "b"), call.optional(2)
    alpha, beta = call.real("alpha", 1.0), call.real("beta", 1.0)
    last = finish("keep") if alpha == 1 else finish("scale", alpha)
    if c is not None:
        last = finish("add") if alpha == beta == 1 else finish("scale_add", alpha, beta)
    return (
        Nest(
            space,
            Tensor("y", kind.shape, kind.dtype)[m, n],
            (
                a[k, m] if call.integer("transA", 0) else a[m, k],
                b[n, k] if call.integer("transB", 0) else b[k, n],
            ),
            body("mul"),
            combine("add"),
            last,
            (broadcast(operand(c, "c"), [m, n]),) if c is not None else (),
        ),
    )


def _descent(call: Call) -> DescentWindow | None:
    if call.integer("transA", 0) or call.real("alpha", 1.0) != 1:
        return None
    return descent_matrix(turned=not call.integer("transB", 0))


def _weight_axis(node: Node, rank: int) -> int:
    return 0 if node.attributes.get("transB", 0) else 1


CODES = Products(
    result_axis=-1,
    weight_axis=_weight_axis,
    by_channel=lambda node, weights: np.moveaxis(weights, _weight_axis(node, 2), 0),
    depth=lambda node, shape: shape[1 - _weight_axis(node, 2)],
    factors=("alpha", "beta"),
)
OPERATORS = (
    Operator(
        "Gemm",
        infer,
        evaluate,
        ("a", "b", "c"),
        nests=nests,
        codes=CODES,
        clamps=True,
        torch=Torch(writer="gemm", layer=True),
        sketch="gemm",
        gradient=product_gradients.gemm,
        descent=_descent,
    ),
)
