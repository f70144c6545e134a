"""The same-shape networks: same layers as the trained ones, not collapsed, the same on every machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from make_digits import load
from make_networks import NETWORKS, answers, digest, grow, samples, spreads
from network_files import run
from quantise import CODES, codes_in_use

if TYPE_CHECKING:
    from conftest import NetworkFiles

HERE = Path(__file__).parent
ANSWERS = {"digits": 10, "resnet8": 10, "dscnn": 12, "vww": 2, "ad": 60}
DIGESTS = {
    "resnet8": "a6b3650cd25de8cd",
    "dscnn": "bf618237274d73dc",
    "vww": "4db48afddaaa25f9",
    "ad": "1b5d19c379055f09",
}


def inputs(name: str, count: int) -> list[dict[str, Any]]:
    values = load().images[:count] if name == "digits" else samples(name, count)
    return [{"input": value[None]} for value in values]


@pytest.mark.parametrize("name", NETWORKS)
def test_float_networks_are_the_same_everywhere_and_spread(name: str) -> None:
    model = grow(name)
    assert digest(model)[:16] == DIGESTS[name]
    for tensor, (deviation, between_inputs) in spreads(model, inputs(name, 16)).items():
        assert deviation > 0.2, tensor
        assert between_inputs > 0.02, tensor
    assert len(answers(model, inputs(name, 160))) >= ANSWERS[name]


@pytest.mark.parametrize("name", ["digits", *NETWORKS])
def test_int8_networks_use_their_codes(name: str) -> None:
    model = onnx.load(str(HERE / f"{name}_int8" / "model.onnx"))
    used = codes_in_use(model, inputs(name, 1797 if name == "digits" else 160))
    if name == "digits":
        assert used.pop("input_QuantizeLinear_Output") == 17  # the images have no more grey levels
    assert {tensor: codes for tensor, codes in used.items() if codes <= CODES} == {}
    assert len(answers(model, inputs(name, 160))) >= ANSWERS[name]


@pytest.mark.parametrize("name", ["digits", "digits_int8", *NETWORKS, *(f"{name}_int8" for name in NETWORKS)])
def test_the_vectors_are_what_onnx_runtime_computes_now(name: str, network: Callable[[str], NetworkFiles]) -> None:
    files = network(name)
    given, expected = files.arrays()
    found = run(onnx.load(str(files.model)), given)
    assert found.keys() == expected.keys()
    for output, values in expected.items():
        np.testing.assert_allclose(found[output], values, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", NETWORKS)
def test_the_layers_are_those_of_the_trained_network(name: str, trained: Callable[[str], NetworkFiles]) -> None:
    def layers(model: onnx.ModelProto) -> list[tuple[str, list[Any]]]:
        shaped = onnx.shape_inference.infer_shapes(model)
        constants = {tensor.name: list(tensor.dims) for tensor in model.graph.initializer}
        attributes = ("kernel_shape", "strides", "pads", "group", "perm")
        return [
            (
                node.op_type,
                [constants[i] for i in node.input if i in constants]
                + [onnx.helper.get_attribute_value(a) for k in attributes for a in node.attribute if a.name == k],
            )
            for node in shaped.graph.node
        ]

    original = onnx.load(str(trained(f"{name}_f32").model))
    assert layers(grow(name)) == layers(original)
