"""Operators beside the standard: advice that fits where they come from, no hint at an operator of another."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from graphs import node, onnx_model
from tilewright.errors import UnsupportedNode
from tilewright.frontend.cut import cut
from tilewright.frontend.load import load

OPTIMISER = (
    ": ONNX Runtime's optimiser writes it in the place of standard operators; "
    "export or save the model without that optimisation (ORT_DISABLE_ALL)"
)
SENTENCES = {
    ("SkipGroupNorm", "com.microsoft"): OPTIMISER,
    ("PackedAttention", "com.microsoft"): OPTIMISER,
    ("Conv", "com.microsoft.nchwc"): ": ONNX Runtime's optimiser writes it for the processor on which it ran; save the "
    "optimised model with ORT_ENABLE_EXTENDED in the place of ORT_ENABLE_ALL",
    (
        "ConvGrad",
        "com.microsoft",
    ): ": ONNX Runtime's training tools write it into graphs with gradients, eval_model.onnx "
    "beside them has none; export the network for inference, and give that to 'tilewright train'",
    ("MatMulBnb4", "com.microsoft"): ": a quantiser of ONNX Runtime writes it; quantise to int8 or int4 (MatMulNBits",
    ("Sampling", "com.microsoft"): ": of ONNX Runtime's own operators there are Attention, BiasGelu, DequantizeLi",
    ("BpeDecoder", "ai.onnx.contrib"): ": onnxruntime-extensions write it (tokenizers, pictures, text); keep the",
    ("cudnn_x", "org.pytorch.aten"): ": PyTorch's exporter writes it for what it cannot say in ONNX (ONNX_ATEN_FALL",
    ("CategoryMapper", "ai.onnx.ml"): ": of classical machine learning, what works on text and dictionaries is not",
    ("Foo", "acme"): ": no operator of this domain is known; export it with standard operators, or as a function",
    ("SkipGroupNorm", "acme"): ": no operator of this domain is known; export it with standard operators, or as",
    (
        "RandomUniformLike",
        "",
    ): ": the standard has it, tilewright does not compute it; see 'tilewright ops' for all that it",
}


@pytest.mark.parametrize("op_and_domain", SENTENCES)
def test_the_advice_fits_the_domain(op_and_domain: tuple[str, str]) -> None:
    op, domain = op_and_domain
    proto = onnx_model([node(op, "x", "y", "n", domain)], {"x": [1, 4]}, ["y"], opset=16)
    if domain:
        proto.opset_import.add(domain=domain, version=1)
    with pytest.raises(UnsupportedNode) as caught:
        load(proto)
    named = f" of domain '{domain}'" if domain else ""
    assert str(caught.value).startswith(f"node 'n': operator '{op}'{named} is not supported{SENTENCES[op_and_domain]}")
    assert "did you mean" not in str(caught.value)


def test_a_layer_normalisation_of_an_old_opset_stays_as_it_is_for_onnx_runtime(tmp_path: Path) -> None:
    nodes = [node("LayerNormalization", "x s", "n"), node("Relu", "n", "y")]
    proto = onnx_model(nodes, {"x": [2, 4]}, ["y"], {"s": np.ones(4, np.float32)}, 12)
    onnx.save(proto, tmp_path / "old.onnx")
    opened = cut(tmp_path / "old.onnx", ["n"])
    assert [(each.op_type, each.domain) for each in opened.graph.node] == [("LayerNormalization", ""), ("Relu", "")]
    assert [each.op for each in load(proto).nodes] == ["LayerNormalization", "Relu"]


def test_other_operators_of_a_newer_opset_are_still_refused() -> None:
    with pytest.raises(UnsupportedNode, match="the model uses opset 12, the operator is of opset 18"):
        load(onnx_model([node("Mish", "x", "y")], {"x": [2, 4]}, ["y"], opset=12))


def test_a_hard_swish_of_an_old_opset_is_taken_as_the_later_standard_has_it() -> None:
    model = load(onnx_model([node("HardSwish", "x", "y")], {"x": [2, 4]}, ["y"], opset=10))
    assert [(each.op, each.domain) for each in model.nodes] == [("HardSwish", "")]
