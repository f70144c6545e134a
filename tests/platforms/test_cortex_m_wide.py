"""Kernels for codes of 16 bits, and for weights of more than eight, on simulated boards: bit for bit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from board_layers import EXTREMES, Layer, check_network, kernels
from tilewright.platforms.cortex_m.kernels import matrix_i8
from wide_layers import SINGLE_CHANNEL, WIDE_CONVS, WIDE_DENSE, WIDE_DEPTHWISE, Codes, wide

SCALAR, HELIUM = "qemu_mps2_an386", "qemu_mps3_an547"
CODES = {
    "signed": Codes(np.int16),
    "unsigned": Codes(np.uint16, y=np.uint16),
    "wide_weights": Codes(np.int16, np.int16),
    "to_bytes": Codes(np.int16, y=np.int8),
    "to_unsigned": Codes(np.uint16, np.uint8, np.uint8, 0.3),
    "powers_of_two": Codes(np.int16, twos=True),
}


@pytest.mark.parametrize("codes", CODES)
def test_sums_of_codes_of_sixteen_bits(codes: str, tmp_path: Path) -> None:
    network = wide([*WIDE_CONVS, *WIDE_DENSE], CODES[codes])
    done = check_network(network, SCALAR, tmp_path, EXTREMES, first=("ConvHalvesDsp", "DenseHalvesDsp"))
    taken = kernels(done)
    assert {kernel for kernel in taken.values() if "Relayout" not in kernel} == {"ConvHalvesDsp", "DenseHalvesDsp"}


@pytest.mark.parametrize("codes", [name for name in CODES if name != "powers_of_two"])
def test_depthwise_layers_of_codes_of_sixteen_bits(codes: str, tmp_path: Path) -> None:
    network = wide([*WIDE_DEPTHWISE, *SINGLE_CHANNEL], CODES[codes])
    done = check_network(network, SCALAR, tmp_path, EXTREMES, first=("DepthwiseDsp",))
    named = {name for name, kernel in kernels(done).items() if kernel == "DepthwiseDsp"}
    assert len(named) > len(WIDE_DEPTHWISE) - 6, kernels(done)


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("x", [np.int8, np.uint8])
def test_weights_of_more_than_eight_bits(own: bool, x: type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if own:
        monkeypatch.setattr(matrix_i8, "is_own", lambda call: True)
    layers = [*WIDE_CONVS, *WIDE_DENSE, *(replace(each, name=f"depthwise_{each.name}") for each in WIDE_DEPTHWISE)]
    network = wide(layers, Codes(x, np.uint8, x))
    done = check_network(network, SCALAR, tmp_path, EXTREMES, first=("ConvDsp", "DenseDsp", "DepthwiseDsp"))
    taken = {name: kernel for name, kernel in kernels(done).items() if kernel != "Relayout"}
    assert {kernel for name, kernel in taken.items() if not name.startswith("depthwise")} == {"ConvDsp", "DenseDsp"}
    assert list(taken.values()).count("DepthwiseDsp") > len(WIDE_DEPTHWISE) - 6


@pytest.mark.parametrize("codes", CODES)
def test_sums_of_sixteen_bits_in_vectors(codes: str, tmp_path: Path) -> None:
    network = wide([*WIDE_CONVS, *WIDE_DENSE], CODES[codes])
    done = check_network(network, HELIUM, tmp_path, EXTREMES, first=("ConvWideMve", "DenseWideMve"))
    assert {kernel for kernel in kernels(done).values() if kernel != "Relayout"} == {"ConvWideMve", "DenseWideMve"}


@pytest.mark.parametrize("x", [np.int8, np.uint8])
def test_weights_of_more_than_eight_bits_in_vectors(x: type, tmp_path: Path) -> None:
    network = wide([*WIDE_CONVS, *WIDE_DENSE], Codes(x, np.uint8, x))
    done = check_network(network, HELIUM, tmp_path, EXTREMES, first=("ConvWideMve", "DenseWideMve"))
    taken = list(kernels(done).values())  # others where a kernel's scratch would stand at the peak
    assert taken.count("ConvWideMve") > len(WIDE_CONVS) // 2
    assert taken.count("DenseWideMve") > len(WIDE_DENSE) // 2


@pytest.mark.parametrize("codes", [Codes(np.int16), Codes(np.int8, y=np.int8)])
def test_odd_channels_lie_over_their_operand(codes: Codes, tmp_path: Path) -> None:
    layer = Layer("over", (1, 37, 9, 8), (37, 1, 3, 3), attributes={"pads": [1, 1, 1, 1], "group": 37})
    done = check_network(wide([layer], codes), SCALAR, tmp_path, first=("DepthwiseDsp",))
    assert kernels(done)["over"] == "DepthwiseDsp"
    size = 37 * 9 * 8 * np.dtype(codes.x).itemsize
    assert done.report.memory["ram"].activations < 2 * size
