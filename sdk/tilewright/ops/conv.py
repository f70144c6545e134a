"""Conv, of any number of spatial axes, grouped and depthwise, and ConvInteger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import numpy as np

from tilewright.model import Array, Attribute, DType
from tilewright.ops import product_gradients
from tilewright.ops.check import BYTES, given, ranked, same_type, shaped, typed, widened
from tilewright.ops.clamp import clamped
from tilewright.ops.codes import Products
from tilewright.ops.facts import DescentWindow, Margin, descent_window
from tilewright.ops.index.body import body, combine, finish
from tilewright.ops.index.build import operand, spatial
from tilewright.ops.index.build import window as subscripts
from tilewright.ops.index.fast import last_axes
from tilewright.ops.index.nest import Nest, Space, Tensor
from tilewright.ops.operator import Adjoint, Call, Operator, TensorType, remembered
from tilewright.ops.torch import Torch
from tilewright.ops.window import Window, padded, tap_view, window_view
from tilewright.ops.window_attributes import per_axis, read_window, with_margin

COLUMN_BYTES = 1 << 26
"""What the windows of a convolution may take as one array; those of a larger one are copied some rows at a time."""


@remembered
def conv_window(call: Call) -> Window:
    """The window of a Conv whose shapes fit together; ModelError where they do not."""
    x, w = ranked(call, 0, 3), call.shape(1)
    if len(w) != len(x):
        raise call.invalid(f"the weights have {len(w)} axes and the input has {len(x)}, they must be equal")
    per_axis(call, "kernel_shape", w[2:])
    if call.integers("kernel_shape", w[2:]) != w[2:]:
        raise call.invalid(f"attribute 'kernel_shape' contradicts weights of shape {list(w)}")
    groups = call.integer("group", 1)
    if groups < 1 or w[0] % groups or x[1] != w[1] * groups:
        raise call.invalid(f"{groups} groups do not fit {x[1]} input channels and weights of shape {list(w)}")
    shaped(call, 2, (w[0],), "bias")
    return read_window(call, x[2:], w[2:])


def infer(call: Call) -> tuple[TensorType, ...]:
    """Shape [n, channels, *outs]."""
    x, w = typed(call, 0), typed(call, 1)
    dtype = same_type(call, 0, 1, 2)
    return (TensorType(dtype, (x.shape[0], w.shape[0], *conv_window(call).outs)),)


def conv_sum(call: Call, x: Array, w: Array) -> Array:
    """The plain sums of products, no bias, in the arrays' own type; codes as int64 or float64 give exact sums."""
    window, groups = conv_window(call), call.integer("group", 1)
    source = padded(x, window, 0)
    batch, channels = x.shape[:2]
    per_group, outputs = channels // groups, w.shape[0] // groups
    if per_group == 1 and outputs == 1 and groups > 1:
        total = np.zeros((batch, groups, *window.outs), np.result_type(x, w))
        for tap in window.taps():
            total += tap_view(source, window, tap) * last_axes(w[:, 0], *tap).reshape(-1, *(1,) * len(tap))
        return total
    windows, weights = window_view(source, window), w.reshape(groups, outputs, -1)
    total = np.empty((batch, w.shape[0], *window.outs), np.result_type(x, w))
    rows = max(1, window.outs[0] * COLUMN_BYTES // max(1, windows.size * windows.itemsize))
    before_rows = (slice(None),) * (2 + len(window.kernel))
    for row in range(0, window.outs[0], rows):
        part = windows[(*before_rows, slice(row, row + rows))]
        product = weights @ part.reshape(batch, groups, w[0].size, -1)
        total[:, :, row : row + rows] = product.reshape(batch, w.shape[0], -1, *window.outs[1:])
    return total


def evaluate(call: Call, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
    """Float semantics: sums in single or double precision, bias, clamp."""
    x, w, b = (*arrays, None)[:3]
    total = conv_sum(call, widened(given(x, call, 0)), widened(given(w, call, 1)))
    if b is not None:
        total = total + widened(b).reshape(-1, *(1,) * (total.ndim - 2))
    return (clamped(call, total).astype(call.outputs[0].dtype.numpy),)


def _products(call: Call, dtype: DType) -> Nest:
    """The nest of the products, without bias."""
    window, groups = conv_window(call), call.integer("group", 1)
    x, w, rank = operand(call.tensor(0), "x"), operand(call.tensor(1), "w"), len(window.outs)
    outputs, per_group = w.shape[0] // groups, w.shape[1]
    space = Space.of(
        n=x.shape[0], g=groups, oc=outputs, **spatial("o", window.outs), ic=per_group, **spatial("k", window.kernel)
    )
    n, g, oc, *rest = space
    o, ic, k = rest[:rank], rest[rank], rest[rank + 1 :]
    channel = g * outputs + oc
    read = x[n, g * per_group + ic, *subscripts(o, k, window.strides, window.dilations, window.begins)]
    out = Tensor("y", (x.shape[0], w.shape[0], *window.outs), dtype)[n, channel, *o]
    return Nest(space, out, (read, w[channel, ic, *k]), body("mul"), combine("add"))


def nests(call: Call) -> tuple[Nest, ...]:
    """`y[n, g*OCG + oc, oh, ow] += x[n, g*ICG + ic, oh*sh + kh*dh - pt, ...] * w[g*OCG + oc, ic, kh, kw]`."""
    nest, bias = _products(call, infer(call)[0].dtype), call.optional(2)
    if bias is None:
        return (nest,)
    return (replace(nest, finish=finish("add"), after=(operand(bias, "b")[nest.out.subscripts[1]],)),)


# ----------------------------------------------------------------------------------------------------- ConvInteger
def _infer_integer(call: Call) -> tuple[TensorType, ...]:
    for index in (0, 1):
        tensor, zero = typed(call, index, BYTES), call.optional(index + 2)
        if zero is not None and zero.dtype is not tensor.dtype:
            raise call.invalid(f"zero point '{zero.name}' must have the type of '{tensor.name}'")
    plain = replace(call, inputs=call.inputs[:2])
    window, (channels, *_) = conv_window(plain), call.shape(1)
    for index, sizes in ((2, (1,)), (3, (1, channels))):
        zero_point = call.optional(index)
        if zero_point is not None and (zero_point.elements not in sizes or len(zero_point.shape) > 1):
            raise call.invalid(f"a zero point of shape {list(zero_point.shape)} does not fit operand {index - 2}")
    return (TensorType(DType.I32, (call.shape(0)[0], channels, *window.outs)),)


def _evaluate_integer(call: Call, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
    x, w, zx, zw = (*arrays, None, None)[:4]
    left, right = given(x, call, 0).astype(np.int32), given(w, call, 1).astype(np.int32)
    left = left if zx is None else left - zx.astype(np.int32).reshape(())
    right = right if zw is None else right - zw.astype(np.int32).reshape(-1, *(1,) * (right.ndim - 1))
    return (conv_sum(replace(call, inputs=call.inputs[:2]), left, right).astype(np.int32),)


def _integer_nests(call: Call) -> tuple[Nest, ...]:
    """As Conv, the operands less their zero points."""
    nest = _products(replace(call, inputs=call.inputs[:2]), _infer_integer(call)[0].dtype)
    zeros = []
    for index, name in ((2, "x_zero_point"), (3, "w_zero_point")):
        zero_point = call.optional(index)
        tensor = operand(zero_point, name) if zero_point else Tensor(name, (), call.tensor(index - 2).dtype, (0,))
        channel = nest.out.subscripts[1] if tensor.shape and tensor.shape[0] > 1 else 0
        zeros.append(tensor[channel] if tensor.shape else tensor[()])
    return (replace(nest, ins=(*nest.ins, *zeros), body=body("mul_offsets")),)


def _margin(call: Call, around: Margin) -> dict[str, Attribute] | None:
    return with_margin(call, around) if around.value == 0 else None


def _descent(call: Call) -> DescentWindow | None:
    window = conv_window(call)
    if len(window.kernel) > 2:
        return None
    return descent_window(call.integer("group", 1), window.strides, window.dilations, window.begins)


def _gradient(a: Adjoint, index: int) -> str:
    window = conv_window(a.call)
    return product_gradients.conv(a, index, window.strides, window.dilations, window.begins)


INTEGER_OPERANDS = ("x", "w", "x_zero_point", "w_zero_point")

CODES = Products(
    result_axis=1,
    weight_axis=lambda node, rank: 0,
    by_channel=lambda node, weights: weights.reshape(weights.shape[0], -1),
    depth=lambda node, shape: prod(shape[1:]),
)
OPERATORS = (
    Operator(
        "Conv",
        infer,
        evaluate,
        ("x", "w", "b"),
        nests=nests,
        window=conv_window,
        codes=CODES,
        clamps=True,
        torch=Torch(writer="conv", layer=True),
        sketch="conv",
        margin=_margin,
        gradient=_gradient,
        descent=_descent,
    ),
    Operator(
        "ConvInteger", _infer_integer, _evaluate_integer, INTEGER_OPERANDS, nests=_integer_nests, sketch="conv_integer"
    ),
)
