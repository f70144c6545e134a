"""A model cut open shows its inner tensors to ONNX Runtime, and computes what it did."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from conftest import NetworkFiles
from graphs import node, onnx_model, reference
from tilewright.errors import UsageError
from tilewright.frontend.cut import cut, tensor_names


def saved(tmp_path: Path) -> Path:
    nodes = [node("Neg", "x", "a"), node("Relu", "a", "b"), node("Exp", "b", "y")]
    (tmp_path / "net.onnx").write_bytes(onnx_model(nodes, {"x": [1, 4]}, ["y"]).SerializeToString())
    return tmp_path / "net.onnx"


def test_inner_tensors_become_outputs(tmp_path: Path) -> None:
    path = saved(tmp_path)
    x = np.array([[-2, -1, 1, 2]], np.float32)
    found = reference(cut(path, ["b", "y", "b"]), {"x": x})
    assert sorted(found) == ["b", "y"]
    np.testing.assert_array_equal(found["b"], [[2, 1, 0, 0]])
    only = cut(path, ["a"], only=True)
    assert [each.op_type for each in only.graph.node] == ["Neg"]
    assert list(reference(only, {"x": x})) == ["a"]


def test_an_unknown_tensor_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no tensor 'c' in .*; there are 'a', 'b', 'y'"):
        cut(saved(tmp_path), ["c"])


@pytest.mark.parametrize("name", ["digits", "digits_int8", "odd_unet_int8", "odd_lstm"])
def test_every_tensor_of_a_network_can_be_seen(network: Callable[[str], NetworkFiles], name: str) -> None:
    files = network(name)
    inputs, outputs = files.arrays()
    names = tensor_names(files.model)
    found = reference(cut(files.model, names), inputs)
    assert set(found) == names
    for output, expected in outputs.items():
        np.testing.assert_allclose(found[output], expected, atol=1e-6)


def test_a_part_of_a_split_that_is_omitted_gets_a_name_for_onnx_runtime(tmp_path: Path) -> None:
    proto = onnx_model([node("Split", "x", "- y", axis=0, num_outputs=2)], {"x": [4, 2]}, ["y"], opset=18)
    (tmp_path / "net.onnx").write_bytes(proto.SerializeToString())
    opened = cut(tmp_path / "net.onnx", ["y"])
    assert all(opened.graph.node[0].output)
    assert opened.graph.node[0].output[1] == "y"
    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    np.testing.assert_array_equal(reference(opened, {"x": x})["y"], x[2:])
