"""Float kernels of cores with a floating-point unit: many shapes on simulated cores, within their declared bound."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from board_layers import DEPTHWISE, Layer, Network, check_network, kernels
from float_layers import FLOAT_DEPTHWISE, MORE_PRODUCTS, PLANES, floats
from graphs import node
from tilewright.platforms.cortex_m.kernels.fpu import ConvFpu

HELIUM = "qemu_mps3_an547"
CONV = ConvFpu()


@pytest.mark.parametrize("board", ["qemu_mps2_an386", "qemu_mps2_an500", HELIUM])
def test_float_convolutions_and_products(board: str, tmp_path: Path) -> None:
    done = check_network(floats(), board, tmp_path)
    taken = kernels(done)
    conv, dense = ("ConvFloatMve", "DenseFloatMve") if board == HELIUM else ("ConvFpu", "DenseFpu")
    assert {kernel for name, kernel in taken.items() if name.startswith("conv_")} == {conv, "Relayout"}
    assert {kernel for name, kernel in taken.items() if name.startswith("dense_")} == {dense}


@pytest.mark.parametrize(("board", "kernel"), [("qemu_mps2_an386", "QuantiseFpu"), (HELIUM, "QuantiseMve")])
def test_floats_beyond_all_codes_have_the_last_ones(board: str, kernel: str, tmp_path: Path) -> None:
    network = Network(np.random.default_rng(6), opset=21)
    network.inputs["x"] = ((1, 43), np.float32)
    network.constant("most", np.float32(2e38))
    network.constant("s", np.float32(0.02))
    network.nodes.append(node("Mul", "x most", "far", "far"))
    for kind, zero in ((np.int8, 5), (np.uint8, 200), (np.int16, -9)):
        n = kind.__name__
        network.constant(f"{n}_z", kind(zero))
        network.nodes.append(node("QuantizeLinear", f"far s {n}_z", f"{n}_y", n))
        network.outputs[f"{n}_y"] = kind
    taken = kernels(check_network(network, board, tmp_path))
    assert {taken[name] for name in ("int8", "uint8", "int16")} == {kernel}


def test_float_convolutions_of_planes_and_of_few_pixels(tmp_path: Path) -> None:
    taken = kernels(check_network(floats(PLANES), "qemu_mps2_an386", tmp_path, first=("ConvFpu",)))
    assert set(taken.values()) == {"ConvFpu", "Relayout"}


def test_float_convolutions_of_a_single_plane(tmp_path: Path) -> None:
    layers = (
        Layer("same", (1, 1, 9, 31), (7, 1, 3, 3), attributes={"pads": [1, 1, 1, 1]}),
        Layer("halved", (1, 1, 17, 23), (5, 1, 3, 3), attributes={"pads": [1, 0, 1, 2], "strides": [2, 2]}),
        Layer("apart", (1, 1, 20, 21), (6, 1, 3, 3), attributes={"dilations": [2, 3]}),
        Layer("narrow", (1, 1, 12, 9), (4, 1, 5, 5), attributes={"pads": [2, 2, 2, 2]}),
        Layer("line", (1, 1, 47), (3, 1, 9), attributes={"pads": [4, 4]}),
        Layer("over", (1, 1, 8, 23), (1, 1, 3, 3), attributes={"pads": [1, 1, 1, 1]}),
    )
    done = check_network(floats(layers), "qemu_mps2_an386", tmp_path, first=("ConvFpu",))
    bound = {b.call.node.name: b for b in done.bound.nodes if b.kernel is not None and b.kernel.name == "ConvFpu"}
    slid = {name for name, b in bound.items() if CONV.adds_planes(done.bound.operands(b))}
    assert slid == {f"conv_{layer.name}" for layer in layers if layer.name != "narrow"}
    over = done.bound.operands(bound["conv_over"])
    assert CONV.overlap(over) == ()  # the last block of a row reads what the one before has written


def test_float_convolutions_of_groups(tmp_path: Path) -> None:
    layers = (
        Layer(
            "halves", (1, 16, 1, 65), (16, 8, 1, 5), attributes={"group": 2, "pads": [0, 2, 0, 2], "strides": [1, 2]}
        ),
        Layer("odd", (1, 6, 5, 7), (18, 3, 3, 3), attributes={"group": 2, "pads": [1, 0, 1, 1]}),
        Layer("points", (1, 24, 4, 4), (48, 8, 1, 1), attributes={"group": 3}),
        Layer("line", (1, 12, 41), (30, 4, 5), attributes={"group": 3, "pads": [2, 2], "strides": [2]}),
        Layer("few_results", (1, 9, 6, 5), (15, 3, 1, 3), attributes={"group": 3}),
        Layer("few_pixels", (1, 8, 3, 1), (20, 4, 1, 1), attributes={"group": 2}),
    )
    done = check_network(floats(layers), "qemu_mps2_an386", tmp_path, first=("ConvFpu",))
    taken = kernels(done)
    assert [taken[f"conv_{layer.name}"] for layer in layers] == ["ConvFpu"] * 4 + ["ConvF32"] * 2


def test_float_products_of_few_pixels_and_groups_in_vectors(tmp_path: Path) -> None:
    taken = kernels(check_network(floats(MORE_PRODUCTS), HELIUM, tmp_path, first=("ConvFloatMve", "DenseFloatMve")))
    assert set(taken.values()) == {"ConvFloatMve", "DenseFloatMve", "Relayout"}


@pytest.mark.parametrize("board", ["qemu_mps2_an386", HELIUM, "qemu_rv32imafc", "qemu_rv32gcv"])
def test_float_depthwise_convolutions(board: str, tmp_path: Path) -> None:
    done = check_network(floats(DEPTHWISE), board, tmp_path)
    taken = {HELIUM: "DepthwiseFloatMve", "qemu_rv32gcv": "DepthwiseVectorF32"}.get(board, "DepthwiseTileF32")
    assert set(kernels(done).values()) == {taken, "RelayoutVector" if board == "qemu_rv32gcv" else "Relayout"}


WIDE = Layer("wide", (1, 70, 6, 9), (70, 1, 3, 3), attributes={"group": 70, "pads": [1, 1, 1, 1]})
"""More channels than vectors hold, and not a multiple of them."""


@pytest.mark.parametrize(
    ("board", "kernel"),
    [
        (HELIUM, "DepthwiseFloatMve"), ("qemu_mps2_an386", "DepthwiseTileF32"),
        ("qemu_rv32gcv", "DepthwiseVectorF32"),
    ],
)  # fmt: skip
def test_float_depthwise_convolutions_of_any_window(board: str, kernel: str, tmp_path: Path) -> None:
    done = check_network(floats((*FLOAT_DEPTHWISE, WIDE)), board, tmp_path, first=(kernel,))
    assert set(kernels(done).values()) == {kernel, "RelayoutVector" if board == "qemu_rv32gcv" else "Relayout"}
