"""Results that are computed again: the same step in fewer bytes, within the work that is allowed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from gradient.networks import values
from graphs import node, onnx_model
from tilewright.cli import main
from tilewright.frontend.load import load
from tilewright.gradient.network import Network
from tilewright.gradient.recompute import recomputations
from tilewright.gradient.training import Training, TrainingWish, training
from tilewright.model import Array, Model
from tilewright.report.build import load as load_report

LAYERS = 6


def network() -> onnx.ModelProto:
    """Depthwise convolutions one behind the other, which are cheap, and one that is not."""
    draw = np.random.default_rng(3)
    weights = {f"w{at}": draw.standard_normal((8, 1, 3, 3)).astype(np.float32) / 3 for at in range(LAYERS)}
    weights["v"] = draw.standard_normal((8, 8, 3, 3)).astype(np.float32) / 9
    nodes, name = [node("Conv", "x v", "a", pads=[1] * 4)], "a"
    for at in range(LAYERS):
        nodes += [node("Conv", f"{name} w{at}", f"c{at}", pads=[1] * 4, group=8), node("Relu", f"c{at}", f"r{at}")]
        name = f"r{at}"
    nodes.append(node("GlobalAveragePool", name, "y"))
    return onnx_model(nodes, {"x": (1, 8, 12, 12)}, ["y"], weights)


def deep(work: float) -> Training:
    return training(load(network(), name="deep"), TrainingWish("mse", work=work))


def after(model: Model) -> dict[str, Array]:
    """The loss and every next value of one step."""
    draw = np.random.default_rng(7)
    given: dict[str, Array] = {state.past: state.initial for state in model.states if state.initial is not None}
    given |= {name: draw.random(model.tensors[name].shape).astype(np.float32) for name in model.given}
    known = values(Network(model), given)
    return {name: known[name] for name in model.outputs}


def test_a_step_that_computes_again_is_the_same_step() -> None:
    plain, lean = deep(1.0), deep(1.3)
    again = [each.name for each in lean.step.nodes if each.name.endswith("/again")]
    assert again
    assert not [each for each in plain.step.nodes if each.name.endswith("/again")]
    expected, found = after(plain.step), after(lean.step)
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value)


@pytest.mark.parametrize("limit", [1.01, 1.1, 1.5])
def test_no_more_work_is_done_than_is_allowed(limit: float) -> None:
    assert 1 <= deep(limit).work <= limit


def test_nothing_is_kept_that_only_what_is_made_again_reads() -> None:
    """A convolution whose Relu is made again is made again too: its result would be as large."""
    again = {each.name.removesuffix("/again") for each in deep(1.5).step.nodes if each.name.endswith("/again")}
    writers = {name: each.name for each in deep(1.0).step.nodes for name in each.outputs}
    for at in range(LAYERS):
        if writers[f"r{at}"] in again:
            assert writers[f"c{at}"] in again


def test_a_budget_is_met_with_as_little_work_as_it_takes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    onnx.save(network(), tmp_path / "deep.onnx")
    words = ["train", str(tmp_path / "deep.onnx"), "-t", "host", "-o", str(tmp_path / "out"), "--loss", "mse", "-q"]

    def tried(memory: str, option: str = "--budget") -> list[tuple[float, int]]:
        assert main([*words, option, f"ram={memory}", "--force"]) == 0
        made = load_report(tmp_path / "out").training
        assert made is not None
        assert (made.work, made.step_bytes) == (made.tried[-1].work, made.tried[-1].step_bytes)
        return [(one.work, one.step_bytes) for one in made.tried]

    assert len(tried("1M")) == 1
    assert main([*words, "--budget", "ram=4K"]) == 4
    least = int(capsys.readouterr().err.split("(smallest that fits: ram=")[1].split(")")[0])
    curve = tried(str(least))
    text = capsys.readouterr().out
    assert curve[-1][1] < curve[0][1]
    assert [work for work, _ in curve] == sorted(work for work, _ in curve)
    assert all(f"  at {work:.3f} times the work {size:,} B\n" in text for work, size in curve)
    assert tried(str(least), "--set") == curve


def test_without_a_backward_half_there_is_nothing_to_do() -> None:
    model = deep(1.0).infer
    (only,) = recomputations(model, len(model.nodes), 2.0)
    assert only.model.nodes == model.nodes
