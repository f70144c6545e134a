"""Attention (opset 23 and later) and RotaryEmbedding."""

from __future__ import annotations

import math

import numpy as np

from tilewright.model import Array, DType, Shape
from tilewright.ops.attention_chain import attention_nests, rotary_footprints, rotary_nests
from tilewright.ops.attention_rule import Heads, heads, rotated, scale
from tilewright.ops.check import same_type
from tilewright.ops.facts import Reads, lengths
from tilewright.ops.operands import (
    Arrays,
    broadcast,
    element_type,
    given,
    maybe,
    needs_float,
    needs_index,
    result,
    same,
    wanted,
)
from tilewright.ops.operator import Call, Operator, TensorType
from tilewright.ops.products import pairs


def _attention(call: Call) -> tuple[TensorType, ...]:
    for index in range(3):
        needs_float(call, index)
    size, dtype = heads(call), same_type(call, 0, 1, 2, 4, 5)
    if call.optional(6) is not None and (call.optional(4) is not None or call.shape(6) != (size.batch,)):
        raise call.invalid("nonpad_kv_seqlen must hold one number per batch entry and excludes a past")
    if call.integer("qk_matmul_output_mode", 0) not in range(4):
        raise call.invalid("qk_matmul_output_mode must be 0, 1, 2 or 3")
    if "softmax_precision" in call.node.attributes:
        if not element_type(call, call.integer("softmax_precision")).is_float:
            raise call.invalid("softmax_precision must be a floating-point type")
    if min(call.integer("left_window_size", -1), call.integer("right_window_size", -1)) < -1:
        raise call.invalid("a window size is less than -1")
    scores = (size.batch, size.query_heads, size.queries, size.keys)
    if (mask := call.optional(3)) is not None:
        short = (*mask.shape[:-1], size.keys) if mask.shape and mask.shape[-1] < size.keys else mask.shape
        if not mask.shape or mask.dtype not in (DType.BOOL, dtype) or broadcast(call, short, scores) != scores:
            raise call.invalid(f"the mask {mask.dtype.value} {mask.shape} does not fit scores {scores}")
    out: Shape = (size.batch, size.query_heads, size.queries, size.value_depth)
    if size.packed:
        out = (size.batch, size.queries, size.query_heads * size.value_depth)
    return wanted(
        call,
        result(call, dtype, out),
        result(call, dtype, (size.batch, size.key_heads, size.keys, size.depth)),
        result(call, dtype, (size.batch, size.key_heads, size.keys, size.value_depth)),
        result(call, dtype, scores),
    )


def _unpacked(x: Array, count: int) -> Array:
    """Heads as an axis of their own: (batch, heads, sequence, depth)."""
    if x.ndim == 4:
        return x
    return x.reshape(x.shape[0], x.shape[1], count, -1).transpose(0, 2, 1, 3)


def _mask(call: Call, arrays: Arrays, size: Heads, dtype: np.dtype[np.generic]) -> Array:
    """What is added to the scores: 0 or minus infinity, or the user's own bias."""
    bias = np.zeros((size.batch, 1, size.queries, size.keys), dtype)
    mask = maybe(arrays, 3)
    if mask is not None:
        missing = size.keys - mask.shape[-1]
        added = np.where(mask, 0, -np.inf).astype(dtype) if mask.dtype == bool else mask
        if missing > 0:
            added = np.pad(added, [(0, 0)] * (added.ndim - 1) + [(0, missing)], constant_values=-np.inf)
        bias = bias + added
    lengths = maybe(arrays, 6)
    offset = (
        np.full((size.batch, 1, 1, 1), size.past) if lengths is None else lengths[:, None, None, None] - size.queries
    )
    keys = np.arange(size.keys)
    distance = offset + np.arange(size.queries)[:, None] - keys  # how far a key lies behind its query
    left, right = call.integer("left_window_size", -1), call.integer("right_window_size", -1)
    allowed = np.ones(distance.shape, bool)
    if call.integer("is_causal", 0):
        allowed &= distance >= 0
    if left >= 0:
        allowed &= distance <= left
    if right >= 0:
        allowed &= -distance <= right
    if lengths is not None:
        allowed = allowed & (keys < lengths[:, None, None, None])
    return np.where(allowed, bias, bias.dtype.type(-np.inf))


def _softmax(scores: Array) -> Array:
    """Probabilities over the last axis; 0 where every key is masked."""
    high = scores.max(-1, keepdims=True, initial=-np.inf)
    powers = np.exp(scores - np.where(np.isneginf(high), 0, high).astype(scores.dtype))
    total = powers.sum(-1, keepdims=True)
    return np.asarray(powers / np.where(total == 0, total.dtype.type(1), total))


def _product(a: Array, b: Array) -> Array:
    return np.asarray(a @ b).astype(a.dtype)


def _attended(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    size = heads(call)
    q = _unpacked(given(arrays, 0), size.query_heads)
    k, v = _unpacked(given(arrays, 1), size.key_heads), _unpacked(given(arrays, 2), size.key_heads)
    if call.optional(4) is not None:
        k, v = np.concatenate((given(arrays, 4), k), 2), np.concatenate((given(arrays, 5), v), 2)
    factor, groups = scale(call, size.depth), size.query_heads // size.key_heads
    if factor < 0:
        raise call.invalid(f"scale {factor} is negative")
    root = q.dtype.type(math.sqrt(factor))
    scores = _product(q * root, np.repeat(k, groups, 1).swapaxes(2, 3) * root)
    shown, mode = scores, call.integer("qk_matmul_output_mode", 0)
    if (cap := call.real("softcap", 0.0)) > 0:
        scores = np.asarray(np.tanh(scores / q.dtype.type(cap)) * q.dtype.type(cap))
        shown = scores if mode == 1 else shown
    bias = _mask(call, arrays, size, q.dtype)
    with np.errstate(invalid="ignore"):
        biased = scores + bias
    shown = biased if mode == 2 else shown
    if "softmax_precision" in call.node.attributes:
        biased = biased.astype(element_type(call, call.integer("softmax_precision")).numpy)
    masked = np.isneginf(bias.max(-1, keepdims=True, initial=-np.inf))
    with np.errstate(invalid="ignore"):
        weights = np.where(masked, 0, _softmax(biased)).astype(q.dtype)
    shown = weights if mode == 3 else shown
    y = _product(weights, np.repeat(v, groups, 1))
    if size.packed:
        y = y.transpose(0, 2, 1, 3).reshape(size.batch, size.queries, -1)
    return (y, k, v, shown)[: len(call.outputs)]


def _rotary(call: Call) -> tuple[TensorType, ...]:
    needs_float(call)
    same_type(call, 0, 1, 2)
    _, _, turned = rotated(call)
    batch, steps = call.shape()[0], call.shape()[-2]
    cached: Shape = (batch, steps, turned // 2)
    if call.optional(3) is not None:
        needs_index(call, 3)
        if call.shape(3) != (batch, steps):
            raise call.invalid(f"position_ids {call.shape(3)} should have the shape {(batch, steps)}")
        if len(call.shape(1)) != 2:
            raise call.invalid(f"with position_ids the caches have 2 axes, not {call.shape(1)}")
        cached = (call.shape(1)[0], turned // 2)
    if call.shape(1) != cached or call.shape(2) != cached:
        raise call.invalid(f"caches {call.shape(1)} and {call.shape(2)} should have the shape {cached}")
    return (same(call),)


def _turned(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    x, (count, _, turned) = given(arrays, 0), rotated(call)
    split = x.swapaxes(1, 2) if x.ndim == 4 else x.reshape(x.shape[0], x.shape[1], count, -1)
    cosine, sine, positions = given(arrays, 1), given(arrays, 2), maybe(arrays, 3)
    if positions is not None:
        if positions.size and not 0 <= int(positions.min()) <= int(positions.max()) < len(cosine):
            raise call.outside(3, f"a position lies outside the cache of {len(cosine)}")
        cosine, sine = cosine[positions], sine[positions]
    cosine, sine = cosine[:, :, None], sine[:, :, None]
    pairs = bool(call.integer("interleaved", 0))
    half = turned // 2
    first = split[..., 0:turned:2] if pairs else split[..., :half]
    second = split[..., 1:turned:2] if pairs else split[..., half:turned]
    real, imaginary = cosine * first - sine * second, sine * first + cosine * second
    if pairs:
        moved = np.stack((real, imaginary), -1).reshape(*real.shape[:-1], turned)
    else:
        moved = np.concatenate((real, imaginary), -1)
    joined = np.concatenate((moved, split[..., turned:]), -1)
    return (joined.swapaxes(1, 2) if x.ndim == 4 else joined.reshape(x.shape),)


def _reads_lengths(call: Call, operand: int) -> Reads | None:
    return lengths(call.shape(1)[-2]) if operand == 6 else None


def _reads_positions(call: Call, operand: int) -> Reads | None:
    rows = call.shape(1)[0]
    return Reads(0, rows - 1, f"takes positions in a cache of {rows} rows", (0, rows - 1)) if operand == 3 else None


OPERATORS = (
    Operator(
        "Attention",
        _attention,
        _attended,
        ("q", "k", "v", "mask", "past_key", "past_value", "nonpad_kv_seqlen"),
        ("y", "present_key", "present_value", "scores"),
        nests=attention_nests,
        sketch="attention",
        reads=_reads_lengths,
        work=pairs,
    ),
    Operator(
        "RotaryEmbedding",
        _rotary,
        _turned,
        ("x", "cos_cache", "sin_cache", "position_ids"),
        nests=rotary_nests,
        footprints=rotary_footprints,
        sketch="rotary",
        reads=_reads_positions,
    ),
)
