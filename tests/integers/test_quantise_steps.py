"""QuantizeLinear without a float unit: bit for bit at every step, next to it, at zeros, infinities and no numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from board_layers import board_or_skip
from onnx import TensorProto, helper, numpy_helper
from tilewright.compile import Compiled, compile_model, run_model, write
from tilewright.options import CompileOptions, RunOptions
from tilewright.platforms.generic.kernels.quantise_steps import HIGHEST, NEVER, steps
from tilewright.target import load_target

Floats = npt.NDArray[np.float32]
CASES = [(0.0173, -5, np.int8), (3.0, 0, np.uint8), (1e-38, 127, np.int8), (2e37, -128, np.int8), (0.5, 128, np.uint8)]
KERNELS = {
    "qemu_rv32imc": {"QuantiseGuess", "QuantiseSteps"}, "qemu_microbit": {"QuantiseSteps"},
    "qemu_pulp": {"TiledQuantiseSteps"},
}  # fmt: skip


def network(path: Path, elements: int) -> Path:
    nodes, held, outputs = [], [], []
    for at, (scale, zero, kind) in enumerate(CASES):
        held.append(numpy_helper.from_array(np.asarray(scale, np.float32), f"s{at}"))
        held.append(numpy_helper.from_array(np.asarray(zero, kind), f"z{at}"))
        nodes.append(helper.make_node("QuantizeLinear", ["x", f"s{at}", f"z{at}"], [f"y{at}"], f"q{at}"))
        outputs.append(helper.make_tensor_value_info(f"y{at}", helper.np_dtype_to_tensor_dtype(np.dtype(kind)), None))
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, elements])
    graph = helper.make_graph(nodes, "steps", [given], outputs, held)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def awkward() -> Floats:
    """Halves between codes of every case and their neighbours, zeros, infinities, no numbers, the smallest floats."""
    found = [np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1e-45, -1e-45, 3.4e38, -3.4e38], np.float32)]
    for scale, _, _ in CASES:
        with np.errstate(over="ignore"):
            middle = (np.arange(-257, 257, 7) + np.float32(0.5)).astype(np.float32) * np.float32(scale)
        found += [middle, np.nextafter(middle, np.float32(np.inf)), np.nextafter(middle, np.float32(-np.inf))]
    return np.concatenate(found)


def compiled(board: str, work: Path) -> Compiled:
    return compile_model(network(work / "steps.onnx", awkward().size), CompileOptions(), load_target(board))


@pytest.mark.parametrize("board", KERNELS)
def test_awkward_floats_take_their_codes(board: str, tmp_path: Path) -> None:
    board_or_skip(board)
    done = compiled(board, tmp_path)
    found = {i.kernel.name for i in done.plan.instructions if i.call.node.op == "QuantizeLinear"}
    assert found == KERNELS[board]
    (tmp_path / "project").mkdir()
    write(done, tmp_path / "project")
    np.savez(tmp_path / "x.npz", x=awkward()[None])
    report = run_model(done, load_target(board), RunOptions(inputs=tmp_path / "x.npz"), tmp_path / "project")
    assert report.run is not None
    assert report.run.match


def test_a_core_with_a_float_unit_divides(tmp_path: Path) -> None:
    done = compiled("qemu_rv32imafc", tmp_path)
    assert {i.kernel.name for i in done.plan.instructions} == {"QuantiseF32"}


def test_steps_grow_and_end_at_infinity(tmp_path: Path) -> None:
    done = compiled("qemu_rv32imc", tmp_path)
    tables = [steps(i.call).values for i in done.plan.instructions]
    assert len(tables) == len(CASES)
    for table in tables:
        assert (np.diff(table.astype(np.int64)) >= 0).all()
    assert max(table.max() for table in tables if table.max() < NEVER) == HIGHEST
