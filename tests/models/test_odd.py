"""The odd networks are valid, live, and give what their vectors say."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest
from make_odd import ODD, QUANTISED, odd_inputs
from network_files import run
from quantise import CODES, codes_in_use

if TYPE_CHECKING:
    from conftest import NetworkFiles


@pytest.mark.parametrize("name", [*ODD, *(f"{name}_int8" for name in QUANTISED)])
def test_odd_networks_are_live(name: str, network: Callable[[str], NetworkFiles]) -> None:
    files = network(f"odd_{name}")
    model = onnx.load(str(files.model))
    given, expected = files.arrays()
    other = run(model, odd_inputs(ODD[name.removesuffix("_int8")](), 2)[1])
    for output, values in run(model, given).items():
        np.testing.assert_allclose(values, expected[output], rtol=1e-4, atol=1e-5)
        assert values.std() > 0.02
        assert np.abs(values - other[output]).max() > 0.02


@pytest.mark.parametrize("name", QUANTISED)
def test_odd_int8_networks_use_their_codes(name: str, network: Callable[[str], NetworkFiles]) -> None:
    model = onnx.load(str(network(f"odd_{name}_int8").model))
    used = codes_in_use(model, odd_inputs(ODD[name](), 96))
    assert {tensor: codes for tensor, codes in used.items() if codes <= CODES} == {}
