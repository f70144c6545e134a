"""Resize and Upsample that interpolate, on codes, in integers.

    acc = sum(w0 * w1 * ... * (x - x_zero))              weights per resized axis in units of 2**-bits, int64
    acc = round_half_even(acc / 2**(all bits - kept))    where more bits were needed than an int32 sum keeps
    code = clamp(zero_point + round_half_even(acc * m / 2**kept), low, high)

TensorFlow Lite Micro takes weights of 10 bits from steps of 10 bits, and codes as they are, with ties away from zero
(reference/resize_bilinear.h, ResizeBilinearInteger).

Weights that are short binary fractions (all factors of two) are exact and need no second line; others are float32
numbers of which 24 bits are taken, which moves a result by less than 2**-16 of a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np

from tilewright.model import Array, DType
from tilewright.ops.codes import Interpolates
from tilewright.ops.operator import Call, Operator
from tilewright.ops.quantised.linear import centred
from tilewright.ops.quantised.proof import Bounds, Proof, prove
from tilewright.ops.quantised.real import code_limits, real_call, rounds_twice, the_quantisation
from tilewright.ops.quantised.twice import RawMean
from tilewright.ops.requantize import Integers, Requantisation, divide_half_even, float32_multipliers
from tilewright.ops.resize import Resizing, resizing

_SHORT = 7  # bits of a weight that is taken exactly
_STEP_BITS = 10  # of positions and weights in TensorFlow Lite Micro
_SUM_BITS = 50  # of all axes together, so that int64 holds every sum


@dataclass(frozen=True)
class ResizeAxis:
    """One resized axis: for every output position the source positions and their integer weights, [out, taps]."""

    axis: int
    positions: Integers
    weights: Integers


@dataclass(frozen=True)
class ResizeForm:
    """The integer form: `bits` of all weights together, `kept` of them in the int32 sum, the reachable sums."""

    axes: tuple[ResizeAxis, ...]
    bits: int
    kept: int
    bounds: Bounds


def interpolates(call: Call) -> bool:
    """True for a Resize or Upsample that computes; nearest neighbours only move."""
    return isinstance(call.codes, Interpolates)


def resize_form(call: Call) -> ResizeForm | None:
    """The integer form of an interpolation; None where it extrapolates, or TensorFlow Lite Micro has none."""
    resize = resizing(real_call(call, DType.F32, call.constants))
    if rounds_twice(call):
        return _stepped_form(call, resize)
    taps_of_axes = [(axis, taps) for axis in range(len(call.shape())) if (taps := resize.taps(axis)) is not None]
    if any(taps.outside.any() for _, taps in taps_of_axes):
        return None
    short = all(_is_short(taps.weights) for _, taps in taps_of_axes)
    bits = _SHORT if short else min(24, _SUM_BITS // max(len(taps_of_axes), 1))
    axes = tuple(
        ResizeAxis(axis, taps.positions.astype(np.int64), _whole(taps.weights, bits)) for axis, taps in taps_of_axes
    )
    # Common factors of two go, so that a resize by two has weights 1 and 3.
    saved = [_trailing_zeros(each.weights) if short else 0 for each in axes]
    axes = tuple(ResizeAxis(a.axis, a.positions, a.weights >> s) for a, s in zip(axes, saved, strict=True))
    total = bits * len(axes) - sum(saved)
    x = call.tensor(0)
    zero = the_quantisation(x).zero_point[0]
    widest = max(abs(limit - zero) for limit in x.dtype.range)
    reach = widest * prod(int(np.abs(each.weights).sum(axis=1).max(initial=0)) for each in axes)
    remaining = total
    while remaining > 0 and (reach >> (total - remaining)) + 1 >= 1 << 30:
        remaining -= 1
    bound = np.asarray([(reach >> (total - remaining)) + 1], np.int64)
    return ResizeForm(axes, total, remaining, Bounds(-bound, bound))


def _stepped_form(call: Call, resize: Resizing) -> ResizeForm | None:
    """The form of int8 images of one scale between rows and columns."""
    x, y = call.tensor(0), call.outputs[0]
    changed = [axis for axis, one in enumerate(resize.axes) if one.size != one.out]
    plain = (
        resize.mode == "linear" and resize.coordinates in _STEPPED and not (resize.antialias or resize.exclude_outside)
    )
    same = x.quantisation == y.quantisation and x.dtype is y.dtype is DType.I8
    if not (plain and same and len(x.shape) == 4 and set(changed) <= {2, 3}):
        return None
    axes = []
    for axis in changed:
        size, out = resize.axes[axis].size, resize.axes[axis].out
        places = _stepped_places(size, out, resize.coordinates)
        lower = np.maximum(places >> _STEP_BITS, 0)
        if int(lower.max(initial=0)) >= size:
            return None  # the kernel reads outside of the image
        upper = np.minimum((places + (1 << _STEP_BITS) - 1) >> _STEP_BITS, size - 1)
        share = np.where(lower == upper, 0, places - (lower << _STEP_BITS))
        axes.append(
            ResizeAxis(axis, np.stack([lower, upper], axis=1), np.stack([(1 << _STEP_BITS) - share, share], axis=1))
        )
    saved = [_trailing_zeros(each.weights) for each in axes]
    short = tuple(ResizeAxis(a.axis, a.positions, a.weights >> s) for a, s in zip(axes, saved, strict=True))
    total = _STEP_BITS * len(axes) - sum(saved)
    bound = np.asarray([255 << total], np.int64)
    return ResizeForm(short, total, total, Bounds(-bound, bound))


def _stepped_places(size: int, out: int, coordinates: str) -> Integers:
    """Positions in the image in units of 2^-10."""
    corners = coordinates == "align_corners" and out > 1
    whole, parts = (size - 1, out - 1) if corners else (size, out)
    step = ((whole << _STEP_BITS) + parts // 2) // parts
    centre = step // 2 - (1 << _STEP_BITS - 1) if coordinates == "half_pixel" else 0
    return np.arange(out, dtype=np.int64) * step + centre


_STEPPED = ("asymmetric", "half_pixel", "align_corners")


def _whole(weights: Array, bits: int) -> Integers:
    return np.asarray(np.rint(weights.astype(np.float64) * 2.0**bits).astype(np.int64))


def _is_short(weights: Array) -> bool:
    scaled = weights.astype(np.float64) * 2.0**_SHORT
    return bool((scaled == np.rint(scaled)).all())


def _trailing_zeros(weights: Integers) -> int:
    joined = int(np.bitwise_or.reduce(weights.reshape(-1), initial=0))
    return (joined & -joined).bit_length() - 1 if joined else 0


def resize_requantisation(call: Call, form: ResizeForm) -> Requantisation:
    """From the kept sum to the code."""
    x, y = the_quantisation(call.tensor(0)), the_quantisation(call.outputs[0])
    if rounds_twice(call):
        mean = RawMean(1 << form.kept, x.zero_point[0])
        return Requantisation.by((mean,), y.zero_point[0], *code_limits(call, call.outputs[0]))
    (ratio,) = float32_multipliers(x.scale[0], (1.0,), y.scale[0])
    return Requantisation((ratio / Fraction(1 << form.kept),), y.zero_point[0], *code_limits(call, call.outputs[0]))


def resize_proof(call: Call, form: ResizeForm) -> Proof:
    """The 32-bit form of the requantisation, proved over all sums."""
    return prove(resize_requantisation(call, form), form.bounds)


def evaluate_resize(operator: Operator, call: Call, arrays: Sequence[Array | None]) -> Array:
    """Codes of the result."""
    codes, form = arrays[0], resize_form(call)
    assert codes is not None, "operand 0 is missing"
    assert form is not None, "an interpolation that extrapolates has no integer form"
    acc = centred(call.tensor(0), codes)
    for each in form.axes:
        total = np.zeros((), np.int64)
        for positions, weights in zip(each.positions.T, each.weights.T, strict=True):
            total = total + acc.take(positions, each.axis) * weights.reshape(-1, *(1,) * (acc.ndim - each.axis - 1))
        acc = np.asarray(total)
    if form.bits > form.kept:
        acc = divide_half_even(acc, 1 << (form.bits - form.kept)).astype(np.int64)
    return resize_requantisation(call, form).apply(acc).astype(call.outputs[0].dtype.numpy)
