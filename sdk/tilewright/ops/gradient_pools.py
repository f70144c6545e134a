"""Gradients in codes through pools: to the largest element of each window, or to all of them alike.

Where windows overlap the sum of what comes to an element is divided by a power of two, which is known when compiling.
"""

from __future__ import annotations

import numpy as np

from tilewright.model import Array, DType, Shape
from tilewright.ops.codes import AsIntegers
from tilewright.ops.gradient_codes import limited, rounded
from tilewright.ops.operands import Arrays, given, result
from tilewright.ops.operator import Call, Kind, Operator, TensorType
from tilewright.ops.relayout import DOMAIN
from tilewright.ops.window import Window, padded, tap_view


def pool_window(call: Call, outs: Shape) -> Window:
    """The window; padding behind the operand is as far as windows reach."""
    kernel, strides, dilations, begins = (call.integers(name) for name in ("kernel", "strides", "dilations", "begins"))
    return Window(kernel, strides, dilations, begins, (0,) * len(kernel), outs)


def _infer_largest(call: Call) -> tuple[TensorType, ...]:
    if call.tensor(0).dtype is not DType.I8 or call.tensor(1).dtype.bits != 8 or call.shape()[:2] != call.shape(1)[:2]:
        raise call.invalid("a gradient of a pool is int8, as many channels as its operand")
    return (result(call, DType.I8, call.shape(1)),)


def _to_largest(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    """The first of equal elements takes all."""
    codes, x = given(arrays, 0).astype(np.int64), given(arrays, 1).astype(np.int64)
    window = pool_window(call, codes.shape[2:])
    source = padded(x, window, -(1 << 20))
    best, place = np.full(codes.shape, -(1 << 19), np.int64), np.full(codes.shape, -1, np.int64)
    for number, tap in enumerate(window.taps()):
        here = tap_view(source, window, tap)
        better = here > best
        best, place = np.where(better, here, best), np.where(better, number, place)
    total = np.zeros(source.shape, np.int64)
    for number, tap in enumerate(window.taps()):
        tap_view(total, window, tap)[...] += np.where(place == number, codes, 0)
    return (_inner(call, total, window, x.shape),)


def _infer_spread(call: Call) -> tuple[TensorType, ...]:
    sizes = call.integers("sizes")
    if call.tensor(0).dtype is not DType.I8 or len(sizes) != len(call.shape()) - 2:
        raise call.invalid("a gradient of a pool is int8")
    return (result(call, DType.I8, (*call.shape()[:2], *sizes)),)


def _spread(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    codes = given(arrays, 0).astype(np.int64)
    window, shape = pool_window(call, codes.shape[2:]), (*codes.shape[:2], *call.integers("sizes"))
    total = np.zeros(padded(np.zeros(shape, np.int8), window, 0).shape, np.int64)
    for tap in window.taps():
        tap_view(total, window, tap)[...] += codes
    return (_inner(call, total, window, shape),)


def _inner(call: Call, total: Array, window: Window, shape: Shape) -> Array:
    inner = tuple(slice(begin, begin + size) for begin, size in zip(window.begins, shape[2:], strict=True))
    return limited(rounded(total[(slice(None), slice(None), *inner)], call.integer("bits", 0)))


OPERATORS = (
    Operator(
        "GradientMaxPool", _infer_largest, _to_largest, ("codes", "x"), ("dx",), kind=Kind.OPAQUE, domain=DOMAIN,
        codes=AsIntegers(), sketch="gradient_max_pool",
    ),
    Operator(
        "GradientMeanPool", _infer_spread, _spread, ("codes",), ("dx",), kind=Kind.OPAQUE, domain=DOMAIN,
        sketch="gradient_mean_pool",
    ),
)  # fmt: skip
