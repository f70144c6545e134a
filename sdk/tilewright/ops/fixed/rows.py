"""RowCodes, CodeProduct and CodeRows in fixed point.

    codes[i] = (high(x[i] << s, ratio) + half) >> shift       ratio = reciprocal(most << s) * highest, s to fill 31 bits
    y[n]     = high(sum[n] << c, high(most << s, unit) << 1) * 2^(e - s)
    y[i]     = high(code[i] * factor << c, unit) * 2^e

Sums are exact; `unit` has 31 bits of the product's unit over the step of the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tilewright.model import Array, DType
from tilewright.ops.fixed.tensors import fraction_bits
from tilewright.ops.fixed.whole import headroom, high, mantissa, moved, reciprocal
from tilewright.ops.operands import checked_indices
from tilewright.ops.operator import Call, remembered
from tilewright.ops.row_codes import code_block, highest_code

Arrays = Sequence[Array | None]


@dataclass(frozen=True)
class UnitForm:
    """Whole numbers are shifted by `room` to fill 31 bits, multiplied by `unit`, and moved by `exponent`."""

    room: int
    unit: int
    exponent: int


def code_bits(call: Call) -> int:
    """Bits of the highest code of a row."""
    return highest_code(call).bit_length()


def evaluate_row_codes(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    """Codes of every row, and its largest element."""
    x, bits = _whole(arrays, 0), code_bits(call)
    most = np.maximum(np.abs(x).max(-1, keepdims=True), 1)
    room = headroom(most)
    ratio = reciprocal(most << room) * highest_code(call) >> bits
    codes = high(x << room, ratio) + (1 << 27 - bits) >> 28 - bits
    return codes.astype(np.int8), most.astype(np.int32)


@remembered
def product_form(call: Call) -> UnitForm:
    """The numbers of a CodeProduct whose weights and factors are constant."""
    weights, factors = (call.constant(index, "a weight").astype(np.int64) for index in (2, 3))
    spread = np.repeat(np.abs(factors), code_block(call), axis=1)[:, : weights.shape[1]]
    most = int((127 * np.abs(weights) * spread).sum(1).max(initial=1))
    room = int(headroom(np.asarray(max(most, 1))))
    bits = fraction_bits(call.outputs[0]) - fraction_bits(call.tensor(1))
    unit, exponent = mantissa(float(np.float32(call.real("unit"))) * 2.0**bits)
    return UnitForm(room, unit, exponent + 63 - room)


def evaluate_product(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    """Sums of products of codes, times a factor of every block, times the row's unit."""
    x, most, weights, factors = (_whole(arrays, index) for index in range(4))
    block, form = code_block(call), product_form(call)
    sums = np.zeros((*x.shape[:-1], len(weights)), np.int64)
    for number, begin in enumerate(range(0, weights.shape[1], block)):
        part = slice(begin, begin + block)
        sums = sums + (x[..., part] @ weights[:, part].T) * factors[:, number]
    room = headroom(most)
    ratio = high(most << room, form.unit) << 1
    return (moved(high(sums << form.room, ratio), form.exponent - room).astype(np.int32),)


@remembered
def table_form(call: Call) -> UnitForm:
    """The numbers of a CodeRows."""
    most = 127 * (127 if call.tensor(0).dtype is DType.I8 else 8)
    room = int(headroom(np.asarray(most)))
    unit, exponent = mantissa(float(np.float32(call.real("unit"))) * 2.0 ** fraction_bits(call.outputs[0]))
    return UnitForm(room, unit, exponent + 32 - room)


def evaluate_rows(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    """Rows of a table of codes."""
    weights, factors, index = (_whole(arrays, place) for place in range(3))
    at, form = checked_indices(call, index, len(weights), 2), table_form(call)
    spread = np.repeat(factors[at], code_block(call), axis=-1)[..., : weights.shape[1]]
    return (moved(high(weights[at] * spread << form.room, form.unit), form.exponent).astype(np.int32),)


def _whole(arrays: Arrays, index: int) -> Array:
    array = arrays[index]
    assert array is not None, f"operand {index} is missing"
    return array.astype(np.int64)
