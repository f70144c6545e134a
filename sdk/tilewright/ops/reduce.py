"""ReduceSum, ReduceMean, ReduceMax, ReduceMin, ReduceProd and the norms and logarithms of sums.

Sums and products of integers stay in the integers' own type and wrap; a mean of integers truncates toward zero.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from tilewright.model import Array, DType
from tilewright.ops import norm_gradients
from tilewright.ops.cast import convert
from tilewright.ops.check import widened
from tilewright.ops.clamp import clamped
from tilewright.ops.codes import Codes, Mean, Moves
from tilewright.ops.index.affine import Affine
from tilewright.ops.index.body import body, combine, finish
from tilewright.ops.index.build import axes as loops_over
from tilewright.ops.index.build import operand
from tilewright.ops.index.nest import Access, Nest, Space, Tensor
from tilewright.ops.operands import Arrays, given, listed, result, some_axes
from tilewright.ops.operator import Call, Operator, TensorType
from tilewright.ops.torch import Torch

Axes = tuple[int, ...]


def reduced_axes(call: Call) -> Axes:
    """The axes that disappear (or stay as 1), ascending; none at all where `noop_with_empty_axes` says so."""
    rank, axes = len(call.shape()), listed(call, 1, "axes")
    if not axes:
        return () if call.integer("noop_with_empty_axes", 0) else tuple(range(rank))
    return tuple(sorted(some_axes(call, axes, rank)))


def keeps_axes(call: Call) -> bool:
    """Whether reduced axes stay as axes of size 1."""
    return bool(call.integer("keepdims", 1))


def _infer(call: Call) -> tuple[TensorType, ...]:
    axes, shape, tensor = reduced_axes(call), call.shape(), call.tensor(0)
    if tensor.dtype is DType.BOOL and call.node.op not in ("ReduceMax", "ReduceMin"):
        raise call.invalid("the operand is bool")
    if call.node.op == "ReduceMean" and not tensor.dtype.is_float and prod(shape[axis] for axis in axes) == 0:
        raise call.invalid(f"the mean of no integers, over the axes {axes} of {shape}")
    keeps = keeps_axes(call)
    sizes = [1 if axis in axes else size for axis, size in enumerate(shape) if keeps or axis not in axes]
    return (result(call, tensor.dtype, sizes),)


def _sum(x: Array, axes: Axes) -> Array:
    if x.dtype == np.float16:  # a sum of many halves loses their low digits, as no runtime does
        return np.asarray(x.sum(axes, dtype=np.float32, keepdims=True)).astype(np.float16)
    return np.asarray(x.sum(axes, dtype=x.dtype, keepdims=True))


def _mean(x: Array, axes: Axes) -> Array:
    count = prod(x.shape[axis] for axis in axes)
    if x.dtype.kind == "f":
        wide = x.astype(np.float32) if x.dtype == np.float16 else x
        return np.asarray(wide.sum(axes, keepdims=True) / wide.dtype.type(count)).astype(x.dtype)
    total = _sum(x, axes)
    quotient = total // count
    return np.asarray(quotient + ((quotient < 0) & (quotient * count != total)), x.dtype)


def _largest(x: Array, axes: Axes) -> Array:
    largest: Array = x.max(axes, keepdims=True, initial=_extreme(x, False))
    return largest


def _smallest(x: Array, axes: Axes) -> Array:
    smallest: Array = x.min(axes, keepdims=True, initial=_extreme(x, True))
    return smallest


def _extreme(x: Array, high: bool) -> Any:
    if x.dtype.kind == "f":
        return np.inf if high else -np.inf
    if x.dtype.kind == "b":
        return high
    return np.iinfo(x.dtype).max if high else np.iinfo(x.dtype).min


def _product(x: Array, axes: Axes) -> Array:
    with np.errstate(over="ignore", under="ignore"):
        product: Array = widened(x).prod(axes, keepdims=True, dtype=widened(x).dtype).astype(x.dtype)
    return product


def _square_sum(x: Array, axes: Axes) -> Array:
    if x.dtype == np.float16:
        return _sum(np.square(x.astype(np.float32)), axes).astype(np.float16)
    return _sum(x * x, axes)


def _real(step: Callable[[Array, Axes], Array]) -> Callable[[Array, Axes], Array]:
    """The step on floating-point values; integers go through float64 and are truncated back."""

    def compute(x: Array, axes: Axes) -> Array:
        if x.dtype.kind == "f" and x.dtype != np.float16:
            return step(x, axes)
        wide = step(x.astype(np.float32 if x.dtype.kind == "f" else np.float64), axes)
        return convert(wide, DType.of(wide.dtype), DType.of(x.dtype))

    return compute


def _length(x: Array, axes: Axes) -> Array:
    length: Array = np.sqrt(_square_sum(x, axes))
    return length


def _log_sum(x: Array, axes: Axes) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        logarithm: Array = np.log(_sum(x, axes))
    return logarithm


def _log_sum_exp(x: Array, axes: Axes) -> Array:
    high = _largest(x, axes)
    high = np.where(np.isfinite(high), high, high.dtype.type(0))  # infinities would leave inf - inf
    with np.errstate(divide="ignore", over="ignore"):
        logarithm: Array = np.log(_sum(np.exp(x - high), axes)) + high
    return logarithm


def _absolute_sum(x: Array, axes: Axes) -> Array:
    return _sum(np.abs(x), axes)


_STEPS: dict[str, Callable[[Array, Axes], Array]] = {
    "ReduceSum": _sum,
    "ReduceMean": _mean,
    "ReduceMax": _largest,
    "ReduceMin": _smallest,
    "ReduceProd": _product,
    "ReduceSumSquare": _square_sum,
    "ReduceL1": _absolute_sum,
    "ReduceL2": _real(_length),
    "ReduceLogSum": _real(_log_sum),
    "ReduceLogSumExp": _real(_log_sum_exp),
}


def _evaluate(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    x, axes = given(arrays, 0), reduced_axes(call)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        result = _STEPS[call.node.op](x, axes)
    return (clamped(call, result.reshape(call.outputs[0].shape)),)


_PLAIN = {
    "ReduceSum": ("copy", "add", "keep"),
    "ReduceMean": ("copy", "add", "mean"),
    "ReduceMax": ("copy", "max", "keep"),
    "ReduceMin": ("copy", "min", "keep"),
    "ReduceProd": ("copy", "mul", "keep"),
    "ReduceSumSquare": ("square", "add", "keep"),
    "ReduceL1": ("abs", "add", "keep"),
    "ReduceL2": ("square", "add", "sqrt"),
    "ReduceLogSum": ("copy", "add", "log"),
}
"""What is done at a point, how points are combined, how a total is finished."""


def _nests(call: Call) -> tuple[Nest, ...]:
    (kind,), axes, tensor = _infer(call), reduced_axes(call), call.tensor(0)
    real = call.node.op in ("ReduceL2", "ReduceLogSum", "ReduceLogSumExp")
    if 0 in tensor.shape or (real and not tensor.dtype.is_float):
        return ()
    space = Space.of(**loops_over("i", tensor.shape))
    loops, keeps = list(space), keeps_axes(call)
    out: list[Affine | int] = [
        0 if axis in axes else loop for axis, loop in enumerate(loops) if keeps or axis not in axes
    ]
    x, y = operand(tensor, "x")[*loops], Tensor("y", kind.shape, kind.dtype)
    if call.node.op == "ReduceLogSumExp":
        return _log_sum_exp_nests(space, x, y, out)
    point, joined, last = _PLAIN[call.node.op]
    if tensor.dtype is DType.BOOL:
        joined = "or" if joined == "max" else "and"
    return (Nest(space, y[*out], (x,), body(point), combine(joined), finish(last)),)


def _log_sum_exp_nests(space: Space, x: Access, y: Tensor, out: list[Affine | int]) -> tuple[Nest, ...]:
    """The largest of each row if finite, the sum of exponentials behind it, and the logarithm put back on top."""
    high, total = Tensor("high", y.shape, y.dtype), Tensor("total", y.shape, y.dtype)
    rows = Space(
        tuple((name, size) for name, size in space.items if any(name in access.loops for access in (y[*out],)))
    )
    return (
        Nest(space, high[*out], (x,), combine=combine("max"), finish=finish("finite")),
        Nest(space, total[*out], (x, high[*out]), body("exp_sub"), combine("add"), finish("log")),
        Nest(rows, y[*out], (total[*out], high[*out]), body("add")),
    )


def _gap(call: Call) -> tuple[str, str]:
    return f"its operand is {call.tensor(0).dtype.value}, it is computed on floats", "put a Cast to f32 before it"


_CODES: dict[str, Codes] = {
    "ReduceSum": Mean(divides=False),
    "ReduceMean": Mean(),
    "ReduceMax": Moves(compares=True),
    "ReduceMin": Moves(compares=True),
}
_TORCH = {
    "ReduceSum": "{0}.sum({1})",
    "ReduceMean": "{0}.mean({1})",
    "ReduceMax": "{0}.amax({1})",
    "ReduceMin": "{0}.amin({1})",
    "ReduceL1": "{0}.abs().sum({1})",
    "ReduceL2": "({0} ** 2).sum({1}).sqrt()",
    "ReduceSumSquare": "({0} ** 2).sum({1})",
    "ReduceLogSumExp": "{0}.logsumexp({1})",
    "ReduceLogSum": "{0}.sum({1}).log()",
}


def _operator(name: str) -> Operator:
    torch = Torch(_TORCH[name], writer="reduction") if name in _TORCH else None
    return Operator(
        name, _infer, _evaluate, ("x", "axes"), nests=_nests, gap=_gap, codes=_CODES.get(name), torch=torch,
        sketch="reduce", gradient=lambda a, index: norm_gradients.reduction(a, index, reduced_axes(a.call)),
    )  # fmt: skip


OPERATORS = tuple(map(_operator, _STEPS))
