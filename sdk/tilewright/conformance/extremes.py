"""The ends of the types: codes and weights at the ends of their ranges, deep sums, floats that tie or are infinite.

Random codes rarely come near the largest sums of a kernel, where the limits of its packing and of its accumulators
lie. Here all terms of a sum have one sign, and the scale of the result is such that no code saturates.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from tilewright.conformance.draws import Drawn, Sketch, reals
from tilewright.conformance.trials import Trial, trial
from tilewright.errors import UnsupportedError
from tilewright.model import Array, DType, Quantisation, Tensor
from tilewright.ops.codes import Products
from tilewright.ops.fixed.tensors import is_fixed
from tilewright.ops.operator import Call
from tilewright.ops.quantised.linear import accumulator, products

DEPTHS = (272, 528)
"""Terms of one sum that pass 2**23 and 2**24 where codes are 255 steps from their zero point and weights 127."""
WINDOWED = {272: 32, 528: 64}
"""Channels under a window of 3 x 3 with as many terms and more."""
_HIGHEST = 100
"""Steps of the result between its zero point and the largest sum."""

Pattern = Literal["low", "high", "turning"]


def runs_at_the_ends(inputs: Sequence[Tensor], drawn: Sequence[Array]) -> list[tuple[Array, ...]]:
    """Every code of every input at its low end, at its high end, and the first one apart from the others."""
    if not any(tensor.quantisation is not None for tensor in inputs) or any(map(is_fixed, inputs)):
        return []  # numbers in fixed point keep within bounds that the passes know
    runs = []
    for first, rest in ((0, 0), (1, 1), (0, 1), (1, 0))[: 2 if len(inputs) == 1 else 4]:
        arrays = [
            np.full_like(array, tensor.dtype.range[rest if index else first]) if tensor.quantisation else array
            for index, (tensor, array) in enumerate(zip(inputs, drawn, strict=True))
        ]
        runs.append(tuple(arrays))
    return runs


HALVES = (-2.5, -2.0, -1.5, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5)
"""Numbers that lie half way between integers, and equal each other: ties of rounding, of maxima and of indices."""
LIMITLESS = (float("inf"), float("-inf"), float("nan"), 0.0, -0.0)


def special_runs(inputs: Sequence[Tensor], drawn: Sequence[Array], *, limitless: bool) -> list[tuple[Array, ...]]:
    """Runs of ties, of infinities among ordinary numbers, and of plain integers at the ends of their types."""
    generator = np.random.default_rng(sum(array.size for array in drawn))
    floats = [tensor.dtype.is_float and array.size > 0 for tensor, array in zip(inputs, drawn, strict=True)]
    runs = []
    if any(floats):
        ties = [
            generator.choice(HALVES, a.shape).astype(a.dtype) if f else a for a, f in zip(drawn, floats, strict=True)
        ]
        runs.append(tuple(ties))
    if any(floats) and limitless:
        runs.append(tuple(_limitless(a, generator) if f else a for a, f in zip(drawn, floats, strict=True)))
    return runs


def _limitless(array: Array, generator: np.random.Generator) -> Array:
    """The array with a few elements that are no ordinary numbers."""
    changed = array.copy().reshape(-1)
    places = generator.choice(changed.size, max(1, changed.size // 8), replace=False)
    changed[places] = generator.choice(LIMITLESS, places.size).astype(array.dtype)
    return changed.reshape(array.shape)


def deep_sketches(op: str, r: random.Random) -> Iterator[Sketch]:
    """Products over many terms, in shapes that kernels with blocks take; a depthwise one of whole vectors."""
    if op == "Conv":
        yield _image(r, (32, 1, 3, 3), (6, 12), {"pads": (1, 1, 1, 1)}, groups=32)
    for depth in DEPTHS:
        if op == "Conv":
            yield _image(r, (8, depth, 1, 1), (3, 3), {})
            yield _image(r, (8, WINDOWED[depth], 3, 3), (6, 12), {"pads": (1, 1, 1, 1)})
        elif op == "ConvTranspose":
            weight = Drawn(reals(r, (depth, 8, 1, 1)), "weight", True)
            yield Sketch(op, (Drawn(reals(r, (1, depth, 3, 3))), weight), {"group": 1}, axis=1)
        else:
            for rows in (1, 4):
                weight = Drawn(reals(r, (depth, 16)), "weight", True)
                yield Sketch(op, (Drawn(reals(r, (rows, depth))), weight), {}, axis=1)


def _image(
    r: random.Random,
    weight: tuple[int, ...],
    size: tuple[int, int],
    more: dict[str, tuple[int, ...]],
    groups: int = 1,
) -> Sketch:
    image = Drawn(reals(r, (1, groups * weight[1], *size)))
    return Sketch("Conv", (image, Drawn(reals(r, weight), "weight", True)), {"group": groups, **more})


def deep_trials(op: str, kinds: Sequence[str], r: random.Random) -> Iterator[Trial]:
    """Deep products with weights at their ends, in the types of codes `kinds` by turns."""
    for index, sketch in enumerate(deep_sketches(op, r)):
        try:
            drawn = trial(sketch, kinds[(index + index // 2) % len(kinds)], r)
        except UnsupportedError:
            continue
        yield from at_the_ends(drawn)


def at_the_ends(drawn: Trial) -> Iterator[Trial]:
    """The same call with every weight at its low end, at its high end, and at both from channel to channel.

    The operand's zero point lies at one of its ends: all terms of a channel have one sign.
    """
    if not isinstance(drawn.call.codes, Products) or 1 not in drawn.call.constants:
        return
    if drawn.call.tensor(0).quantisation is None or drawn.call.tensor(1).quantisation is None:
        return
    patterns: tuple[tuple[Pattern, int], ...] = (("low", 1), ("high", 1), ("turning", 0))
    for pattern, end in patterns:
        made = _extreme(drawn, pattern, end)
        if made is not None:
            yield made


def _extreme(drawn: Trial, pattern: Pattern, end: int) -> Trial | None:
    """One of them; None where a sum could leave 32 bits."""
    call = drawn.call
    x, w, y = call.tensor(0), call.tensor(1), call.outputs[0]
    if x.quantisation is None or w.quantisation is None or y.quantisation is None:
        return None
    weights = _weights(call, w.dtype, pattern)
    zero = (x.dtype.range[end],) * len(x.quantisation.zero_point)
    image = replace(x, quantisation=replace(x.quantisation, zero_point=zero))
    inputs = tuple(image if i == 0 else tensor for i, tensor in enumerate(call.inputs))
    made = replace(
        call, node=replace(call.node, clamp=None), inputs=inputs, constants={**call.constants, 1: weights}
    )  # fmt: skip
    try:
        largest = accumulator(made).bounds.largest
    except UnsupportedError:
        return None
    scale = x.quantisation.scale[0] * max(w.quantisation.scale) * max(largest, 1) / _HIGHEST
    low, high = y.dtype.range
    middle = Quantisation((float(np.float32(scale)),), ((low + high + 1) // 2,))
    made = replace(made, outputs=(replace(y, quantisation=middle),))
    return Trial(made, (drawn.arrays[0], weights, *drawn.arrays[2:]))


def _weights(call: Call, dtype: DType, pattern: Pattern) -> Array:
    """Weights at their ends, symmetric where they have a sign."""
    shape = call.constants[1].shape
    low, high = dtype.range
    low = -high if low < 0 else low
    if pattern != "turning":
        return np.full(shape, low if pattern == "low" else high, dtype.numpy)
    axis = products(call).weight_axis(call.node, len(shape))
    turns = np.arange(shape[axis]) % 2
    along = turns.reshape([-1 if i == axis else 1 for i in range(len(shape))])
    return np.broadcast_to(np.where(along, low, high), shape).astype(dtype.numpy)
