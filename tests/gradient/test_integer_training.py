"""Networks on codes that learn in integers: as floats do in the mean, and the same integers on every target."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from board_layers import board_or_skip
from gradient.networks import values
from graphs import node, onnx_model
from quantise import quantise
from tilewright.cli import main
from tilewright.errors import MismatchError, TilewrightError, UnsupportedError, UnsupportedNode, UsageError
from tilewright.frontend.load import load
from tilewright.gradient.curves import Curves, with_divergence
from tilewright.gradient.integers.training import trainings_in_integers
from tilewright.gradient.network import Network
from tilewright.gradient.optimisers import Optimiser
from tilewright.gradient.training import Training, TrainingWish
from tilewright.model import Array, Model
from tilewright.passes.quantise.lower import lower

RATE = 0.05
DIGITS = Path("tests/models/digits_int8/model.onnx")


def branching() -> onnx.ModelProto:
    """A residual block, a strided one with two readers, a depthwise layer, pools, a function, and matrices."""
    draw = np.random.default_rng(6)
    shapes = {"a": (4, 2, 3, 3), "b": (4, 4, 3, 3), "c": (8, 4, 3, 3), "d": (8, 4, 1, 1), "e": (8, 1, 3, 3),
              "m": (8, 6), "n": (3, 6)}  # fmt: skip
    weights = {name: draw.standard_normal(shape).astype(np.float32) / 3 for name, shape in shapes.items()}
    weights |= {f"{name}b": (draw.standard_normal(shapes[name][0]) / 9).astype(np.float32) for name in "abcde"}
    nodes = [
        node("Conv", "x a ab", "c0", pads=[1] * 4), node("Relu", "c0", "r0"),
        node("Conv", "r0 b bb", "c1", pads=[1] * 4), node("Add", "c1 r0", "s1"), node("Relu", "s1", "r1"),
        node("Conv", "r1 c cb", "c2", pads=[1] * 4, strides=[2, 2]), node("Conv", "r1 d db", "c3", strides=[2, 2]),
        node("Add", "c2 c3", "s2"), node("Relu", "s2", "r2"),
        node("Conv", "r2 e eb", "c4", pads=[1] * 4, group=8), node("Sigmoid", "c4", "r4"),
        node("MaxPool", "r4", "p0", kernel_shape=[2, 2], strides=[1, 1]), node("GlobalAveragePool", "p0", "p"),
        node("Flatten", "p", "f"), node("MatMul", "f m", "g"), node("Relu", "g", "t"),
        node("Gemm", "t n", "y", transB=1),
    ]  # fmt: skip
    return onnx_model(nodes, {"x": (1, 2, 6, 6)}, ["y"], weights)


def sample(seed: int) -> dict[str, Array]:
    draw = np.random.default_rng(seed)
    return {
        "x": draw.standard_normal((1, 2, 6, 6)).astype(np.float32),
        "target": draw.integers(0, 3, 1).astype(np.int32),
    }


@pytest.fixture(scope="module")
def coded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a network on codes."""
    file = tmp_path_factory.mktemp("coded") / "net.onnx"
    onnx.save(quantise(branching(), [{"x": sample(seed)["x"]} for seed in range(40)]), file)
    return file


def made(file: Path, update: str = "all", rate: float = RATE, **more: Any) -> Training:
    wish = TrainingWish(more.pop("loss", "cross_entropy"), update, Optimiser("sgd", rate, **more))
    return next(iter(trainings_in_integers(load(file, name="net"), wish)))


def before(model: Model) -> dict[str, Array]:
    """What the states begin with."""
    return {state.past: state.initial for state in model.states if state.initial is not None}


def after(model: Model, given: dict[str, Array], **changed: Array) -> dict[str, Array]:
    """What the states hold behind one step from the first ones, and the loss."""
    known = values(Network(model), {**before(model), **given, **changed})
    return {state.past: known[state.present] for state in model.states} | {"loss": known[model.results[0]]}


def moved(training: Training, name: str, state: dict[str, Array]) -> Array:
    """By how much a parameter has moved, as a real number."""
    first = before(training.step)
    meaning = training.step.tensors[name].quantisation
    if meaning is None:
        return np.asarray(state[name].astype(np.float64) - first[name])
    spread = [1] * state[name].ndim
    spread[meaning.axis or 0] = -1
    rest = state[f"{name}/rest"].astype(np.float64) / 256
    return np.asarray((state[name].astype(np.float64) + rest - first[name]) * np.asarray(meaning.scale).reshape(spread))


def settled(training: Training, given: dict[str, Array]) -> dict[str, Array]:
    """How wide gradients are after some steps."""
    shifts: dict[str, Array] = {}
    for _ in range(6):
        behind = after(training.step, given, **shifts)
        shifts = {name: value for name, value in behind.items() if name.endswith("/shift")}
    return shifts


@pytest.mark.parametrize("seed", [1, 2])
def test_every_parameter_moves_as_that_of_the_float_network(coded: Path, seed: int) -> None:
    training, given = made(coded, rate=0.5), sample(seed)
    assert training.floats is not None
    step = training.floats[0]
    wanted, found = after(step, given), after(training.step, given, **settled(training, given))
    assert abs(float(found["loss"]) - float(wanted["loss"])) < 0.01
    readers = {name: one for one in training.step.nodes for name in one.inputs[1:3] if one.domain == ""}
    for name in training.parameters:
        x, w = (training.step.tensors[one].quantisation for one in readers[name].inputs[:2])
        assert x is not None
        assert w is not None
        is_bias = training.step.tensors[name].quantisation is None
        ours = moved(training, name, found) * (x.scale[0] * np.asarray(w.scale) if is_bias else 1.0)
        real = wanted[name].astype(np.float64) - before(step)[name]
        sizes = float((real**2).sum()), float((ours**2).sum())
        assert float((real * ours).sum()) / np.sqrt(sizes[0] * sizes[1]) > 0.95, name
        assert 0.75 < np.sqrt(sizes[1] / sizes[0]) < 1.35, name


def test_steps_below_the_codes_add_up_in_the_mean(coded: Path) -> None:
    training, given = made(coded, "last", 0.004), sample(1)
    name = training.parameters[0]
    first = {"integers/count": np.zeros(1, np.int32)}
    found = [moved(training, name, after(training.step, given, **{**first, "integers/count": np.full(1, at, np.int32)}))
             for at in range(400)]  # fmt: skip
    large = moved(made(coded, "last", 0.4), name, after(made(coded, "last", 0.4).step, given)) / 100
    spread = np.std(found, axis=0).max()
    assert spread > 0
    np.testing.assert_allclose(np.mean(found, axis=0), large, atol=4 * spread / 20 + np.abs(large).max() / 50)


@pytest.mark.parametrize(
    ("board", "update"),
    [("host", "all"), ("host", "last"), ("host", "bias"), ("qemu_mps2_an386", "all"), ("qemu_rv32imc", "all")],
)
def test_every_target_computes_the_same_integers(coded: Path, board: str, update: str, tmp_path: Path) -> None:
    board_or_skip(board)
    words = ["train", str(coded), "-t", board, "-o", str(tmp_path / "out"), "--gradient", "int8", "--run", "4", "-q"]
    assert main([*words, "--update", update, "--learning-rate", "0.1"]) == 0


def test_layers_take_no_more_than_their_codes_and_rests(coded: Path) -> None:
    training = made(coded)
    sizes = {state.past: training.step.tensors[state.past].size_bytes for state in training.step.states}
    for name in training.parameters:
        assert training.step.tensors[name].type_token in ("qi8", "i32")
    weights = [name for name in training.parameters if training.step.tensors[name].quantisation]
    assert [sizes[f"{name}/rest"] for name in weights] == [sizes[name] for name in weights]
    assert not {state.past for state in training.infer.states} - set(training.parameters)


def test_digits_are_learnt(tmp_path: Path) -> None:
    from sklearn.datasets import load_digits

    raw = load_digits()
    images = np.rot90(raw.images[:150] / 16, axes=(1, 2)).astype(np.float32).reshape(-1, 1, 1, 8, 8)
    np.savez(tmp_path / "data.npz", input=images, target=raw.target[:150].astype(np.int32))
    words = ["train", str(DIGITS), "-t", "host", "-o", str(tmp_path / "out"), "-q", "--gradient", "int8"]
    assert main([*words, "--data", str(tmp_path / "data.npz"), "--learning-rate", "0.005"]) == 0
    told = json.loads((tmp_path / "out/report.json").read_text())["training"]
    assert np.mean(told["losses"][-50:]) < 0.75 * np.mean(told["still_losses"])
    assert len(told["float_losses"]) == 150
    assert told["gradient"] == "int8"


def test_what_does_not_learn_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    draw = np.random.default_rng(1)
    weights = {
        "w": draw.standard_normal((8, 6)).astype(np.float32),
        "v": draw.standard_normal((8, 2)).astype(np.float32),
    }
    nodes = [node("Gemm", "x w", "h", transB=1), node("Relu", "h", "r"), node("MatMul", "r v", "y")]
    network = onnx_model(nodes, {"x": (1, 6)}, ["y"], weights)
    tiny = [{"x": np.full((1, 6), 1e-3 * sign, np.float32)} for sign in (-1, 1)]
    onnx.save(quantise(network, tiny), tmp_path / "net.onnx")
    images = draw.standard_normal((60, 1, 6)).astype(np.float32)
    np.savez(tmp_path / "data.npz", x=images, target=(images[:, 0, :1] > 0).astype(np.int32))
    words = ["train", str(tmp_path / "net.onnx"), "-t", "host", "-o", str(tmp_path / "out"), "--gradient", "int8"]
    assert main([*words, "--data", str(tmp_path / "data.npz"), "--learning-rate", "0.05"]) == 5
    said = capsys.readouterr().err
    assert "'net' does not learn in integers as it does in floats: the mean loss of the last 20 steps is" in said


def test_integers_are_to_come_half_of_the_way() -> None:
    falling, still = tuple(np.linspace(2, 0.5, 60)), (2.0,) * 20
    assert Curves(falling, falling, still).verdict("net") is None
    assert isinstance(Curves((1.7,) * 60, falling, still).verdict("net"), MismatchError)
    assert Curves((1.9,) * 60, (2.1,) * 60, still).verdict("net") is None
    assert Curves((1.9,) * 20, falling[:20], still).verdict("net") is None


def test_calls_that_differ_while_the_loss_explodes_are_said_to_diverge() -> None:
    failure = MismatchError(
        "the calls of 'net' differ from onnxruntime", why="the first that does is call 4", fix="pair"
    )
    (told,) = [with_divergence(failure, losses) for losses in [(2.0, 3.0, 16.0, 9.0)]]
    assert told is not None
    assert str(told) == (
        "the calls of 'net' differ from onnxruntime: the first that does is call 4; the loss grows from 2 to 16 in "
        "step 2: this training diverges, and each step enlarges what roundings differ by; lower --learning-rate, and "
        "compare again"
    )
    assert "from 2 to nan in step 1" in str(with_divergence(failure, (2.0, float("nan"))))
    assert with_divergence(failure, (2.0, 7.0)) is failure
    assert with_divergence(failure, ()) is failure
    assert with_divergence(None, (2.0, 16.0)) is None


@pytest.mark.parametrize(("options", "kind", "words"), [
    (["--optimizer", "momentum"], UsageError, "weights in codes take their steps by SGD"),
    (["--batch-accumulate", "2"], UsageError, "weights in codes take their steps by SGD"),
    (["--update", "lora:2"], UsageError, "matrices beside the layers are floats"),
    (["--update", "nothing"], UsageError, "'nothing' is no parameter"),
])  # fmt: skip
def test_what_integers_do_not_do_is_said(
    coded: Path, options: list[str], kind: type[TilewrightError], words: str, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    asked = ["train", str(coded), "-t", "host", "-o", str(tmp_path / "out"), "--gradient", "int8", *options]
    assert main(asked) == kind.code
    assert words in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_float_network_has_no_codes_to_learn_in() -> None:
    with pytest.raises(UnsupportedError, match="the network is not quantised: there are no codes"):
        made(Path("tests/models/digits/model.onnx"))


def test_a_quantised_network_needs_the_option(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", str(DIGITS), "-t", "host", "-o", str(tmp_path / "out")]) == 3
    assert "--gradient int8" in capsys.readouterr().err


def test_an_operator_without_a_gradient_in_integers_is_named(tmp_path: Path) -> None:
    draw = np.random.default_rng(2)
    weights = {name: draw.standard_normal((4, 4)).astype(np.float32) for name in "ab"}
    nodes = [node("MatMul", "x a", "h"), node("Softmax", "h", "s"), node("MatMul", "s b", "y")]
    network = onnx_model(nodes, {"x": (1, 4)}, ["y"], weights)
    samples = [{"x": draw.standard_normal((1, 4)).astype(np.float32)} for _ in range(8)]
    onnx.save(quantise(network, samples), tmp_path / "net.onnx")
    with pytest.raises(UnsupportedNode, match=r"\(Softmax\) has no gradient in integers"):
        made(tmp_path / "net.onnx")
    assert made(tmp_path / "net.onnx", "last").parameters


def test_a_network_on_codes_is_lowered_once(coded: Path) -> None:
    once = lower(load(coded))
    assert lower(once) is once
