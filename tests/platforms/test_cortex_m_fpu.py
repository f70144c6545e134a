"""Float kernels of cores with a floating-point unit: many shapes on simulated cores, within their declared bound."""

from __future__ import annotations

from pathlib import Path

import pytest
from board_layers import check_network, floats, kernels


@pytest.mark.parametrize("board", ["qemu_mps2_an386", "qemu_mps2_an500", "qemu_mps3_an547"])
def test_float_convolutions_and_products(board: str, tmp_path: Path) -> None:
    done = check_network(floats(), board, tmp_path)
    taken = kernels(done)
    assert {kernel for name, kernel in taken.items() if name.startswith("conv_")} == {"ConvFpu", "Relayout"}
    assert {kernel for name, kernel in taken.items() if name.startswith("dense_")} == {"DenseFpu"}


@pytest.mark.parametrize("board", ["qemu_mps2_an386", "qemu_mps3_an547", "qemu_rv32imafc", "qemu_rv32gcv"])
def test_float_depthwise_convolutions(board: str, tmp_path: Path) -> None:
    done = check_network(floats(depthwise=True), board, tmp_path)
    assert set(kernels(done).values()) == {"DepthwiseTileF32", "Relayout"}
