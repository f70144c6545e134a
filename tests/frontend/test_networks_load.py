"""Whole networks: loaded and rewritten by the passes they compute what ONNX Runtime computes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from conftest import NetworkFiles
from graphs import execute
from tilewright.frontend.load import load
from tilewright.passes.driver import run

TRAINED = ["ad_f32", "dscnn_f32", "resnet8_f32", "vww_f32"]
OURS = ["digits", "odd_mobile", "odd_temporal", "odd_transformer", "odd_lstm"]
NODES_LEFT = {"ad_f32": 10, "dscnn_f32": 14, "resnet8_f32": 17, "vww_f32": 32}
LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"


def check(files: NetworkFiles) -> int:
    inputs, outputs = files.arrays()
    plain = load(files.model)
    rewritten, _ = run(plain)
    for model in (plain, rewritten):
        assert set(model.inputs) == set(inputs)
        found = execute(model, inputs)
        for name, expected in outputs.items():
            np.testing.assert_allclose(found[name], expected, rtol=1e-4, atol=1e-4)
    return len(rewritten.nodes)


@pytest.mark.parametrize("name", TRAINED)
def test_trained_networks_stay_within_their_tolerance(trained: Callable[[str], NetworkFiles], name: str) -> None:
    assert check(trained(name)) == NODES_LEFT[name]


@pytest.mark.parametrize("name", OURS)
def test_networks_of_our_own_stay_within_their_tolerance(network: Callable[[str], NetworkFiles], name: str) -> None:
    assert 1 < check(network(name)) <= len(load(network(name).model).nodes)


@pytest.mark.parametrize("path", sorted(LIGHT.glob("*.onnx")), ids=lambda path: path.stem)
def test_the_large_networks_of_the_onnx_package_load(path: Path) -> None:
    model, _ = run(load(path))
    assert len(model.nodes) > 10
    assert not {"BatchNormalization", "Dropout", "Identity"} & {node.op for node in model.nodes}
