"""Images that are enlarged between two layers: the factors of a Resize are no numbers that it computes with."""

from __future__ import annotations

import numpy as np
import pytest
from graphs import node, onnx_model
from tilewright.frontend.load import load
from tilewright.quantiser.static.quantise import quantised
from tilewright.quantiser.static.samples import Samples, divided


@pytest.mark.parametrize("mode", ["linear", "nearest"])
def test_the_factors_of_a_resize_stay_as_they_are(mode: str) -> None:
    random = np.random.default_rng(4)
    weights = {name: random.standard_normal((4, 4, 3, 3)).astype(np.float32) for name in ("v", "w")}
    factors = {"factors": np.asarray([1, 1, 2, 2], np.float32)}
    nodes = [
        node("Conv", "x v", "c", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        node("Resize", "c - factors", "r", mode=mode),
        node("Conv", "r w", "y", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
    ]
    model = load(onnx_model(nodes, {"x": (1, 4, 6, 6)}, ["y"], {**weights, **factors}))
    samples = random.standard_normal((10, 1, 4, 6, 6)).astype(np.float32)
    result = quantised(model, divided(Samples({"x": samples}, None)))
    assert (result.integers.float_tensors, result.integers.real_nodes) == ((), ())
    assert (result.scores[2].signal_to_noise_db or 0) > 18
