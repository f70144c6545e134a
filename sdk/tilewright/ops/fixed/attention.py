"""CodedAttention whose queries, largest elements of rows and results are in fixed point.

What is between is the same: codes of queries, scores, powers of 2 and shares are those whole numbers
(`ops/coded_attention.py`). Parts of the largest key and value, the unit of queries and the share of a result, which are
floats there, are upper halves of products with reciprocals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tilewright.model import Array
from tilewright.ops.coded_attention import attention_units, coded_widths, held_codes, summed_shares
from tilewright.ops.fixed.tensors import fraction_bits, reals_of
from tilewright.ops.fixed.whole import bit_length, headroom, high, mantissa, moved, reciprocal
from tilewright.ops.operator import Call, remembered
from tilewright.ops.requantize import Integers

_LEAST, _MOST = 2, 32
"""Exponents of queries: their scores then lose `exponent - 2` bits."""


@dataclass(frozen=True)
class AttentionForm:
    """Queries are multiplied by `query` times the largest key, sums by `unit` times the largest value over the sum of
    powers; both have 31 bits. `limit` is the largest code of a query, `share` that of a row's share."""

    query: int
    query_exponent: int
    limit: int
    share: int
    unit: int
    unit_exponent: int


@remembered
def attention_form(call: Call) -> AttentionForm:
    """The numbers of a CodedAttention in fixed point."""
    units = attention_units(call)
    q, k, v, y = (fraction_bits(tensor) for tensor in (*map(call.tensor, (0, 2, 4)), call.outputs[0]))
    query, query_exponent = mantissa(float(units.factor) * 2.0 ** -(q + k))
    unit, unit_exponent = mantissa(float(units.unit) * 2.0 ** (y - v))
    return AttentionForm(query, query_exponent + 63, units.query, units.share, unit, unit_exponent + 65)


def evaluate_attention(call: Call, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
    """Attention over the filled rows."""
    q, k, k_most, v, v_most, length = (_there(arrays, index) for index in range(6))
    count = int(np.clip(length.reshape(-1)[0], 0, k.shape[2]))
    if not count:
        return (np.zeros((*q.shape[:3], coded_widths(call)[1]), np.int32),)
    form = attention_form(call)
    largest_key, keys = _parts(k_most, count)
    largest_value, values = _parts(v_most, count)
    queries, shift = _coded(q.astype(np.int64), form, largest_key)
    scores = queries @ held_codes(k[:, :, :count]).swapaxes(2, 3) * (keys << 2) >> 32
    factors = high(values << 2, form.share << 4)
    sums, total = summed_shares(scores, shift, held_codes(v[:, :, :count]), factors, attention_units(call))
    room, length_bits = headroom(np.asarray(largest_value)), bit_length(total)
    ratio = high(high(largest_value << room, form.unit) << 1, reciprocal(moved(total, 31 - length_bits))) << 1
    return (moved(high(sums, ratio), form.unit_exponent - room - length_bits).astype(np.int32),)


def _parts(most: Array, count: int) -> tuple[int, Integers]:
    """The largest of the first rows, 1 at least, and each row's part of it, 2^28 for all of it."""
    rows = np.maximum(most.reshape(-1)[:count].astype(np.int64), 0)
    largest = max(int(rows.max()), 1)
    room = int(headroom(np.asarray(largest)))
    return largest, high(rows << room, reciprocal(np.asarray(largest << room)))


def _coded(q: Integers, form: AttentionForm, largest_key: int) -> tuple[Integers, Integers]:
    """Whole numbers for queries, and by how many bits a difference of scores is shifted to be in steps."""
    most = np.maximum(np.abs(q).max(-1, keepdims=True), 1)
    key_room, room = int(headroom(np.asarray(largest_key))), headroom(most)
    unit = high(largest_key << key_room, form.query) << 1
    largest = high(most << room, unit)
    fits = form.limit.bit_length() - bit_length(largest)
    fits = fits - ((largest >> -fits) >= form.limit)
    away = form.query_exponent - key_room - room
    exponent = np.clip(fits - away, _LEAST, _MOST)
    down = np.clip(-(away + exponent), 1, 31)
    scaled = high(q << room, unit) + (1 << down - 1) >> down
    return np.clip(scaled, -form.limit, form.limit), exponent - 2


def _there(arrays: Sequence[Array | None], index: int) -> Array:
    array = arrays[index]
    assert array is not None, f"operand {index} is missing"
    return array


def attention_reals(call: Call, arrays: Sequence[Array | None]) -> list[Array | None]:
    """The operands as the CodedAttention of floats has them."""
    return [
        array if index not in (0, 2, 4) or array is None else reals_of(array, call.tensor(index)).astype(np.float32)
        for index, array in enumerate(arrays)
    ]
