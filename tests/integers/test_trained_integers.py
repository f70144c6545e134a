"""The trained networks, and our own: every code equal to ONNX Runtime's or next to a tie, every layer proved."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from conftest import NetworkFiles
from integers.codes import calls, compare, run_codes
from tilewright.errors import UnsupportedError
from tilewright.frontend.load import load
from tilewright.ops.quantised.linear import proof
from tilewright.ops.quantised.mean import mean_proof, window_counts
from tilewright.ops.quantised.proof import thresholds
from tilewright.passes.quantise.lower import integer_border, lower
from tilewright.passes.quantise.report import quantisation_report, require_integers

Find = Callable[[str], NetworkFiles]
TRAINED = [f"{name}_{form}" for name in ("resnet8", "dscnn", "vww", "ad") for form in ("int8", "int8ort")]


@pytest.mark.parametrize("name", TRAINED)
def test_the_expected_outputs_come_out_in_every_bit(trained: Find, name: str) -> None:
    files = trained(name)
    inputs, outputs = files.arrays()
    model = lower(load(files.model))
    values = run_codes(model, inputs)
    for key, expected in outputs.items():
        assert np.array_equal(values[key], expected)
    assert quantisation_report(model).float_tensors == ()
    require_integers(model)


@pytest.mark.parametrize("name", TRAINED)
def test_every_layer_is_proved_and_its_form_equal_at_every_threshold(trained: Find, name: str) -> None:
    for call in calls(lower(load(trained(name).model))):
        if call.node.op not in ("Conv", "Gemm"):
            continue
        found = proof(call)
        assert found.status == "proved", call.node.name
        assert found.fixed is not None
        reach = found.bounds
        edges = np.broadcast_to(thresholds(found.requantisation), (found.channels, 255)).astype(np.float64)
        for offset in (-1, 0, 1):
            acc = np.clip(edges + offset, reach.lowest[:, None], reach.highest[:, None]).astype(np.int64)
            assert np.array_equal(found.fixed.apply(acc, 0), found.requantisation.apply(acc, 0))


@pytest.mark.parametrize("name", [*TRAINED, "resnet8_int8qop"])
def test_every_tensor_equals_onnx_runtime_or_lies_next_to_a_tie(trained: Find, name: str) -> None:
    files = trained(name)
    _model, found = compare(files.model, files.arrays()[0])
    assert found.codes > 0
    assert found.unexplained == 0
    assert found.mismatches <= 4
    assert found.float_error < 1e-5


@pytest.mark.parametrize("name", ["digits_int8", "odd_mobile_int8", "odd_temporal_int8", "odd_unet_int8"])
def test_our_own_networks_equal_onnx_runtime(network: Find, name: str) -> None:
    files = network(name)
    model, found = compare(files.model, files.arrays()[0])
    assert found.unexplained == 0
    assert quantisation_report(model).first_float_node == ""


def test_the_float_tail_of_a_qoperator_network_is_named(trained: Find) -> None:
    model = lower(load(trained("resnet8_int8qop").model))
    assert model.quantisation_form == "QOperator"
    with pytest.raises(UnsupportedError, match=r"node 'Relu__26' \(Relu\) stays float") as caught:
        require_integers(model)
    assert caught.value.code == 3
    assert caught.value.where.node == "Relu__26"


@pytest.mark.parametrize("name", ["resnet8_int8ort", "ad_int8ort"])
def test_codes_at_the_border_need_no_conversion(trained: Find, name: str) -> None:
    files = trained(name)
    inputs, _outputs = files.arrays()
    model = lower(load(files.model))
    border = integer_border(model)
    assert {node.op for node in border.nodes} & {"QuantizeLinear", "DequantizeLinear"} == set()
    real = run_codes(model, inputs)
    (first,) = (node for node in model.nodes if node.op == "QuantizeLinear")
    codes = {border.inputs[0]: real[first.outputs[0]]}
    (last,) = (node for node in model.nodes if node.op == "DequantizeLinear")
    assert np.array_equal(run_codes(border, codes)[border.outputs[0]], real[last.inputs[0]])
    assert border.tensors[border.inputs[0]].quantisation == model.tensors[first.outputs[0]].quantisation


def test_a_mean_of_64_codes_keeps_its_ties(trained: Find) -> None:
    for call in calls(lower(load(trained("resnet8_int8").model))):
        if call.node.op == "AveragePool":
            assert window_counts(call).tolist() == [64]
            assert mean_proof(call, 64).status == "exact_sequence"
