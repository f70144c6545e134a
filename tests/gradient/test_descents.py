"""Products that are taken back in one node are those of the ordinary nodes, and nothing of them is left beside it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from board_layers import board_or_skip
from gradient.networks import values
from graphs import node, onnx_model
from tilewright.cli import main
from tilewright.frontend.load import load
from tilewright.gradient.network import Network
from tilewright.gradient.optimisers import Optimiser
from tilewright.gradient.training import Training, TrainingWish, training
from tilewright.model import Array, Model
from tilewright.platforms.generic.kernels.descent import WIDE


def branching(pool: str = "GlobalAveragePool") -> onnx.ModelProto:
    """A residual block, a strided one with two readers of its operand, a depthwise layer, weights that two layers
    share, and matrices on both sides of the weights."""
    draw = np.random.default_rng(6)
    shapes = {"a": (4, 2, 3, 3), "b": (4, 4, 3, 3), "c": (8, 4, 3, 3), "d": (8, 4, 1, 1), "e": (8, 1, 3, 3),
              "m": (8, 8), "n": (3, 8)}  # fmt: skip
    weights = {name: draw.standard_normal(shape).astype(np.float32) / 3 for name, shape in shapes.items()}
    nodes = [
        node("Conv", "x a", "c0", pads=[1] * 4), node("Relu", "c0", "r0"),
        node("Conv", "r0 b", "c1", pads=[1] * 4), node("Add", "c1 r0", "s1"), node("Relu", "s1", "r1"),
        node("Conv", "r1 c", "c2", pads=[1] * 4, strides=[2, 2]), node("Conv", "r1 d", "c3", strides=[2, 2]),
        node("Add", "c2 c3", "s2"), node("Relu", "s2", "r2"),
        node("Conv", "r2 e", "c4", pads=[1] * 4, group=8), node("Relu", "c4", "r4"),
        node(pool, "r4", "p", kernel_shape=[3, 3]) if pool == "MaxPool" else node(pool, "r4", "p"),
        node("Flatten", "p", "f"),
        node("MatMul", "f m", "g"), node("Tanh", "g", "t"), node("MatMul", "t m", "h"),
        node("Gemm", "h n", "y", transB=1),
    ]  # fmt: skip
    return onnx_model(nodes, {"x": (2, 2, 6, 6)}, ["y"], weights)


def made(kind: str = "sgd", work: float = 1.0) -> Training:
    return training(load(branching(), name="net"), TrainingWish(optimiser=Optimiser(kind, 0.1), work=work))


def after(model: Model) -> dict[str, Array]:
    """The loss and every next value of one step in double precision."""
    draw = np.random.default_rng(7)
    given: dict[str, Array] = {one.past: one.initial + 0.0 for one in model.states if one.initial is not None}
    given |= {"x": draw.standard_normal((2, 2, 6, 6)).astype(np.float32), "target": np.array([0, 2], np.int32)}
    known = values(Network(model), given)
    return {name: known[name] for name in model.outputs}


@pytest.mark.parametrize(("kind", "work"), [("sgd", 1.0), ("momentum", 1.0), ("adam", 1.0), ("sgd", 1.5)])
def test_a_step_with_descents_is_the_step_of_ordinary_nodes(kind: str, work: float) -> None:
    found = made(kind, work)
    assert not [each for each in found.plain.nodes if each.domain]
    expected, step = after(found.plain), after(found.step)
    assert expected.keys() == step.keys()
    for name, value in expected.items():
        np.testing.assert_allclose(step[name], value, rtol=2e-5, atol=2e-6, err_msg=name)


def test_readers_of_one_operand_masks_and_shortcuts_are_taken_in() -> None:
    descents = {each.inputs[0]: each for each in made().step.nodes if each.op == "Descent"}
    assert {len(descents[x].outputs) for x in ("r0", "r2", "x")} == {2}
    assert len(descents["r1"].outputs) == 3
    assert descents["r0"].inputs[1]
    assert not descents["r2"].inputs[1]
    assert not descents["x"].outputs[0]
    assert [descents[x].attributes["masked"] for x in ("r0", "r1", "r2", "x", "f")] == [1, 1, 1, 0, 0]


def test_no_gradient_of_weights_is_stored_and_no_transposed_convolution_left() -> None:
    left = {each.op for each in made().step.nodes}
    assert not left & {"ConvTranspose", "Transpose"}
    sizes = [made().step.tensors[name].shape for each in made().step.nodes for name in each.outputs if name]
    assert sizes.count((4, 4, 3, 3)) == 1


def test_a_mask_is_made_as_soon_as_nothing_else_reads_its_operand() -> None:
    nodes = list(training(load(branching("MaxPool"), name="net"), TrainingWish()).step.nodes)
    (mask,) = (at for at, each in enumerate(nodes) if each.op == "Greater")
    assert nodes[mask].inputs[0] == nodes[mask - 1].inputs[0] == "r4"
    assert nodes[mask - 1].op == "MaxPool"


def test_the_mask_of_a_gradient_that_is_the_same_over_a_plane_takes_no_bytes() -> None:
    step = made().step
    (sign,) = (each for each in step.nodes if each.op == "Sign")
    (masked,) = (each for each in step.nodes if sign.outputs[0] in each.inputs)
    assert sign.inputs == ("r4",)
    assert masked.op == "Mul"
    assert step.tensors[masked.inputs[1]].shape == (2, 8, 1, 1)
    assert not {each.op for each in step.nodes} & {"Greater", "Where"}


@pytest.mark.parametrize("board", ["host", "qemu_mps2_an386"])
@pytest.mark.parametrize(("first", "second", "size"), [(6, 10, (9, 8)), (4, 8, (3, WIDE))], ids=["odd", "wide"])
def test_channels_and_columns_of_any_number_are_taken_back_on_a_core(
    board: str, first: int, second: int, size: tuple[int, int], tmp_path: Path
) -> None:
    board_or_skip(board)
    draw = np.random.default_rng(9)
    shapes = {"a": (first, 3, 3, 3), "b": (second, first, 3, 3), "c": (5, second, 3, 3), "m": (3, 5)}
    weights = {name: draw.standard_normal(shape).astype(np.float32) / 3 for name, shape in shapes.items()}
    nodes = [
        node("Conv", "x a", "c0", pads=[1] * 4), node("Relu", "c0", "r0"),
        node("Conv", "r0 b", "c1", pads=[1] * 4), node("Relu", "c1", "r1"),
        node("Conv", "r1 c", "c2", pads=[1] * 4, strides=[2, 2]), node("Relu", "c2", "r2"),
        node("GlobalAveragePool", "r2", "p"), node("Flatten", "p", "f"), node("Gemm", "f m", "y", transB=1),
    ]  # fmt: skip
    onnx.save(onnx_model(nodes, {"x": (1, 3, *size)}, ["y"], weights), tmp_path / "net.onnx")
    words = ["train", str(tmp_path / "net.onnx"), "-t", board, "-o", str(tmp_path / "out"), "-q"]
    assert main([*words, "--run", "2", "--learning-rate", "0.5"]) == 0
