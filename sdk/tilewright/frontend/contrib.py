"""ONNX Runtime's operators beside the standard: those that are standard ones by another name, and advice for others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from tilewright.errors import UnsupportedNode
from tilewright.frontend.names import quoted
from tilewright.frontend.raw import RawNode, domain_name
from tilewright.frontend.structure import KNOWN_BEFORE, nodes_within
from tilewright.ops.registry import all_operators

if TYPE_CHECKING:
    import onnx

MICROSOFT = "com.microsoft"
_NEWEST = 1000  # the version of a node that has its newest form

_TWINS = {
    "Gelu": "Gelu",
    "LayerNormalization": "LayerNormalization",
    "SimplifiedLayerNormalization": "RMSNormalization",
}
"""Operator of ONNX Runtime -> the standard's, with the same operands and attributes."""

_FUSED = frozenset({
    "Attention", "BiasAdd", "BiasDropout", "BiasGelu", "BiasSoftmax", "BiasSplitGelu",
    "DecoderMaskedMultiHeadAttention", "EmbedLayerNormalization", "FastGelu", "FusedConv", "FusedGemm",
    "FusedMatMul", "FusedMatMulActivation", "GemmFastGelu", "GroupNorm",
    "GroupQueryAttention", "MatMulIntegerToFloat", "MultiHeadAttention", "NhwcConv",
    "NhwcFusedConv", "NhwcMaxPool", "PackedAttention", "PackedMultiHeadAttention", "QuickGelu", "RelativePositionBias",
    "RotaryEmbedding", "SkipGroupNorm", "SkipLayerNormalization", "SkipSimplifiedLayerNormalization", "TransposeMatMul",
    "DynamicQuantizeMatMul",
})  # fmt: skip
_QUANTISERS = {
    "DynamicQuantizeLSTM": "leave LSTM out of quantize_dynamic (op_types_to_quantize), or quantise statically (QDQ)",
    "MatMulNBits": "write QDQ instead (quant_format=QuantFormat.QDQ of its quantiser), or quantise to int8",
    "MatMulBnb4": "quantise to int8 (QDQ)",
    "QAttention": "quantise the model before ONNX Runtime optimises it, so that its attention is plain operators",
    "GatherBlockQuantized": "leave Gather out of the quantisation",
}


def adopt(proto: onnx.ModelProto) -> None:
    """Give nodes that only ONNX Runtime knows in the standard's domain the domain of its own, in place.

    An exporter may write LayerNormalization into a model of an opset that has none: ONNX Runtime runs it.
    """
    if _renamed(proto.graph.node, proto.opset_import) and not _imports(proto.opset_import, MICROSOFT):
        proto.opset_import.add(domain=MICROSOFT, version=1)
    for function in proto.functions:
        imports = function.opset_import if _imports(function.opset_import, "") else proto.opset_import
        if _renamed(function.node, imports) and not _imports(function.opset_import, MICROSOFT):
            function.opset_import.add(domain=MICROSOFT, version=1)


def _imports(imports: Iterable[onnx.OperatorSetIdProto], domain: str) -> bool:
    return any(domain_name(entry.domain) == domain for entry in imports)


def _renamed(nodes: Iterable[onnx.NodeProto], imports: Iterable[onnx.OperatorSetIdProto]) -> bool:
    version = next((entry.version for entry in imports if domain_name(entry.domain) == ""), _NEWEST)
    found = [
        node
        for node in nodes_within(nodes)
        if domain_name(node.domain) == "" and version < KNOWN_BEFORE.get(node.op_type, 0)
    ]
    for node in found:
        node.domain = MICROSOFT
    return bool(found)


def standard_form(node: RawNode) -> RawNode:
    """The standard's node that computes the same; any other node as it is."""
    if node.domain != MICROSOFT or node.op not in _TWINS:
        return node
    return replace(node, op=_TWINS[node.op], domain="", opsets={**node.opsets, "": _NEWEST})


def unsupported(node: RawNode) -> UnsupportedNode:
    """The error for an operator that nothing here computes, with what can be done about it."""
    domain = f" of domain {quoted(node.domain)}" if node.domain else ""
    why, fix = _advice(node.op, node.domain)
    what = f"node {quoted(node.label)}: operator {quoted(node.op)}{domain} is not supported"
    return UnsupportedNode(what, why=why, fix=fix, node=node.label)


def _advice(op: str, domain: str) -> tuple[str, str]:
    if not domain:
        return "the standard has it, tilewright does not compute it", "see 'tilewright ops' for all that it does"
    if op in _QUANTISERS and domain == MICROSOFT:
        return "a quantiser of ONNX Runtime writes it", _QUANTISERS[op]
    if (domain == MICROSOFT and op in _FUSED) or domain in ("com.microsoft.nchwc", "com.ms.internal.nhwc"):
        why = "ONNX Runtime's optimiser writes it in the place of standard operators"
        return why, "export or save the model without that optimisation (ORT_DISABLE_ALL)"
    if domain.startswith("ai.onnx.ml"):
        why = "operators of classical machine learning (trees, scalers, ...) are not computed"
        return why, "keep the neural network, and compute this part beside it"
    if domain == MICROSOFT:
        known = [operator.name for operator in all_operators() if operator.domain == domain]
        why = f"of ONNX Runtime's own operators there are {', '.join(sorted({*known, *_TWINS}))}"
        return why, "export the model with standard operators"
    return "no operator of this domain is known", "export it with standard operators, or as a function of the model"
