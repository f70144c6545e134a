"""Swish and Gelu that are spelled out become one operator, and nothing else does."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from graphs import execute, node, onnx_model
from tilewright.frontend.load import load
from tilewright.passes.driver import run

X = np.concatenate([np.linspace(-9, 9, 61), [0.0, 1e-6, -1e-6]]).astype(np.float32).reshape(4, 16)
NUMBERS = {
    "one": 1.0,
    "half": 0.5,
    "two": 2.0,
    "three": 3.0,
    "cubic": 0.044714998453855515,
    "root": 0.7978845834732056,
    "root2": 1.4142135381698608,
    "inverse": 0.7071067690849304,
    "quick": 1.702,
    "other": 0.71,
}
CONSTANTS = {name: np.asarray(value, np.float32) for name, value in NUMBERS.items()}
CONSTANTS["deep"] = np.full((1, 1, 1), 0.5, np.float32)
SMOOTH = {
    "silu": ("Swish", ["Sigmoid x s", "Mul x s y"]),
    "silu backwards": ("Swish", ["Sigmoid x s", "Mul s x y"]),
    "quick gelu": ("Swish", ["Mul quick x q", "Sigmoid q s", "Mul x s y"]),
    "torch": ("Gelu", ["Div x root2 d", "Erf d e", "Add e one a", "Mul x a m", "Mul m half y"]),
    "tensorflow": ("Gelu", ["Mul x inverse d", "Erf d e", "Add one e a", "Mul half a m", "Mul m x y"]),
    "half first": ("Gelu", ["Div x root2 d", "Erf d e", "Add e one a", "Mul half x h", "Mul h a y"]),
    "tanh, a power": (
        "Gelu",
        ["Pow x three p", "Mul cubic p c", "Add x c b", "Mul root b t", "Tanh t e", "Add e one a", "Mul half x h",
         "Mul h a y"],
    ),
    "tanh, products": (
        "Gelu",
        ["Mul x x q", "Mul q x p", "Mul p cubic c", "Add c x b", "Mul b root t", "Tanh t e", "Add one e a", "Mul x a m",
         "Mul m half y"],
    ),
    "tanh, factored": (
        "Gelu",
        ["Mul cubic x c", "Mul c x q", "Add q one b", "Mul x root r", "Mul r b t", "Tanh t e", "Add e one a",
         "Mul half x h", "Mul h a y"],
    ),
}  # fmt: skip
OTHERS = {
    "a result of more axes": ["Div x root2 d", "Erf d e", "Add e one a", "Mul x a m", "Mul m deep y"],
    "another sigmoid": ["Abs x z", "Sigmoid z s", "Mul x s y"],
    "another width": ["Mul x other d", "Erf d e", "Add e one a", "Mul x a m", "Mul m half y"],
    "no half": ["Div x root2 d", "Erf d e", "Add e one a", "Mul x a y"],
    "another power": [
        "Pow x two p", "Mul cubic p c", "Add x c b", "Mul root b t", "Tanh t e", "Add e one a", "Mul half x h",
        "Mul h a y",
    ],
    "a sum of two": [
        "Mul x x q", "Mul q x p", "Mul p cubic c", "Add c x b", "Mul b root t", "Tanh t e", "Add two e a", "Mul x a m",
        "Mul m half y",
    ],
}  # fmt: skip


def lowered(lines: Sequence[str], outputs: Sequence[str] = ("y",)) -> list[str]:
    """Operators after the passes, whose results are those of the network as it was."""
    nodes = []
    for line in lines:
        op, *inputs, output = line.split()
        nodes.append(node(op, " ".join(inputs), output))
    used = {name for each in nodes for name in each.input}
    constants = {name: value for name, value in CONSTANTS.items() if name in used}
    model = load(onnx_model(nodes, {"x": X.shape}, list(outputs), constants, opset=18))
    done, _ = run(model)
    for name, value in execute(model, {"x": X}).items():
        np.testing.assert_allclose(execute(done, {"x": X})[name], value, rtol=1e-5, atol=1e-6)
    return [each.op for each in done.nodes]


@pytest.mark.parametrize("spelling", SMOOTH)
def test_every_spelling_becomes_one_operator(spelling: str) -> None:
    op, lines = SMOOTH[spelling]
    assert lowered(lines) == [op]


@pytest.mark.parametrize("spelling", OTHERS)
def test_what_is_only_like_it_stays(spelling: str) -> None:
    assert not {"Swish", "Gelu"} & set(lowered(OTHERS[spelling]))


@pytest.mark.parametrize("spelling", SMOOTH)
def test_a_step_that_is_read_elsewhere_stays(spelling: str) -> None:
    _, lines = SMOOTH[spelling]
    step = lines[-1].split()
    read = next(name for name in step[1:] if name not in ("x", "half"))
    assert not {"Swish", "Gelu"} & set(lowered([*lines, f"Neg {read} other"], ["y", "other"]))
    assert not {"Swish", "Gelu"} & set(lowered(lines, ["y", read]))


def test_powers_become_products() -> None:
    assert lowered(["Pow x three y"]) == ["Mul", "Mul"]
    assert lowered(["Pow x half y"]) == ["Pow"]
