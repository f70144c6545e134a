"""Depthwise convolutions straight from their operand, four channels of two pixels at once: bit for bit in QEMU."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from board_layers import DEPTHWISE, EXTREMES, Layer, check, check_network, kernels
from tilewright.model import Numerics
from tilewright.platforms.cortex_m.kernels import depthwise_fours, matrix_i8
from wide_layers import WIDE_DEPTHWISE, Codes, wide

SCALAR, HELIUM = "qemu_mps2_an386", "qemu_mps3_an547"


def depthwise(name: str, x: tuple[int, ...], window: tuple[int, ...], zero: int = -128, **attributes: object) -> Layer:
    """A layer of as many groups as channels; `unsigned` codes where the zero point is an odd one."""
    shape, channels = (1, *x), x[0]
    return Layer(
        name, shape, (channels, 1, *window), x_zero=zero, y_zero=zero, unsigned=zero % 2 == 1,
        attributes={"group": channels, **attributes},
    )  # fmt: skip


LAYERS = (
    depthwise("strided", (12, 9, 16), (3, 3), pads=[1, 1, 1, 1], strides=[2, 2]),
    depthwise("single_row", (8, 3, 13), (3, 3), zero=5, pads=[0, 1, 0, 1]),
    depthwise("odd_channels", (10, 7, 7), (3, 3), zero=4, pads=[1, 1, 1, 1]),
    depthwise("apart", (9, 21, 17), (3, 3), dilations=[2, 3], strides=[2, 3]),
    depthwise("uneven", (5, 14, 19), (3, 4), dilations=[1, 2], strides=[1, 3]),
    depthwise("large", (4, 11, 12), (5, 5), zero=-7, pads=[2, 2, 2, 2]),
    depthwise("along_rows", (8, 20, 1), (3, 1), zero=3, pads=[1, 0, 1, 0]),
    depthwise("line", (6, 31), (4,), pads=[3, 0], strides=[2]),
    depthwise("long_line", (5, 40), (13,), zero=11, pads=[6, 6]),
    depthwise("one_pixel", (12, 4, 5), (4, 5), zero=2),
    depthwise("all_border", (4, 2, 2), (3, 3), zero=9, pads=[1, 1, 1, 1]),
    depthwise("even_window", (5, 6, 9), (2, 4), zero=-1, pads=[1, 1, 0, 2]),
)


@pytest.fixture(autouse=True)
def anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel takes layers too that another computes in fewer instructions."""
    monkeypatch.setattr(depthwise_fours, "WORTH", 0.0)
    monkeypatch.setattr(depthwise_fours, "WORTH_SMALL", 0.0)


@pytest.mark.parametrize("board", [SCALAR, HELIUM])
@pytest.mark.parametrize("numerics", ["exact", "tflm"])
def test_drawn_windows(board: str, numerics: Numerics, tmp_path: Path) -> None:
    taken = kernels(
        check(LAYERS, board, tmp_path, EXTREMES, first=("DepthwiseFours",), numerics=numerics, optimize="speed")
    )
    assert {taken[layer.name] for layer in LAYERS} == {"DepthwiseFours"}


def test_channels_with_an_addend_and_a_shift_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix_i8, "is_own", lambda call: True)
    others = [replace(layer, name=f"other_{layer.name}") for layer in DEPTHWISE if layer.w[0] == layer.x[1] > 3]
    layers = [*LAYERS, *others]
    taken = kernels(check(layers, SCALAR, tmp_path, EXTREMES, first=("DepthwiseFours",), optimize="speed"))
    assert {taken[layer.name] for layer in layers} == {"DepthwiseFours"}


@pytest.mark.parametrize(
    "codes",
    [Codes(np.int16), Codes(np.uint16, y=np.uint16), Codes(np.int16, y=np.int8), Codes(np.uint8, np.uint8, np.uint8)],
)
def test_codes_and_weights_of_more_than_eight_bits(codes: Codes, tmp_path: Path) -> None:
    layers = [layer for layer in WIDE_DEPTHWISE if layer.w[0] == layer.x[1] > 3]
    taken = kernels(check_network(wide(layers, codes), SCALAR, tmp_path, EXTREMES, first=("DepthwiseFours",)))
    assert [taken[layer.name] for layer in layers].count("DepthwiseFours") > len(layers) - 2


def test_what_it_cannot_do_is_said(tmp_path: Path) -> None:
    few = replace(LAYERS[0], name="few", x=(1, 3, 9, 16), w=(3, 1, 3, 3), attributes={"group": 3})
    done = check([few], SCALAR, tmp_path)
    why = {c.kernel.name: c.refusal for n in done.bound.nodes for c in n.candidates}
    assert why["DepthwiseFours"] == "the kernel computes four channels at once"


def test_it_leaves_layers_to_planes_that_take_fewer_instructions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(depthwise_fours, "WORTH", 1.05)
    monkeypatch.setattr(depthwise_fours, "WORTH_SMALL", 1.15)
    layers = [
        depthwise("near", (16, 24, 24), (3, 3), pads=[1, 1, 1, 1]),
        depthwise("far", (16, 3, 32), (3, 3), pads=[0, 1, 0, 0], strides=[2, 2]),
    ]
    done = check(layers, SCALAR, tmp_path)
    assert {layer.name: kernels(done)[layer.name] for layer in layers} == {
        "near": "DepthwiseDsp",
        "far": "DepthwiseFours",
    }
    why = {(n.call.node.name, c.kernel.name): c.refusal for n in done.bound.nodes for c in n.candidates}
    assert why["near", "DepthwiseFours"] == "planes of pairs take about as many instructions, or fewer"
