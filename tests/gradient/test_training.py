"""Networks that learn: which parameters, which losses and optimisers, a curve of 100 steps, and the C around it."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from board_layers import board_or_skip
from gradient.networks import values
from graphs import node, onnx_model
from tilewright.cli import main
from tilewright.errors import TilewrightError, UnsupportedError, UsageError
from tilewright.frontend.load import load
from tilewright.frontend.write import to_onnx
from tilewright.gradient.network import Network
from tilewright.gradient.optimisers import Optimiser
from tilewright.gradient.training import Training, TrainingWish, training
from tilewright.model import DType, Model
from training import Array, Convolution, Dense, Layer, Relu, run, softmax

STEPS, RATE, BATCH = 100, 0.05, 2
DIGITS = Path("tests/models/digits/model.onnx")


def layers() -> list[Layer]:
    """A convolution, a strided one and a dense layer."""
    draw = np.random.default_rng(1)
    return [Convolution(draw, 1, 4, 3), Relu(), Convolution(draw, 4, 6, 3, stride=2), Relu(), Dense(draw, 96, 5)]


def network(made: list[Layer], batch: int = BATCH) -> onnx.ModelProto:
    """The same layers as a file: Conv, Relu, Conv, Relu, Gemm, Softmax."""
    first, second, last = (layer.parameters for layer in made if layer.parameters)
    weights = {"w0": first[0], "b0": first[1], "w1": second[0], "b1": second[1], "w2": last[0], "b2": last[1]}
    turned = int(last[0].shape[0] == 5)
    nodes = [
        node("Conv", "x w0 b0", "c0", pads=[1] * 4), node("Relu", "c0", "r0"),
        node("Conv", "r0 w1 b1", "c1", pads=[1] * 4, strides=[2, 2]), node("Relu", "c1", "r1"),
        node("Flatten", "r1", "f"), node("Gemm", "f w2 b2", "g", transB=turned), node("Softmax", "g", "y"),
    ]  # fmt: skip
    return onnx_model(nodes, {"x": (batch, 1, 8, 8)}, ["y"], weights)


def samples() -> tuple[Array, np.ndarray]:
    """Images whose class is the brightest of five columns."""
    draw = np.random.default_rng(2)
    images = draw.random((STEPS * BATCH, 1, 8, 8)).astype(np.float32)
    labels = draw.integers(0, 5, STEPS * BATCH)
    images[np.arange(len(images)), 0, :, labels] += 1
    return images, labels.astype(np.int32)


def curve(made: list[Layer], images: Array, labels: np.ndarray, batch: int = BATCH) -> list[float]:
    """The losses of plain NumPy layers with gradients of their own, which are changed."""
    losses = []
    for at in range(0, len(images), batch):
        probabilities = softmax(run(made, images[at : at + batch]))
        chosen = np.arange(batch), labels[at : at + batch]
        losses.append(float(-np.log(probabilities[chosen]).mean()))
        probabilities[chosen] -= 1
        gradient: Array = probabilities / np.float32(batch)
        for layer in reversed(made):
            gradient = layer.backward(gradient)
        for layer in made:
            for parameter, slope in zip(layer.parameters, layer.gradients, strict=True):
                parameter -= np.float32(RATE) * slope
    return losses


@pytest.fixture
def learner(tmp_path: Path) -> Path:
    """A folder with the network and its samples."""
    onnx.save(network(layers()), tmp_path / "net.onnx")
    images, labels = samples()
    np.savez(tmp_path / "data.npz", x=images, target=labels)
    return tmp_path


def train(folder: Path, *more: str, model: str = "net.onnx", board: str = "host") -> int:
    return main(["train", str(folder / model), "-t", board, "-o", str(folder / "out"), "-q", *more])


@pytest.mark.parametrize("board", ["host", "qemu_pulp", "gvsoc_pulp_open_fpu"])
def test_a_hundred_steps_follow_the_curve_of_plain_layers(
    board: str, learner: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    board_or_skip(board)
    assert train(learner, "--learning-rate", str(RATE), "--data", str(learner / "data.npz"), board=board) == 0
    told = json.loads((learner / "out" / "report.json").read_text())
    expected = curve(layers(), *samples())
    np.testing.assert_allclose(told["training"]["losses"], expected, atol=1e-4)
    assert expected[-1] < expected[0] / 2
    assert told["run"]["frames"]["reference_mismatches"] == 0
    assert "every step's loss and parameters are NumPy's and onnxruntime's" in capsys.readouterr().out


def test_gradients_of_several_calls_are_those_of_one_batch(learner: Path) -> None:
    """Three updates of two calls each: pairs of losses are, in the mean, those of plain layers with twice the batch."""
    asked = ["--learning-rate", str(RATE), "--data", str(learner / "data.npz"), "--run", "6"]
    assert train(learner, "--batch-accumulate", "2", *asked) == 0
    told = json.loads((learner / "out" / "report.json").read_text())
    images, labels = samples()
    expected = curve(layers(), images[: 6 * BATCH], labels[: 6 * BATCH], 2 * BATCH)
    np.testing.assert_allclose(np.reshape(told["training"]["losses"], (3, 2)).mean(1), expected, atol=1e-5)
    assert told["run"]["frames"]["reference_mismatches"] == 0
    assert "Parameters move in the last of every 2 calls" in (learner / "out" / "src" / "net_training.h").read_text()


PROGRAM = """
#include "net_training.h"
#include <stdio.h>
int main(void)
{
    static unsigned char kept[NET_PARAMETERS_BYTES];
    static float x[128], y[10];
    const int32_t target[2] = {3, 1};
    float first, last;
    int at, status = net_reset();
    for (at = 0; at < 128; at++) {
        x[at] = (float)(at % 7) * 0.25f;
    }
    status |= net_train_step(x, target);
    first = net_loss();
    status |= net_save_parameters(kept, sizeof kept);
    for (at = 0; at < 20; at++) {
        status |= net_train_step(x, target);
    }
    last = net_loss();
    status |= net_infer(x, y);
    printf("%d %d %d ", status, last < first / 2, y[3] > 0.5f && y[6] > 0.5f);
    status = net_load_parameters(kept, sizeof kept);
    net_train_step(x, target);
    printf("%d %d ", status, net_loss() < first && net_loss() > last);
    kept[0] ^= 1;
    printf("%d %d\\n", net_load_parameters(kept, sizeof kept), net_save_parameters(kept, 8));
    return 0;
}
"""


def test_the_functions_in_c_learn_save_and_load(learner: Path) -> None:
    for tool in ("gcc", "make"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    assert train(learner, "--optimizer", "momentum") == 0
    out = learner / "out"
    (out / "main.c").write_text(PROGRAM)
    strict = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Isrc"]
    subprocess.run(["make", "-s", "CFLAGS=-O1 -Wall -Wextra -Werror -pedantic"], cwd=out, check=True)
    subprocess.run(["gcc", *strict, "main.c", "libnet.a", "-lm", "-o", "main"], cwd=out, check=True)
    told = subprocess.run(["./main"], cwd=out, check=True, capture_output=True, text=True).stdout
    assert told == "0 1 1 0 1 20 20\n"


def made(update: str = "all", kind: str = "sgd", loss: str = "cross_entropy") -> Training:
    return training(load(network(layers()), name="net"), TrainingWish(loss, update, Optimiser(kind, 0.1)))


@pytest.mark.parametrize(
    ("update", "names"),
    [("all", "w0 b0 w1 b1 w2 b2"), ("last", "w2 b2"), ("bias", "b0 b1 b2"), ("w1,b2", "w1 b2")],
)  # fmt: skip
def test_what_is_updated_is_state_and_the_rest_stays_constant(update: str, names: str) -> None:
    found = made(update)
    assert found.parameters == tuple(names.split())
    for one in (found.step, found.infer):
        assert {state.past for state in one.states} == set(names.split())
        assert set("w0 b0 w1 b1 w2 b2".split()) - set(names.split()) <= set(one.constants)


def test_thin_matrices_learn_beside_weights_that_stay() -> None:
    whole, found = made("all"), made("lora:2")
    assert found.parameters == tuple(f"{w}/lora_{part}" for w in ("w0", "w1", "w2") for part in "ab")
    shapes = {name: found.step.tensors[name].shape for name in found.parameters}
    assert [shapes[f"w1/lora_{part}"] for part in "ab"] == [(2, 4, 3, 3), (6, 2, 1, 1)]
    assert [shapes[f"w2/lora_{part}"] for part in "ab"] == [(96, 2), (2, 5)]
    held = {state.past: state.initial for state in found.step.states if state.initial is not None}
    begun = {state.past: state.initial for state in whole.infer.states if state.initial is not None}
    images, labels = samples()
    sample = {"x": images[:BATCH]}
    np.testing.assert_array_equal(
        values(Network(found.infer), {**sample, **held})["y"], values(Network(whole.infer), {**sample, **begun})["y"]
    )
    network_after = after(found.step, held, images[:BATCH], labels[:BATCH])
    for name in ("w2/lora_b", "w0/lora_b"):  # by differences of the loss, the others' gradients are zero at first
        direction = (network_after[name] - held[name]).astype(np.float64)
        moved: list[dict[str, np.ndarray]] = [{**held, name: held[name] + at * direction} for at in (-1e-3, 1e-3)]
        ends = [loss_of(found.step, each, images, labels) for each in moved]
        fell = (ends[0] - ends[1]) / 2e-3
        np.testing.assert_allclose(fell, np.square(direction).sum() / 0.1, rtol=1e-5, err_msg=name)


def loss_of(step: Model, held: Mapping[str, np.ndarray], images: Array, labels: np.ndarray) -> float:
    """The loss in float64: a step along one gradient moves it by few units of float32."""
    tensors = {n: replace(t, dtype=DType.F64) if t.dtype is DType.F32 else t for n, t in step.tensors.items()}
    wide = Network(replace(step, tensors=tensors, constants=in_float64(step.constants)))
    given = in_float64({**held, "x": images[:BATCH], "target": labels[:BATCH]})
    return float(values(wide, given)[step.results[0]])


def in_float64(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {n: a.astype(np.float64) if a.dtype == np.float32 else a for n, a in arrays.items()}


def test_nothing_is_computed_backwards_below_the_last_layer() -> None:
    assert sum(each.op.startswith("Conv") for each in made("last").step.nodes) == 2


@pytest.mark.parametrize("kind", ["sgd", "momentum", "adam"])
def test_optimisers_make_the_steps_of_their_papers(kind: str) -> None:
    """Two steps of the last bias, whose gradient is the difference of probabilities and targets."""
    found = made("b2", kind).step
    images, labels = samples()
    given: dict[str, np.ndarray] = {"x": images[:BATCH], "target": labels[:BATCH]}
    held = {state.past: state.initial for state in found.states if state.initial is not None}
    weight, speed, first, second = held["b2"].astype(np.float64), np.zeros(5), np.zeros(5), np.zeros(5)
    plain = made("b2").infer
    for step in (1, 2):
        known = values(Network(found), {**given, **held})
        chances = values(Network(plain), {"x": given["x"], "b2": held["b2"]})["y"].astype(np.float64)
        chances[np.arange(BATCH), given["target"]] -= 1
        slope = chances.mean(axis=0)
        speed = 0.9 * speed + slope
        first, second = 0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope**2
        adam = first / (1 - 0.9**step) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
        weight = weight - 0.1 * {"sgd": slope, "momentum": speed, "adam": adam}[kind]
        held = {state.past: known[state.present] for state in found.states}
        np.testing.assert_allclose(held["b2"], weight, atol=1e-5)


@pytest.mark.parametrize("kind", ["sgd", "momentum", "adam"])
def test_every_optimiser_steps_by_the_mean_of_the_gradients(kind: str) -> None:
    """Two updates of three calls are those of a network that takes all three samples at once."""
    several = training(load(network(layers()), name="net"), TrainingWish(optimiser=Optimiser(kind, 0.1, accumulate=3)))
    once = training(load(network(layers(), 3 * BATCH), name="net"), TrainingWish(optimiser=Optimiser(kind, 0.1)))
    images, labels = samples()
    first = {state.past: state.initial for state in several.step.states if state.initial is not None}
    held, expected = dict(first), {name: first[name] for name in {state.past for state in once.step.states}}
    for call in range(6):
        before, at = held, slice(call * BATCH, (call + 1) * BATCH)
        held = after(several.step, held, images[at], labels[at])
        moved = {name for name in several.parameters if not np.array_equal(held[name], before[name])}
        assert moved == (set(several.parameters) if call % 3 == 2 else set())
        if call % 3 == 2:
            at = slice((call - 2) * BATCH, (call + 1) * BATCH)
            expected = after(once.step, expected, images[at], labels[at])
            for name, value in expected.items():
                np.testing.assert_allclose(held[name], value, rtol=1e-4, atol=1e-5, err_msg=name)


def after(step: Model, held: Mapping[str, Array], images: Array, labels: np.ndarray) -> dict[str, Array]:
    """The states behind one call."""
    known = values(Network(step), {**held, "x": images, "target": labels})
    return {state.past: known[state.present] for state in step.states}


def test_a_note_names_some_states_and_counts_the_others() -> None:
    (note,) = load(to_onnx(made("all", "adam").plain)).notes
    assert note.startswith("state by the file: 'w0' <- 'w0/next', ")
    assert note.endswith(", and 15 more")


def test_losses_are_what_their_names_say() -> None:
    draw = np.random.default_rng(4)
    score, target = draw.standard_normal((2, 3)).astype(np.float32), draw.random((2, 3)).astype(np.float32)
    ends = {"mse": "Tanh", "bce": "Sigmoid"}
    chance = 1 / (1 + np.exp(-score @ np.eye(3)))
    entropy = -(target * np.log(chance) + (1 - target) * np.log(1 - chance)).mean()
    expected = {"mse": np.square(np.tanh(score) - target).mean(), "bce": entropy}
    for kind, end in ends.items():
        nodes = [node("MatMul", "x w", "m"), node(end, "m", "y")]
        proto = onnx_model(nodes, {"x": (2, 3)}, ["y"], {"w": np.eye(3, dtype=np.float32)})
        found = training(load(proto, name="net"), TrainingWish(kind)).step
        first = {state.past: state.initial for state in found.states if state.initial is not None}
        loss = values(Network(found), {"x": score, "target": target, **first})[found.results[0]]
        np.testing.assert_allclose(loss, expected[kind], rtol=1e-5)


def test_an_autoencoder_is_held_against_its_input() -> None:
    nodes = [node("MatMul", "x w", "m"), node("Tanh", "m", "y")]
    proto = onnx_model(nodes, {"x": (2, 3)}, ["y"], {"w": np.eye(3, dtype=np.float32)})
    found = training(load(proto, name="net"), TrainingWish("mse:x"))
    assert (found.step.given, found.target) == (("x",), "")
    x = np.random.default_rng(4).standard_normal((2, 3)).astype(np.float32)
    known = values(Network(found.step), {"x": x, "w": np.eye(3, dtype=np.float32)})
    np.testing.assert_allclose(known[found.step.results[0]], np.square(np.tanh(x) - x).mean(), rtol=1e-5)


@pytest.mark.parametrize(
    ("wish", "kind", "text"),
    [
        (TrainingWish("hinge"), UsageError, "--loss 'hinge' is not known; take one of cross_entropy, mse, bce"),
        (TrainingWish("mse:x"), UsageError, "the input 'x' is f32[2, 1, 8, 8]: the output is f32[2, 5]"),
        (TrainingWish("mse:z"), UsageError, "--loss: there is no input 'z'"),
        (TrainingWish("output:z"), UsageError, "--loss output:z: there is no such output"),
        (TrainingWish("output:y"), UnsupportedError, "the loss 'y' is f32[2, 5]: a gradient is taken of one number"),
        (TrainingWish(update="w9"), UsageError, "--update: 'w9' is no parameter; "),
        (TrainingWish(update="lora:0"), UsageError, "--update lora:0: a rank is 1 to 256; write for example lora:4"),
        (TrainingWish(update="lora:200"), UsageError, "no layer has weights of more than 200 inputs and outputs"),
    ],
)  # fmt: skip
def test_what_cannot_be_trained_is_said(wish: TrainingWish, kind: type[TilewrightError], text: str) -> None:
    with pytest.raises(kind) as caught:
        training(load(network(layers()), name="net"), wish)
    assert text in str(caught.value)


def test_a_quantised_network_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="the network cannot be trained in floats: it is quantised"):
        training(load(Path("tests/models/digits_int8/model.onnx")), TrainingWish())


@pytest.mark.parametrize(
    ("arrays", "text"),
    [
        ({"x": np.zeros((2, 1, 8, 8), np.float32)}, "'target' is missing"),
        ({"x": np.zeros((2, 1, 8, 8)), "target": np.zeros(2, np.int32)}, "'x' is float64: the network takes float32"),
        ({"x": np.zeros((3, 5), np.float32), "target": np.zeros(2, np.int32)}, "it does not divide into such"),
        ({"x": np.zeros((4, 64), np.float32), "target": np.zeros(2, np.int64)}, "for different numbers of steps"),
    ],
)  # fmt: skip
def test_data_that_does_not_fit_is_refused(
    learner: Path, arrays: dict[str, np.ndarray], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savez(learner / "data.npz", **arrays)  # type: ignore[arg-type]
    assert train(learner, "--data", str(learner / "data.npz"), "--update", "last") == 2
    assert text in capsys.readouterr().err


def test_an_option_of_one_network_is_refused(learner: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(learner, "--slice", "1000") == UnsupportedError.code
    assert "--slice and train: it applies to one network, and training is a step" in capsys.readouterr().err
