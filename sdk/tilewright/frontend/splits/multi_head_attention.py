"""MultiHeadAttention of ONNX Runtime: queries, keys and values apart or packed, with or without a past."""

from __future__ import annotations

from tilewright.frontend.splits import heads
from tilewright.frontend.splits.parts import Parts
from tilewright.frontend.splits.spelling import MICROSOFT


def _operands(parts: Parts, count: int) -> tuple[str, str, str]:
    """Q, K and V with all heads in the last axis, biases added."""
    q, k, v = (parts.input(index) for index in range(3))
    rank = len(parts.shape(0))
    if rank == 5:  # [batch, length, heads, 3, depth]
        batch, length, _, _, depth = parts.shape(0)
        q, k, v = (parts.reshape(each, (batch, length, -1)) for each in heads.cut(parts, q, 3, (1, 1, 1)))
        widths = (count * depth, count * depth, count * depth)
    elif k and not v and len(parts.shape(1)) == 5:  # [batch, length, heads, 2, depth]
        batch, length, _, _, depth = parts.shape(1)
        k, v = (parts.reshape(each, (batch, length, -1)) for each in heads.cut(parts, k, 3, (1, 1)))
        widths = (parts.shape(0)[2], count * depth, count * depth)
    elif not (k and v):
        raise parts.invalid("its keys or values are missing")
    else:
        widths = (parts.shape(0)[2], _width(parts, 1), _width(parts, 2))
    if not parts.input(3):
        return q, k, v
    biases = heads.cut(parts, parts.input(3), 0, widths)
    taken = [parts.op("Add", each, bias) for each, bias in zip((q, k, v), biases, strict=True)]
    apart = rank == 3 and len(parts.shape(1)) == 4  # keys of another network, which have had their bias
    return (taken[0], k, v) if apart else (taken[0], taken[1], taken[2])


def _width(parts: Parts, index: int) -> int:
    shape = parts.shape(index)
    return shape[1] * shape[3] if len(shape) == 4 else shape[2]


def _split(parts: Parts) -> None:
    if parts.input(8) or parts.input(9) or parts.output(3):
        why = "it shares its past with its present, follows beams, or gives its scores"
        raise parts.unsupported(why, "export the decoder with a past and a present of their own")
    count = parts.whole("num_heads")
    q, k, v = _operands(parts, count)
    batch, queries = parts.shape(0)[:2]
    fixed = bool(parts.input(1)) and len(parts.shape(1)) == 4  # keys as [batch, heads, length, depth]
    new = parts.shape(1)[2] if fixed else parts.shape(1)[1] if parts.input(1) else queries
    before = (parts.input(6), parts.input(7))
    past = parts.shape(6)[2] if before[0] else 0
    before = before if past else ("", "")
    sizes = heads.Sizes(batch, queries, past, new, parts.tensor(0).dtype)
    one_way = bool(parts.whole("unidirectional", 0))
    simple = not past and queries == new
    scores = heads.added(parts, [
        parts.input(5),
        heads.padding(parts, 4, sizes, parts.number("mask_filter_value", -10000.0)),
        heads.causal(parts, sizes) if one_way and not simple else "",
    ])  # fmt: skip
    if fixed:
        _fixed(parts, (q, k, v), scores, count)
        return
    present = (parts.output(1), parts.output(2))
    heads.attend(
        parts, (q, k, v), (count, count), scores, past=before, present=present, into=parts.output(0),
        is_causal=one_way and simple,
    )  # fmt: skip


def _fixed(parts: Parts, operands: tuple[str, str, str], scores: str, count: int) -> None:
    """Keys and values that lie by heads already."""
    parts.unused(1, 2)
    q, k, v = operands
    batch, length, width = parts.shape(0)
    q = parts.op("Transpose", parts.reshape(q, (batch, length, count, width // count)), perm=(0, 2, 1, 3))
    result = heads.attend(parts, (q, k, v), (count, count), scores)
    laid = parts.op("Transpose", result, perm=(0, 2, 1, 3))
    parts.reshape(laid, (batch, length, -1), parts.output(0))


SPLITS = {(MICROSOFT, "MultiHeadAttention"): _split}
