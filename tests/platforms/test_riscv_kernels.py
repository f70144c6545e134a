"""Every shape of the RISC-V kernels, bit for bit in the simulator; and how many instructions the networks take."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal, Protocol

import board_layers
import pytest
from board_layers import Layer, board_or_skip, check, check_network, kernels
from float_layers import floats
from tilewright.compile import compile_model, write
from tilewright.model import Numerics
from tilewright.options import CompileOptions
from tilewright.run.build import build
from tilewright.run.simulate import execute
from tilewright.target import load_target


class Files(Protocol):
    """What the fixture `network` finds."""

    @property
    def model(self) -> Path: ...


SAME = {"pads": [1, 1, 1, 1]}
CONVOLUTIONS = [
    Layer("same", (1, 16, 8, 8), (8, 16, 3, 3), attributes=SAME),
    Layer("odd", (1, 5, 7, 9), (7, 5, 3, 3), attributes=SAME, y_zero=-3),
    Layer("stride", (1, 8, 9, 9), (6, 8, 3, 3), attributes={"strides": [2, 2], "pads": [0, 1, 1, 0]}),
    Layer("dilated", (1, 4, 9, 9), (4, 4, 3, 3), attributes={"dilations": [2, 2], "pads": [2, 2, 2, 2]}),
    Layer("groups", (1, 8, 6, 6), (12, 4, 3, 3), attributes={"group": 2, **SAME}),
    Layer("first", (1, 3, 12, 12), (16, 3, 3, 3), x_zero=4, attributes=SAME),
    Layer("tall", (1, 1, 20, 10), (8, 1, 10, 4), attributes={"strides": [2, 2], "pads": [4, 1, 5, 1]}),
    Layer("point", (1, 24, 5, 5), (10, 24, 1, 1)),
    Layer("pointfew", (1, 8, 6, 6), (16, 8, 1, 1)),
    Layer("pointgroups", (1, 8, 5, 5), (8, 4, 1, 1), attributes={"group": 2}),
    Layer("pointstride", (1, 16, 6, 6), (9, 16, 1, 1), attributes={"strides": [2, 2]}),
    Layer("onepixel", (1, 6, 3, 3), (5, 6, 3, 3)),
    Layer("temporal", (1, 6, 19), (5, 6, 5), attributes={"pads": [2, 2]}),
    Layer("bytes", (1, 8, 5, 6), (4, 8, 3, 3), unsigned=True, x_zero=-30, attributes=SAME),
]
WIDTHS = [
    Layer("two_results", (1, 9, 4), (40, 9, 3), x_zero=7),
    Layer("forty", (1, 12, 5, 7), (40, 12, 3, 3), x_zero=-9, attributes=SAME),
    Layer("seventeen", (1, 7, 6, 5), (17, 7, 3, 2), unsigned=True, attributes={"pads": [1, 0, 0, 1]}),
    Layer("seventy", (1, 6, 4, 9), (70, 3, 3, 3), attributes={"group": 2, "strides": [1, 2], **SAME}),
    Layer("far", (1, 6, 31), (9, 6, 3), x_zero=3, attributes={"dilations": [8], "pads": [16, 0]}),
    Layer("point_line", (1, 6, 17), (5, 6, 1), x_zero=2, attributes={"strides": [2]}),
    Layer("low_and_high", (1, 33, 3, 5), (24, 33, 1, 1), weights="127"),
]
DEPTHWISE = [
    Layer("dw", (1, 8, 7, 6), (8, 1, 3, 3), attributes={"group": 8, **SAME}),
    Layer("dwlong", (1, 4, 25, 5), (4, 1, 3, 3), x_zero=7, attributes={"group": 4, **SAME}),
    Layer("dwstride", (1, 6, 9, 8), (6, 1, 3, 3), attributes={"group": 6, "strides": [2, 2], "pads": [0, 0, 1, 1]}),
    Layer("dwvalid", (1, 4, 6, 7), (4, 1, 3, 3), attributes={"group": 4}),
    Layer("dwtwo", (1, 4, 6, 7), (4, 1, 2, 2), attributes={"group": 4, "strides": [2, 1], "pads": [1, 0, 0, 1]}),
    Layer("dwtiny", (1, 4, 1, 2), (4, 1, 3, 3), attributes={"group": 4, **SAME}),
    Layer("dwtemporal", (1, 5, 21), (5, 1, 9), attributes={"group": 5, "pads": [4, 4]}),
    Layer("dwfive", (1, 3, 8, 8), (3, 1, 5, 5), attributes={"group": 3, "pads": [2, 2, 2, 2]}),
]
DENSE = [
    Layer("dense", (1, 40), (40, 21)),
    Layer("short", (1, 3), (3, 5)),
    Layer("rows", (7, 18), (18, 10), y_zero=0),
    Layer("stack", (5, 16), (16, 3), unsigned=True),
]
EXTREMES = [
    Layer("lowest", (1, 16, 6, 6), (8, 16, 3, 3), weights="-127", attributes=SAME),
    Layer("highest", (1, 64, 4, 4), (8, 64, 1, 1), weights="127"),
    Layer("lowdw", (1, 8, 5, 5), (8, 1, 3, 3), weights="-127", attributes={"group": 8, **SAME}),
    Layer("lowdense", (1, 96), (96, 16), weights="-127"),
]


LINES = [
    Layer("five", (1, 3, 8, 11), (3, 1, 5, 5), x_zero=9, attributes={"group": 3, "pads": [2, 2, 2, 2]}),
    Layer("seven", (1, 4, 7, 6), (4, 1, 7, 7), weights="-127", attributes={"group": 4, "pads": [3, 3, 3, 3]}),
    Layer("eleven", (1, 5, 31), (5, 1, 11), attributes={"group": 5, "pads": [10, 0]}),
    Layer("seventeen", (1, 2, 40), (2, 1, 17), attributes={"group": 2, "pads": [8, 8], "strides": [3]}),
    Layer("stride", (1, 4, 9, 10), (4, 1, 5, 5), attributes={"group": 4, "pads": [1, 2, 2, 1], "strides": [2, 2]}),
    Layer("valid", (1, 3, 6, 9), (3, 1, 4, 5), unsigned=True, x_zero=-30, attributes={"group": 3}),
    Layer("apart", (1, 4, 11, 9), (4, 1, 3, 3), x_zero=3,
          attributes={"group": 4, "pads": [2, 2, 2, 2], "dilations": [2, 2]}),
    Layer("apart_odd", (1, 3, 10, 11), (3, 1, 3, 2),
          attributes={"group": 3, "pads": [1, 0, 2, 4], "dilations": [2, 3], "strides": [2, 1]}),
    Layer("apart_far", (1, 3, 23), (3, 1, 3), y_zero=5, attributes={"group": 3, "pads": [16, 0], "dilations": [8]}),
    Layer("apart_few", (1, 3, 13), (3, 1, 3), attributes={"group": 3, "dilations": [5]}),
    Layer("apart_large", (1, 2, 12, 19), (2, 1, 5, 5),
          attributes={"group": 2, "pads": [4, 6, 4, 6], "dilations": [2, 3]}),
    Layer("apart_rows", (1, 4, 9, 8), (4, 1, 3, 3), weights="127",
          attributes={"group": 4, "pads": [2, 0, 2, 1], "dilations": [2, 1], "strides": [1, 2]}),
]  # fmt: skip
WINOGRAD = ("WinogradBlockI8",)
PLANES = ("DepthwisePlaneI8", "DepthwiseWindowI8")


def test_every_shape_is_bit_exact_in_the_simulator(tmp_path: Path) -> None:
    done = check([*CONVOLUTIONS, *DEPTHWISE, *DENSE], "qemu_rv32imc", tmp_path, ("random", "low"), first=PLANES)
    bound = kernels(done)
    assert {bound["same"], bound["point"], bound["pointfew"]} == {"ConvBlockI8"}
    assert bound["tall"] == "ConvGatherI8"
    assert {bound[name] for name in ("dw", "dwstride", "dwtiny")} <= {"DepthwisePlaneI8", "DepthwiseWindowI8"}
    assert bound["dense"] == bound["rows"] == "DenseBlockI8"


def test_large_and_dilated_depthwise_windows_are_bit_exact(tmp_path: Path) -> None:
    strided = Layer("apart_strided", (1, 4, 21), (4, 1, 3), attributes={"group": 4, "dilations": [2], "strides": [2]})
    done = check([*LINES, strided], "qemu_rv32imc", tmp_path, ("random", "low", "high"), optimize="speed",
                 first=("DepthwiseLinesI8",))  # fmt: skip
    bound = kernels(done)
    assert {bound[layer.name] for layer in LINES} == {"DepthwiseLinesI8"}
    node = next(node for node in done.bound.nodes if node.call.node.name == strided.name)
    refusals = {candidate.kernel.name: candidate.refusal for candidate in node.candidates}
    assert refusals["DepthwiseLinesI8"] == (
        "columns of the window have gaps and strides, neighbouring results share none"
    )


@pytest.mark.parametrize("pads", [2, 1])
def test_a_large_window_takes_the_place_of_its_operand_where_shapes_are_equal(pads: int, tmp_path: Path) -> None:
    layer = Layer("five", (1, 8, 16, 16), (8, 1, 5, 5), attributes={"group": 8, "pads": [pads] * 4})
    done = check([layer], "qemu_rv32imc", tmp_path, optimize="speed")
    (node,) = (node for node in done.bound.nodes if node.call.node.name == "five")
    assert node.kernel is not None
    assert node.kernel.name == "DepthwiseLinesI8"
    assert node.kernel.in_place(node.call) == (((0, 0),) if pads == 2 else ())


@pytest.mark.parametrize("board", ["qemu_rv32imc", "qemu_rv32gcv"])
def test_extreme_codes_and_weights_are_bit_exact(board: str, tmp_path: Path) -> None:
    bound = kernels(check(EXTREMES, board, tmp_path, ("random", "low", "high")))
    vectors = board == "qemu_rv32gcv"
    assert bound["lowest"] == bound["highest"] == ("ConvVectorI8" if vectors else "ConvBlockI8")
    assert bound["lowdense"] == ("DenseVectorI8" if vectors else "DenseBlockI8")
    assert bound["lowdw"] == ("DepthwiseVectorI8" if vectors else "DepthwiseWindowI8")


def test_winograd_is_exact_and_offered_for_speed_only(tmp_path: Path) -> None:
    layers = [
        Layer("plain", (1, 8, 8, 8), (8, 8, 3, 3), attributes=SAME),
        Layer("wide", (1, 4, 6, 22), (12, 4, 3, 3), x_zero=11, attributes={"pads": [1, 1, 1, 1]}),
        Layer("valid", (1, 16, 8, 12), (4, 16, 3, 3)),
        Layer("bytes", (1, 4, 8, 8), (4, 4, 3, 3), unsigned=True, x_zero=-9, attributes=SAME),
        Layer("lowest", (1, 16, 8, 8), (8, 16, 3, 3), weights="-127", attributes=SAME),
        Layer("odd", (1, 4, 7, 9), (4, 4, 3, 3), attributes=SAME),
    ]
    done = check(
        layers, "qemu_rv32imc", tmp_path, ("random", "low", "high"), optimize="speed", first=("WinogradBlockI8",)
    )
    assert {name for name, kernel in kernels(done).items() if kernel == "WinogradBlockI8"} == {
        "plain", "wide", "valid", "bytes", "lowest",
    }  # fmt: skip


def test_pairs_of_channels_in_a_word_are_exact_and_offered_for_speed_only(tmp_path: Path) -> None:
    layers = [
        Layer("pairs", (1, 40), (40, 24)),
        Layer("lowest", (1, 128), (128, 8), weights="-127"),
        Layer("highest", (1, 128), (128, 8), weights="127", x_zero=5),
        Layer("bytes", (1, 16), (16, 8), unsigned=True, x_zero=0),
        Layer("odd", (1, 42), (42, 8)),
    ]
    done = check(layers, "qemu_rv32imc", tmp_path, ("random", "low", "high"), optimize="speed", first=("DensePairsI8",))
    bound = kernels(done)
    assert [bound[layer.name] for layer in layers] == ["DensePairsI8"] * 3 + ["DenseBlockI8"] * 2


@pytest.mark.parametrize("numerics", ["exact", "tflm"])
def test_vectors_compute_every_shape(numerics: Numerics, tmp_path: Path) -> None:
    wide = Layer("dw_wide", (1, 70, 6, 9), (70, 1, 3, 3), x_zero=-9, attributes={"group": 70, **SAME})
    layers = [*CONVOLUTIONS, *WIDTHS, *DEPTHWISE, wide, *DENSE]
    bound = kernels(check(layers, "qemu_rv32gcv", tmp_path, numerics=numerics))
    assert {bound[layer.name] for layer in (*CONVOLUTIONS, *WIDTHS)} == {"ConvVectorI8"}
    assert {bound[layer.name] for layer in (*DEPTHWISE, wide)} == {"DepthwiseVectorI8"}
    assert {bound[layer.name] for layer in DENSE} == {"DenseVectorI8"}


@pytest.mark.parametrize("numerics", ["exact", "tflm"])
def test_vectors_compute_large_and_dilated_depthwise_windows(numerics: Numerics, tmp_path: Path) -> None:
    bound = kernels(check(LINES, "qemu_rv32gcv", tmp_path, ("random", "low", "high"), numerics=numerics))
    assert {bound[layer.name] for layer in LINES} == {"DepthwiseVectorI8"}


@pytest.mark.parametrize("numerics", ["exact", "tflm"])
def test_vectors_take_factors_that_differ_by_channel(numerics: Numerics, tmp_path: Path) -> None:
    layers = board_layers.DEPTHWISE
    bound = kernels(check(layers, "qemu_rv32gcv", tmp_path, ("random", "low", "high"), numerics=numerics))
    assert "DepthwiseVectorI8" in {bound[layer.name] for layer in layers}


@pytest.mark.parametrize("board", ["qemu_rv32imafc", "qemu_rv32gcv"])
def test_float_convolutions_and_products(board: str, tmp_path: Path) -> None:
    taken = kernels(check_network(floats(), board, tmp_path))
    vectors = board == "qemu_rv32gcv"
    few = {"conv_point_one", "conv_point_two"}
    assert {taken[name] for name in few} == {"ConvVectorF32" if vectors else "ConvF32"}
    convolutions = {kernel for name, kernel in taken.items() if name.startswith("conv_") and name not in few}
    assert convolutions == ({"ConvVectorF32", "RelayoutVector"} if vectors else {"ConvBlockF32", "Relayout"})
    products = {kernel for name, kernel in taken.items() if name.startswith("dense_")}
    assert products == {"DenseVectorF32" if vectors else "DenseBlockF32"}


@pytest.mark.parametrize(
    ("name", "board", "optimize", "most"),
    [
        ("resnet8_int8", "qemu_rv32imc", "balanced", 36_000_000),
        ("resnet8_int8", "qemu_rv32imc", "speed", 24_000_000),
        ("dscnn_int8", "qemu_rv32imc", "balanced", 8_000_000),
        ("vww_int8", "qemu_rv32imc", "balanced", 24_000_000),
        ("ad_int8", "qemu_rv32imc", "balanced", 920_000),
        ("ad_int8", "qemu_rv32imc", "speed", 750_000),
        ("resnet8_int8", "qemu_rv32gcv", "balanced", 2_600_000),
        ("dscnn", "qemu_rv32imafc", "balanced", 4_700_000),
    ],
)
def test_networks_stay_below_their_counts(
    name: str,
    board: str,
    optimize: Literal["speed", "balanced"],
    most: int,
    tmp_path: Path,
    network: Callable[[str], Files],
) -> None:
    board_or_skip(board)
    target = load_target(board)
    done = compile_model(network(name).model, CompileOptions(quantized_io=True, optimize=optimize), target)
    (tmp_path / "project").mkdir()
    write(done, tmp_path / "project")
    image = build(tmp_path / "project", done.artifacts.interface, target, tmp_path / "work")
    counts = execute(image, [bytes(size) for size in image.interface.inputs], count=True).counts
    assert counts is not None
    assert counts.instructions <= most
