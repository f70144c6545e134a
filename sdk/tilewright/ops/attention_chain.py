"""Index maps of Attention and RotaryEmbedding: chains whose rows may be cut while the keys stay whole."""

from __future__ import annotations

import numpy as np

from tilewright.model import DType
from tilewright.ops.attention_rule import heads, rotated, scale
from tilewright.ops.index.affine import Affine
from tilewright.ops.index.body import Body, body, combine, finish
from tilewright.ops.index.build import broadcast, operand
from tilewright.ops.index.nest import Access, Nest, Space, Tensor
from tilewright.ops.operator import Call

LOWEST = float(np.finfo(np.float32).min)


def attention_nests(call: Call) -> tuple[Nest, ...]:
    """Scores, softmax and mix; none where lengths of the run time or the scores themselves are asked for."""
    size, q = heads(call), call.tensor(0)
    sizes = (size.batch, size.queries, size.keys, size.depth, size.value_depth, size.query_heads)
    mask = call.optional(3)
    short = mask is not None and mask.shape[-1:] != (size.keys,)
    if call.optional(6) is not None or len(call.node.outputs) > 3 or 0 in sizes or short or q.dtype is DType.F16:
        return ()
    keys, values, nests = _with_past(call)
    shape = (size.batch, size.query_heads, size.queries, size.keys)
    group = size.query_heads // size.key_heads
    extents = {"b": size.batch, "g": size.key_heads, "r": group, "i": size.queries, "j": size.keys}
    space = Space.of(**extents, e=size.depth)
    b, g, r, i, j, e = space
    head = g * group + r
    here = [b, head, i, j]
    score = Tensor("score", shape, q.dtype)
    product = (_split(operand(q, "q"), b, head, i, e, size.depth), _split(keys, b, g, j, e, size.depth))
    nests.append(
        Nest(space, score[*here], product, body("mul"), combine("add"), finish("scale", scale(call, size.depth)))
    )
    flat = Space.of(**extents)
    for name, step, others in _score_steps(call, here):
        after = Tensor(name, shape, q.dtype)
        accesses = (*others[:-1], score[*here], others[-1]) if name == "allowed" else (score[*here], *others)
        nests.append(Nest(flat, after[*here], accesses, step))
        score = after
    nests += _softmax(flat, score, here)
    mix = Space.of(**extents, e=size.value_depth)
    y = Tensor("y", _result_shape(call), q.dtype)
    weight = Tensor("weight", shape, q.dtype)[*here]
    target = _split(y, b, head, i, e, size.value_depth)
    nests.append(Nest(mix, target, (weight, _split(values, b, g, j, e, size.value_depth)), body("mul"), combine("add")))
    return tuple(nests)


def _result_shape(call: Call) -> tuple[int, ...]:
    size = heads(call)
    if size.packed:
        return (size.batch, size.queries, size.query_heads * size.value_depth)
    return (size.batch, size.query_heads, size.queries, size.value_depth)


def _split(tensor: Tensor, b: Affine, head: Affine, row: Affine, e: Affine, depth: int) -> Access:
    """An element of a head, which is an axis of its own or a part of the last axis."""
    return tensor[b, head, row, e] if len(tensor.shape) == 4 else tensor[b, row, head * depth + e]


def _with_past(call: Call) -> tuple[Tensor, Tensor, list[Nest]]:
    """Keys and values with the past's before them, and the copies that make them."""
    size = heads(call)
    gives_past = len(call.node.outputs) > 1
    nests: list[Nest] = []
    tensors = []
    for index, name, depth in ((1, "k", size.depth), (2, "v", size.value_depth)):
        new = operand(call.tensor(index), name)
        if not gives_past and not size.past:
            tensors.append(new)
            continue
        present_name = "present_key" if name == "k" else "present_value"
        present = Tensor(present_name, (size.batch, size.key_heads, size.keys, depth), new.dtype)
        space = Space.of(b=size.batch, g=size.key_heads, j=size.new_keys, e=depth)
        b, g, j, e = space
        if size.past:
            past = operand(call.tensor(index + 3), "past_key" if name == "k" else "past_value")
            old = Space.of(b=size.batch, g=size.key_heads, j=size.past, e=depth)
            nests.append(Nest(old, present[b, g, j, e], (past[b, g, j, e],)))
        nests.append(Nest(space, present[b, g, j + size.past, e], (_split(new, b, g, j, e, depth),)))
        tensors.append(present)
    return tensors[0], tensors[1], nests


def _score_steps(call: Call, here: list[Affine]) -> list[tuple[str, Body, tuple[Access, ...]]]:
    """What happens to the scores before the softmax: soft cap, mask, causality and windows."""
    size, dtype = heads(call), call.tensor(0).dtype
    steps: list[tuple[str, Body, tuple[Access, ...]]] = []
    if (cap := call.real("softcap", 0.0)) > 0:
        steps += [
            ("shrunk", body("scale", 1 / cap), ()),
            ("bent", body("tanh"), ()),
            ("capped", body("scale", cap), ()),
        ]
    nothing = Tensor("nothing", (1,), dtype, (-np.inf,))[0]
    if (mask := call.optional(3)) is not None:
        bias = broadcast(operand(mask, "mask"), here)
        if mask.dtype is DType.BOOL:
            steps.append(("allowed", body("where"), (bias, nothing)))
        else:
            steps.append(("biased", body("add"), (bias,)))
    left, right = call.integer("left_window_size", -1), call.integer("right_window_size", -1)
    causal = bool(call.integer("is_causal", 0))
    if causal or left >= 0 or right >= 0:
        # One value per distance of a key behind its query, from the first query to the last key.
        distances = range(size.past - size.keys + 1, size.past + size.queries)
        visible = [not (causal and d < 0) and not (0 <= left < d) and not (0 <= right < -d) for d in distances]
        window = Tensor("window", (len(visible),), dtype, tuple(0.0 if one else -np.inf for one in visible))
        steps.append(("windowed", body("add"), (window[here[2] - here[3] + (size.keys - 1)],)))
    return steps


def _softmax(flat: Space, score: Tensor, here: list[Affine]) -> list[Nest]:
    """Probabilities over the keys; 0 where every key is masked, as the largest score is then still finite."""
    rows, dtype = score.shape[:3], score.dtype
    row = here[:3]
    lanes = Space(flat.items[:-1])
    top, high = Tensor("top", rows, dtype), Tensor("high", rows, dtype)
    power, total = Tensor("power", score.shape, dtype), Tensor("total", rows, dtype)
    floor = Tensor("floor", (1,), dtype, (LOWEST,))[0]
    return [
        Nest(flat, top[*row], (score[*here],), combine=combine("max")),
        Nest(lanes, high[*row], (top[*row], floor), body("max")),
        Nest(flat, power[*here], (score[*here], high[*row]), body("exp_sub")),
        Nest(flat, total[*row], (power[*here],), combine=combine("add")),
        Nest(flat, Tensor("weight", score.shape, dtype)[*here], (power[*here], total[*row]), body("div_or_zero")),
    ]


def rotary_nests(call: Call) -> tuple[Nest, ...]:
    """Four products, a difference and a sum; none where positions are looked up or pairs are interleaved."""
    if call.optional(3) is not None or call.integer("interleaved", 0) or 0 in call.shape():
        return ()
    count, depth, turned = rotated(call)
    shape, dtype, half = call.shape(), call.tensor(0).dtype, turned // 2
    space = Space.of(b=shape[0], h=count, t=shape[-2], e=half)
    b, h, t, e = space
    x, y = operand(call.tensor(0), "x"), Tensor("y", shape, dtype)
    cosine, sine = operand(call.tensor(1), "cos_cache")[b, t, e], operand(call.tensor(2), "sin_cache")[b, t, e]
    first, second = _split(x, b, h, t, e, depth), _split(x, b, h, t, e + half, depth)
    parts = [Tensor(name, (shape[0], count, shape[-2], half), dtype)[b, h, t, e] for name in ("p0", "p1", "p2", "p3")]
    pairs = ((cosine, first), (sine, second), (sine, first), (cosine, second))
    nests = [Nest(space, part, pair, body("mul")) for part, pair in zip(parts, pairs, strict=True)]
    nests.append(Nest(space, _split(y, b, h, t, e, depth), (parts[0], parts[1]), body("sub")))
    nests.append(Nest(space, _split(y, b, h, t, e + half, depth), (parts[2], parts[3]), body("add")))
    if turned < depth:
        rest = Space.of(b=shape[0], h=count, t=shape[-2], e=depth - turned)
        nests.append(Nest(rest, _split(y, b, h, t, e + turned, depth), (_split(x, b, h, t, e + turned, depth),)))
    return tuple(nests)


def rotary_footprints(call: Call) -> tuple[Nest, ...]:
    """Batch `b`, heads `h` and steps `t`, whose elements `d` need one another and the step's angles `e`; none where
    heads are no axis or positions are looked up."""
    shape, angles = call.shape(), operand(call.tensor(1), "cos_cache")
    if call.optional(3) is not None or len(shape) != 4 or 0 in shape:
        return ()
    space = Space.of(b=shape[0], h=shape[1], t=shape[2], d=shape[3], e=angles.shape[2])
    b, h, t, d, e = space
    reads = (operand(call.tensor(0), "x")[b, h, t, d], angles[b, t, e], operand(call.tensor(2), "sin_cache")[b, t, e])
    return (Nest(space, Tensor("y", shape, call.tensor(0).dtype)[b, h, t, d], reads),)
