"""What the trace answers for: nodes that hand codes on, and lines whose machine code lies inside of others."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tilewright.cli import main
from tilewright.compile import compile_model
from tilewright.evidence.code_lines import code_lines
from tilewright.evidence.document import load
from tilewright.evidence.handed_on import handed_on
from tilewright.evidence.line_table import LineTable, Row
from tilewright.evidence.trace import Machine
from tilewright.model import Array
from tilewright.options import CompileOptions
from tilewright.run.elf import Symbol
from tilewright.run.stack import CallGraph
from tilewright.target import load_target


def _model(scale: float, operator: str) -> onnx.ModelProto:
    """Codes that are read, moved, quantised with a scale, and read again."""
    middle = {
        "Slice": helper.make_node("Slice", ["r", "first", "last"], ["m"]),
        "Transpose": helper.make_node("Transpose", ["r"], ["m"]),
        "Relu": helper.make_node("Relu", ["r"], ["m"]),
    }[operator]
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "s", "z"], ["r"]),
        middle,
        helper.make_node("QuantizeLinear", ["m", "t", "z"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "t", "z"], ["y"]),
    ]
    numbers = {
        "s": np.float32(0.5), "t": np.float32(scale), "z": np.int8(3), "first": np.array([0]), "last": np.array([2]),
    }  # fmt: skip
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", TensorProto.INT8, [4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in numbers.items()],
    )  # fmt: skip
    return helper.make_model(graph)


@pytest.mark.parametrize(
    ("scale", "operator", "handed"),
    [(0.5, "Slice", {2, 3}), (0.5, "Transpose", {2, 3}), (0.25, "Slice", set()), (0.5, "Relu", set())],
)
def test_codes_are_handed_on_where_moved_values_keep_their_scale(scale: float, operator: str, handed: set[int]) -> None:
    assert handed_on(_model(scale, operator)) == handed


def test_a_line_has_the_machine_code_of_what_it_calls_inside_of_another() -> None:
    """All of a call's machine code may lie in lines of the function that it calls."""
    symbol = Symbol("net_run", 0x100, 0x40, "code")
    table = LineTable((Row(0x100, 0x140, 7),), {}, calls=(Row(0x110, 0x120, 42),))
    machine = Machine((symbol,), table, CallGraph(), "net")
    assert [each.name for each in machine.holding(40, 45)] == ["net_run"]
    assert [each.name for each in machine.holding(46, 50)] == []


def _saved(
    path: Path,
    nodes: list[onnx.NodeProto],
    shape: list[int],
    constants: dict[str, Array],
    *functions: onnx.FunctionProto,
) -> Path:
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, functions=functions, ir_version=9), path)
    return path


def _quantised_behind_a_move(path: Path) -> Path:
    """The Q goes in front of the Transpose; the codes of a comparison are read as they are."""
    nodes = [
        helper.make_node("Transpose", ["x"], ["t"], "turn", perm=[0, 3, 1, 2]),
        helper.make_node("QuantizeLinear", ["t", "s", "z"], ["q"], "codes"),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["r"], "reals"),
        helper.make_node("MaxPool", ["r"], ["p"], "pool", kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Sigmoid", ["p"], ["y"], "last"),
    ]
    return _saved(path, nodes, [1, 4, 4, 3], {"s": np.asarray(0.1, np.float32), "z": np.asarray(3, np.int8)})


def _normalised(path: Path) -> Path:
    """One node that two instructions compute."""
    names = ["scale", "shift", "mean", "variance"]
    nodes = [
        helper.make_node("Exp", ["x"], ["e"], "first"),
        helper.make_node("BatchNormalization", ["e", *names], ["y"], "norm"),
    ]
    return _saved(path, nodes, [1, 3, 4, 4], {name: np.array([0.5, 1, 2], np.float32) for name in names})


def _function(path: Path) -> Path:
    """A function of the file, whose call has no name."""
    inner = [
        helper.make_node("Exp", ["a"], ["b"], "inside"),
        helper.make_node("Softplus", ["b"], ["c"]),
        helper.make_node("Erf", ["c"], ["d"]),
    ]
    function = helper.make_function("own", "three", ["a"], ["d"], inner, [helper.make_opsetid("", 17)])
    return _saved(path, [helper.make_node("three", ["x"], ["y"], domain="own")], [2, 5], {}, function)


@pytest.mark.parametrize(
    ("make", "op", "nodes"),
    [(_quantised_behind_a_move, "QuantizeLinear", (1,)), (_normalised, "Mul", (1,)), (_function, "Softplus", (0,))],
)
def test_what_is_computed_in_several_parts_comes_of_its_node(
    tmp_path: Path, make: Callable[[Path], Path], op: str, nodes: tuple[int, ...]
) -> None:
    model, out = make(tmp_path / "net.onnx"), tmp_path / "out"
    assert main(["evidence", str(model), "-t", "host", "--only", "trace", "-o", str(out), "-q"]) == 0
    found = load(out).trace
    assert found is not None
    assert found.unmatched == ()
    assert [one.nodes for one in found.instructions if one.op == op] == [nodes]
    assert len(found.instructions) >= 3


def test_equal_calls_have_their_own_lines(tmp_path: Path) -> None:
    """Layers over one buffer are called by the same words."""
    names = ["x", "a", "b", "y"]
    nodes = [helper.make_node("Softmax", [one], [other]) for one, other in pairwise(names)]
    compiled = compile_model(_saved(tmp_path / "net.onnx", nodes, [2, 5], {}), CompileOptions(), load_target("host"))
    code = code_lines(compiled.artifacts)
    assert code is not None
    lines = [line for _, called in code.calls for line in called]
    assert len(lines) == 3
    assert lines == sorted({*lines})
    text = compiled.artifacts.text(compiled.artifacts.parts.code).splitlines()
    assert len({text[line - 1] for line in lines}) < 3
