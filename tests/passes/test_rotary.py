"""Pairs that are turned by angles become one operator with the same bits, and nothing that is otherwise does."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from graphs import execute, node, onnx_model, reference
from tilewright.frontend.load import load
from tilewright.passes import rotary
from tilewright.passes.driver import run

HEADS, STEPS, PAIRS = 3, 2, 4
WRONG = {
    "the difference is a sum": {"real": "Add"},
    "the sum is a difference": {"imaginary": "Sub"},
    "the second element comes first": {"places": (1, 0)},
    "both sums have one sine": {"crossed": ("first cosine", "second sine")},
    "halves are joined in another order": {"joined": "imaginary5 real5"},
}


def turned(
    *, real: str = "Sub", imaginary: str = "Add", places: tuple[int, int] = (0, 1), joined: str = "real5 imaginary5",
    crossed: tuple[str, str] = ("sine first", "second cosine"), minus: bool = False, angles: int = STEPS,
) -> onnx.ModelProto:  # fmt: skip
    """Every head's pairs, as exporters write their turning."""
    constants = {
        "pairs": np.array([1, HEADS, STEPS, PAIRS, 2]), "whole": np.array([1, HEADS, STEPS, 2 * PAIRS]),
        "axis": np.array([4]), "place0": np.array(places[0] - 2 * minus), "place1": np.array(places[1]),
    }  # fmt: skip
    nodes = [
        node("Reshape", "x pairs", "split"),
        node("Gather", "split place0", "first", axis=4),
        node("Gather", "split place1", "second", axis=-1),
        node("Mul", "first cosine", "fc"),
        node("Mul", "second sine", "ss"),
        node(real, "fc ss", "real"),
        node("Mul", crossed[0], "fs"),
        node("Mul", crossed[1], "sc"),
        node(imaginary, "sc fs", "imaginary"),
        node("Unsqueeze", "real axis", "real5"),
        node("Unsqueeze", "imaginary axis", "imaginary5"),
        node("Concat", joined, "joined", axis=-1),
        node("Reshape", "joined whole", "y"),
    ]
    angle = [1, 1, angles, PAIRS]
    return onnx_model(nodes, {"x": [1, STEPS * HEADS * 2 * PAIRS], "cosine": angle, "sine": angle}, ["y"], constants)


@pytest.mark.parametrize("angles", [STEPS, 1])
@pytest.mark.parametrize("minus", [False, True])
def test_pairs_are_turned_by_one_operator(minus: bool, angles: int) -> None:
    """With one angle for all steps they are as many heads of one step."""
    proto = turned(minus=minus, angles=angles)
    model, _ = run(load(proto))
    ops = [made.op for made in model.nodes]
    assert ops.count("RotaryEmbedding") == 1
    assert not {"Mul", "Sub", "Add", "Gather", "Concat"} & set(ops)
    draw = np.random.default_rng(1)
    feeds = {name: draw.normal(0, 1, model.tensors[name].shape).astype(np.float32) for name in model.inputs}
    np.testing.assert_array_equal(execute(model, feeds)["y"], reference(proto, feeds)["y"])


@pytest.mark.parametrize("wrong", WRONG)
def test_what_turns_otherwise_stays(wrong: str) -> None:
    model = load(turned(**WRONG[wrong]))  # type: ignore[arg-type]
    assert rotary.apply(model).nodes == model.nodes
