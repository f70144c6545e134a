"""Operators that nothing here computes: which exporter or optimiser writes them, and what to do about it."""

from __future__ import annotations

from tilewright.errors import UnsupportedNode
from tilewright.frontend.names import quoted
from tilewright.frontend.raw import RawNode
from tilewright.frontend.splits.registry import rules
from tilewright.ops.registry import all_operators

MICROSOFT = "com.microsoft"
_FUSED = frozenset({
    "BiasDropout", "DecoderMaskedMultiHeadAttention", "DecoderMaskedSelfAttention", "FusedMatMulActivation",
    "GatedRelativePositionBias", "GemmFastGelu", "GroupNorm", "MatMulNBitsMlp", "MatMulNBitsQkv",
    "PackedAttention", "PackedMultiHeadAttention", "PagedAttention", "QEmbedLayerNormalization", "QOrderedAttention",
    "QOrderedGelu", "QOrderedLayerNormalization", "QOrderedMatMul", "RelativePositionBias", "RemovePadding",
    "RestorePadding", "SkipGroupNorm", "SparseAttention",
})  # fmt: skip
_QUANTISERS = {
    "MatMulBnb4": "quantise to int8 or int4 (MatMulNBits, QDQ)",
    "MatMulFpQ4": "quantise to int8 or int4 (MatMulNBits, QDQ)",
}
_TRAINED = frozenset({
    "AdamOptimizer", "AdamWOptimizer", "BatchNormalizationGrad", "BatchNormInternal", "BiasGeluGrad_dX",
    "BitmaskDropoutGrad", "ConcatTraining", "ConvGrad", "DropoutGrad", "FastGeluGrad", "GatherElementsGrad",
    "GatherGrad", "GatherNDGrad", "InPlaceAccumulator", "InvertibleLayerNormalizationGrad", "LambOptimizer",
    "MaxPoolGrad", "ReduceSumTraining", "SGDOptimizer", "SGDOptimizerV2", "SimplifiedLayerNormalizationGrad",
    "SliceGrad", "SoftmaxCrossEntropyLossInternal", "SoftmaxCrossEntropyLossInternalGrad", "SplitTraining", "YieldOp",
})  # fmt: skip
_ORIGINS = {
    "com.microsoft.nchwc": (
        "ONNX Runtime's optimiser writes it for the processor on which it ran",
        "save the optimised model with ORT_ENABLE_EXTENDED in the place of ORT_ENABLE_ALL",
    ),
    "com.ms.internal.nhwc": (
        "ONNX Runtime's optimiser writes it for one of its devices",
        "save the optimised model with ORT_ENABLE_EXTENDED in the place of ORT_ENABLE_ALL",
    ),
    "ai.onnx.contrib": (
        "onnxruntime-extensions write it (tokenizers, pictures, text)",
        "keep the neural network, and compute this part beside it",
    ),
    "org.pytorch.aten": (
        "PyTorch's exporter writes it for what it cannot say in ONNX (ONNX_ATEN_FALLBACK)",
        "export with torch.onnx.export(..., dynamo=True), or write that layer with other operators",
    ),
    "ai.onnx.preview.training": (
        "it stands for the gradients of a graph",
        "export the model for inference (model.eval())",
    ),
}


def unsupported(node: RawNode) -> UnsupportedNode:
    """The error for an operator that nothing here computes, with what can be done about it."""
    domain = f" of domain {quoted(node.domain)}" if node.domain else ""
    why, fix = _advice(node.op, node.domain)
    what = f"node {quoted(node.label)}: operator {quoted(node.op)}{domain} is not supported"
    return UnsupportedNode(what, why=why, fix=fix, node=node.label)


def _advice(op: str, domain: str) -> tuple[str, str]:
    if not domain:
        return "the standard has it, tilewright does not compute it", "see 'tilewright ops' for all that it does"
    if domain in _ORIGINS:
        return _ORIGINS[domain]
    if op in _QUANTISERS and domain == MICROSOFT:
        return "a quantiser of ONNX Runtime writes it", _QUANTISERS[op]
    if domain == MICROSOFT and op in _TRAINED:
        return (
            "ONNX Runtime's training tools write it into graphs with gradients, eval_model.onnx beside them has none",
            "export the network for inference, and give that to 'tilewright train'",
        )
    if domain == MICROSOFT and op in _FUSED:
        why = "ONNX Runtime's optimiser writes it in the place of standard operators"
        return why, "export or save the model without that optimisation (ORT_DISABLE_ALL)"
    if domain.startswith("ai.onnx.ml"):
        why = "of classical machine learning, what works on text and dictionaries is not computed"
        return why, "encode text as numbers before the model, and keep the part that computes with numbers"
    if domain == MICROSOFT:
        known = {operator.name for operator in all_operators() if operator.domain == domain}
        known |= {name for other, name in rules() if other == domain}
        why = f"of ONNX Runtime's own operators there are {', '.join(sorted(known))}"
        return why, "export the model with standard operators"
    return "no operator of this domain is known", "export it with standard operators, or as a function of the model"
