"""DequantizeLinear of eight bits without a float unit: the float of every code, also over the codes themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from board_layers import board_or_skip
from onnx import TensorProto, helper, numpy_helper
from tilewright.compile import Compiled, compile_model, run_model, write
from tilewright.options import CompileOptions, RunOptions
from tilewright.platforms.generic.kernels.dequantise_table import WORTH_A_TABLE
from tilewright.target import load_target

CASES = [(0.0173, -5, np.int8), (3.0, 0, np.uint8), (1e-44, 127, np.int8), (2e37, -128, np.int8), (0.5, 128, np.uint8)]
BOARDS = ("qemu_rv32imc", "qemu_microbit", "qemu_pulp")


def compiled(path: Path, board: str, elements: int = 512) -> Compiled:
    nodes, held, given, outputs = [], [], [], []
    for at, (scale, zero, kind) in enumerate(CASES):
        held.append(numpy_helper.from_array(np.asarray(scale, np.float32), f"s{at}"))
        held.append(numpy_helper.from_array(np.asarray(zero, kind), f"z{at}"))
        nodes.append(helper.make_node("DequantizeLinear", [f"x{at}", f"s{at}", f"z{at}"], [f"y{at}"], f"d{at}"))
        code = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
        given.append(helper.make_tensor_value_info(f"x{at}", code, [1, elements]))
        outputs.append(helper.make_tensor_value_info(f"y{at}", TensorProto.FLOAT, None))
    graph = helper.make_graph(nodes, "reals", given, outputs, held)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path / "reals.onnx")
    return compile_model(path / "reals.onnx", CompileOptions(), load_target(board))


@pytest.mark.parametrize("board", BOARDS)
def test_every_code_takes_its_float(board: str, tmp_path: Path) -> None:
    board_or_skip(board)
    done = compiled(tmp_path, board)
    kernels = [i.kernel.name for i in done.plan.instructions if i.call.node.op == "DequantizeLinear"]
    assert all("DequantiseTable" in name for name in kernels)
    (tmp_path / "project").mkdir()
    write(done, tmp_path / "project")
    codes = np.concatenate([np.arange(256), np.arange(255, -1, -1)]).astype(np.uint8)[None]
    given: dict[str, Any] = {f"x{at}": codes.view(kind) for at, (_, _, kind) in enumerate(CASES)}
    np.savez(tmp_path / "x.npz", **given)
    report = run_model(done, load_target(board), RunOptions(inputs=tmp_path / "x.npz"), tmp_path / "project")
    assert report.run is not None
    assert report.run.match


@pytest.mark.parametrize(
    ("board", "elements", "kernel"),
    [("qemu_rv32imc", WORTH_A_TABLE - 1, "BorderCodes"), ("qemu_rv32imafc", WORTH_A_TABLE, "BorderCodes")],
)
def test_few_elements_and_float_units_multiply(board: str, elements: int, kernel: str, tmp_path: Path) -> None:
    done = compiled(tmp_path, board, elements)
    assert {i.kernel.name for i in done.plan.instructions} == {kernel}
