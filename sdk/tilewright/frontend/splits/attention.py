"""Attention and QAttention of ONNX Runtime: one product for queries, keys and values, then the standard's Attention."""

from __future__ import annotations

from tilewright.frontend.splits import heads
from tilewright.frontend.splits.integer_product import scaled_product
from tilewright.frontend.splits.parts import Parts
from tilewright.frontend.splits.spelling import MICROSOFT


def _attention(parts: Parts) -> None:
    product = parts.op("MatMul", parts.input(0), parts.input(1))
    if parts.input(2):
        product = parts.op("Add", product, parts.input(2))
    _attend(parts, product, mask=3, past=4, bias=5)


def _quantised(parts: Parts) -> None:
    scale = parts.op("Mul", parts.input(3), parts.input(4))
    scaled = scaled_product(parts, (parts.input(0), parts.input(6)), (1, 7), scale)
    product = parts.op("Add", scaled, parts.input(2))
    _attend(parts, product, mask=5, past=8, bias=9)


def _attend(parts: Parts, product: str, *, mask: int, past: int, bias: int) -> None:
    batch, length = parts.shape(0)[:2]
    if parts.whole("do_rotary", 0) or parts.whole("past_present_share_buffer", 0):
        fix = "save the model without the fusion of attention"
        raise parts.unsupported("it turns its operands, or writes into its past", fix)
    count, width = parts.whole("num_heads"), parts.shape(1)[1]
    widths = tuple(int(each) for each in parts.numbers("qkv_hidden_sizes", (width // 3,) * 3))
    q, k, v = heads.cut(parts, product, -1, widths)
    before, cached = heads.shared_past(parts, past)
    sizes = heads.Sizes(
        batch, length, cached, length, parts.tensor(2).dtype if parts.input(2) else parts.tensor(0).dtype
    )
    one_way = bool(parts.whole("unidirectional", 0))
    scores = heads.added(parts, [
        parts.input(bias),
        heads.padding(parts, mask, sizes, parts.number("mask_filter_value", -10000.0)),
        heads.causal(parts, sizes) if one_way and cached else "",
    ])  # fmt: skip
    present = (parts.fresh("keys"), parts.fresh("values")) if parts.output(1) else ("", "")
    heads.attend(
        parts, (q, k, v), (count, count), scores, past=before, present=present,
        into=parts.output(0), is_causal=one_way and not cached,
    )  # fmt: skip
    if parts.output(1):
        heads.shared_present(parts, present, parts.output(1))


SPLITS = {(MICROSOFT, "Attention"): _attention, (MICROSOFT, "QAttention"): _quantised}
