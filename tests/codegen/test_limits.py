"""When the generated C refuses a compiler: arrays that an `int` of 16 bits cannot count, a `double` of 32 bits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tilewright.codegen.code_counts import FunctionText, count
from tilewright.codegen.limits import Limits, limits_of
from tilewright.compile import Compiled, compile_model
from tilewright.memory.placed import PlacedPlan
from tilewright.options import CompileOptions
from tilewright.target import load_target

EDGE = 1 << 14
"""Bytes from which on twice as many are more than 32767."""


def compiled(folder: Path, node: onnx.NodeProto, x: list[int], y: list[int], *constants: onnx.TensorProto) -> Compiled:
    """A network of one node from int8 to int8, or from int64 where it gathers."""
    kind = TensorProto.INT64 if node.op_type == "Gather" else TensorProto.INT8
    ports = helper.make_tensor_value_info("x", kind, x), helper.make_tensor_value_info("y", TensorProto.INT8, y)
    graph = helper.make_graph([node], "g", [ports[0]], [ports[1]], list(constants))
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), folder / "net.onnx")
    return compile_model(folder / "net.onnx", CompileOptions(), load_target("host"))


def placed(folder: Path) -> PlacedPlan:
    return compiled(folder, helper.make_node("Abs", ["x"], ["y"]), [100], [100]).placed


@pytest.mark.parametrize(("size", "least"), [(EDGE - 1, 0), (EDGE, 2 * EDGE)])
def test_the_largest_tensor_counts(size: int, least: int, tmp_path: Path) -> None:
    done = compiled(tmp_path, helper.make_node("Abs", ["x"], ["y"]), [size], [size])
    code = done.artifacts.files["src/net.c"]
    assert (f"#if INT_MAX < {least}\n" in code) == bool(least)
    assert ("INT_MAX" in code) == ("#include <limits.h>" in code) == done.artifacts.wide_core == bool(least)


@pytest.mark.parametrize("size", [EDGE - 2, EDGE])
def test_the_largest_constant_counts(size: int, tmp_path: Path) -> None:
    table = numpy_helper.from_array((np.arange(size) % 100).astype(np.int8).reshape(-1, 2), "table")
    done = compiled(tmp_path, helper.make_node("Gather", ["table", "x"], ["y"]), [3], [3, 2], table)
    assert done.artifacts.wide_core == (size == EDGE)


def test_scratch_counts_too(tmp_path: Path) -> None:
    plain = placed(tmp_path)
    instructions = tuple(replace(one, scratch_bytes=EDGE) for one in plain.plan.instructions)
    large = replace(plain, plan=replace(plain.plan, instructions=instructions))
    assert limits_of(plain, ()) == Limits()
    assert limits_of(large, ()) == Limits(2 * EDGE)


def test_only_the_type_double_needs_64_bits(tmp_path: Path) -> None:
    plain = placed(tmp_path)
    single, double = "float doubled = 2.0f; /* a double\n of it */", "const double b = 2.0;"
    assert not limits_of(plain, count(FunctionText("", single)))
    assert limits_of(plain, count(FunctionText("", f"{single}\n{double}"))) == Limits(0, True)
