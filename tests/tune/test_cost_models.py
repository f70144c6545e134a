"""Declared costs against counted instructions, on layers drawn by a seed that the calibration did not see."""

from __future__ import annotations

from pathlib import Path

import pytest
from board_draws import drawn_layers
from board_layers import Network, board_or_skip
from tilewright.compile import compile_model
from tilewright.options import CompileOptions
from tilewright.target import load_target
from tilewright.tune.count import Question, count_rounds

SEED = 77
LEAST = 3000
"""Instructions below which what a call itself costs counts for more than what it computes."""


@pytest.mark.parametrize("board", ["qemu_mps2_an386", "qemu_mps3_an547", "qemu_rv32imc"])
def test_costs_agree_with_counts_on_unseen_shapes(board: str, tmp_path: Path) -> None:
    import numpy as np

    board_or_skip(board)
    network = Network(np.random.default_rng(SEED))
    for layer in drawn_layers(SEED, convolutions=8, depthwise=3, dense=3):
        network.add(layer)
    model = network.save(tmp_path / "layers.onnx")
    compiled = compile_model(model, CompileOptions(optimize="speed"), load_target(board))
    counts = {
        (node, count.kernel): count.instructions
        for one in count_rounds(Question(model, CompileOptions(optimize="speed"), board))
        for node, count in one.counts.items()
    }
    errors = {}
    for bound in compiled.bound.nodes:
        for candidate in bound.candidates:
            kernel, counted = candidate.kernel, counts.get((bound.call.node.name, candidate.kernel.name), 0)
            cost = kernel.declared_cost(bound.call) if kernel.calibrated and counted >= LEAST else None
            if cost is not None:
                errors[bound.call.node.name, kernel.name] = abs(cost / counted - 1)
    assert len(errors) >= 8
    assert sum(errors.values()) / len(errors) < 0.15, errors
    assert max(errors.values()) < 0.45, errors
