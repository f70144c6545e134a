"""Div on codes in integers, checked against ONNX's float32 arithmetic on every pair of codes.

    code = clamp(((a - a_zero) * multiplier / (b - b_zero) + addend) >> shift, low, high)

The division is C's, towards zero; a divisor of zero has a code for each sign of the dividend. Multipliers next to the
nominal one are tried, and of each the addend that suits all pairs (65,536 for eight bits), as many bits of fraction as
words of 32 bits have room for. Scales whose ratio is a power of two make ties that no addend sends to the even code:
these are computed in float32.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from tilewright.model import Array, Clamp
from tilewright.ops.operator import Call, Operator
from tilewright.ops.quantised.add import PairKey, all_codes, call_of_pair, every_pair, pair_key, pair_span
from tilewright.ops.quantised.real import code_limits, rounds_twice, the_quantisation
from tilewright.ops.requantize import Integers

_LARGEST = (1 << 31) - 1
_MOST_SHIFT, _LEAST_SHIFT = 24, 6
_COARSER = 3
"""Shifts that are tried below the finest; those below them decide less."""
_AROUND = 3
"""How far from the nominal multiplier one is sought."""
_FAR = 1 << 40


@dataclass(frozen=True)
class QuotientForm:
    """The integer form; `over_zero` are the codes of a dividend below, at and above its zero point over zero."""

    multiplier: int
    addend: int
    shift: int
    zero_points: tuple[int, int]
    low: int
    high: int
    over_zero: tuple[int, int, int]

    def word(self, a: Array, b: Array) -> Integers:
        """The code with its fraction, before limits; the addend where the divisor is zero."""
        product = (a.astype(np.int64) - self.zero_points[0]) * self.multiplier
        divisor = b.astype(np.int64) - self.zero_points[1]
        size = np.abs(product) // np.maximum(np.abs(divisor), 1) * (divisor != 0)
        return np.asarray(np.where((product < 0) == (divisor < 0), size, -size) + self.addend, np.int64)

    def apply(self, a: Array, b: Array) -> Integers:
        """What the C code computes."""
        signs = np.sign(a.astype(np.int64) - self.zero_points[0])
        over_zero = np.asarray(self.over_zero, np.int64)[signs + 1]
        codes = np.where(b == self.zero_points[1], over_zero, self.word(a, b) >> self.shift)
        return np.asarray(np.clip(codes, self.low, self.high), np.int64)


def quotient_form(call: Call) -> QuotientForm | None:
    """The form of a Div of two quantised tensors of at most eight bits; None where none is right for every pair."""
    tensors = (call.optional(0), call.optional(1), call.outputs[0])
    if call.node.op != "Div" or call.operator is None or rounds_twice(call):
        return None
    if any(t is None or t.quantisation is None or t.dtype.bits > 8 for t in tensors):
        return None
    left, right, result = (pair_key(tensor) for tensor in tensors if tensor is not None)
    return _remembered(call.operator, call.node.clamp, left, right, result)


@lru_cache(maxsize=256)
def _remembered(
    operator: Operator, clamp: Clamp | None, left: PairKey, right: PairKey, result: PairKey
) -> QuotientForm | None:
    call = call_of_pair(operator, "Div", clamp, left, right, result)
    a, b = (all_codes(call.tensor(index)) for index in range(2))
    codes = every_pair(operator, call, a, b)
    made = (_right(form, a[:, None], b[None, :], codes) for form in _candidates(call))
    return next((form for form in made if form is not None), None)


def _candidates(call: Call) -> Iterator[QuotientForm]:
    """Forms whose addends hold half a step, the finest first."""
    first, second, target = (the_quantisation(t) for t in (call.tensor(0), call.tensor(1), call.outputs[0]))
    ratio = Fraction(first.scale[0]) / Fraction(second.scale[0]) / Fraction(target.scale[0])
    span, zeros = pair_span(*pair_key(call.tensor(0))), (first.zero_point[0], second.zero_point[0])
    limits = code_limits(call, call.outputs[0])
    tried = 0
    for shift in range(_MOST_SHIFT, _LEAST_SHIFT - 1, -1):
        nominal, addend = round(ratio * (1 << shift)), (target.zero_point[0] << shift) + (1 << shift - 1)
        if (nominal + _AROUND) * span + abs(addend) + (1 << shift) > _LARGEST or nominal <= _AROUND:
            continue
        for away in sorted(range(-_AROUND, _AROUND + 1), key=abs):
            yield QuotientForm(nominal + away, addend, shift, zeros, *limits, (0, 0, 0))
        tried += 1
        if tried > _COARSER:
            return


def _right(form: QuotientForm, a: Integers, b: Integers, codes: Integers) -> QuotientForm | None:
    """The form with the addend nearest to its own that is right for every pair; None where there is none."""
    inside = np.broadcast_to(b != form.zero_points[1], codes.shape)
    word = form.word(a, b) - form.addend
    most = int((((codes + 1) << form.shift) - 1 - word)[inside & (codes < form.high)].min(initial=_FAR))
    least = int(((codes << form.shift) - word)[inside & (codes > form.low)].max(initial=-_FAR))
    addend = min(max(form.addend, least), most)
    if abs(addend - form.addend) >= 1 << form.shift:
        return None
    signs = np.clip([form.zero_points[0] + sign for sign in (-1, 0, 1)], a.min(), a.max()) - a.min()
    below, none, above = (int(code) for code in codes[signs, np.flatnonzero(b == form.zero_points[1])[0]])
    made = replace(form, addend=addend, over_zero=(below, none, above))
    return made if np.array_equal(made.apply(a, b), codes) else None
