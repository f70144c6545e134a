"""Weights of a mirror go back into the ONNX file they came from; none of this needs torch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from conftest import NetworkFiles
from onnx import TensorProto, helper, numpy_helper
from tilewright.errors import UnsupportedError, UsageError
from tilewright.export.mirror import bound_graph, return_weights
from tilewright.export.pytorch import PyTorchModule, emit
from tilewright.safetensors import TensorFile


def state(module: PyTorchModule) -> TensorFile:
    """The state that `save_weights` of an untrained module would write."""
    return TensorFile({b.attribute: b.stored for b in module.constants}, {"model_sha256": module.sha256})


def initialisers(data: bytes) -> dict[str, np.ndarray]:
    return {t.name: numpy_helper.to_array(t) for t in onnx.load_from_string(data).graph.initializer}


@pytest.mark.parametrize("name", ["digits", "digits_int8", "odd_transformer", "resnet8_int8"])
def test_an_untrained_state_changes_nothing(name: str, network: Callable[[str], NetworkFiles]) -> None:
    source = network(name).model
    graph = bound_graph(source)
    data = return_weights(source, state(emit(graph)), graph)
    assert onnx.load_from_string(data) == onnx.load(source)


@pytest.mark.parametrize("name", ["digits", "odd_transformer", "odd_unet"])
def test_every_trained_constant_of_a_float_network_arrives(name: str, network: Callable[[str], NetworkFiles]) -> None:
    source = network(name).model
    graph = bound_graph(source)
    module = emit(graph)
    changed = {b.attribute: b.stored + np.float32(0.25) for b in module.constants if b.kind.value != "buffer"}
    data = return_weights(source, TensorFile(changed, {"model_sha256": module.sha256}), graph)
    before, after = initialisers(source.read_bytes()), initialisers(data)
    moved = [key for key in before if not np.array_equal(before[key], after[key])]
    assert len(moved) >= len(changed)
    for key in moved:
        np.testing.assert_allclose(after[key] - before[key], 0.25, atol=1e-6)


def test_codes_of_a_quantised_network_arrive(network: Callable[[str], NetworkFiles]) -> None:
    source = network("digits_int8").model
    graph = bound_graph(source)
    module = emit(graph)
    weights = next(b for b in module.constants if b.value.dtype == np.int8)
    flipped = np.asarray(-np.maximum(weights.value, -127), np.int8)
    data = return_weights(source, TensorFile({weights.attribute: flipped}), graph)
    np.testing.assert_array_equal(initialisers(data)[weights.name].reshape(flipped.shape), flipped)


def folded(folder: Path) -> Path:
    """A convolution and a batch normalisation, which the passes make one."""
    random = np.random.default_rng(2)
    constants = {"w": random.normal(size=(2, 1, 3, 3)), "s": [1.5, 2], "b": [0, 1], "m": [0.1, 0.2], "v": [1, 2]}
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], "conv"),
        helper.make_node("BatchNormalization", ["c", "s", "b", "m", "v"], ["y"], "norm"),
    ]
    values = [numpy_helper.from_array(np.asarray(v, np.float32), k) for k, v in constants.items()]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 5, 5])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2, 3, 3])
    graph = helper.make_graph(nodes, "g", [x], [y], values)
    path = folder / "folded.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return path


def test_a_constant_that_a_pass_computed_is_refused_and_stays_where_the_pass_is_left_out(tmp_path: Path) -> None:
    source = folded(tmp_path)
    graph = bound_graph(source)
    module = emit(graph)
    changed = {b.attribute: b.stored + 1 for b in module.constants}
    with pytest.raises(UnsupportedError, match=r"has no place in the model: a pass computed it.*--without-pass"):
        return_weights(source, TensorFile(changed), graph)
    apart = bound_graph(source, without_passes=["batch_norm"])
    module = emit(apart)
    changed = {b.attribute: b.stored + 1 for b in module.constants if b.kind.value == "parameter"}
    after, before = initialisers(return_weights(source, TensorFile(changed), apart)), initialisers(source.read_bytes())
    for name in ("w", "s", "b"):
        np.testing.assert_array_equal(after[name], before[name] + 1)
    np.testing.assert_array_equal(after["v"], before["v"])


def test_weights_of_another_model_or_form_are_refused(network: Callable[[str], NetworkFiles]) -> None:
    source = network("digits").model
    graph = bound_graph(source)
    module = emit(graph)
    with pytest.raises(UsageError, match="belong to another model"):
        return_weights(source, TensorFile({}, {"model_sha256": "0" * 64}), graph)
    with pytest.raises(UsageError, match="tensor 'nothing' is no constant"):
        return_weights(source, TensorFile({"nothing": np.zeros(1)}), graph)
    name = module.constants[0].attribute
    with pytest.raises(UsageError, match=r"has the shape \[3, 3\]"):
        return_weights(source, TensorFile({name: np.zeros((3, 3))}), graph)
    with pytest.raises(UsageError, match="not finite"):
        return_weights(source, TensorFile({name: np.full(module.constants[0].stored.shape, np.nan)}), graph)
