"""DescentPair: a layer and the one before it taken back together, a few channels at a time.

What lies between both is made again channel by channel, becomes its gradient, and is gone: it is never stored as a
whole. The layer before is depthwise, or one whose operand's gradient nobody asks for, as that of the first layer.
Behind a mean over planes the gradient of the layer is one number a plane, where the sign of its result is set.
`tilewright.gradient` makes it; no file contains it.
"""

from __future__ import annotations

from math import prod

import numpy as np

from tilewright.model import Array, Node, Shape
from tilewright.ops.descent import (
    OF_A_TERM,
    WINDOW,
    DescentTerm,
    by_channel,
    meetings,
    products_of,
    taken_back,
    term_of,
)
from tilewright.ops.operands import Arrays, maybe, same
from tilewright.ops.operator import Call, Kind, Operator, TensorType, remembered
from tilewright.ops.pooled_conv import opened, sign_bytes
from tilewright.ops.relayout import DOMAIN

SIGNS = 8
"""The operand that has the signs of the layer's results, a bit each: `dy` is one number a plane then."""
FIRST_OF_PAIR = 5
"""Operands before those of the layer: what the layer before reads, its weights, bias and target, and the gradient of
other readers of what lies between."""
LARGEST = 25
"""Taps of a depthwise window: kernels unroll them."""
NEXT, SUMS, FIRST_NEXT, DX = range(4)
"""Results: the next weights of the layer before, the sums of the gradient between by channel, the next weights of the
layer, and the gradient of the operand."""


@remembered
def pair_terms(call: Call) -> tuple[DescentTerm, DescentTerm]:
    """The layer before, and the one behind it; ModelError where shapes contradict them."""
    windows = call.integers("windows")
    if len(windows) != 2 * WINDOW or len(call.inputs) not in (SIGNS, SIGNS + 1):
        raise call.invalid(f"{len(call.inputs)} operands are not those of a pair of layers")
    between, (w, dy) = _between(call), (call.shape(FIRST_OF_PAIR + part) for part in range(2))
    if call.optional(SIGNS) is not None:
        if call.shape(SIGNS) != (prod(between[2:]), sign_bytes(w[0])) or prod(dy) != w[0]:
            raise call.invalid(f"signs of shape {call.shape(SIGNS)} are none of {w[0]} results of a pointwise layer")
        dy = (1, w[0], *between[2:])
    first = term_of(call, windows[:WINDOW], False, call.shape(), call.shape(1), between, call.optional(3))
    last = term_of(call, windows[WINDOW:], False, between, w, dy, call.optional(FIRST_OF_PAIR + 2))
    if last.groups > 1 or not channel_by_channel(first, back=len(call.node.outputs) > DX):
        raise call.invalid("a pair is of one image, and of a depthwise layer or one that is taken back no further")
    return first, last


def channel_by_channel(before: DescentTerm, *, back: bool) -> bool:
    """True where a layer can be the one before, with the gradient of its operand where `back`: a depthwise one that
    slides by 1, or one of a single group that is taken back no further."""
    if before.images != 1 or before.matrix or before.groups == 1:
        return before.images == before.groups == 1 and not (before.matrix or back)
    pads = ((k - 1) * d - b for k, d, b in zip(before.kernel, before.dilations, before.begins, strict=True))
    alone = before.channels == before.results == 1 and before.strides == (1, 1)
    return back and alone and min(pads) >= 0 and before.taps <= LARGEST


def _between(call: Call) -> Shape:
    return (call.shape()[0], call.shape(1)[0], *call.integers("between"))


def _infer(call: Call) -> tuple[TensorType, ...]:
    pair_terms(call)
    channels = call.shape(1)[0]
    for place, shape in ((2, (channels,)), (4, _between(call))):
        tensor = call.optional(place)
        if tensor is not None and tensor.shape != shape:
            raise call.invalid(f"operand {place} is of shape {tensor.shape}, not {shape}")
    sums = TensorType(call.tensor(0).dtype, (channels,))
    return (same(call, 1), sums, same(call, FIRST_OF_PAIR), same(call))[: len(call.node.outputs)]


def _evaluate(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    x, w, bias, held, add, behind, dy, target = (maybe(arrays, at) for at in range(FIRST_OF_PAIR + OF_A_TERM))
    assert x is not None
    assert w is not None
    assert behind is not None
    assert dy is not None
    before, term = pair_terms(call)
    signs = maybe(arrays, SIGNS)
    if signs is not None:
        shape = (1, len(behind), *_between(call)[2:])
        dy = np.where(opened(signs, len(behind)), dy.reshape(-1, 1), 0).astype(dy.dtype).reshape(shape)
    rate, decay = call.real("rate"), call.real("decay", 1.0)
    between, wide = np.zeros(_between(call)), x.astype(np.float64)
    if bias is not None:
        between += bias.reshape(1, -1, *(1,) * (between.ndim - 2))
    inputs = by_channel(before, wide, before.channels, before.size)
    weights = w.astype(np.float64).reshape(before.groups, before.results, before.channels, *before.kernel)
    outputs = by_channel(before, between, before.results, before.outs)  # a view
    for tap, read, written in meetings(before):
        outputs[..., *written] += np.einsum("goc,ngcyx->ngoyx", weights[..., *tap], inputs[..., *read])
    if call.integer("rectified", 0):
        between = np.maximum(between, 0)
    total = np.zeros(between.shape) if add is None else add.astype(np.float64)
    slopes = taken_back(term, between, behind, dy, total)
    following = decay * (behind if target is None else target) + rate * slopes
    if call.integer("rectified", 0):
        total = np.where(between > 0, total, 0)
    back = np.zeros(x.shape)
    moved = decay * (w if held is None else held) + rate * taken_back(before, wide, w, total, back)
    if call.integer("masked", 0):
        back = np.where(x > 0, back, 0)
    sums = total.sum(axis=(0, *range(2, total.ndim)))
    results = (moved, sums, following, back)[: len(call.node.outputs)]
    return tuple(result.astype(x.dtype) for result in results)


def products(call: Call) -> int:
    """Multiply-accumulates: the layer before forwards and backwards, two of the layer."""
    before, term = pair_terms(call)
    return (3 if DX in call.present else 2) * products_of(before) + 2 * products_of(term)


def replaces(node: Node) -> tuple[tuple[int, int], ...]:
    """The gradient over the operand; next values over what takes the step."""
    pairs = [(3 if node.inputs[3] else 1, NEXT), (FIRST_OF_PAIR + 2 * bool(node.inputs[7]), FIRST_NEXT)]
    return (*pairs, (0, DX)) if len(node.outputs) > DX else tuple(pairs)


OPERATORS = (
    Operator(
        "DescentPair", _infer, _evaluate, ("x", "w", "b", "target", "add", "behind", "dy", "held", "signs"),
        ("next", "sums", "following", "dx"), kind=Kind.OPAQUE, domain=DOMAIN, sketch="descent_pair", products=products,
        replaces=replaces,
    ),
)  # fmt: skip
