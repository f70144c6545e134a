"""LSTMs on codes on a cluster: the cores share the units of every step and meet once in it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from board_layers import board_or_skip
from graphs import onnx_model
from tilewright.compile import compile_model, run_model, write
from tilewright.options import CompileOptions, RunOptions
from tilewright.target import load_target


@dataclass(frozen=True)
class Layer:
    """Steps, batch, inputs and hidden units; direction, whether states are given, and which results there are."""

    sizes: tuple[int, int, int, int]
    direction: str = "forward"
    given: bool = False
    results: str = "y h c"


SMALL = {
    "both": Layer((3, 2, 5, 7), "bidirectional", given=True),
    "one": Layer((4, 1, 1, 1), results="y"),
    "back": Layer((2, 3, 9, 11), "reverse", results=" h c"),
    "single": Layer((1, 1, 8, 16), given=True, results=" h"),
}
LARGE = {"far": Layer((3, 1, 90, 130), "reverse", results="y h")}


def network(layers: dict[str, Layer]) -> onnx.ModelProto:
    draw, nodes, weights = np.random.default_rng(4), [], {}
    inputs: dict[str, tuple[int, ...]] = {}
    outputs = list[str]()
    for name, one in layers.items():
        (steps, batch, width, hidden), count = one.sizes, 1 + (one.direction == "bidirectional")
        inputs[f"{name}_x"] = (steps, batch, width)
        for which, shape in (("w", (count, width, 4 * hidden)), ("r", (count, hidden, 4 * hidden))):
            weights[f"{name}_{which}"] = draw.integers(-127, 128, shape).astype(np.int8)
        weights[f"{name}_b"] = draw.uniform(-1, 1, (count, 8 * hidden)).astype(np.float32)
        weights[f"{name}_s"] = draw.uniform(1e-3, 6e-3, (count, 4 * hidden)).astype(np.float32)
        weights[f"{name}_z"] = np.zeros((count, 4 * hidden), np.int8)
        states = [f"{name}_h0", f"{name}_c0"] if one.given else ["", ""]
        inputs |= dict.fromkeys(filter(None, states), (count, batch, hidden))
        read = [*(f"{name}_{which}" for which in "xwrb"), "", *states, "", *(f"{name}_{which}" for which in "szsz")]
        made = [f"{name}_{which}" if which else "" for which in one.results.split(" ")]
        outputs += filter(None, made)
        more: dict[str, Any] = {"hidden_size": hidden, "direction": one.direction, "domain": "com.microsoft"}
        nodes.append(onnx.helper.make_node("DynamicQuantizeLSTM", read, made, name, **more))
    proto = onnx_model(nodes, inputs, outputs, weights, 17)
    proto.opset_import.add(domain="com.microsoft", version=1)
    return proto


@pytest.mark.parametrize(
    ("board", "layers", "kernel"),
    [
        ("gvsoc_pulp_open", SMALL, "TiledCodedLstm"), ("gvsoc_pulp_open", LARGE, "FarCodedLstm"),
        ("qemu_pulp", {"single": SMALL["single"]}, "TiledCodedLstm"),
    ],
)  # fmt: skip
def test_the_cores_share_units(board: str, layers: dict[str, Layer], kernel: str, tmp_path: Path) -> None:
    board_or_skip(board)
    onnx.save(network(layers), tmp_path / "net.onnx")
    target = load_target(board)
    done = compile_model(tmp_path / "net.onnx", CompileOptions(), target)
    taken = [one.kernel.name for one in done.plan.instructions if one.call.node.op == "CodedLstm"]
    assert taken == [kernel] * len(layers)
    project = tmp_path / "project"
    project.mkdir()
    write(done, project)
    report = run_model(done, target, RunOptions(), project)
    assert report.run is not None
    assert report.run.max_abs_error == 0
