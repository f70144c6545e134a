"""Steps of optimisers and estimating BatchNormalization as nodes: what the standard's reference computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from graphs import execute, node, onnx_model
from onnx import TensorProto
from onnx.reference import ReferenceEvaluator
from tilewright.frontend.load import load

TRAINING = "ai.onnx.preview.training"
RANDOM = np.random.default_rng(9)
STEPS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "Adagrad": ("a b ga gb ha hb", "xa xb ya yb", {"norm_coefficient": 0.01, "decay_factor": 0.1}),
    "Adam": ("a b ga gb va vb ha hb", "xa xb ya yb za zb", {"norm_coefficient": 0.01, "norm_coefficient_post": 0.02}),
    "Momentum": ("a b ga gb va vb", "xa xb ya yb", {"alpha": 0.9, "beta": 0.8, "mode": "standard"}),
    "Momentum nesterov": ("a ga va", "xa ya", {"alpha": 0.9, "beta": 0.8, "mode": "nesterov",
                                               "norm_coefficient": 0.01}),
}  # fmt: skip


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("count", [0, 3])
def test_a_step(name: str, count: int) -> None:
    operands, results, attributes = STEPS[name]
    attributes = {"norm_coefficient": 0.0, **attributes}
    names = operands.split()
    feeds: dict[str, Any] = {each: np.abs(RANDOM.standard_normal((2, 3))).astype(np.float32) for each in names}
    feeds |= {"r": np.array(0.1, np.float32), "t": np.array(count, np.int64)}
    made = node(name.split()[0], f"r t {operands}", results, "n", TRAINING, **attributes)
    shapes = {each: array.shape for each, array in feeds.items()}
    proto = onnx_model([made], shapes, results.split(), types={"t": TensorProto.INT64})
    proto.opset_import.add(domain=TRAINING, version=1)
    found, expected = execute(load(proto), feeds), ReferenceEvaluator(proto).run(None, feeds)
    for output, want in zip(results.split(), expected, strict=True):
        np.testing.assert_allclose(found[output], want, rtol=2e-5, atol=1e-6, err_msg=output)


def test_statistics_of_a_batch() -> None:
    feeds = {"x": RANDOM.standard_normal((2, 3, 4)).astype(np.float32)}
    constants = {each: np.abs(RANDOM.standard_normal(3)).astype(np.float32) for each in "sbmv"}
    made = node("BatchNormalization", "x s b m v", "y mean var", "n", training_mode=1, momentum=0.8)
    proto = onnx_model([made], {"x": [2, 3, 4]}, ["y", "mean", "var"], constants)
    found, expected = execute(load(proto), feeds), ReferenceEvaluator(proto).run(None, feeds)
    for output, want in zip(("y", "mean", "var"), expected, strict=True):
        np.testing.assert_allclose(found[output], want, rtol=1e-4, atol=1e-5)
