"""The source of emitted PyTorch modules, read as text; nothing here needs torch.

`pytest tests/export --update-golden` writes the golden files anew.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import graphs
import numpy as np
import onnx
import pytest
from conftest import NetworkFiles
from onnx import TensorProto, helper, numpy_helper
from tilewright.binding.bind import bind
from tilewright.cli import main
from tilewright.errors import UnsupportedNode, UsageError
from tilewright.export.mirror import bound_graph
from tilewright.export.pytorch import PyTorchModule, PyTorchOptions, emit
from tilewright.export.torch_constants import ConstantKind, all_equal, broadcast_row
from tilewright.frontend.load import load
from tilewright.plugins import kernels_of, platform
from tilewright.safetensors import loads
from torch_modules import OURS

GOLDEN = Path(__file__).parent / "golden"


def addition(folder: Path, constant: np.ndarray, op: str = "Add") -> Path:
    """A network of one node with one constant operand."""
    node = helper.make_node(op, ["x", "table"], ["y"], "node")
    value = numpy_helper.from_array(constant.astype(np.float32), "table")
    types = [helper.make_tensor_value_info(name, TensorProto.FLOAT, constant.shape) for name in "xy"]
    graph = helper.make_graph([node], "g", types[:1], types[1:], [value])
    path = folder / "addition.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return path


def module_of(path: Path, **options: object) -> PyTorchModule:
    return emit(bound_graph(path), PyTorchOptions(**options))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["digits", "digits_int8"])
def test_the_source_is_as_it_was(
    name: str, network: Callable[[str], NetworkFiles], request: pytest.FixtureRequest
) -> None:
    text = emit(bound_graph(network(name).model)).source
    golden = GOLDEN / f"{name}.py.txt"
    if request.config.getoption("--update-golden"):
        golden.write_text(text)
    assert golden.read_text() == text, f"{golden.name} differs; look at it, then run with --update-golden"


@pytest.mark.parametrize("name", OURS)
def test_every_network_of_ours_has_a_mirror_with_a_line_for_each_node(
    name: str, network: Callable[[str], NetworkFiles]
) -> None:
    graph = bound_graph(network(name).model)
    module = emit(graph)
    ast.parse(module.source)
    forward = module.source.split("    def forward", 1)[1]
    for node in graph.nodes:
        assert f"({node.call.node.op}): " in forward
    assert forward.count("  # ") == len(graph.nodes)
    assert set(module.weights) == set(loads(module.weights_file(), "w").arrays)


def test_the_class_name_and_the_type_are_the_users(network: Callable[[str], NetworkFiles]) -> None:
    module = module_of(network("digits").model, class_name="Reader", dtype_expr="torch.float64")
    assert "class Reader(nn.Module):" in module.source
    assert "weights=None, dtype=torch.float64):" in module.source


@pytest.mark.parametrize("options", [{"class_name": "a b"}, {"class_name": "class"}, {"dtype_expr": "f();x"}])
def test_options_become_no_code_of_their_own(options: dict[str, str]) -> None:
    with pytest.raises(UsageError, match=r"is not a Python name|names no type"):
        PyTorchOptions(**options)  # type: ignore[arg-type]


def test_the_training_skeleton_is_there_unless_it_is_not_wanted(network: Callable[[str], NetworkFiles]) -> None:
    model = network("digits").model
    assert "def train_step(" in module_of(model).source
    assert "def train_step(" not in module_of(model, include_training_skeleton=False).source
    assert "def train_step(" not in module_of(network("digits_int8").model).source  # nothing there that learns


def test_constants_are_parameters_buffers_or_one_row_of_a_parameter(tmp_path: Path) -> None:
    rows = addition(tmp_path, np.tile(np.arange(5.0), (3, 1)))
    (row,) = module_of(rows).constants
    assert row.kind is ConstantKind.BROADCAST_ROW
    assert row.text == "self.table.unsqueeze(0).expand(3, -1)"
    assert row.stored.tolist() == [0, 1, 2, 3, 4]
    (full,) = module_of(rows, compress_broadcast_params=False).constants
    assert full.kind is ConstantKind.PARAMETER
    (fixed,) = module_of(rows, learnable_consts=False).constants
    assert fixed.kind is ConstantKind.BUFFER
    (uniform,) = module_of(addition(tmp_path, np.full((3, 5), 2.0))).constants
    assert uniform.kind is ConstantKind.BUFFER


def test_what_counts_as_a_row_and_as_uniform() -> None:
    assert all_equal(np.zeros(0))
    assert all_equal(np.ones(3))
    assert not all_equal(np.arange(2))
    assert broadcast_row(np.zeros((0, 4))) is None
    assert broadcast_row(np.arange(4.0)) is None
    assert broadcast_row(np.asarray([[1, 2], [1, 3]])) is None
    row = broadcast_row(np.asarray([[1, 2], [1, 2]]))
    assert row is not None
    assert row.tolist() == [1, 2]


def test_large_constants_stand_in_a_file_and_small_ones_in_the_source(tmp_path: Path) -> None:
    module = module_of(addition(tmp_path, np.arange(6.0).reshape(2, 3)))
    assert not module.weights
    assert "torch.tensor([0.0, 1.0, 2.0, 3.0, 4.0, 5.0], dtype=dtype).reshape([2, 3])" in module.source
    module = module_of(addition(tmp_path, np.arange(60.0).reshape(2, 30)))
    assert list(module.weights) == ["table"]
    assert 'stored["table"].to(dtype)' in module.source


def test_a_sequence_of_one_operand_is_a_sequence() -> None:
    """As a graph that no pass has changed holds it."""
    model = load(graphs.onnx_model([graphs.node("Concat", "x", "y", axis=1)], {"x": (2, 3)}, ["y"]), name="net")
    generic = platform("generic")
    assert "torch.cat([x], 1)" in emit(bind(model, generic, kernels_of(generic))).source


def test_an_operator_without_a_line_is_named(tmp_path: Path) -> None:
    path = addition(tmp_path, np.asarray([1.0, 2.0]), "Hardmax")
    loaded = onnx.load(path)
    del loaded.graph.node[0].input[1]
    onnx.save(loaded, path)
    with pytest.raises(UnsupportedNode, match=r"node 'node' \(Hardmax\).*'Hardmax' has no line in PyTorch"):
        module_of(path)


def test_names_of_the_model_reach_the_source_as_names_only(tmp_path: Path) -> None:
    path = addition(tmp_path, np.asarray([[1.0, 2.0, 4.0]]))
    loaded = onnx.load(path)
    loaded.graph.node[0].name = "n\n        import os"
    for place in (loaded.graph.node[0].input, loaded.graph.initializer):
        if place is loaded.graph.node[0].input:
            place[1] = "forward"
    loaded.graph.initializer[0].name = "forward"
    onnx.save(loaded, path)
    module = module_of(path)
    assert "\n        import os" not in module.source
    assert [c.attribute for c in module.constants] == ["const_forward"]
    ast.parse(module.source)


def test_the_command_writes_the_module_and_its_weights(
    tmp_path: Path, network: Callable[[str], NetworkFiles], capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "reader.py"
    assert main(["export-torch", str(network("digits").model), "-o", str(output), "--class-name", "Reader"]) == 0
    assert "class Reader, 8 nodes" in capsys.readouterr().out
    assert 'with_name("reader.safetensors")' in output.read_text()
    assert main(["export-torch", str(network("digits").model), "-o", str(tmp_path / "reader.txt")]) == 2
    assert "the name of a Python module ends in .py" in capsys.readouterr().err
