"""Sizes that Attention and RotaryEmbedding read from their operands and attributes."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tilewright.ops.operator import Call


@dataclass(frozen=True)
class Heads:
    """Sizes of an attention: `keys` counts the past as well; `packed` is True where heads lie inside the last axis."""

    batch: int
    query_heads: int
    key_heads: int
    queries: int
    new_keys: int
    past: int
    depth: int
    value_depth: int
    packed: bool

    @property
    def keys(self) -> int:
        """Keys that a query may see, the past's first."""
        return self.past + self.new_keys


def heads(call: Call) -> Heads:
    """The sizes of the node; ModelError where its operands contradict one another."""
    q, k, v = (call.shape(index) for index in range(3))
    if not len(q) == len(k) == len(v) or len(q) not in (3, 4):
        raise call.invalid(f"Q, K and V must all have 3 or all have 4 axes, not {q}, {k}, {v}")
    if len(q) == 4:
        (batch, hq, nq, d), (bk, hk, nk, dk), (bv, hv, nv, dv) = q, k, v
    else:
        hq, hk = call.integer("q_num_heads"), call.integer("kv_num_heads")
        if hq < 1 or hk < 1 or q[2] % hq or k[2] % hk or v[2] % hk:
            raise call.invalid(f"{hq} and {hk} heads do not divide {q}, {k}, {v}")
        hv = hk
        (batch, nq, d), (bk, nk, dk), (bv, nv, dv) = q, k, v
        d, dk, dv = d // hq, dk // hk, dv // hk
    if not (batch == bk == bv and nk == nv and d == dk and hk == hv and hk > 0 and hq % hk == 0):
        raise call.invalid(f"Q {q}, K {k} and V {v} do not fit")
    past = 0
    if call.optional(4) is not None:
        past = call.shape(4)[2] if len(call.shape(4)) == 4 else -1
        if call.shape(4) != (batch, hk, past, d) or call.shape(5) != (batch, hk, past, dv):
            raise call.invalid(f"past key {call.shape(4)} or past value {call.shape(5)} does not fit")
    return Heads(batch, hq, hk, nq, nk, past, d, dv, len(q) == 3)


def scale(call: Call, depth: int) -> float:
    """What the scores are multiplied by."""
    declared = call.real("scale", 0.0)
    return declared if "scale" in call.node.attributes else 1 / math.sqrt(max(depth, 1))


def rotated(call: Call) -> tuple[int, int, int]:
    """Heads, depth of a head and how many of its elements turn."""
    shape = call.shape()
    if len(shape) == 4:
        count, depth = shape[1], shape[3]
    elif len(shape) == 3:
        count = call.integer("num_heads", 0)
        if count < 1 or shape[2] % count:
            raise call.invalid(f"num_heads {count} does not divide {shape}")
        depth = shape[2] // count
    else:
        raise call.invalid(f"RotaryEmbedding needs 3 or 4 axes, not {shape}")
    turned = call.integer("rotary_embedding_dim", 0) or depth
    if not 0 < turned <= depth or turned % 2:
        raise call.invalid(f"rotary_embedding_dim {turned} does not fit heads of {depth}")
    return count, depth, turned
