"""Sums, products and functions of numbers in fixed point, element by element.

a + b       (a moved to the result's step) + (b moved to it)
a * b       high(a << 1, b << 1) * 2^e
sigmoid(x)  2^-|x log2(e)| by a polynomial of degree 6, over 1 + that power; with 30 bits behind the point
tanh(x)     2 sigmoid(2 x) - 1
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tilewright.model import Array
from tilewright.ops.fixed.tensors import fraction_bits
from tilewright.ops.fixed.whole import ONE, high, moved, reciprocal
from tilewright.ops.operator import Call
from tilewright.ops.requantize import Integers

LOG2_E = 1.4426950408889634
POWERS = (117391, -1369601, 10286296, -59582935, 257938912, -744260973, 1073741824)
"""2^-g on [0, 1] from the highest power of g on, 2^30 for 1: within 3e-9."""
STEP_BITS = 24
"""Bits of fraction of an exponent of 2."""
_FARTHEST = 22.0
"""Beyond, a sigmoid is 0 or 1 in 30 bits; times log2(e) it is less than 32."""

Arrays = Sequence[Array | None]


@dataclass(frozen=True)
class SumForm:
    """By how many bits each operand is moved; the second one is taken away where `sign` is -1."""

    left: int
    right: int
    sign: int


def sum_form(call: Call) -> SumForm:
    """The moves of an Add or Sub."""
    first, second, result = (fraction_bits(t) for t in (call.tensor(0), call.tensor(1), call.outputs[0]))
    return SumForm(result - first, result - second, -1 if call.node.op == "Sub" else 1)


def evaluate_sum(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    """Add or Sub."""
    (a, b), form = _both(arrays), sum_form(call)
    return ((moved(a, form.left) + form.sign * moved(b, form.right)).astype(np.int32),)


def product_exponent(call: Call) -> int:
    """By how many bits the upper half of a product is moved."""
    first, second, result = (fraction_bits(t) for t in (call.tensor(0), call.tensor(1), call.outputs[0]))
    return result - (first + second - 30)


def evaluate_times(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    """Mul."""
    a, b = _both(arrays)
    return (moved(high(a << 1, b << 1), product_exponent(call)).astype(np.int32),)


@dataclass(frozen=True)
class StepForm:
    """Numbers up to `limit` are moved by `room` and multiplied by `factor`: the upper half is an exponent of 2, with 24
    bits of fraction. Results are moved by `exponent`."""

    limit: int
    room: int
    factor: int
    exponent: int


def step_form(call: Call, scale: float = 1.0) -> StepForm:
    """The numbers of a Sigmoid of the operand times `scale`, or a function made of it."""
    bits = fraction_bits(call.tensor(0))
    limit = min(int(_FARTHEST / scale * 2.0**bits), ONE)
    room = 31 - limit.bit_length()
    factor = round(scale * LOG2_E * 2.0 ** (STEP_BITS - bits - room + 32))
    return StepForm(limit, room, factor, fraction_bits(call.outputs[0]) - 30)


def sigmoid(x: Integers, form: StepForm) -> Integers:
    """2^30 for 1."""
    size = np.minimum(np.abs(x), form.limit)
    steps = high(size << form.room, form.factor)
    rest = (steps & (1 << STEP_BITS) - 1) << 31 - STEP_BITS
    power = np.full_like(rest, POWERS[0])
    for part in POWERS[1:]:
        power = part + 2 * high(power, rest)
    power = power >> (steps >> STEP_BITS)
    share = reciprocal(np.minimum(ONE + power, (1 << 31) - 1))
    return np.asarray(np.where(x < 0, power * share >> 30, share))


def evaluate_sigmoid(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    """Sigmoid."""
    form = step_form(call)
    return (moved(sigmoid(_whole(arrays, 0), form), form.exponent).astype(np.int32),)


def evaluate_tanh(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    """Tanh."""
    form = step_form(call, 2.0)
    return (moved(2 * sigmoid(_whole(arrays, 0), form) - ONE, form.exponent).astype(np.int32),)


def _both(arrays: Arrays) -> tuple[Integers, Integers]:
    return _whole(arrays, 0), _whole(arrays, 1)


def _whole(arrays: Arrays, index: int) -> Integers:
    array = arrays[index]
    assert array is not None, f"operand {index} is missing"
    return array.astype(np.int64)
