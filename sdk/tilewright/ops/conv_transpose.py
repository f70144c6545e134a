"""ConvTranspose: the input spread by the stride and convolved, of any number of spatial axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np

from tilewright.model import Array, Node, Shape
from tilewright.ops import product_gradients
from tilewright.ops.check import given, ranked, same_type, shaped, typed, widened
from tilewright.ops.clamp import clamped
from tilewright.ops.codes import Products
from tilewright.ops.index.affine import Affine
from tilewright.ops.index.body import body, combine, finish
from tilewright.ops.index.build import operand, spatial
from tilewright.ops.index.fast import last_axes
from tilewright.ops.index.nest import Nest, Space, Tensor
from tilewright.ops.operator import Adjoint, Call, Operator, TensorType
from tilewright.ops.torch import Torch
from tilewright.ops.window import within
from tilewright.ops.window_attributes import auto_pad, declared_pads, per_axis


@dataclass(frozen=True)
class Spread:
    """One entry per spatial axis: input position i meets kernel tap k at output `i*stride + k*dilation - begin`."""

    kernel: Shape
    strides: Shape
    dilations: Shape
    begins: Shape
    outs: Shape


def spread(call: Call) -> Spread:
    """The geometry of a ConvTranspose whose shapes fit together; ModelError where they do not."""
    x, w = ranked(call, 0, 3), call.shape(1)
    if len(w) != len(x):
        raise call.invalid(f"the weights have {len(w)} axes and the input has {len(x)}, they must be equal")
    groups = call.integer("group", 1)
    if groups < 1 or x[1] != w[0] or x[1] % groups:
        raise call.invalid(f"{groups} groups do not fit {x[1]} input channels and weights of shape {list(w)}")
    if call.integers("kernel_shape", w[2:]) != w[2:]:
        raise call.invalid(f"attribute 'kernel_shape' contradicts weights of shape {list(w)}")
    shaped(call, 2, (w[1] * groups,), "bias")
    rank, ones = len(x) - 2, (1,) * (len(x) - 2)
    strides, dilations = per_axis(call, "strides", ones), per_axis(call, "dilations", ones)
    extra = per_axis(call, "output_padding", (0,) * rank, 0)
    full = [
        (i - 1) * s + (k - 1) * d + 1 + e for i, s, k, d, e in zip(x[2:], strides, w[2:], dilations, extra, strict=True)
    ]
    begins, outs = _placed(call, full, tuple(i * s for i, s in zip(x[2:], strides, strict=True)))
    if any(out < 1 for out in outs):
        raise call.invalid(f"the result would have sizes {list(outs)}")
    spans = [max(f, b + o) for f, b, o in zip(full, begins, outs, strict=True)]
    return Spread(w[2:], within(strides, spans), within(dilations, spans), begins, outs)


def _placed(call: Call, full: Sequence[int], same: Shape) -> tuple[Shape, Shape]:
    """Padding before, and sizes of the result, from pads, auto_pad or output_shape."""
    rank, mode = len(full), auto_pad(call)
    explicit = call.integers("output_shape", ())
    if explicit and len(explicit) != rank:
        raise call.invalid(f"attribute 'output_shape' has {len(explicit)} entries, it must have {rank}")
    if explicit or mode.startswith("SAME"):
        # Where the kernel does not fill the stride, shape inference and ONNX Runtime keep the smaller result.
        outs = explicit or tuple(map(min, same, full))
        totals = [max(0, f - o) for f, o in zip(full, outs, strict=True)]
        return tuple(t // 2 if mode == "SAME_UPPER" else t - t // 2 for t in totals), outs
    begins, ends = declared_pads(call, rank) if mode == "NOTSET" else ((0,) * rank, (0,) * rank)
    return begins, tuple(f - b - e for f, b, e in zip(full, begins, ends, strict=True))


def infer(call: Call) -> tuple[TensorType, ...]:
    """Shape [n, channels, *outs]."""
    x, w = typed(call, 0), typed(call, 1)
    dtype = same_type(call, 0, 1, 2)
    return (TensorType(dtype, (x.shape[0], w.shape[1] * call.integer("group", 1), *spread(call).outs)),)


def conv_transpose_sum(call: Call, x: Array, w: Array) -> Array:
    """The plain sums of products, no bias, in the element type of the arrays."""
    geometry, groups = spread(call), call.integer("group", 1)
    batch, channels, *sizes = x.shape
    outputs = w.shape[1]
    whole = [
        max((i - 1) * s + (k - 1) * d + 1, b + o)
        for i, s, k, d, b, o in zip(
            sizes, geometry.strides, geometry.kernel, geometry.dilations, geometry.begins, geometry.outs, strict=True
        )
    ]
    total = np.zeros((batch, groups, outputs, *whole), np.result_type(x, w))
    source = x.reshape(batch, groups, channels // groups, -1)
    weights = w.reshape(groups, channels // groups, outputs, *geometry.kernel)
    for tap in product(*(range(k) for k in geometry.kernel)):
        part = np.swapaxes(last_axes(weights, *tap), 1, 2) @ source
        where = (
            slice(t * d, t * d + (i - 1) * s + 1, s)
            for t, d, i, s in zip(tap, geometry.dilations, sizes, geometry.strides, strict=True)
        )
        last_axes(total, *where)[...] += part.reshape(batch, groups, outputs, *sizes)
    inside = (slice(b, b + o) for b, o in zip(geometry.begins, geometry.outs, strict=True))
    return np.ascontiguousarray(last_axes(total, *inside).reshape(batch, groups * outputs, *geometry.outs))


def evaluate(call: Call, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
    """Float semantics: sums in single or double precision, bias, clamp."""
    x, w, b = (*arrays, None)[:3]
    total = conv_transpose_sum(call, widened(given(x, call, 0)), widened(given(w, call, 1)))
    if b is not None:
        total = total + widened(b).reshape(-1, *(1,) * (total.ndim - 2))
    return (clamped(call, total).astype(call.outputs[0].dtype.numpy),)


def nests(call: Call) -> tuple[Nest, ...]:
    """Output position = q*stride + r - begin: for each phase r an ordinary convolution, so no division.

    With dilation and stride both above 1 the taps of a phase are not evenly spaced: then input positions are spread,
    `y[i*s + k*d - begin] += x[i] * w[k]`, and the result is parallel in its channels only.
    """
    (kind,) = infer(call)
    geometry, groups = spread(call), call.integer("group", 1)
    x, w, rank = operand(call.tensor(0), "x"), operand(call.tensor(1), "w"), len(geometry.outs)
    per_group, outputs = x.shape[1] // groups, w.shape[1]
    spaced = zip(geometry.kernel, geometry.strides, geometry.dilations, strict=True)
    scatter = any(k > 1 and s > 1 and d > 1 for k, s, d in spaced)
    outer, inner = (_scatter_loops if scatter else _phase_loops)(geometry, x.shape[2:])
    space = Space.of(n=x.shape[0], g=groups, oc=outputs, **outer, ic=per_group, **inner)
    n, g, oc, *rest = space
    o, ic, k = rest[: len(outer)], rest[len(outer)], rest[len(outer) + 1 :]
    place = (_scatter_subscripts if scatter else _phase_subscripts)(geometry, o[:rank], o[rank:], k)
    channel, bias = g * outputs + oc, call.optional(2)
    return (
        Nest(
            space,
            Tensor("y", kind.shape, kind.dtype)[n, channel, *(y for y, _, _ in place)],
            (x[n, g * per_group + ic, *(i for _, i, _ in place)], w[g * per_group + ic, oc, *(t for _, _, t in place)]),
            body("mul"),
            combine("add"),
            finish("add") if bias else finish("keep"),
            (operand(bias, "b")[channel],) if bias else (),
        ),
    )


def _phase_loops(geometry: Spread, sizes: Shape) -> tuple[dict[str, int], dict[str, int]]:
    coarse = [-(-(o + b) // s) for o, b, s in zip(geometry.outs, geometry.begins, geometry.strides, strict=True)]
    taps = [-(-k // s) for k, s in zip(geometry.kernel, geometry.strides, strict=True)]
    return {**spatial("o", coarse), **spatial("r", geometry.strides)}, spatial("k", taps)


def _phase_subscripts(
    geometry: Spread, coarse: Sequence[Affine], phase: Sequence[Affine], taps: Sequence[Affine]
) -> list[tuple[Affine, Affine, Affine]]:
    parts = zip(coarse, phase, taps, geometry.strides, geometry.dilations, geometry.begins, strict=True)
    return [(q * s + r - b, q - k * d, k * s + r) for q, r, k, s, d, b in parts]


def _scatter_loops(geometry: Spread, sizes: Shape) -> tuple[dict[str, int], dict[str, int]]:
    return spatial("i", sizes), spatial("k", geometry.kernel)


def _scatter_subscripts(
    geometry: Spread, positions: Sequence[Affine], _: Sequence[Affine], taps: Sequence[Affine]
) -> list[tuple[Affine, Affine, Affine]]:
    parts = zip(positions, taps, geometry.strides, geometry.dilations, geometry.begins, strict=True)
    return [(i * s + k * d - b, i, k) for i, k, s, d, b in parts]


def _by_channel(node: Node, weights: Array) -> Array:
    groups = node.attributes.get("group", 1)
    assert isinstance(groups, int), "group is an integer"
    split = weights.reshape(groups, weights.shape[0] // groups, weights.shape[1], -1)
    return split.transpose(0, 2, 1, 3).reshape(groups * weights.shape[1], -1)


def _gradient(a: Adjoint, index: int) -> str:
    place = spread(a.call)
    return product_gradients.conv_transpose(a, index, place.strides, place.dilations, place.begins, place.outs)


CODES = Products(
    result_axis=1,
    weight_axis=lambda node, rank: 1,
    by_channel=_by_channel,
    depth=lambda node, shape: shape[0] * prod(shape[2:]),
    in_groups=True,
)
OPERATORS = (
    Operator(
        "ConvTranspose",
        infer,
        evaluate,
        ("x", "w", "b"),
        nests=nests,
        codes=CODES,
        clamps=True,
        torch=Torch(writer="conv_transpose", layer=True),
        sketch="conv_transpose",
        gradient=_gradient,
    ),
)
