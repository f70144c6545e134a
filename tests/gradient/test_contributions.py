"""Layers that are chosen by what they contribute to a falling loss, within a budget."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gradient.test_training import STEPS, layers, loss_of, network, samples
from gradient.test_training import after as stepped
from tilewright.cli import main
from tilewright.commands.train import _layers
from tilewright.frontend.load import load
from tilewright.gradient.contributions import by_gain, contributions
from tilewright.gradient.optimisers import Optimiser
from tilewright.gradient.training import TrainingWish, training
from tilewright.report.build import load as load_report

WISH = TrainingWish(optimiser=Optimiser("sgd", 0.05))
TRIED = 12


@pytest.fixture
def data(tmp_path: Path) -> Path:
    images, labels = samples()
    np.savez(tmp_path / "data.npz", x=images, target=labels)
    return tmp_path / "data.npz"


def test_a_layer_contributes_what_numpy_says(data: Path) -> None:
    model = load(network(layers()), name="net")
    found = tuple(contributions(model, WISH, data, TRIED))
    assert [one.parameters for one in found] == [("w2", "b2"), ("w0", "b0"), ("w1", "b1")]
    assert [one.size_bytes for one in found] == [4 * (96 * 5 + 5), 4 * (36 + 4), 4 * (216 + 6)]
    step = training(model, TrainingWish(optimiser=WISH.optimiser, parameters=("w1", "b1", "w2", "b2"))).step
    held = {state.past: state.initial for state in step.states if state.initial is not None}
    images, labels = samples()
    losses = []
    for at in range(0, 2 * TRIED, 2):
        losses.append(loss_of(step, held, images[at:], labels[at:]))
        held = stepped(step, held, images[at : at + 2], labels[at : at + 2])
    assert found[2].loss == pytest.approx(np.mean(losses[-TRIED // 3 :]), rel=1e-5)
    gains = [(one.loss - found[0].loss) / one.size_bytes for one in by_gain(found)]
    assert gains == sorted(gains)
    assert all(gain < 0 for gain in gains)


@pytest.mark.parametrize("most", [1, 2, 3])
def test_layers_are_taken_while_a_step_is_within_the_budget(most: int, data: Path) -> None:
    model = load(network(layers()), name="net")
    useful = [one.parameters[0] for one in by_gain(tuple(contributions(model, WISH, data, TRIED)))]
    asked = Namespace(data=data, run=TRIED, quiet=True, budgets=["ram=1K"])

    def plan(wish: TrainingWish) -> Any:
        return SimpleNamespace(fits=len(wish.parameters) <= 2 * most)

    chosen = _layers(asked, model, WISH, plan)
    assert useful
    assert {one.parameters[0] for one in chosen if one.taken} == {"w2", *useful[: most - 1]}


def test_the_command_tells_what_it_chose(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import onnx

    onnx.save(network(layers()), data.with_name("net.onnx"))
    words = ["train", str(data.with_name("net.onnx")), "-t", "host", "-o", str(data.with_name("out")), "-q"]
    assert main([*words, "--update", "auto"]) == 2
    assert "layers are chosen by the loss that is measured; also pass --data" in capsys.readouterr().err
    assert main([*words, "--update", "auto", "--data", str(data), "--run", str(STEPS // 10)]) == 0
    made = load_report(data.with_name("out")).training
    assert made is not None
    assert set(made.parameters) == {name for one in made.layers if one.taken for name in one.parameters}
    text = capsys.readouterr().out
    assert "  'w2', 'b2', 1,940 B: loss " in text
    assert text.count(" beside it, ") == 2
