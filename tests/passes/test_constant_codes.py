"""Codes that are known when compiling are computed then: operators on constants of quantised networks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from graphs import node, onnx_model
from in_c import Trial, hold
from tilewright.conformance.subject import load_and_pass

RANDOM = np.random.default_rng(3)
CODES = {
    "c": RANDOM.integers(-128, 128, (1, 4, 8)).astype(np.int8), "cs": np.float32(0.013), "cz": np.int8(3),
    "s": np.float32(0.02), "z": np.int8(-2), "u": np.uint8(100),
}  # fmt: skip
X = RANDOM.standard_normal((1, 4, 8)).astype(np.float32)


def quantised(op: str, zero: str = "z") -> Trial:
    """`op` of constant codes, joined with codes of the input."""
    alone = op in ("Concat", "Add")
    joined = node("Concat", "e d", "k", axis=1) if op == "Concat" else node("Add", "e d" if alone else "r d", "k")
    nodes = [
        node("QuantizeLinear", f"x s {zero}", "q"), node("DequantizeLinear", f"q s {zero}", "d"),
        node("DequantizeLinear", "c cs cz", "e"),
        *([] if alone else [node(op, "e", "m"), node("QuantizeLinear", f"m s {zero}", "n"),
                            node("DequantizeLinear", f"n s {zero}", "r")]),
        joined,
        node("QuantizeLinear", f"k s {zero}", "l"), node("DequantizeLinear", f"l s {zero}", "y"),
    ]  # fmt: skip
    return Trial(onnx_model(nodes, {"x": [1, 4, 8]}, ["y"], CODES, 17), {"x": X})


TRIALS = {
    f"{op} {zero}": quantised(op, zero)
    for op in ("Concat", "Add", "Sigmoid", "Relu", "Identity", "GlobalAveragePool", "Softmax", "Neg")
    for zero in "zu"
}


def test_constants_of_codes_in_c(tmp_path: Path) -> None:
    hold(list(TRIALS.values()), tmp_path, atol=0.021, rtol=0.0)


@pytest.mark.parametrize("name", TRIALS)
def test_nothing_is_left_that_computes_constants(name: str) -> None:
    model = load_and_pass(TRIALS[name].proto, "net")
    for each in model.nodes:
        assert not all(operand in model.constants for operand in each.inputs), each
