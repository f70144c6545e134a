"""The trained networks: placed optimally, and in fewer bytes than are alive at once in the order of the file."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from conftest import NetworkFiles
from tilewright.compile import compile_model
from tilewright.options import CompileOptions
from tilewright.target import load_target

LIVE_SETS = {"resnet8_int8": 49_152, "dscnn_int8": 12_800, "vww_int8": 73_728}
"""Bytes of the plans of others, input included: the most that is alive at once."""
PEAKS = {"resnet8_int8": 34_448, "dscnn_int8": 8_640, "vww_int8": 37_280}
NETWORKS = [
    "ad_f32", "ad_int8", "ad_int8ort", "dscnn_f32", "dscnn_int8", "dscnn_int8ort", "resnet8_f32", "resnet8_int8",
    "resnet8_int8ort", "resnet8_int8qop", "vww_f32", "vww_int8", "vww_int8ort",
]  # fmt: skip


@pytest.mark.parametrize("name", NETWORKS)
def test_every_trained_network_is_placed_optimally(trained: Callable[[str], NetworkFiles], name: str) -> None:
    compiled = compile_model(trained(name).model, CompileOptions(), load_target("host"))
    assert compiled.placed.solution.status == "optimal"
    assert compiled.report.memory["ram"].status == "optimal"
    if name in PEAKS:
        assert compiled.placed.solution.peak <= PEAKS[name] < LIVE_SETS[name]
