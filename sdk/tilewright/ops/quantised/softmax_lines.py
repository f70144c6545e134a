"""Softmax as TensorFlow Lite Micro's reference kernel computes it on codes of 16 bits: by lines between 513 points.

    e[d]   = exp of -10 to 0, of the difference in steps of 10 / 65535, in Q0.15
    share  = 1 / (1 + fraction) of the sum of these, of its fraction in steps of 1 / 65535, in Q0.15
    code   = e * share, over the sum's power of two, halves upwards

The points are made in float32, each nearer to the middle of the curve by a part of what a line lies off it.
Source: tensorflow/lite/kernels/internal/reference/softmax.h (SoftmaxInt16); kernels/internal/common.h (LUTPopulate).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tilewright.model import Array
from tilewright.ops.operator import Call
from tilewright.ops.quantised.real import code_limits, the_quantisation
from tilewright.ops.quantised.softmax import softmax_axis
from tilewright.ops.quantised.twice import Twice
from tilewright.ops.requantize import Integers, half_away

STEPS, REACH = 512, 65535
RESULT_SCALE = 2.0**-15
LONGEST = 1 << 16
MOST_SHIFT = 14
"""The shift to the left by which a difference of codes fits 32 bits."""
BELOW_ONE = 1.5 * (1 << 16)
"""What the sum is less by, in the steps of its fraction, so that it is a code of 16 bits."""


def softmax_lines_unknown(call: Call) -> str | None:
    """None for a Softmax of codes of 16 bits that the kernel has, or why it is none."""
    x, y = the_quantisation(call.tensor(0)), the_quantisation(call.outputs[0])
    close = abs(y.scale[0] - RESULT_SCALE) <= 0.001 * RESULT_SCALE
    if call.outputs[0].dtype is not call.tensor(0).dtype or not close or x.zero_point[0] or y.zero_point[0]:
        return "its result is not in the one form that the kernels give"
    axis = softmax_axis(call)
    if any(size != 1 for size in call.shape()[axis + 1 :]):
        return "it is not over the last axis"
    if softmax_lines_rule(call).shift > MOST_SHIFT:
        return "its products leave 32 bits"
    return f"it is over {LONGEST} elements or more" if call.shape()[axis] >= LONGEST else None


def softmax_lines_rule(call: Call) -> Twice:
    """What brings a difference of codes to the steps of the exponential."""
    return Twice.of(the_quantisation(call.tensor(0)).scale[0] / (10.0 / REACH))


def exponential_points() -> Integers:
    """exp from -10 to 0 in Q0.15."""
    return _points(np.float32(10.0) / np.float32(REACH), 32767, np.exp)


def inverse_points() -> Integers:
    """1 / (1 + x) from 0 to 1 in Q0.15."""
    return _points(np.float32(1.0) / np.float32(REACH), -32768, lambda x: 1 / (1 + x))


def _points(scale: np.float32, zero_point: int, function: Callable[[Array], Array]) -> Integers:
    """LUTPopulateInt16 for results of 2 / 65535."""
    low, high = (scale * np.float32(side - zero_point) for side in (-32768, 32767))
    target = np.float32(2.0) / np.float32(REACH)
    inverse = np.float32(REACH + 1) / (target * np.float32(32767) - target * np.float32(-32768))
    step = np.float32((high - low) / np.float32(STEPS))

    def of(x: Array) -> Array:
        single = x.astype(np.float32)
        if function is np.exp:
            return np.exp(single.astype(np.float64)).astype(np.float32)
        return np.asarray(function(single), np.float32)

    places = np.arange(STEPS, dtype=np.float32)
    begin = low + places * step
    values, middles = of(begin), of(begin + step / np.float32(2))
    after = of(low + (places + np.float32(1)) * step)
    sampled = _rounded(values * inverse)
    between = _rounded((after * inverse + sampled) / np.float32(2))
    bias = _rounded((between - _rounded(middles * inverse)) / np.float32(2))
    last = _rounded(of(np.asarray([high])) * inverse)
    points: Integers = np.clip(np.concatenate([sampled - bias, last]), -32768, 32767).astype(np.int64)
    return points


def _rounded(values: Array) -> Array:
    return half_away(values).astype(np.float32)


def on_line(codes: Integers, points: Integers) -> Integers:
    """Points 128 codes apart, and lines between them."""
    place, offset = 256 + (codes >> 7), codes & 127
    return np.asarray(points[place] + (((points[place + 1] - points[place]) * offset + 64) >> 7))


def evaluate_softmax_lines(call: Call, arrays: Sequence[Array | None]) -> Array:
    """Codes of the result."""
    codes = arrays[0]
    assert codes is not None, "operand 0 is missing"
    if (why := softmax_lines_unknown(call)) is not None:
        raise call.unsupported(f"--numerics tflm: {why}", "use --numerics exact")
    axis, wide = softmax_axis(call), codes.astype(np.int64)
    scaled = softmax_lines_rule(call).apply(wide - wide.max(axis=axis, keepdims=True))
    powers = on_line(np.clip(scaled + 32767, -32768, 32767), exponential_points())
    total = powers.sum(axis=axis, keepdims=True)
    zeros = 32 - np.frexp(total.astype(np.float64))[1].astype(np.int64)
    fraction = ((total << (zeros - 1)) + (1 << 13)) >> 14
    share = on_line(np.clip(fraction - int(BELOW_ONE), -32768, 32767), inverse_points())
    right = 31 - zeros
    results: Array = np.clip((powers * share + (1 << (right - 1))) >> right, 0, 32767)
    return np.clip(results, *code_limits(call, call.outputs[0])).astype(call.outputs[0].dtype.numpy)
