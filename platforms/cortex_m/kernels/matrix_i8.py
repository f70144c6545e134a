"""What the kernels around the matrix core share: paired weights, tables of starts and multipliers, output codes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.ops.quantised_linear import accumulator, proof
from tilewright.ops.quantised_proof import FixedPoint
from tilewright.platform import Array, Call, Constant, DType

PAIR_LIMIT = 1 << 23
"""Sums of the odd channel of a pair are the upper 24 bits of a difference of two int32 sums."""

TYPES = "qi8|qu8, qi8|qu8|qi4|qu4, i32? -> qi8|qu8"
ORDER = (0, 2, 1, 3)
"""Order of four inputs in two words of halves, as one sxtb16 and one with a rotation give them."""

COST = {1: 5.0, 2: 7.0, 3: 10.0, 4: 12.0}
"""Instructions of one step of the matrix core, by pixels."""


@dataclass(frozen=True)
class Codes:
    """Form of the functions that a layer calls, and words of its table per channel."""

    form: str
    table_step: int


def refusal(call: Call) -> str | None:
    """None, or why the requantisation has no 32-bit form without pre-shift."""
    found = proof(call)
    if found.fixed is None:
        return f"the requantisation takes the exact sequence: {found.why}"
    if found.fixed.pre_shift:
        return "the requantisation needs a shift before its multiplication"
    return None


def fixed_point(call: Call) -> FixedPoint:
    """The proved 32-bit form, one multiplier, addend and shift per channel."""
    fixed = proof(call).fixed
    assert fixed is not None
    return fixed


def pairs_of(channels: int) -> list[int]:
    """First channels of the pairs; the last of an odd number overlaps the one before."""
    return [min(at, channels - 2) for at in range(0, channels, 2)]


def can_pair(weights: Array, call: Call) -> bool:
    """True where a pair of channels fits 16 bits per input and the odd channel's sum 24 bits. `weights` is [OC, K]."""
    bounds = accumulator(call).bounds
    lowest = np.broadcast_to(bounds.lowest, (weights.shape[0],))
    highest = np.broadcast_to(bounds.highest, (weights.shape[0],))
    firsts = np.asarray(pairs_of(weights.shape[0]))
    odd = firsts + 1
    small = (lowest[odd] >= -PAIR_LIMIT).all() and (highest[odd] < PAIR_LIMIT).all()
    return bool(small and not ((weights[odd] == -128) & (weights[firsts] < 0)).any())


def pack(weights: Array, paired: bool, at_once: int = 2) -> Array:
    """[OC, K] int8, K a multiple of 4, as uint32 words [block][pair of inputs][pair of channels].

    A word holds inputs (a, b) of two channels: as 16-bit halves 256 * second + first where `paired`, else as bytes.
    """
    channels, depth = weights.shape
    ordered = weights.astype(np.int64).reshape(channels, depth // 4, 4)[:, :, list(ORDER)].reshape(channels, -1, 2)
    firsts = np.asarray(pairs_of(channels))
    first, second = ordered[firsts], ordered[firsts + 1]
    halves = (second * 256 + first) if paired else ((second & 255) << 8 | (first & 255))
    words = (halves[..., 0] & 0xFFFF) | ((halves[..., 1] & 0xFFFF) << 16)
    block = at_once // 2
    return np.asarray(words.reshape(-1, block, depth // 2).transpose(0, 2, 1).reshape(-1), np.uint32)


def table(call: Call, form: str, channels: int) -> Array:
    """Per pair of channels: two starts, two multipliers unless `_uniform`, two addends and two shifts where `_own`."""
    fixed = fixed_point(call)
    start = np.broadcast_to(np.asarray(accumulator(call).start, np.int64), (channels,))
    multiplier, addend, shift = (
        np.broadcast_to(np.asarray(part, np.int64), (channels,))
        for part in (fixed.multiplier, fixed.addend, fixed.shift)
    )
    firsts = np.asarray(pairs_of(channels))
    second = start[firsts + 1] * 256 + start[firsts] if "_paired" in form else start[firsts + 1]
    columns = [start[firsts], second]
    if "_uniform" not in form:
        columns += [multiplier[firsts], multiplier[firsts + 1]]
    if "_own" in form:
        columns += [addend[firsts], addend[firsts + 1], shift[firsts], shift[firsts + 1]]
    return np.stack(columns, axis=1).reshape(-1).astype(np.uint32).view(np.int32)


def channel_table(call: Call, channels: int) -> Array:
    """[channel, words]: start, multiplier, and addend and shift where channels differ in them; uint32."""
    fixed = fixed_point(call)
    parts = [accumulator(call).start, fixed.multiplier]
    if is_own(call):
        parts += [fixed.addend, fixed.shift]
    columns = [np.broadcast_to(np.asarray(part, np.int64), (channels,)) for part in parts]
    return (np.stack(columns, axis=1) & 0xFFFFFFFF).astype(np.uint32)


def is_own(call: Call) -> bool:
    """True where channels differ in shift or addend."""
    fixed = fixed_point(call)
    return not (fixed.common_shift and fixed.common_addend)


def codes_of(call: Call, weights: Array, uniform: bool = False) -> Codes:
    """Which form of the functions a layer takes; `uniform` allows the one without multipliers in the table."""
    fixed = fixed_point(call)
    if is_own(call):
        return Codes("_wide_own_limited", 4)
    plain = (fixed.low, fixed.high) == (-128, 127)
    if not can_pair(weights, call):
        return Codes("_wide_limited", 2)
    if uniform and plain and (fixed.multiplier == fixed.multiplier[0]).all():
        return Codes("_paired_uniform", 1)
    return Codes("_paired" if plain else "_paired_limited", 2)


def codes_constant(call: Call) -> Constant:
    """Addend, shift, limits and first multiplier: a constant, so that layers of one shape share their code."""
    fixed = fixed_point(call)
    values = [int(fixed.addend[0]), int(fixed.shift[0]), fixed.low, fixed.high, int(fixed.multiplier[0])]
    return Constant("codes", DType.I32, np.asarray(values, np.int32))


def matrix_constants(call: Call, weights: Array, form: str) -> tuple[Constant, ...]:
    """Weights, table and codes of the matrix core for weights [OC, K], K a multiple of 4."""
    return (
        Constant("w", DType.U32, pack(weights, "_paired" in form)),
        Constant("table", DType.I32, table(call, form, weights.shape[0])),
        codes_constant(call),
    )


def padded_depth(weights: Array) -> Array:
    """[OC, K] with zeros up to a multiple of four inputs."""
    missing = -weights.shape[1] % 4
    return np.pad(weights, ((0, 0), (0, missing))) if missing else weights


def pixels_at_once(pixels: int) -> int:
    """The number of pixels per block that costs the fewest instructions; the last block overlaps the one before."""
    return min((4, 3, 2, 1), key=lambda b: COST[b] * -(-pixels // b) if b <= pixels else float("inf"))
