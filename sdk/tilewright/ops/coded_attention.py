"""CodedAttention: attention over caches of codes, as many rows of them as there are, in whole numbers.

    y = softmax(scale * q keys') values,  keys[j] = k[j] * k_most[j] * k_unit, values likewise

The passes make it of standard operators over states; no file contains it. `q` is [1, heads, queries, depth], `k` and
`v` are [1, heads, rows, depth] in int8, each row with one largest element for all heads [1, 1, rows, 1]. In uint8
they are [1, heads, rows, depth / 2]: codes of four bits, the first half of a row in the low bits of its bytes and the
second in the high ones. Such a code counts 16 times, so that one arithmetic serves both.

The caches are read once, in blocks of rows: what was summed is made less where a later block has a higher score (online
normaliser, Milakov and Gimelshein 2018). Queries, factors of rows and shares are whole numbers of at most 16, 30 and 15
bits, powers of 2 come of two tables; so every target has these very bits. `_error` bounds how far that is from floats.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tilewright.model import Array, DType
from tilewright.ops.facts import Reads, lengths
from tilewright.ops.index.build import operand
from tilewright.ops.index.nest import Nest, Space, Tensor
from tilewright.ops.operands import Arrays, given, needs_index, result
from tilewright.ops.operator import Call, Operator, TensorType
from tilewright.ops.relayout import DOMAIN

BLOCK = 64
"""Rows of a cache between two looks at the highest score."""
KEY_ONE = 1 << 30
"""The factor of the row of keys with the largest element."""
LEAST_KEY, LEAST = np.float32(1e-20), np.float32(1e-30)
"""Stand for the largest element of keys, and of queries and values, where it is less."""
COARSE, FINE, STEPS = 64, 32, 2048
"""Entries of the two tables of powers, and steps of a power of 2."""
LAST_STEP = (1 << 16) - 1
LOG2_E = 1.4426950408889634
_OPERANDS = ("q", "k", "k_most", "v", "v_most", "length")
Whole = np.ndarray[tuple[int, ...], np.dtype[np.int64]]


@dataclass(frozen=True)
class AttentionUnits:
    """Whole numbers that stand for 1.

    A query's largest element becomes at most `query`; of shares 1 is `share`, of sums of powers 2^(30 - total_shift).
    Queries are multiplied by `factor` times the largest key, sums by `unit` times the largest value.
    """

    query: int
    share: int
    total_shift: int
    factor: np.float32
    unit: np.float32


def coded_widths(call: Call) -> tuple[int, int]:
    """Elements of a row of keys and of one of values."""
    keys, values = (call.shape(index)[-1] * (2 if call.tensor(index).dtype is DType.U8 else 1) for index in (1, 3))
    return keys, values


def attention_units(call: Call) -> AttentionUnits:
    """Such that no sum leaves 32 bits."""
    rows, depth, most = call.shape(1)[2], coded_widths(call)[0], (1 << 31) - 1
    query, share = min(32000, most // (127 * max(depth, 1))), min(32767, most // (128 * max(rows, 1)))
    shift = max(10, max(rows - 1, 1).bit_length() - 1)
    factor = call.real("scale") * call.real("k_unit") * LOG2_E * STEPS
    unit = call.real("v_unit") / max(share, 1) * 2.0 ** (30 - shift)
    return AttentionUnits(query, share, shift, np.float32(factor), np.float32(unit))


def power_tables() -> tuple[Array, Array]:
    """Powers of 2, 32768 for 1: by -1/64 and by -1/2048 each."""
    coarse, fine = (2.0 ** (-np.arange(size) / steps) for size, steps in ((COARSE, COARSE), (FINE, STEPS)))
    return np.rint(32768 * coarse).astype(np.uint16), np.rint(32768 * fine).astype(np.uint16)


def _infer(call: Call) -> tuple[TensorType, ...]:
    q, k, v = (call.shape(index) for index in (0, 1, 3))
    needs_index(call, 5)
    codes = call.tensor(1).dtype is call.tensor(3).dtype and call.tensor(1).dtype in (DType.I8, DType.U8)
    shares = all(call.shape(index) == (1, 1, k[2], 1) for index in (2, 4)) if len(k) == 4 else False
    if not codes or not shares or len(q) != 4 or len(v) != 4 or call.shape(5) != (1,):
        raise call.invalid("keys and values are codes with one largest element for each row, and their number")
    depth, width = coded_widths(call)
    if q[:2] != k[:2] or k[:3] != v[:3] or q[0] != 1 or q[3] != depth:
        raise call.invalid(f"queries {q}, keys {k} and values {v} do not fit")
    return (result(call, DType.F32, (*q[:3], width)),)


def _evaluate(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    q, k, k_most, v, v_most = (given(arrays, index) for index in range(5))
    count = int(np.clip(given(arrays, 5).reshape(-1)[0], 0, k.shape[2]))
    if not count:
        return (np.zeros((*q.shape[:3], coded_widths(call)[1]), np.float32),)
    units = attention_units(call)
    with np.errstate(all="ignore"):
        largest_key, key_factors = _row_factors(k_most.reshape(-1)[:count], LEAST_KEY, KEY_ONE)
        largest_value, value_factors = _row_factors(v_most.reshape(-1)[:count], LEAST, 4 * units.share)
        queries, shift = _coded_queries(q, units, largest_key)
        scores = queries @ held_codes(k[:, :, :count]).swapaxes(2, 3) * key_factors >> 32
        sums, total = summed_shares(scores, shift, held_codes(v[:, :, :count]), value_factors, units)
        return (sums.astype(np.float32) * (largest_value * units.unit / total.astype(np.float32)),)


def held_codes(held: Array) -> Whole:
    """Codes as they count, of eight bits."""
    halves = np.concatenate((held << 4, held & 240), -1).view(np.int8) if held.dtype == np.uint8 else held
    return halves.astype(np.int64)


def _row_factors(most: Array, least: np.float32, one: int) -> tuple[np.float32, Whole]:
    """The largest of all rows, and each row's part of it, `one` for all of it."""
    largest = np.float32(np.fmax.reduce(most, initial=least))
    scaled = most * (np.float32(one) / largest)
    return largest, np.where(scaled > 0, scaled, 0).astype(np.int64)


def _coded_queries(q: Array, units: AttentionUnits, largest_key: np.float32) -> tuple[Whole, Whole]:
    """Whole numbers for queries, and by how many bits a difference of scores is shifted to be in steps."""
    unit, largest = largest_key * units.factor, np.fmax.reduce(np.abs(q), -1, initial=LEAST, keepdims=True)
    room = np.asarray(np.float32(units.query) / (unit * largest), np.float32)
    exponent = np.clip((room.view(np.int32) >> 23 & 255) - 127, 2, 32)
    scaled = q * (unit * np.ldexp(np.float32(1), exponent).astype(np.float32))
    limited = np.where(scaled > units.query, units.query, np.where(scaled >= -units.query, scaled, -units.query))
    return np.rint(limited).astype(np.int64), exponent.astype(np.int64) - 2


def _powers(differences: Whole, shift: Whole) -> Whole:
    """2 to the negative difference, 2^30 for 1."""
    coarse, fine = (table.astype(np.int64) for table in power_tables())
    step = np.minimum(differences + (1 << shift >> 1) >> shift, LAST_STEP)
    return np.asarray(coarse[step >> 5 & COARSE - 1] * fine[step & FINE - 1] >> (step >> 11))


def summed_shares(
    scores: Whole, shift: Whole, values: Whole, factors: Whole, units: AttentionUnits
) -> tuple[Whole, Whole]:
    """Sums of values times shares and the sum of powers of every line, block after block."""
    high, total = scores[..., :BLOCK].max(-1, keepdims=True), np.zeros((*scores.shape[:3], 1), np.int64)
    sums = np.zeros((*scores.shape[:3], values.shape[3]), np.int64)
    for begin in range(0, scores.shape[3], BLOCK):
        part = slice(begin, begin + BLOCK)
        higher = np.maximum(high, scores[..., part].max(-1, keepdims=True))
        less = np.where(higher > high, _powers(higher - high, shift), 1 << 30)
        high, total, sums = higher, total * less >> 30, sums * less >> 30
        powers = _powers(high - scores[..., part], shift)
        total = total + (powers >> units.total_shift).sum(-1, keepdims=True)
        sums = sums + (powers * factors[part] + (1 << 31) >> 32) @ values[:, :, part]
    return sums, total


def _error(call: Call, arrays: Sequence[Array | None]) -> float:
    """How far a result may lie from that of exact arithmetic.

    A score is off by half a step, by as much in the tables, and by half a whole number in each element of
    a query, whose largest has at least half of `query`; larger ones are limited, and then nothing is promised but what
    holds of any mean. A power's error counts twice, in its share and in the total; a share is rounded to half a unit.
    """
    q, k_most, v_most = (given(arrays, index) for index in (0, 2, 4))
    units, depth = attention_units(call), coded_widths(call)[0]
    count = int(np.clip(given(arrays, 5).reshape(-1)[0], 0, call.shape(1)[2]))
    largest = [float(np.max(np.abs(one), initial=0)) for one in (q, k_most[:, :, :count], v_most[:, :, :count])]
    reach = abs(float(units.factor)) * 128 * depth * largest[0] * largest[1]
    power = (1 + reach / units.query) * math.log(2) / STEPS if reach < 32 * depth * units.query else 1.0
    part = min(2.1 * power + count / 2 / max(units.share, 1), 2.1)
    return 128 * abs(call.real("v_unit")) * largest[2] * part


def _reads(call: Call, operand: int) -> Reads | None:
    return lengths(call.shape(1)[2]) if operand == 5 else None


def _products(call: Call) -> int:
    heads, queries = call.shape(0)[1:3]
    return heads * queries * call.shape(1)[2] * sum(coded_widths(call))


def _footprints(call: Call) -> tuple[Nest, ...]:
    """Heads `h` and their queries `i`; of a head's keys and values all rows `j`, which share one count."""
    q, k, k_most, v, v_most, length = (operand(call.tensor(index), name) for index, name in enumerate(_OPERANDS))
    _, heads, queries, depth = q.shape
    space = Space.of(h=heads, i=queries, e=coded_widths(call)[1], j=k.shape[2], d=depth, p=k.shape[3], s=v.shape[3])
    h, i, e, j, d, p, s = space
    reads = (q[0, h, i, d], k[0, h, j, p], k_most[0, 0, j, 0], v[0, h, j, s], v_most[0, 0, j, 0], length[0])
    return (Nest(space, Tensor("y", call.outputs[0].shape, DType.F32)[0, h, i, e], reads),)


OPERATORS = (
    Operator(
        "CodedAttention", _infer, _evaluate, _OPERANDS, footprints=_footprints, domain=DOMAIN, reads=_reads,
        products=_products, sketch="coded_attention", error=_error,
    ),
)  # fmt: skip
