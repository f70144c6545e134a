"""Add, Sub and Mul on codes of any scales: a word that decides nearly every pair, exact whole numbers for the rest.

    word = a * left + b * right + addend
    code = word >> shift      where the fraction of the word is not within `window` of a tie

ONNX's float32 arithmetic rounds four times. What that can move a result by, and what the factors are rounded by, is
less than the window; only results closer to a tie than that are settled by the rounded products themselves, in whole
numbers (`settled.h`): float32 mantissas of both scales, and their exponents.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, frexp
from typing import Literal

from tilewright.model import Clamp
from tilewright.ops.codes import Pairwise
from tilewright.ops.operator import Call
from tilewright.ops.quantised.add import PairForm, PairKey, pair_key, pair_span
from tilewright.ops.quantised.real import code_limits, rounds_twice

MANTISSA = 24
_ROUNDINGS = 4
_MOST_SHIFT, _LEAST_SHIFT = {32: 24, 64: 46}, 8
_MOST_OF_SUMS = 32
"""Words of sums whose fraction is a whole lower half come apart without a shift."""
_LARGEST = {32: (1 << 31) - 1, 64: (1 << 62) - 1}
_MOST_APART = 20
"""Bits by which the products of both operands may be shifted against each other."""
_MOST_NEAR = 0.25
"""The part of all words that may have to be settled."""
_EXPONENTS = range(-120, 60)
"""Of scales and their products: nothing underflows or overflows in float32."""


@dataclass(frozen=True)
class SettledForm:
    """The form, whose word holds half a step; the window in units of its fraction, of which `cut` is what its factors
    are rounded by; and `numbers` for what is left: mantissas of both scales and of the result's, bits to shift each
    product by, the exponent of their sum or product over the result's step, and 1 for a sum, -1 for a difference, 0 for
    a product."""

    form: PairForm
    window: int
    cut: int
    numbers: tuple[int, ...]


def settled_form(call: Call, widths: tuple[Literal[32, 64], ...] = (32, 64)) -> SettledForm | None:
    """The form of an Add, Sub or Mul of two quantised tensors of at most 16 bits in the first of these widths that
    tells most codes; None where words are too wide."""
    tensors = (call.optional(0), call.optional(1), call.outputs[0])
    if not rounds_as_floats(call):
        return None
    left, right, result = (pair_key(tensor) for tensor in tensors if tensor is not None)
    limits = code_limits(call, call.outputs[0])
    return _remembered(call.node.op, call.node.clamp, left, right, result, limits, widths)


def rounds_as_floats(call: Call) -> bool:
    """True for an Add, Sub or Mul of two quantised tensors of at most 16 bits that follows float32's arithmetic."""
    tensors = (call.optional(0), call.optional(1), call.outputs[0])
    if call.codes != Pairwise(factored=True) or any(t is None or t.quantisation is None for t in tensors):
        return False
    return not rounds_twice(call) and all(t.dtype.bits <= 16 for t in tensors if t is not None)


@lru_cache(maxsize=256)
def _remembered(
    op: str, _: Clamp | None, left: PairKey, right: PairKey, result: PairKey, limits: tuple[int, int],
    widths: tuple[Literal[32, 64], ...],
) -> SettledForm | None:  # fmt: skip
    parts = [frexp(meaning.scale[0]) for _, meaning in (left, right, result)]
    mantissas = [int(part * (1 << MANTISSA)) for part, _ in parts]
    first, second, target = (exponent - MANTISSA for _, exponent in parts)
    sign = {"Mul": 0, "Add": 1, "Sub": -1}[op]
    least = first + second if sign == 0 else min(first, second)
    apart = (0, 0) if sign == 0 else (first - least, second - least)
    if max(apart) > _MOST_APART or any(part not in _EXPONENTS for part in (first, second, target, least)):
        return None
    numbers = (*mantissas, *apart, least - target, sign)
    for bits in widths:
        words = _words(sign, (left, right, result), limits, bits)
        if words is not None:
            return SettledForm(*words, numbers)
    return None


def _words(
    sign: int, keys: tuple[PairKey, PairKey, PairKey], limits: tuple[int, int], bits: Literal[32, 64]
) -> tuple[PairForm, int, int] | None:
    """The form of that width, its window, and the part of that which is due to factors; None where words would leave
    the width, or would seldom decide."""
    spans = [pair_span(*key) for key in keys[:2]]
    scales = [Fraction(meaning.scale[0]) for _, meaning in keys]
    ratios = [scales[0] * scales[1] / scales[2]] if sign == 0 else [scales[0] / scales[2], scales[1] / scales[2] * sign]
    reach = (
        abs(ratios[0]) * spans[0] * spans[1]
        if sign == 0
        else sum(abs(r) * s for r, s in zip(ratios, spans, strict=True))
    )
    (_, first), (_, second), (kind, result) = keys
    # What rounding moves a product by grows with it; of products beyond the codes nothing is asked but their side.
    within = min(reach, pair_span(kind, result) + 2)
    rounded = within if sign == 0 else (reach + within) / 2  # two roundings are those of operands
    zeros = (first.zero_point[0], second.zero_point[0])
    most = _MOST_SHIFT[bits] if sign == 0 else min(_MOST_SHIFT[bits], _MOST_OF_SUMS)
    for shift in range(most, _LEAST_SHIFT - 1, -1):
        left, *others = (round(ratio * (1 << shift)) for ratio in ratios)
        right = others[0] if others else 0
        addend = (result.zero_point[0] << shift) + (1 << shift - 1)
        addend -= 0 if sign == 0 else zeros[0] * left + zeros[1] * right
        codes = [max(abs(end) for end in dtype.range) for dtype, _ in keys[:2]]
        widest = spans[0] * spans[1] * abs(left) if sign == 0 else codes[0] * abs(left) + codes[1] * abs(right)
        if widest + abs(addend) + (1 << shift) > _LARGEST[bits] or max(abs(left), abs(right)) >= 1 << 31:
            continue
        reaches = [spans[0] * spans[1]] if sign == 0 else spans
        cut = sum(abs(r * (1 << shift) - round(r * (1 << shift))) * s for r, s in zip(ratios, reaches, strict=True))
        window = ceil(rounded * Fraction(_ROUNDINGS * 1001, 1000 << MANTISSA) * (1 << shift) + cut) + 1
        if 2 * window > _MOST_NEAR * (1 << shift):
            return None
        return PairForm(sign == 0, left, right, addend, shift, bits, zeros, *limits), window, ceil(cut) + 1
    return None
