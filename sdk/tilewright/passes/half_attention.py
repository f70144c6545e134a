"""Attention over caches in float16 as one operator: what `--cache float16` writes in standard operators."""

from __future__ import annotations

from tilewright.model import DType, Model, Node
from tilewright.ops.relayout import DOMAIN
from tilewright.passes.cached_attention import filled_length, match, positions
from tilewright.passes.edit import Edit

name = "half_attention"


def apply(model: Model) -> Model:
    """Rewrite every such chain whose keys and values are states in float16, read as float32."""
    held = {name for state in model.states for name in (state.past, state.present)}
    held = {name for name in held if model.tensors[name].dtype is DType.F16}
    if not held:
        return model
    edit = Edit(model)
    known = positions(edit, model)
    halves = {
        node.outputs[0]: node.inputs[0] for node in model.nodes
        if node.op == "Cast" and not node.domain and node.inputs[0] in held
        and model.tensors[node.outputs[0]].dtype is DType.F32
    }  # fmt: skip
    for node in edit.nodes():
        chain = match(edit, node, halves, model.opset)
        if chain is None or chain.k.name not in halves or chain.v.name not in halves:
            continue
        length = filled_length(edit, chain, known)
        if not length:
            continue
        inputs = (chain.q, halves[chain.k.name], halves[chain.v.name], length)
        edit.replace(
            node, Node(node.name, "HalfAttention", inputs, node.outputs, {"scale": chain.scale}, domain=DOMAIN)
        )
    return edit.result()
