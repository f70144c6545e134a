"""Normalisation without parameters: LpNormalization, MeanVarianceNormalization, LRN."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tilewright.model import Array, DType
from tilewright.ops.check import given, one_axis, ranked, typed, widened
from tilewright.ops.clamp import clamped
from tilewright.ops.index.body import body, combine, finish
from tilewright.ops.index.build import axes, operand
from tilewright.ops.index.nest import Nest, Space, Tensor
from tilewright.ops.index.scalars import divide_or_zero, local_response, standardise
from tilewright.ops.operator import Call, Operator, TensorType
from tilewright.ops.torch import Torch

MVN_EPSILON = 1e-9
"""What the function body of MeanVarianceNormalization in the standard adds to the deviation."""


def _wide(call: Call) -> DType:
    return DType.F64 if call.tensor(0).dtype is DType.F64 else DType.F32


# --------------------------------------------------------------------------------------------- LpNormalization
def _norm(call: Call) -> tuple[int, int]:
    """Axis and order of the norm."""
    p = call.integer("p", 2)
    if p not in (1, 2):
        raise call.invalid(f"attribute 'p' is {p}, it must be 1 or 2")
    return one_axis(call, len(ranked(call, 0, 1)), -1), p


def _infer_lp(call: Call) -> tuple[TensorType, ...]:
    x = typed(call, 0)
    _norm(call)
    return (TensorType(x.dtype, x.shape),)


def _evaluate_lp(call: Call, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
    x, (axis, p) = given(arrays[0], call, 0), _norm(call)
    wide = widened(x)
    total = np.abs(wide).sum(axis=axis, keepdims=True) if p == 1 else np.square(wide).sum(axis=axis, keepdims=True)
    result = divide_or_zero(wide, total if p == 1 else np.sqrt(total))
    return (clamped(call, result).astype(x.dtype),)


def _lp_nests(call: Call) -> tuple[Nest, ...]:
    """The norm, then quotients."""
    x, (axis, p) = operand(call.tensor(0), "x"), _norm(call)
    space = Space.of(**axes("i", x.shape))
    loops = list(space)
    shape = tuple(1 if a == axis else size for a, size in enumerate(x.shape))
    norm = Tensor("norm", shape, _wide(call))[*(0 if a == axis else loop for a, loop in enumerate(loops))]
    chosen, last = (body("abs"), finish("keep")) if p == 1 else (body("square"), finish("sqrt"))
    return (
        Nest(space, norm, (x[*loops],), chosen, combine("add"), last),
        Nest(space, Tensor("y", x.shape, x.dtype)[*loops], (x[*loops], norm), body("div_or_zero")),
    )


# ------------------------------------------------------------------------------------ MeanVarianceNormalization
def _over(call: Call) -> tuple[int, ...]:
    rank = len(ranked(call, 0, 1))
    default = (0, 2, 3) if rank == 4 else (0, *range(2, rank))
    axes = call.integers("axes", default)
    if any(not -rank <= a < rank for a in axes) or len({a % rank for a in axes}) != len(axes):
        raise call.invalid(f"attribute 'axes' is {list(axes)}, which a tensor with {rank} axes does not have")
    return tuple(a % rank for a in axes)


def _infer_mvn(call: Call) -> tuple[TensorType, ...]:
    x = typed(call, 0)
    _over(call)
    return (TensorType(x.dtype, x.shape),)


def _evaluate_mvn(call: Call, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
    x, over = given(arrays[0], call, 0), _over(call)
    wide = widened(x)
    mean = wide.mean(axis=over, keepdims=True)
    variance = np.square(wide - mean).mean(axis=over, keepdims=True)
    return (clamped(call, standardise(wide, mean, variance, MVN_EPSILON)).astype(x.dtype),)


def _mvn_nests(call: Call) -> tuple[Nest, ...]:
    """Mean, variance, then every element."""
    x, over = operand(call.tensor(0), "x"), _over(call)
    space = Space.of(**axes("i", x.shape))
    loops = list(space)
    shape = tuple(1 if a in over else size for a, size in enumerate(x.shape))
    reduced = [0 if a in over else loop for a, loop in enumerate(loops)]
    mean, variance = (Tensor(name, shape, _wide(call))[*reduced] for name in ("mean", "variance"))
    y, chosen = Tensor("y", x.shape, x.dtype)[*loops], body("standardise", MVN_EPSILON)
    return (
        Nest(space, mean, (x[*loops],), body("copy"), combine("add"), finish("mean")),
        Nest(space, variance, (x[*loops], mean), body("sq_diff"), combine("add"), finish("mean")),
        Nest(space, y, (x[*loops], mean, variance), chosen),
    )


# --------------------------------------------------------------------------------------------------------- LRN
def _size(call: Call) -> int:
    size = call.integer("size")
    if size < 1:
        raise call.invalid(f"attribute 'size' is {size}, it must be at least 1")
    ranked(call, 0, 2)
    return size


def _neighbours(call: Call) -> tuple[int, int]:
    """Channels before and behind one that its sum takes in; those that no tensor has are left out."""
    size, most = _size(call), call.shape()[1] - 1
    return min((size - 1) // 2, most), min(size - 1 - (size - 1) // 2, most)


def _response(call: Call) -> tuple[float, float, float]:
    return call.real("alpha", 1e-4) / _size(call), call.real("beta", 0.75), call.real("bias", 1.0)


def _infer_lrn(call: Call) -> tuple[TensorType, ...]:
    x = typed(call, 0)
    _size(call)
    return (TensorType(x.dtype, x.shape),)


def _evaluate_lrn(call: Call, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
    x, (before, after) = given(arrays[0], call, 0), _neighbours(call)
    wide, channels = widened(x), x.shape[1]
    squares = np.pad(np.square(wide), [(0, 0), (before, after), *((0, 0),) * (x.ndim - 2)])
    total = np.zeros_like(wide)
    for step in range(before + after + 1):
        total = total + squares[:, step : step + channels]
    return (clamped(call, local_response(wide, total, *_response(call))).astype(x.dtype),)


def _lrn_nests(call: Call) -> tuple[Nest, ...]:
    """Sum of the squares of neighbouring channels `k`, then every element."""
    x, (before, after) = operand(call.tensor(0), "x"), _neighbours(call)
    n, c, *rest = space = Space.of(n=x.shape[0], c=x.shape[1], **axes("i", x.shape[2:]))
    wider = Space.of(**dict(space.extents), k=before + after + 1)
    *_, k = wider
    squares = Tensor("squares", x.shape, _wide(call))[n, c, *rest]
    y, chosen = Tensor("y", x.shape, x.dtype)[n, c, *rest], body("lrn", *_response(call))
    return (
        Nest(wider, squares, (x[n, c + k - before, *rest],), body("square"), combine("add")),
        Nest(space, y, (x[n, c, *rest], squares), chosen),
    )


OPERATORS = (
    Operator("LpNormalization", _infer_lp, _evaluate_lp, ("x",), nests=_lp_nests, sketch="along"),
    Operator("MeanVarianceNormalization", _infer_mvn, _evaluate_mvn, ("x",), nests=_mvn_nests, sketch="image"),
    Operator(
        "LRN",
        _infer_lrn,
        _evaluate_lrn,
        ("x",),
        nests=_lrn_nests,
        torch=Torch(writer="response_norm"),
        sketch="windowed",
    ),
)
