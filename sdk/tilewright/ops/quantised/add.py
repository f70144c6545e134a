"""Add, Sub and Mul on codes in integers, checked against ONNX's float32 arithmetic on every pair of codes.

    Add, Sub:  code = clamp((a * left + b * right + addend) >> shift, low, high)
    Mul:       code = clamp(((a - a_zero) * (b - b_zero) * left + addend) >> shift, low, high)

The float32 arithmetic (dequantise, operate, quantise, each rounded) is not exactly linear, so where a pair lies next to
a tie the nominal factors may be wrong. They are moved until all pairs (65,536 for eight bits) agree, first in 32-bit
arithmetic, then in 64-bit. Scales whose ratios are powers of two make ties everywhere and no other rounding: there the
factors are these powers, and ties go to the even result. What has neither form is computed in float32.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import frexp, prod
from typing import Literal

import numpy as np
import numpy.typing as npt

from tilewright.model import Array, Clamp, DType, Node, Quantisation, Tensor
from tilewright.ops.codes import Pairwise
from tilewright.ops.operator import Call, Operator
from tilewright.ops.quantised.meaning import evaluate_by_element
from tilewright.ops.quantised.real import code_limits, the_quantisation
from tilewright.ops.requantize import Integers

Reals = npt.NDArray[np.float64]

_NEAR = 2.0**-7  # pairs farther from a step than this never decide anything
_ROUNDS = 400
_LARGEST_CODE = 255
_EXACT = 1 << 24
"""Whole numbers below are exact in float32."""
_MOST_TIED = 24
"""Bits of fraction of a form with ties."""
WORDS: tuple[tuple[Literal[32, 64], int], ...] = ((32, (1 << 31) - 1), (64, (1 << 46) - 1))
"""Widths of the arithmetic, and the largest word in each."""


@dataclass(frozen=True)
class PairForm:
    """The integer form; `bits` is the width of its arithmetic. For Mul `right` is 0 and the zero points count.

    `ties` says where half a step goes: up with a word that holds half a step already, or to the even or the odd code
    from one that holds none.
    """

    product: bool
    left: int
    right: int
    addend: int
    shift: int
    bits: Literal[32, 64]
    zero_points: tuple[int, int]
    low: int
    high: int
    ties: Literal["up", "even", "odd"] = "up"

    def word(self, a: Array, b: Array) -> Integers:
        """The code with its fraction, before limits."""
        first, second = a.astype(np.int64), b.astype(np.int64)
        if self.product:
            return (first - self.zero_points[0]) * (second - self.zero_points[1]) * self.left + self.addend
        return first * self.left + second * self.right + self.addend

    def apply(self, a: Array, b: Array) -> Integers:
        """What the C code computes."""
        word = self.word(a, b)
        if self.ties != "up":
            word = word + (1 << self.shift - 1) - 1 + ((word >> self.shift) + (self.ties == "odd") & 1)
        codes: Integers = np.clip(word >> self.shift, self.low, self.high)
        return codes


def pair_form(operator: Operator, call: Call) -> PairForm | None:
    """The integer form of an Add, Sub or Mul of two quantised tensors.

    None where no form equals the float32 arithmetic on every pair of codes, or where an operand is not quantised. Of
    more than eight bits only scales that are powers of two have one, whose float32 arithmetic rounds nothing but codes.
    """
    if not factored(call):
        return _wide_form(call)
    left, right, result = (pair_key(tensor) for tensor in (call.tensor(0), call.tensor(1), call.outputs[0]))
    return _remembered(operator, call.node.op, call.node.clamp, left, right, result)


def factored(call: Call) -> bool:
    """True for operators that may have factors, on two quantised tensors of at most eight bits."""
    tensors = call.inputs[0], call.inputs[1]
    narrow = all(t is not None and t.quantisation is not None and t.dtype.bits <= 8 for t in tensors)
    return narrow and call.codes == Pairwise(factored=True)


PairKey = tuple[DType, Quantisation]


def pair_key(tensor: Tensor) -> PairKey:
    """What of a tensor decides a form; its shape does not."""
    return tensor.dtype, the_quantisation(tensor)


@lru_cache(maxsize=256)
def _remembered(
    operator: Operator, op: str, clamp: Clamp | None, left: PairKey, right: PairKey, result: PairKey
) -> PairForm | None:
    """Remembered, since every stage asks again; shapes do not matter."""
    call = call_of_pair(operator, op, clamp, left, right, result)
    a, b = (all_codes(call.tensor(index)) for index in range(2))
    codes, tied = every_pair(operator, call, a, b), _tied_form(call)
    if tied is not None and np.array_equal(tied.apply(a[:, None], b[None, :]), codes):
        return tied
    problem = PairProblem.of(call, a, b, codes)
    for bits, limit in WORDS:
        form = problem.solve(bits, limit)
        if form is not None:
            return form
    return None


def _wide_form(call: Call) -> PairForm | None:
    """The form of codes of more than eight bits whose scales are powers of two, where floats hold all that stands
    before the rounding of codes."""
    tensors = call.optional(0), call.optional(1), call.outputs[0]
    if call.codes != Pairwise(factored=True) or any(t is None or t.quantisation is None for t in tensors):
        return None
    meanings = [the_quantisation(tensor) for tensor in tensors if tensor is not None]
    if any(meaning.numerics != "exact" or frexp(meaning.scale[0])[0] != 0.5 for meaning in meanings):
        return None
    form = _tied_form(call)
    if form is None:
        return None
    spans = [pair_span(*pair_key(tensor)) for tensor in (call.tensor(0), call.tensor(1))]
    least = min(abs(factor) for factor in (form.left, form.right) if factor)
    largest = prod(spans) if form.product else (spans[0] * form.left + spans[1] * abs(form.right)) // least
    return form if largest < _EXACT else None


def pair_span(dtype: DType, meaning: Quantisation) -> int:
    """The most by which a code differs from its zero point."""
    return max(abs(code - meaning.zero_point[0]) for code in dtype.range)


def _tied_form(call: Call) -> PairForm | None:
    """The form whose factors are powers of two times a step of the result, half a step or less; None for others."""
    first, second, target = (the_quantisation(t) for t in (call.tensor(0), call.tensor(1), call.outputs[0]))
    scales = [Fraction(meaning.scale[0]) for meaning in (first, second, target)]
    product = call.node.op == "Mul"
    ratios = [scales[0] * scales[1] / scales[2]] if product else [scales[0] / scales[2], scales[1] / scales[2]]
    shift = max(ratio.denominator.bit_length() - 1 for ratio in ratios)
    if not 0 < shift <= _MOST_TIED or any(part & (part - 1) for r in ratios for part in (r.numerator, r.denominator)):
        return None
    left, *rest = (int(ratio * (1 << shift)) for ratio in ratios)
    right = 0 if product else -rest[0] if call.node.op == "Sub" else rest[0]
    zeros, odd = (first.zero_point[0], second.zero_point[0]), target.zero_point[0] % 2
    addend = (target.zero_point[0] << shift) - (0 if product else zeros[0] * left + zeros[1] * right)
    limits = code_limits(call, call.outputs[0])
    operands = call.tensor(0), call.tensor(1)
    spans = [pair_span(*pair_key(tensor)) for tensor in operands]
    codes = [max(abs(end) for end in tensor.dtype.range) for tensor in operands]
    reach = prod(spans) * left if product else codes[0] * left + codes[1] * abs(right)
    if reach + abs(addend) + (2 << shift) >= 1 << 31:
        return None
    return PairForm(product, left, right, addend, shift, 32, zeros, *limits, "odd" if odd else "even")


def all_codes(tensor: Tensor) -> Integers:
    """Every code of the tensor's type, from the lowest on."""
    low, high = tensor.dtype.range
    return np.arange(low, high + 1, dtype=np.int64)


def every_pair(operator: Operator, call: Call, a: Integers, b: Integers) -> Integers:
    """[a, b]: the code that the float32 arithmetic gives."""
    first, second = call.tensor(0), call.tensor(1)
    inputs = replace(first, shape=(a.size, 1)), replace(second, shape=(1, b.size))
    output = replace(call.outputs[0], shape=(a.size, b.size))
    arrays = a.astype(first.dtype.numpy)[:, None], b.astype(second.dtype.numpy)[None, :]
    every = replace(call, inputs=inputs, outputs=(output,), constants={})
    return evaluate_by_element(operator, every, arrays)[0].astype(np.int64)


def call_of_pair(
    operator: Operator, op: str, clamp: Clamp | None, left: PairKey, right: PairKey, result: PairKey
) -> Call:
    """The call on tensors of one element."""
    keys = zip("aby", (left, right, result), strict=True)
    first, second, target = (Tensor(name, dtype, (1,), meaning) for name, (dtype, meaning) in keys)
    return Call(Node(op, op, ("a", "b"), ("y",), {}, "", clamp), (first, second), (target,), operator=operator)


@dataclass(frozen=True)
class PairProblem:
    """Find `factors` so that `floor(columns @ factors)` is the code of every pair; floor is clamped to [low, high].

    Columns are one or two products of centred codes, and the constant; `nominal` are the factors that real arithmetic
    would have, in output steps.
    """

    columns: Integers
    nominal: Reals
    codes: Integers
    zero_points: tuple[int, int]
    product: bool
    low: int
    high: int

    @staticmethod
    def of_keys(
        operator: Operator, op: str, clamp: Clamp | None, left: PairKey, right: PairKey, result: PairKey
    ) -> PairProblem:
        """The problem of an operator on tensors of one element, with the code of every pair."""
        call = call_of_pair(operator, op, clamp, left, right, result)
        a, b = (all_codes(call.tensor(index)) for index in range(2))
        return PairProblem.of(call, a, b, every_pair(operator, call, a, b))

    @staticmethod
    def of(call: Call, a: Integers, b: Integers, codes: Integers) -> PairProblem:
        """The problem of a call whose codes are `codes` for every `a` and `b`."""
        first, second, target = (the_quantisation(t) for t in (call.tensor(0), call.tensor(1), call.outputs[0]))
        zeros = first.zero_point[0], second.zero_point[0]
        left = np.broadcast_to((a - zeros[0])[:, None], codes.shape).reshape(-1)
        right = np.broadcast_to((b - zeros[1])[None, :], codes.shape).reshape(-1)
        ones = np.ones(left.size, np.int64)
        middle = target.zero_point[0] + 0.5
        product = call.node.op == "Mul"
        if product:
            columns = np.stack([left * right, ones], axis=1)
            nominal = np.asarray([first.scale[0] * second.scale[0] / target.scale[0], middle])
        else:
            sign = -1 if call.node.op == "Sub" else 1
            columns = np.stack([left, right, ones], axis=1)
            nominal = np.asarray([first.scale[0] / target.scale[0], sign * second.scale[0] / target.scale[0], middle])
        limits = code_limits(call, call.outputs[0])
        return PairProblem(columns, nominal, codes.reshape(-1), zeros, product, *limits)

    def below(self, bits: Literal[32, 64], limit: int) -> PairForm | None:
        """The nominal factors, and the largest addend near its own with which no pair is above its code."""
        shift = self._shift(limit)
        if shift is None:
            return None
        whole = np.rint(self.nominal * 2.0**shift).astype(np.int64)
        part = self.columns[:, :-1] @ whole[:-1]
        up = self.codes < self.high
        highest = int((((self.codes + 1) << shift) - 1 - part)[up].min(initial=limit))
        return self._form(whole, min(int(whole[-1]), highest), part, shift, bits, limit)

    def solve(self, bits: Literal[32, 64], limit: int) -> PairForm | None:
        """The form with words up to `limit`; None where the factors cannot be moved so that all pairs agree."""
        shift = self._shift(limit)
        if shift is None:
            return None
        rows, slack = self._near_steps()
        scale = 1.0 / np.maximum(np.abs(self.columns).max(axis=0), 1)
        scaled = rows * scale
        squares = (scaled**2).sum(axis=1)
        margin = 2.0**-shift * (256 if bits == 32 else 2)
        moved = np.zeros(self.nominal.size)
        form = self._rounded(self.nominal, shift, bits, limit)
        for turn in range(_ROUNDS):
            if form is not None:
                return form
            # Step onto the far side of the constraint that is violated most (relaxation of Agmon and Motzkin).
            distance = scaled @ moved + slack
            worst = int(np.argmin(distance))
            settled = distance[worst] >= margin
            if settled or turn % 20 == 19:
                form = self._rounded(self.nominal + moved * scale, shift, bits, limit)
                margin *= 1.5 if settled else 1.0
            moved = moved + (margin * 1.1 - distance[worst]) / squares[worst] * scaled[worst]
        return None

    def _near_steps(self) -> tuple[Reals, Reals]:
        """Constraints `row . moved + slack >= 0` of the pairs that lie near a step of the result."""
        value = self.columns @ self.nominal
        rows, slacks = [np.zeros((1, self.nominal.size))], [np.ones(1)]
        for sign, slack, active in (
            (1, value - self.codes, self.codes > self.low),
            (-1, self.codes + 1 - value, self.codes < self.high),
        ):
            near = active & (slack < _NEAR)
            rows.append(sign * self.columns[near].astype(np.float64))
            slacks.append(slack[near])
        rows[0][0, -1] = 1.0
        return np.concatenate(rows), np.concatenate(slacks)

    def _shift(self, limit: int) -> int | None:
        """The most fraction bits with which no word leaves `limit`, plain codes or centred ones."""
        if self.product:
            reach = float(np.abs(self.columns[:, 0]).max()) * abs(float(self.nominal[0]))
        else:
            widest = [_LARGEST_CODE + abs(zero) for zero in self.zero_points]
            reach = float(np.asarray(widest) @ np.abs(self.nominal[:-1]))
        reach = 1.02 * reach + abs(float(self.nominal[-1])) + 2
        shift = int(np.floor(np.log2(limit / reach)))
        return shift if shift >= 8 else None

    def _rounded(self, factors: Reals, shift: int, bits: Literal[32, 64], limit: int) -> PairForm | None:
        """Whole factors; the addend from the interval that makes every pair right, None where that is empty, or where
        factors left 64 bits: codes that no line gives move them away without an end."""
        if not (np.abs(factors) * 2.0**shift < 2.0**62).all():
            return None
        whole = np.rint(factors * 2.0**shift).astype(np.int64)
        part = self.columns[:, :-1] @ whole[:-1]
        up, down = self.codes < self.high, self.codes > self.low
        lowest = int(((self.codes << shift) - part)[down].max(initial=-limit))
        highest = int((((self.codes + 1) << shift) - 1 - part)[up].min(initial=limit))
        if lowest > highest:
            return None
        return self._form(whole, min(max(int(whole[-1]), lowest), highest), part, shift, bits, limit)

    def _form(
        self, whole: Integers, addend: int, part: Integers, shift: int, bits: Literal[32, 64], limit: int
    ) -> PairForm | None:
        """The form of these factors, None where a word leaves `limit`."""
        left, right = int(whole[0]), 0 if self.product else int(whole[1])
        if not self.product:
            addend -= self.zero_points[0] * left + self.zero_points[1] * right
            widest = _LARGEST_CODE * (abs(left) + abs(right)) + abs(addend)
        else:
            widest = int(np.abs(part).max()) + abs(addend)
        if widest > limit:
            return None
        return PairForm(self.product, left, right, addend, shift, bits, self.zero_points, self.low, self.high)


def pair_width(form: PairForm | None) -> DType:
    """The arithmetic that a kernel needs: int32, int64, or float32 where there is no integer form."""
    if form is None:
        return DType.F32
    return DType.I32 if form.bits == 32 else DType.I64
