"""GroupQueryAttention of ONNX Runtime: heads that share keys, a cache, turned positions, a window.

Three forms of the cache are told apart by what is known of the total length: none or an empty one (the first prompt),
one that grows by the new words, and one of a fixed length into which the new words are written. Of several sequences
in one batch, all have one length, or their lengths are known at compile time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tilewright.frontend.splits import heads
from tilewright.frontend.splits.parts import Parts
from tilewright.frontend.splits.spelling import MICROSOFT

_CACHED = ("k_quant_type", "v_quant_type")


def _refuse(parts: Parts) -> None:
    """What has no standard nodes."""
    if any(parts.text(name, "NONE") not in ("", "NONE") for name in _CACHED):
        raise parts.unsupported("its cache holds codes", "export the model with a cache of floats")
    if parts.whole("smooth_softmax", -1) == 1 or parts.input(11):
        raise parts.unsupported("its softmax counts a sink", "export the model without it")
    if parts.whole("sliding_window_cache", 0) or any(parts.input(index) for index in range(12, 17)):
        why = "its cache is as long as its window, or it takes operands that are not known here"
        raise parts.unsupported(why, "export the model with a cache of the whole length")
    parts.unused(3)


def _split(parts: Parts) -> None:
    _refuse(parts)
    count, shared = parts.whole("num_heads"), parts.whole("kv_num_heads")
    batch, length, width = parts.shape(0)
    if parts.input(1):
        q, k, v = (parts.input(index) for index in range(3))
    else:
        depth = width // (count + 2 * shared)
        q, k, v = heads.cut(parts, parts.input(0), -1, (count * depth, shared * depth, shared * depth))
    past = parts.shape(3)[2] if parts.input(3) else 0
    total = parts.value(6)
    if past and (total is None or int(total.reshape(-1)[0]) <= past):
        _into_cache(parts, (q, k, v), (count, shared))
        return
    if past and total is not None and int(total.reshape(-1)[0]) != past + length:
        raise parts.unsupported(
            f"its total length is {int(total.reshape(-1)[0])}, of {past} words before and {length} new ones",
            "set the shapes of the past and of the mask so that they agree",
        )
    if past and batch > 1 and parts.value(5) is None:
        raise parts.unsupported(
            "its sequences have lengths of their own", "give one sequence (--shape), or freeze them"
        )
    sizes = heads.Sizes(batch, length, past, length, parts.tensor(0).dtype)
    q, k = _turned(parts, q, k, (count, shared), heads.positions(parts, batch, length, past=past))
    window, simple = parts.whole("local_window_size", -1), not past
    hidden = bool(parts.whole("causal", 1))
    plain = hidden and simple and window <= 0
    mask = heads.added(parts, [
        parts.input(10), heads.causal(parts, sizes, window) if hidden and not plain else ""
    ])  # fmt: skip
    before = (parts.input(3), parts.input(4)) if past else ("", "")
    heads.attend(
        parts, (q, k, v), (count, shared), mask, past=before, present=(parts.output(1), parts.output(2)),
        into=parts.output(0), softcap=parts.number("softcap", 0.0), is_causal=plain,
    )  # fmt: skip


def _turned(parts: Parts, q: str, k: str, counts: tuple[int, int], places: str) -> tuple[str, str]:
    """Queries and keys with their positions, where the node turns them."""
    if not parts.whole("do_rotary", 0):
        return q, k
    places = parts.input(9) or places
    turned = []
    for name, count in zip((q, k), counts, strict=True):
        operands = (name, parts.input(7), parts.input(8), places)
        attributes: dict[str, Any] = {"num_heads": count, "interleaved": parts.whole("rotary_interleaved", 0)}
        depth = 2 * parts.shape(7)[1]
        turned.append(parts.op("RotaryEmbedding", *operands, rotary_embedding_dim=depth, **attributes))
    return turned[0], turned[1]


def _into_cache(parts: Parts, operands: tuple[str, str, str], counts: tuple[int, int]) -> None:
    """The new words are written into the cache behind those that are there; what lies behind them is hidden."""
    q, k, v = operands
    batch, length = parts.shape(0)[:2]
    capacity = parts.shape(3)[2]
    last = parts.op("Cast", parts.input(5), to=7)
    first = parts.op("Sub", last, parts.constant(np.array(length - 1)))  # [batch]: how many words are there
    places = heads.positions(parts, batch, length, first)
    q, k = _turned(parts, q, k, counts, places)
    cached = []
    for index, name in enumerate((k, v)):
        depth = parts.shape(3 + index)[3]
        laid = parts.op("Transpose", parts.reshape(name, (batch, length, counts[1], depth)), perm=(0, 2, 1, 3))
        cache = (parts.input(3 + index), laid, parts.reshape(first, (batch,)))
        cached.append(parts.op("TensorScatter", *cache, into=parts.output(1 + index), axis=-2))
    keys, queries = parts.constant(np.arange(capacity)), parts.reshape(places, (batch, 1, length, 1))
    opened = parts.op("LessOrEqual", keys, queries)
    if (window := parts.whole("local_window_size", -1)) > 0:
        near = parts.op("Greater", keys, parts.op("Sub", queries, parts.constant(np.array(window))))
        opened = parts.op("And", opened, near)
    dtype = parts.tensor(0).dtype
    hidden = parts.op("Where", opened, parts.constant(0, dtype), parts.constant(heads.LOWEST, dtype))
    mask = heads.added(parts, [parts.input(10), hidden])
    rows = parts.op("Transpose", parts.reshape(q, (batch, length, counts[0], -1)), perm=(0, 2, 1, 3))
    softcap = parts.number("softcap", 0.0)
    result = heads.attend(parts, (rows, cached[0], cached[1]), counts, mask, softcap=softcap)
    laid = parts.op("Transpose", result, perm=(0, 2, 1, 3))
    parts.reshape(laid, (batch, length, -1), parts.output(0))


SPLITS = {(MICROSOFT, "GroupQueryAttention"): _split}
