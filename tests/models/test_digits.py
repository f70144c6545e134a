"""The committed digits networks are what their README says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from make_digits import correct, load

HERE = Path(__file__).parent


@pytest.mark.parametrize(("name", "limit_bytes"), [("digits", 100_000), ("digits_int8", 50_000)])
def test_the_vectors_are_what_onnx_runtime_computes(name: str, limit_bytes: int) -> None:
    folder = HERE / name
    model = folder / "model.onnx"
    onnx.checker.check_model(onnx.load(str(model)), full_check=True)
    assert model.stat().st_size < limit_bytes
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    with np.load(folder / "samples.npz") as samples:
        images, expected = samples["input"], samples["output"]
    results = np.concatenate([session.run(["output"], {"input": image[None]})[0] for image in images])
    np.testing.assert_allclose(results, expected, atol=1e-5)
    with np.load(folder / "inputs.npz") as inputs, np.load(folder / "outputs.npz") as outputs:
        np.testing.assert_allclose(session.run(["output"], dict(inputs))[0], outputs["output"], atol=1e-5)
    assert len(set(expected.argmax(1).tolist())) >= 5


@pytest.mark.parametrize("name", ["digits", "digits_int8"])
def test_held_out_accuracy(name: str) -> None:
    images, labels = load().held_out()
    assert correct(onnx.load(str(HERE / name / "model.onnx")), images, labels) >= 350
