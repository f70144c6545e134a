"""Recurrent layers whose rows lie in blocks: biases of both directions, and those that are known when it runs alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from board_layers import board_or_skip
from graphs import node, onnx_model
from tilewright.cli import main
from tilewright.compile import compile_model
from tilewright.options import CompileOptions
from tilewright.target import load_target

STEPS, INPUTS, HIDDEN = 3, 6, 5
KERNELS = {
    "qemu_mps2_an386": "RecurrentFpu", "qemu_mps3_an547": "RecurrentMve", "qemu_rv32gcv": "RecurrentVectorF32",
}  # fmt: skip


def network() -> onnx.ModelProto:
    """Both directions with the reset behind the product, and a layer whose biases are an input."""
    draw, rows = np.random.default_rng(8), 3 * HIDDEN
    shapes = {"w": (2, rows, INPUTS), "r": (2, rows, HIDDEN), "b": (2, 2 * rows)}
    weights = {name: draw.normal(0, 0.7, shape).astype(np.float32) for name, shape in shapes.items()}
    weights |= {"wl": weights["w"][:1], "rl": weights["r"][:1]}
    nodes = [
        node("GRU", "x w r b", "y", "both", hidden_size=HIDDEN, direction="bidirectional", linear_before_reset=1),
        node("GRU", "x wl rl given", "z", "late", hidden_size=HIDDEN),
    ]
    return onnx_model(nodes, {"x": (STEPS, 1, INPUTS), "given": (1, 2 * rows)}, ["y", "z"], weights)


@pytest.mark.parametrize("board", KERNELS)
def test_biases_of_two_directions_and_of_the_run_time(board: str, tmp_path: Path) -> None:
    board_or_skip(board)
    onnx.save(network(), tmp_path / "net.onnx")
    done = compile_model(tmp_path / "net.onnx", CompileOptions(), load_target(board))
    kernels = {each.call.node.name: each.kernel.name for each in done.plan.instructions}
    assert (kernels["both"], kernels["late"]) == (KERNELS[board], "Recurrent")
    assert main(["run", str(tmp_path / "net.onnx"), "-t", board, "-q"]) == 0
