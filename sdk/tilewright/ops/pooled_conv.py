"""PooledConv: a convolution of one image with a Relu and the mean over its planes, of which no plane is stored.

A gradient needs nothing of the planes but where they are above zero: `signs` has a bit for every result of a pixel, and
`counts` how many of a plane's are set. `tilewright.gradient` makes it; no file contains it.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np

from tilewright.model import Array, DType
from tilewright.ops.conv import conv_window, evaluate, infer
from tilewright.ops.descent import DescentTerm, term_of
from tilewright.ops.facts import descent_window
from tilewright.ops.operands import Arrays, result
from tilewright.ops.operator import Call, Kind, Operator, TensorType, remembered
from tilewright.ops.relayout import DOMAIN


def sign_bytes(results: int) -> int:
    """Bytes that hold the signs of a pixel, the first result in the lowest bit."""
    return -(-results // 8)


def _infer(call: Call) -> tuple[TensorType, ...]:
    (whole,) = infer(call)
    images, results, *sizes = whole.shape
    if images != 1 or whole.dtype is not DType.F32:
        raise call.invalid("planes of one image in float32 are pooled as they are made")
    narrow = result(call, whole.dtype, (1, results, *(1 for _ in sizes)))
    return narrow, result(call, DType.U8, (prod(sizes), sign_bytes(results))), narrow


def _evaluate(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    (whole,) = infer(call)
    planes = replace(call.outputs[0], shape=whole.shape)
    (y,) = evaluate(replace(call, outputs=(planes,)), arrays)
    y = np.maximum(y, 0).reshape(whole.shape[1], -1)
    narrow = call.outputs[0].shape
    signs = np.packbits(y.T > 0, axis=1, bitorder="little")
    means, counts = y.astype(np.float64).mean(axis=1), (y > 0).sum(axis=1)
    return means.astype(np.float32).reshape(narrow), signs, counts.astype(np.float32).reshape(narrow)


def opened(signs: Array, results: int) -> Array:
    """True where the sign of a result is set, [results, pixels]."""
    return np.unpackbits(signs, axis=1, bitorder="little", count=results).T.astype(bool)


@remembered
def pooled_term(call: Call) -> DescentTerm:
    """The sizes of the convolution."""
    window, (whole,) = conv_window(call), infer(call)
    numbers = descent_window(call.integer("group", 1), window.strides, window.dilations, window.begins).numbers
    return term_of(call, numbers, False, call.shape(), call.shape(1), whole.shape, None)


def _products(call: Call) -> int:
    (whole,) = infer(call)
    return prod(whole.shape[2:]) * prod(call.shape(1))


OPERATORS = (
    Operator(
        "PooledConv", _infer, _evaluate, ("x", "w", "b"), ("mean", "signs", "counts"), kind=Kind.OPAQUE, domain=DOMAIN,
        sketch="pooled_conv", products=_products,
    ),
)  # fmt: skip
