"""LayerNormalization and RMSNormalization in fixed point, every row by its own size.

    c = x << s, or where a mean is taken away (x << r) - mean, shifted again to fill 31 bits; s counts all shifts
    T = sum of high(c, c), and epsilon in the same units
    y = high(high(c, inverse_root(T)), factor) * 2^e + addend

`inverse_root` takes the upper 32 bits of T under an even shift. Factors hold the root of a row's length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod, sqrt

import numpy as np

from tilewright.model import Array
from tilewright.ops.codes import Normalises
from tilewright.ops.fixed.tensors import codes_of_reals, fraction_bits
from tilewright.ops.fixed.whole import headroom, high, inverse_root, mantissa, moved, wide_length
from tilewright.ops.operator import Call, remembered
from tilewright.ops.requantize import Integers

_WIDEST = 60
"""Bits of epsilon under the root."""


@dataclass(frozen=True)
class NormForm:
    """The numbers of rows of `length` elements.

    Epsilon is `epsilon` * 2^(epsilon_exponent + 2 s) for a row that was shifted by s, at most `most_shift`. A sum over
    2^length_bits is multiplied by `share` over 2^30 for the mean. Results are moved by `exponent`.
    """

    length: int
    centred: bool
    epsilon: int
    epsilon_exponent: int
    most_shift: int
    length_bits: int
    share: int
    factors: Integers
    addends: Integers
    exponent: int


def norm_length(call: Call) -> int:
    """Elements of a row."""
    axis = call.integer("axis", -1) % max(len(call.shape()), 1)
    return prod(call.shape()[axis:])


@remembered
def norm_form(call: Call) -> NormForm:
    """The numbers of a normalisation with constant scales."""
    length, bits = norm_length(call), fraction_bits(call.tensor(0))
    epsilon, exponent = mantissa(length * float(np.float32(call.real("epsilon", 1e-5))) * 2.0 ** (2 * bits - 32))
    most_shift = min(31, (_WIDEST - 31 - exponent) // 2) if epsilon else 31
    scale = _parameter(call, 1, length).astype(np.float64) * sqrt(length)
    largest = float(np.abs(scale).max(initial=0.0))
    _, scale_exponent = mantissa(largest) if largest else (0, 0)
    factors = np.clip(np.rint(scale * 2.0**-scale_exponent), 1 - (1 << 31), (1 << 31) - 1).astype(np.int64)
    result_bits, addend = fraction_bits(call.outputs[0]), call.optional(2)
    addends = np.zeros(0, np.int64) if addend is None else codes_of_reals(_parameter(call, 2, length), result_bits)
    length_bits = (length - 1).bit_length()
    centred = isinstance(call.codes, Normalises) and call.codes.centred
    return NormForm(
        length, centred, epsilon, exponent, most_shift, length_bits, round((1 << 30 + length_bits) / length),
        factors, addends.astype(np.int64), result_bits + scale_exponent + 3,
    )  # fmt: skip


def _parameter(call: Call, index: int, length: int) -> Array:
    value = call.constant(index, "the scale" if index == 1 else "the bias")
    return np.broadcast_to(value.reshape(-1), length)


def evaluate_norm(call: Call, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
    """Every row by its own size."""
    form, x = norm_form(call), arrays[0]
    assert x is not None, "operand 0 is missing"
    rows = x.astype(np.int64).reshape(-1, form.length)
    room = np.minimum(_room(rows), form.most_shift)
    if form.centred:
        room = np.maximum(room - 1, 0)
        rows = rows << room
        total = rows.sum(1, keepdims=True) >> form.length_bits
        rows = rows - (total * form.share >> 30)
        more = np.minimum(_room(rows), form.most_shift - room)
        rows, room = rows << more, room + more
    else:
        rows = rows << room
    total = high(rows, rows).sum(1, keepdims=True) + moved(
        np.full_like(room, form.epsilon), form.epsilon_exponent + 2 * room
    )
    total = np.maximum(total, 1)
    even = wide_length(total) - 31 >> 1 << 1
    root = inverse_root(moved(total, -even))
    parts = high(high(rows, root), form.factors)
    results = moved(parts, form.exponent - (even >> 1))
    if form.addends.size:
        results = results + form.addends
    return (results.astype(np.int32).reshape(x.shape),)


def _room(rows: Integers) -> Integers:
    """The bits that a row can be shifted to the left by."""
    return headroom(np.bitwise_or.reduce(rows ^ rows >> 31, axis=1, keepdims=True))
