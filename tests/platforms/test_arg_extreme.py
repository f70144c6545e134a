"""ArgMax and ArgMin in C: first and last of equal elements, not-a-number, lines along any axis in any order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from graphs import node, onnx_model
from tilewright.compile import compile_model, run_model, write
from tilewright.model import Array
from tilewright.options import CompileOptions, RunOptions
from tilewright.target import load_target

NAN = np.nan
LINES = np.array(
    [
        [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
        [9, 8, 7, 7, 7, 9, 7, 9, 8, 8, 8],
        [0, 1, NAN, 5, NAN, 7, 1, 0, -1, -2, -2],
        [NAN, 1, 2, NAN, 3, 9, 9, 0, 0, NAN, 1],
        [-0.0, 0.0, -0.0, 0.0, 0.0, -0.0, -0.0, 0.0, 0.0, 0.0, -0.0],
        [-np.inf, np.inf, -np.inf, np.inf, 1, 2, 3, 4, 5, 6, 7],
    ],
    np.float32,
)


def computed(nodes: list[onnx.NodeProto], values: Array, known: dict[str, Array], folder: Path) -> set[str]:
    """The kernels of places in a network whose results on the host were equal to their meaning."""
    outputs = [each.output[0] for each in nodes if each.op_type.startswith("Arg")]
    proto = onnx_model(nodes, {"x": values.shape}, outputs, known, types=dict.fromkeys(outputs, onnx.TensorProto.INT64))
    onnx.save(proto, folder / "m.onnx")
    np.savez(folder / "x.npz", x=values)
    target = load_target("host")
    compiled = compile_model(folder / "m.onnx", CompileOptions(), target)
    write(compiled, folder / "c")
    report = run_model(compiled, target, RunOptions(inputs=folder / "x.npz"), folder / "c")
    assert report.run is not None
    assert report.run.match, report.run
    return {layer.kernel for layer in report.layers if layer.op.startswith("Arg")}


@pytest.mark.parametrize("op", ["ArgMax", "ArgMin"])
def test_the_first_and_the_last_along_both_axes(op: str, tmp_path: Path) -> None:
    nodes = [
        node(op, "x", f"y{axis}{last}", axis=axis, select_last_index=last, keepdims=last)
        for axis in (0, 1)
        for last in (0, 1)
    ]
    assert computed(nodes, LINES, {}, tmp_path) == {"ArgExtreme"}


def test_lines_across_channels_that_lie_side_by_side(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    values, weights = (rng.standard_normal(shape).astype(np.float32) for shape in ((1, 3, 6, 7), (5, 3, 1, 1)))
    nodes = [node("Conv", "x w", "h"), node("ArgMax", "h", "a", axis=1, keepdims=0), node("ArgMin", "h", "b", axis=2)]
    assert computed(nodes, values, {"w": weights}, tmp_path) == {"ArgExtreme"}
