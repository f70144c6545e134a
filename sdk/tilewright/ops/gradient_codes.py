"""Gradients as codes of eight bits with a power of two that is found at run time: `code * 2^exponent`.

What else the numbers are to be multiplied by is known when compiling, and kept by whoever writes these nodes
(`tilewright.gradient.integers`); no file contains them. All of it is exact.
"""

from __future__ import annotations

import numpy as np

from tilewright.model import Array, DType, Node
from tilewright.ops.codes import AsIntegers
from tilewright.ops.operands import Arrays, given, result
from tilewright.ops.operator import Call, Kind, Operator, TensorType
from tilewright.ops.relayout import DOMAIN

HIGHEST = 127
"""The largest code."""
NOTHING = -128
"""The exponent where all codes are zero."""
LEAST = -100
"""Numbers below 2^LEAST are none."""
SHARE_BITS = 14
"""Bits behind the point of factors: both factors of a sum are at most 1, as are those of a table."""


def exponent_type(call: Call) -> TensorType:
    """The one exponent of a tensor of codes."""
    return result(call, DType.I32, (1,))


def needs_codes(call: Call, codes: int, exponent: int) -> None:
    """ModelError unless operands are codes and their exponent."""
    kinds = call.tensor(codes), call.tensor(exponent)
    if (kinds[0].dtype, kinds[1].dtype, kinds[1].shape) != (DType.I8, DType.I32, (1,)):
        raise call.invalid("a gradient is int8 with one int32 as its exponent")


def rounded(values: Array, bits: int) -> Array:
    """`values / 2^bits`, halves up."""
    return np.asarray(values + (1 << bits >> 1)) >> bits


def limited(values: Array) -> Array:
    """Values as codes."""
    return np.clip(values, -HIGHEST, HIGHEST).astype(np.int8)


# ------------------------------------------------------------------------------------------------- from floats
def _infer(call: Call) -> tuple[TensorType, ...]:
    if call.tensor(0).dtype is not DType.F32:
        raise call.invalid(f"gradients in float32 are coded, not in {call.tensor(0).dtype.value}")
    return result(call, DType.I8, call.shape()), exponent_type(call)


def _evaluate(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    """The largest number takes the codes from 64 to 127; what is no number is zero."""
    x = given(arrays, 0)
    high = float(np.fmax.reduce(np.abs(x), axis=None, initial=0.0))
    if high < 2.0**LEAST:
        return np.zeros(x.shape, np.int8), np.full(1, NOTHING, np.int32)
    exponent = int(np.frexp(min(high, float(np.finfo(np.float32).max)))[1]) - 7
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = np.ldexp(x, -exponent).astype(np.float32)
        codes = np.rint(np.where(scaled < HIGHEST, np.where(scaled > -HIGHEST, scaled, -HIGHEST), HIGHEST))
    return np.where(np.isnan(x), 0, codes).astype(np.int8), np.full(1, exponent, np.int32)


# ------------------------------------------------------------------------------------------------------- masks
def _infer_mask(call: Call) -> tuple[TensorType, ...]:
    spread, whole = call.shape(), call.shape(1)
    fits = len(spread) == len(whole) and all(size in (1, other) for size, other in zip(spread, whole, strict=True))
    if call.tensor(0).dtype is not DType.I8 or call.tensor(1).dtype.bits != 8 or not fits:
        raise call.invalid(f"codes of shape {spread} are none of results of shape {whole}")
    return (result(call, DType.I8, whole),)


def _masked(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    return (np.where(is_open(call, given(arrays, 1)), given(arrays, 0), 0).astype(np.int8),)


def is_open(call: Call, codes: Array) -> Array:
    """True where a code lies between the limits of a mask, which themselves are closed."""
    wide = codes.astype(np.int16)
    return np.asarray((wide > call.integer("low")) & (wide < call.integer("high")))


# -------------------------------------------------------------------------------------------------------- sums
def _infer_sum(call: Call) -> tuple[TensorType, ...]:
    needs_codes(call, 0, 1)
    needs_codes(call, 2, 3)
    factors, offsets = call.integers("factors"), call.integers("offsets")
    if call.shape() != call.shape(2) or len(factors) != 2 or len(offsets) != 2:
        raise call.invalid("two gradients of one shape are added")
    if any(abs(one) > 1 << SHARE_BITS for one in factors):
        raise call.invalid("factors of gradients are at most 1")
    return result(call, DType.I8, call.shape()), exponent_type(call)


def _summed(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    a, a_exponent, b, b_exponent = (given(arrays, index) for index in range(4))
    first, second = call.integers("factors")
    offsets = call.integers("offsets")
    exponents = int(a_exponent[0]) + offsets[0], int(b_exponent[0]) + offsets[1]
    exponent = max(exponents)
    parts = ((a.astype(np.int64) * first, exponents[0]), (b.astype(np.int64) * second, exponents[1]))
    total = sum(values >> min(exponent - own, 31) for values, own in parts)
    total = np.asarray(total)
    bits = max(int(np.abs(total).max(initial=0)).bit_length() - 7, 0)
    return limited(rounded(total, bits)), np.full(1, exponent + bits - SHARE_BITS, np.int32)


# ------------------------------------------------------------------------------------------------------ slopes
def _infer_slopes(call: Call) -> tuple[TensorType, ...]:
    if call.tensor(0).dtype is not DType.I8 or call.tensor(1).dtype.bits != 8 or call.shape() != call.shape(1):
        raise call.invalid("a gradient is multiplied by slopes at codes of its shape")
    if call.tensor(2).dtype is not DType.I16 or call.shape(2) != (256,):
        raise call.invalid("there is a slope for each of 256 codes")
    return (result(call, DType.I8, call.shape()),)


def _sloped(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    gradient, codes, slopes = (given(arrays, index).astype(np.int64) for index in range(3))
    low = call.tensor(1).dtype.range[0]
    return (limited(rounded(gradient * slopes[codes - low], SHARE_BITS)),)


def _over_both(node: Node) -> tuple[tuple[int, int], ...]:
    return (0, 0), (1, 0)


def _over_gradients(node: Node) -> tuple[tuple[int, int], ...]:
    return (0, 0), (2, 0)


OPERATORS = (
    Operator(
        "GradientCodes", _infer, _evaluate, ("x",), ("codes", "exponent"), kind=Kind.OPAQUE, domain=DOMAIN,
        sketch="gradient_codes",
    ),
    Operator(
        "GradientMask", _infer_mask, _masked, ("codes", "y"), ("masked",), kind=Kind.OPAQUE, domain=DOMAIN,
        codes=AsIntegers(), sketch="gradient_mask", replaces=_over_both,
    ),
    Operator(
        "GradientSum", _infer_sum, _summed, ("a", "a_exponent", "b", "b_exponent"), ("codes", "exponent"),
        kind=Kind.OPAQUE, domain=DOMAIN, sketch="gradient_sum", replaces=_over_gradients,
    ),
    Operator(
        "GradientSlopes", _infer_slopes, _sloped, ("codes", "x", "slopes"), ("sloped",), kind=Kind.OPAQUE,
        domain=DOMAIN, codes=AsIntegers(), sketch="gradient_slopes", replaces=_over_both,
    ),
)  # fmt: skip
