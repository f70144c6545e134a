"""Every shape of the kernels with Xpulp, bit for bit on the emulating board and in GVSoC where it is installed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from board_layers import Layer, Network, board_or_skip, check, check_network, kernels
from tilewright.compile import Compiled
from tilewright.platforms.pulp.kernels.block_i8 import plan_of
from tilewright.platforms.pulp.kernels.conv_block_i8 import window_of

SAME = {"pads": [1, 1, 1, 1]}
LAYERS = [
    Layer("same", (1, 8, 6, 9), (12, 8, 3, 3), attributes=SAME),
    Layer("plain", (1, 8, 6, 9), (12, 8, 3, 3), x_zero=0, attributes=SAME),
    Layer("bytes", (1, 4, 7, 7), (6, 4, 3, 3), unsigned=True, x_zero=-9, attributes=SAME),
    Layer("strided", (1, 12, 11, 13), (7, 12, 3, 3), x_zero=5, attributes={"strides": [2, 2], "pads": [0, 0, 1, 1]}),
    Layer("three", (1, 4, 12, 14), (5, 4, 2, 2), attributes={"strides": [3, 3]}),
    Layer("wide", (1, 4, 9, 11), (4, 4, 5, 5), x_zero=11, attributes={"pads": [2, 2, 2, 2]}),
    Layer("holes", (1, 8, 9, 12), (4, 8, 3, 3), attributes={"dilations": [2, 2], "pads": [2, 2, 2, 2]}),
    Layer("narrow", (1, 4, 8, 3), (9, 4, 3, 3), attributes=SAME),
    Layer("column", (1, 4, 8, 1), (4, 4, 3, 3), attributes=SAME),
    Layer("row", (1, 4, 1, 9), (4, 4, 3, 3), attributes=SAME),
    Layer("high", (1, 4, 9, 5), (3, 4, 5, 1), x_zero=3, attributes={"pads": [2, 0, 2, 0]}),
    Layer("first", (1, 3, 9, 10), (8, 3, 3, 3), attributes=SAME),
    Layer("tall", (1, 1, 15, 8), (10, 1, 10, 4), x_zero=83, attributes={"strides": [2, 2], "pads": [4, 1, 5, 1]}),
    Layer("sparse", (1, 3, 9, 9), (4, 3, 3, 3), attributes={"dilations": [1, 2], "pads": [1, 2, 1, 2]}),
    Layer("seven", (1, 3, 9, 9), (2, 3, 7, 7), attributes={"pads": [3, 3, 3, 3]}),
    Layer("point", (1, 16, 5, 5), (11, 16, 1, 1)),
    Layer("pointstride", (1, 16, 9, 9), (8, 16, 1, 1), attributes={"strides": [2, 2]}),
    Layer("odd", (1, 10, 5, 7), (6, 10, 1, 1)),
    Layer("one", (1, 8, 1, 1), (1, 8, 1, 1)),
    Layer("signal", (1, 8, 29), (10, 8, 3), x_zero=6, attributes={"pads": [4, 0], "dilations": [2]}),
    Layer("series", (1, 37, 21), (5, 37, 3), attributes={"pads": [2, 2], "strides": [2]}),
    Layer("sample", (1, 5, 18), (7, 5, 1)),
    Layer("end", (1, 8, 4, 4), (8, 8, 3, 3), attributes=SAME),
    Layer("halved", (1, 8, 7, 7), (6, 8, 3, 3), x_zero=9, attributes={"strides": [2, 2], **SAME}),
    Layer("far", (1, 8, 41), (9, 8, 3), x_zero=-6, attributes={"dilations": [8], "pads": [16, 0]}),
    Layer("both", (1, 4, 9, 10), (5, 4, 5, 5), x_zero=3, attributes={"dilations": [2, 2], "pads": [4, 4, 4, 4]}),
    Layer("dead", (1, 8, 5, 5), (12, 8, 3, 3), weights="dead", attributes=SAME),
]
DEPTHWISE = [
    Layer("dw", (1, 8, 7, 6), (8, 1, 3, 3), attributes={"group": 8, **SAME}),
    Layer("dwlong", (1, 4, 25, 5), (4, 1, 3, 3), x_zero=7, attributes={"group": 4, **SAME}),
    Layer("dwstride", (1, 12, 9, 12), (12, 1, 3, 3), attributes={"group": 12, "strides": [2, 2], "pads": [0, 0, 1, 1]}),
    Layer("dwvalid", (1, 4, 6, 7), (4, 1, 3, 3), attributes={"group": 4}),
    Layer("dwtwo", (1, 4, 6, 7), (4, 1, 2, 2), attributes={"group": 4, "strides": [2, 1], "pads": [1, 0, 0, 1]}),
    Layer("dwtiny", (1, 4, 1, 2), (4, 1, 3, 3), attributes={"group": 4, **SAME}),
    Layer("dwthree", (1, 8, 3, 3), (8, 1, 3, 3), x_zero=4, attributes={"group": 8, **SAME}),
    Layer("dwfive", (1, 4, 8, 8), (4, 1, 5, 5), attributes={"group": 4, "pads": [2, 2, 2, 2]}),
    Layer("dwholes", (1, 4, 8, 9), (4, 1, 3, 3), attributes={"group": 4, "dilations": [2, 2], "pads": [2, 2, 2, 2]}),
    Layer("dwbytes", (1, 4, 5, 9), (4, 1, 3, 3), unsigned=True, x_zero=0, attributes={"group": 4, **SAME}),
    Layer("dwsignal", (1, 8, 23), (8, 1, 5), x_zero=9, attributes={"group": 8, "pads": [2, 2]}),
    Layer("dwodd", (1, 6, 5, 5), (6, 1, 3, 3), attributes={"group": 6, **SAME}),
    Layer("dwlast", (1, 23, 7, 9), (23, 1, 3, 3), x_zero=5, attributes={"group": 23, "strides": [2, 1], **SAME}),
    Layer("dwseven", (1, 5, 9, 11), (5, 1, 7, 7), x_zero=-3, attributes={"group": 5, "pads": [3, 3, 3, 3]}),
    Layer("dwend", (1, 8, 5, 14), (8, 1, 5, 5), x_zero=2, attributes={"group": 8, "pads": [2, 2, 2, 2]}),
    Layer("dwfar", (1, 6, 37), (6, 1, 3), x_zero=-7, attributes={"group": 6, "dilations": [8], "pads": [8, 8]}),
    Layer("dweleven", (1, 7, 27), (7, 1, 11), attributes={"group": 7, "pads": [5, 5]}),
]
GROUPED = [
    Layer("groups", (1, 16, 7, 9), (16, 4, 3, 3), x_zero=4, attributes={"group": 4, **SAME}),
    Layer("groups_odd", (1, 15, 5, 6), (6, 5, 3, 2), attributes={"group": 3, "strides": [2, 1], "pads": [1, 0, 1, 1]}),
    Layer(
        "groups_line", (1, 12, 19), (8, 6, 3), unsigned=True, attributes={"group": 2, "dilations": [2], "pads": [2, 2]}
    ),
    Layer("multiplied", (1, 4, 6, 7), (12, 1, 3, 3), x_zero=-9, attributes={"group": 4, **SAME}),
    Layer("few", (1, 3, 6, 6), (3, 1, 3, 3), attributes={"group": 3, **SAME}),
]
DENSE = [
    Layer("dense", (1, 40), (40, 21)),
    Layer("bytes_row", (1, 64), (64, 12), unsigned=True, x_zero=-3, y_zero=4),
    Layer("seventeen", (1, 8), (8, 17), x_zero=5),
    Layer("short", (1, 3), (3, 5)),
    Layer("rows", (7, 16), (16, 10), y_zero=0),
    Layer("stack", (5, 18), (18, 3), unsigned=True),
]
EXTREMES = [
    Layer("lowest", (1, 16, 6, 6), (8, 16, 3, 3), weights="-127", attributes=SAME),
    Layer("highest", (1, 64, 4, 4), (8, 64, 1, 1), weights="127"),
    Layer("lowfirst", (1, 3, 6, 6), (8, 3, 3, 3), weights="-127", attributes=SAME),
    Layer("lowdw", (1, 8, 5, 5), (8, 1, 3, 3), weights="-127", attributes={"group": 8, **SAME}),
    Layer("lowdense", (1, 96), (96, 16), weights="-127"),
]
NINE = [
    Layer("nine_same", (1, 8, 6, 9), (12, 8, 3, 3), x_zero=5, w_zero=9, attributes=SAME),
    Layer("nine_strided", (1, 12, 9, 11), (7, 12, 3, 3), w_zero=-126, attributes={"strides": [2, 2], **SAME}),
    Layer("nine_holes", (1, 8, 9, 12), (4, 8, 3, 3), w_zero=77, attributes={"dilations": [2, 2], "pads": [2, 2, 2, 2]}),
    Layer("nine_first", (1, 3, 9, 10), (8, 3, 3, 3), unsigned=True, x_zero=-100, w_zero=-40, attributes=SAME),
    Layer("nine_point", (1, 16, 9, 9), (11, 16, 1, 1), w_zero=126, attributes={"strides": [2, 2]}),
    Layer("nine_odd", (1, 10, 5, 7), (6, 10, 1, 1), w_zero=-3),
    Layer("nine_narrow", (1, 4, 8, 3), (9, 4, 3, 3), w_zero=30, attributes=SAME),
    Layer("nine_far", (1, 8, 41), (9, 8, 3), x_zero=-6, w_zero=2, attributes={"dilations": [8], "pads": [16, 0]}),
    Layer("nine_groups", (1, 16, 7, 9), (16, 4, 3, 3), x_zero=4, w_zero=-9, attributes={"group": 4, **SAME}),
    Layer("nine_low", (1, 16, 6, 6), (8, 16, 3, 3), weights="-127", w_zero=127, attributes=SAME),
    Layer("nine_high", (1, 16, 6, 6), (8, 16, 3, 3), weights="127", w_zero=-127, attributes=SAME),
    Layer("nine_dw", (1, 8, 7, 6), (8, 1, 3, 3), x_zero=5, w_zero=9, attributes={"group": 8, **SAME}),
    Layer(
        "nine_dwstride", (1, 12, 9, 12), (12, 1, 3, 3), w_zero=-126, attributes={"group": 12, "strides": [2, 2], **SAME}
    ),
    Layer("nine_dwodd", (1, 6, 5, 5), (6, 1, 3, 3), unsigned=True, w_zero=44, attributes={"group": 6, **SAME}),
    Layer(
        "nine_dwfar",
        (1, 6, 37),
        (6, 1, 3),
        x_zero=-7,
        w_zero=3,
        attributes={"group": 6, "dilations": [8], "pads": [8, 8]},
    ),
    Layer("nine_dwfive", (1, 5, 9, 11), (5, 1, 5, 5), w_zero=-8, attributes={"group": 5, "pads": [2, 2, 2, 2]}),
    Layer("nine_rows", (7, 16), (16, 10), w_zero=50, y_zero=0),
    Layer("nine_stack", (5, 18), (18, 3), w_zero=-126, unsigned=True),
]
"""Weights that minus their zero point need nine bits."""
SIXTEEN = [
    Layer("halves", (1, 8, 6, 9), (12, 8, 3, 3), x_zero=0, y_zero=0, attributes=SAME),
    Layer("halves_odd", (1, 5, 7, 7), (7, 5, 3, 3), x_zero=-300, y_zero=77, attributes=SAME),
    Layer("halves_end", (1, 6, 4, 4), (9, 6, 3, 3), x_zero=9, y_zero=0, attributes=SAME),
    Layer("halves_point", (1, 10, 5, 5), (6, 10, 1, 1), x_zero=0, y_zero=0),
    Layer("halves_far", (1, 4, 41), (9, 4, 3), x_zero=-6, y_zero=5, attributes={"dilations": [8], "pads": [16, 0]}),
    Layer("halves_groups", (1, 8, 7, 9), (8, 4, 3, 3), x_zero=4, y_zero=0, attributes={"group": 2, **SAME}),
    Layer("halves_dw", (1, 8, 7, 6), (8, 1, 3, 3), x_zero=0, y_zero=0, attributes={"group": 8, **SAME}),
    Layer("halves_dwodd", (1, 7, 9, 9), (7, 1, 5, 5), x_zero=11, y_zero=-8,
          attributes={"group": 7, "pads": [2, 2, 2, 2], "strides": [2, 1]}),
    Layer("halves_dwfar", (1, 6, 37), (6, 1, 3), x_zero=-7, y_zero=0,
          attributes={"group": 6, "dilations": [8], "pads": [8, 8]}),
    Layer("halves_row", (1, 40), (40, 21), x_zero=0, y_zero=0),
    Layer("halves_rows", (7, 18), (18, 10), x_zero=40, y_zero=0),
]  # fmt: skip
BOARDS = ("qemu_pulp", "gvsoc_pulp_open")


@pytest.mark.parametrize("board", BOARDS)
def test_every_shape_is_bit_exact(board: str, tmp_path: Path) -> None:
    board_or_skip(board)
    done = check([*LAYERS, *DEPTHWISE, *GROUPED, *DENSE], board, tmp_path)
    bound = kernels(done)
    assert {bound[layer.name] for layer in LAYERS if layer.name != "dead"} == {"BlockConvI8"}
    assert packed(done) == {"dweleven", "dwfar", "far", "signal"}  # no narrow map, no pixel at the end of a row
    assert {bound[layer.name] for layer in DEPTHWISE} == {"BlockDepthwiseI8"}
    assert {bound[layer.name] for layer in GROUPED} == {"BlockGroupedI8"}
    assert {bound[layer.name] for layer in DENSE} == {"BlockDenseI8", "DenseRowI8"}
    assert {layer.name for layer in DENSE if bound[layer.name] == "DenseRowI8"} == {"dense", "bytes_row", "seventeen"}


def packed(done: Compiled) -> set[str]:
    """Convolutions with blocks that no statement is printed for, whose windows are packed first."""
    names = set()
    for bound in done.bound.nodes:
        if bound.call.node.op == "Conv" and len(bound.call.shape(1)) > 2:
            apart = kernels(done)[bound.call.node.name] == "BlockDepthwiseI8"
            if plan_of(window_of(bound.call), bound.call, apart=apart).packed:
                names.add(bound.call.node.name)
    return names


@pytest.mark.parametrize("board", BOARDS)
def test_codes_of_sixteen_bits_run_on_the_same_blocks(board: str, tmp_path: Path) -> None:
    board_or_skip(board)
    network = Network(np.random.default_rng(9), opset=21)
    for layer in SIXTEEN:
        network.add_sixteen(layer)
    bound = kernels(check_network(network, board, tmp_path, ("random", "low", "high")))
    blocks = {"BlockConvI8", "BlockDepthwiseI8", "BlockGroupedI8", "BlockDenseI8", "DenseRowI8"}
    assert {bound[layer.name] for layer in SIXTEEN} == blocks


@pytest.mark.parametrize("board", BOARDS)
def test_weights_of_nine_bits_are_multiplied_in_two_parts(board: str, tmp_path: Path) -> None:
    board_or_skip(board)
    done = check(NINE, board, tmp_path, ("random", "low", "high"))
    bound = kernels(done)
    assert {bound[layer.name] for layer in NINE} == {
        "BlockConvI8",
        "BlockDepthwiseI8",
        "BlockGroupedI8",
        "BlockDenseI8",
    }
    assert packed(done) == {"nine_dwfar", "nine_far"}


@pytest.mark.parametrize("board", BOARDS)
def test_extreme_codes_and_weights_are_bit_exact(board: str, tmp_path: Path) -> None:
    board_or_skip(board)
    check(EXTREMES, board, tmp_path, ("random", "low", "high"))
