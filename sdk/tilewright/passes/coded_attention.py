"""Attention over caches of codes as one operator: what `--cache int8` and `int4` write in standard operators."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tilewright.model import DType, Model, Node
from tilewright.ops.relayout import DOMAIN
from tilewright.passes.cached_attention import filled_length, match, positions
from tilewright.passes.edit import Edit

name = "coded_attention"


@dataclass(frozen=True)
class _Cache:
    """Codes, the largest element of each row, and what both are multiplied by."""

    codes: str
    most: str
    unit: float

    @property
    def tensors(self) -> frozenset[str]:
        """Both of them."""
        return frozenset((self.codes, self.most))


def apply(model: Model) -> Model:
    """Rewrite every such chain whose keys and values are states in codes."""
    held = {name for state in model.states for name in (state.past, state.present)}
    if not held:
        return model
    edit = Edit(model)
    known = positions(edit, model)
    caches = {node.outputs[0]: cache for node in model.nodes if (cache := _cache(edit, node)) and cache.tensors <= held}
    for node in edit.nodes():
        chain = match(edit, node, caches, model.opset)
        keys, values = (caches.get(chain.k.name), caches.get(chain.v.name)) if chain is not None else (None, None)
        if chain is None or keys is None or values is None:
            continue
        if edit.tensors[chain.q].shape[1] != edit.tensors[chain.k.name].shape[1]:
            continue  # heads that share keys
        length = filled_length(edit, chain, known)
        if not length:
            continue
        inputs = (chain.q, keys.codes, keys.most, values.codes, values.most, length)
        attributes = {"scale": chain.scale, "k_unit": keys.unit, "v_unit": values.unit}
        edit.replace(node, Node(node.name, "CodedAttention", inputs, node.outputs, attributes, domain=DOMAIN))
    return edit.result()


def _cache(edit: Edit, product: Node) -> _Cache | None:
    """Mul(Cast(codes), Mul(most, unit)), with one most for each row of all heads."""
    if product.op != "Mul" or product.domain or product.clamp is not None:
        return None
    cast, scale = (edit.writer(one) for one in product.inputs)
    if cast is None or cast.op != "Cast" or cast.domain or scale is None or scale.op != product.op or scale.domain:
        return None
    unit, held = edit.constant(scale, 1), _packed(edit, cast.inputs[0]) or cast.inputs[0]
    codes, most = edit.tensors[held], edit.tensors[scale.inputs[0]]
    whole = edit.tensors[cast.inputs[0]].dtype is DType.I8
    if unit is None or unit.size != 1 or unit.dtype != np.float32 or not whole:
        return None
    rows = (1, 1, codes.shape[2], 1) if len(codes.shape) == 4 else ()
    if most.shape != rows or most.dtype is not DType.F32 or codes.quantisation is not None:
        return None
    return _Cache(held, scale.inputs[0], float(unit.reshape(-1)[0]))


def _packed(edit: Edit, codes: str) -> str:
    """The bytes whose low and high four bits are the halves of each row of these codes; "" where they are none."""
    cast = edit.plain_writer(codes, "Cast")
    joined = edit.plain_writer(cast.inputs[0], "Concat") if cast is not None else None
    if joined is None or len(joined.inputs) != 2 or joined.attributes.get("axis") not in (-1, 3):
        return ""
    low, high = edit.plain_writer(joined.inputs[0], "BitShift"), edit.plain_writer(joined.inputs[1], "BitwiseAnd")
    if low is None or high is None or low.inputs[0] != high.inputs[0] or low.attributes.get("direction") != "LEFT":
        return ""
    four, mask = edit.constant(low, 1), edit.constant(high, 1)
    one_each = four is not None and mask is not None and four.size == mask.size == 1
    fits = four is not None and mask is not None and one_each and (int(four.max()), int(mask.max())) == (4, 240)
    return low.inputs[0] if fits and edit.tensors[low.inputs[0]].dtype is DType.U8 else ""
