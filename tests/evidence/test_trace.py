"""What the trace answers for: nodes that hand codes on, and lines whose machine code lies inside of others."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tilewright.evidence.handed_on import handed_on
from tilewright.evidence.line_table import LineTable, Row
from tilewright.evidence.trace import Machine
from tilewright.run.elf import Symbol
from tilewright.run.stack import CallGraph


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
