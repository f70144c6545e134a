"""Float kernels of cores with a floating-point unit: many shapes on simulated cores, within their declared bound."""

from __future__ import annotations

from pathlib import Path

import pytest
from board_layers import DEPTHWISE, check_network, kernels
from float_layers import FLOAT_DEPTHWISE, MORE_PRODUCTS, PLANES, floats

HELIUM = "qemu_mps3_an547"


@pytest.mark.parametrize("board", ["qemu_mps2_an386", "qemu_mps2_an500", HELIUM])
def test_float_convolutions_and_products(board: str, tmp_path: Path) -> None:
    done = check_network(floats(), board, tmp_path)
    taken = kernels(done)
    conv, dense = ("ConvFloatMve", "DenseFloatMve") if board == HELIUM else ("ConvFpu", "DenseFpu")
    assert {kernel for name, kernel in taken.items() if name.startswith("conv_")} == {conv, "Relayout"}
    assert {kernel for name, kernel in taken.items() if name.startswith("dense_")} == {dense}


def test_float_convolutions_of_planes_and_of_few_pixels(tmp_path: Path) -> None:
    taken = kernels(check_network(floats(PLANES), "qemu_mps2_an386", tmp_path, first=("ConvFpu",)))
    assert set(taken.values()) == {"ConvFpu", "Relayout"}


def test_float_products_of_few_pixels_and_groups_in_vectors(tmp_path: Path) -> None:
    taken = kernels(check_network(floats(MORE_PRODUCTS), HELIUM, tmp_path, first=("ConvFloatMve", "DenseFloatMve")))
    assert set(taken.values()) == {"ConvFloatMve", "DenseFloatMve", "Relayout"}


@pytest.mark.parametrize("board", ["qemu_mps2_an386", HELIUM, "qemu_rv32imafc", "qemu_rv32gcv"])
def test_float_depthwise_convolutions(board: str, tmp_path: Path) -> None:
    done = check_network(floats(DEPTHWISE), board, tmp_path)
    kernel = "DepthwiseFloatMve" if board == HELIUM else "DepthwiseTileF32"
    assert set(kernels(done).values()) == {kernel, "RelayoutVector" if board == "qemu_rv32gcv" else "Relayout"}


@pytest.mark.parametrize(("board", "kernel"), [(HELIUM, "DepthwiseFloatMve"), ("qemu_mps2_an386", "DepthwiseTileF32")])
def test_float_depthwise_convolutions_of_any_window(board: str, kernel: str, tmp_path: Path) -> None:
    done = check_network(floats(FLOAT_DEPTHWISE), board, tmp_path, first=(kernel,))
    assert set(kernels(done).values()) == {kernel, "Relayout"}
