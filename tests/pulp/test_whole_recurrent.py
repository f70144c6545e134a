"""Recurrent layers of floats on a cluster without float units: cores share every step and meet inside of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from board_layers import board_or_skip
from graphs import node, onnx_model
from tilewright.cli import main
from tilewright.compile import compile_model
from tilewright.options import CompileOptions
from tilewright.target import load_target


@dataclass(frozen=True)
class Layer:
    """Steps, batch, inputs and hidden units; directions, whether states are given, and which results there are."""

    op: str
    sizes: tuple[int, int, int, int]
    directions: int = 1
    given: bool = False
    results: str = "y h"


LAYERS = {
    "both": Layer("GRU", (3, 1, 6, 9), 2),
    "given": Layer("GRU", (2, 2, 5, 3), given=True),
    "last": Layer("LSTM", (3, 1, 7, 8), results=" h"),
    "all": Layer("LSTM", (2, 2, 3, 5), 2, given=True, results="y h c"),
    "one": Layer("GRU", (1, 1, 4, 1), results="y"),
}
GATES = {"GRU": 3, "LSTM": 4}


def network() -> onnx.ModelProto:
    draw, nodes, weights = np.random.default_rng(2), [], {}
    inputs: dict[str, tuple[int, ...]] = {}
    outputs = list[str]()
    for name, one in LAYERS.items():
        (steps, batch, width, hidden), count, rows = one.sizes, one.directions, GATES[one.op] * one.sizes[3]
        inputs[f"{name}_x"] = (steps, batch, width)
        for which, shape in (("w", (count, rows, width)), ("r", (count, rows, hidden)), ("b", (count, 2 * rows))):
            weights[f"{name}_{which}"] = draw.normal(0, 0.5, shape).astype(np.float32)
        read = [f"{name}_{which}" for which in ("x", "w", "r", "b")]
        if one.given:
            states = [f"{name}_h0", *[f"{name}_c0"] * (one.op == "LSTM")]
            inputs |= dict.fromkeys(states, (count, batch, hidden))
            read += ["", *states]
        made = [f"{name}_{which}" if which else "" for which in one.results.split(" ")]
        outputs += filter(None, made)
        more: dict[str, Any] = {"linear_before_reset": 1} if one.op == "GRU" else {}
        direction = "bidirectional" if count == 2 else "forward"
        nodes.append(onnx.helper.make_node(one.op, read, made, name, hidden_size=hidden, direction=direction, **more))
    return onnx_model(nodes, inputs, outputs, weights)


@pytest.mark.parametrize("board", ["qemu_pulp", "gvsoc_pulp_open"])
def test_the_cores_share_every_step(board: str, tmp_path: Path) -> None:
    board_or_skip(board)
    onnx.save(network(), tmp_path / "net.onnx")
    done = compile_model(tmp_path / "net.onnx", CompileOptions(), load_target(board))
    layers = {one.call.node.name: one.kernel.name for one in done.plan.instructions if one.call.node.op in GATES}
    assert layers == dict.fromkeys(LAYERS, "TiledWholeRecurrent")
    assert main(["run", str(tmp_path / "net.onnx"), "-t", board, "-q"]) == 0


def large(op: str, width: int, hidden: int, count: int) -> onnx.ModelProto:
    """A layer among others, with more weights than L1 holds."""
    draw, rows = np.random.default_rng(3), GATES[op] * hidden
    shapes = {"w": (count, rows, width), "r": (count, rows, hidden), "b": (count, 2 * rows)}
    weights = {name: draw.normal(0, 0.5, shape).astype(np.float32) for name, shape in shapes.items()}
    direction: dict[str, Any] = {"direction": "bidirectional" if count == 2 else "reverse"}
    more: dict[str, Any] = {"linear_before_reset": 1} if op == "GRU" else {}
    nodes = [
        node("Relu", "x", "above"), node(op, "above w r b", "each last", hidden_size=hidden, **direction, **more),
        node("Softmax", "each", "y"), node("Relu", "last", "z"),
    ]  # fmt: skip
    return onnx_model(nodes, {"x": (3, 1, width)}, ["y", "z"], weights)


@pytest.mark.parametrize(("board", "size"), [("gvsoc_pulp_open", 64), ("qemu_pulp", 64), ("qemu_pulp", 24)])
@pytest.mark.parametrize(("op", "width", "hidden", "count"), [("LSTM", 40, 48, 1), ("GRU", 33, 50, 2)])
def test_weights_that_l1_does_not_hold_are_read_where_they_rest(
    board: str, size: int, op: str, width: int, hidden: int, count: int, tmp_path: Path
) -> None:
    board_or_skip(board)
    onnx.save(large(op, width, hidden, count), tmp_path / "net.onnx")
    options = CompileOptions(level_sizes={"l1": size * 1024})
    done = compile_model(tmp_path / "net.onnx", options, load_target(board))
    assert [one.kernel.name for one in done.plan.instructions if one.call.node.op in GATES] == ["FarWholeRecurrent"]
    assert not any(layer.instead_of for layer in done.report.layers)  # it takes about as long
    words = ["run", str(tmp_path / "net.onnx"), "-t", board, "--set", f"l1={size}K", "--layers", "-q"]
    assert main(words) == 0


def test_a_state_that_l1_does_not_hold_stays_on_one_core(tmp_path: Path) -> None:
    onnx.save(large("LSTM", 8, 200, 1), tmp_path / "net.onnx")
    options = CompileOptions(level_sizes={"l1": 16 * 1024})
    done = compile_model(tmp_path / "net.onnx", options, load_target("qemu_pulp"))
    assert {one.kernel.name for one in done.plan.instructions if one.call.node.op == "LSTM"} == {"WholeRecurrent"}
    assert any(layer.instead_of for layer in done.report.layers)
