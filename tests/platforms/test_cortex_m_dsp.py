"""Kernels with dual multiplies: every shape, stride, padding and remainder, bit for bit on simulated cores."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from board_layers import Layer, check, kernels

CONVS = (
    Layer("point", (1, 8, 7, 5), (6, 8, 1, 1)),
    Layer("point_odd", (1, 12, 3, 3), (5, 12, 1, 1), x_zero=3, y_zero=-7),
    Layer("point_one", (1, 20, 1, 1), (4, 20, 1, 1), x_zero=0),
    Layer("point_two", (1, 16, 1, 2), (2, 16, 1, 1)),
    Layer("point_long", (1, 136, 2, 3), (3, 136, 1, 1)),
    Layer("same", (1, 4, 9, 7), (4, 4, 3, 3), attributes={"pads": [1, 1, 1, 1]}),
    Layer("same_wide", (1, 16, 8, 8), (8, 16, 3, 3), x_zero=5, attributes={"pads": [1, 1, 1, 1]}),
    Layer("stride", (1, 8, 8, 8), (3, 8, 3, 3), attributes={"pads": [0, 0, 1, 1], "strides": [2, 2]}),
    Layer("point_stride", (1, 8, 8, 6), (4, 8, 1, 1), attributes={"strides": [2, 2]}),
    Layer("dilated", (1, 12, 11, 9), (6, 12, 2, 3), attributes={"dilations": [2, 3], "pads": [1, 2, 0, 3]}),
    Layer("line", (1, 20, 17), (6, 20, 3), attributes={"pads": [2, 1], "strides": [2]}),
    Layer("rgb", (1, 3, 9, 8), (7, 3, 3, 3), x_zero=-1, attributes={"pads": [1, 1, 1, 1]}),
    Layer("speech", (1, 1, 20, 10), (8, 1, 10, 4), attributes={"pads": [4, 1, 5, 1], "strides": [2, 2]}),
    Layer("five", (1, 5, 6, 6), (4, 5, 2, 2), attributes={"dilations": [2, 2], "pads": [2, 0, 0, 2]}),
    Layer("two", (1, 2, 5, 5), (2, 2, 1, 1)),
    Layer("unsigned", (1, 8, 6, 5), (6, 8, 3, 3), unsigned=True, attributes={"pads": [1, 1, 1, 1]}),
    Layer("unsigned_rgb", (1, 3, 6, 5), (5, 3, 3, 3), unsigned=True, x_zero=-9, attributes={"pads": [1, 1, 1, 1]}),
    Layer("heavy", (1, 640, 2, 2), (4, 640, 1, 1), weights="-127"),
    Layer("lowest", (1, 16, 4, 4), (4, 16, 3, 3), weights="-128", attributes={"pads": [1, 1, 1, 1]}),
    Layer("dead", (1, 16, 5, 3), (23, 16, 1, 1), weights="dead", x_zero=4),
    Layer("dead_window", (1, 4, 5, 3), (16, 4, 3, 3), weights="dead", attributes={"pads": [1, 1, 1, 1]}),
)
DEPTHWISE = (
    Layer("same", (1, 8, 9, 7), (8, 1, 3, 3), attributes={"pads": [1, 1, 1, 1], "group": 8}),
    Layer("even", (1, 4, 8, 8), (4, 1, 3, 3), x_zero=6, attributes={"pads": [1, 1, 1, 1], "group": 4}),
    Layer("valid", (1, 12, 6, 9), (12, 1, 3, 3), attributes={"group": 12}),
    Layer("stride", (1, 8, 8, 8), (8, 1, 3, 3), attributes={"pads": [0, 0, 1, 1], "strides": [2, 2], "group": 8}),
    Layer("stride_odd", (1, 4, 7, 9), (4, 1, 3, 3), attributes={"pads": [1, 1, 1, 1], "strides": [2, 2], "group": 4}),
    Layer("stride_mixed", (1, 4, 9, 9), (4, 1, 3, 3), attributes={"pads": [1, 1, 1, 1], "strides": [3, 1], "group": 4}),
    Layer("five", (1, 4, 9, 6), (4, 1, 5, 5), x_zero=2, attributes={"pads": [2, 2, 2, 2], "group": 4}),
    Layer("four", (1, 4, 7, 6), (4, 1, 4, 4), attributes={"pads": [1, 2, 2, 1], "group": 4}),
    Layer("two", (1, 4, 5, 6), (4, 1, 2, 2), attributes={"pads": [0, 0, 1, 1], "group": 4}),
    Layer("five_stride", (1, 4, 9, 8), (4, 1, 5, 5), attributes={"pads": [2, 2, 2, 2], "strides": [2, 2], "group": 4}),
    Layer("six", (1, 6, 5, 5), (6, 1, 3, 3), attributes={"pads": [1, 1, 1, 1], "group": 6}),
    Layer("line", (1, 8, 21), (8, 1, 9), attributes={"pads": [4, 4], "group": 8}),
    Layer("global", (1, 8, 3, 3), (8, 1, 3, 3), attributes={"group": 8}),
    Layer("tall", (1, 8, 70, 40), (8, 1, 3, 3), attributes={"pads": [1, 1, 1, 1], "group": 8}),
    Layer("tall_odd", (1, 4, 71, 61), (4, 1, 3, 3), attributes={"pads": [1, 1, 1, 1], "group": 4}),
    Layer("tall_stride", (1, 4, 70, 70), (4, 1, 3, 3),
          attributes={"pads": [0, 0, 1, 1], "strides": [2, 2], "group": 4}),
    Layer("unsigned", (1, 8, 6, 5), (8, 1, 3, 3), unsigned=True, attributes={"pads": [1, 1, 1, 1], "group": 8}),
    Layer("lowest", (1, 4, 6, 5), (4, 1, 3, 3), weights="-128", attributes={"pads": [1, 1, 1, 1], "group": 4}),
)  # fmt: skip
DENSE = (
    Layer("row", (1, 64), (64, 10), x_zero=3, y_zero=4),
    Layer("row_wide", (1, 32), (32, 17)),
    Layer("row_nine", (1, 20), (20, 9)),
    Layer("row_three", (1, 7), (7, 3)),
    Layer("rows", (6, 24), (24, 5), x_zero=-3, y_zero=1),
    Layer("rows_three", (3, 10), (10, 8)),
    Layer("row_unsigned", (1, 16), (16, 16), unsigned=True, x_zero=2, y_zero=3),
    Layer("row_heavy", (1, 640), (640, 16), weights="-127"),
    Layer("row_eight", (1, 8), (8, 128)),
)
DILATED = Layer("line_dilated", (1, 8, 21), (8, 1, 3), attributes={"pads": [4, 0], "dilations": [2], "group": 8})
EXTREMES = ("random", "low", "high")


def test_convolutions_of_every_kind(tmp_path: Path) -> None:
    done = check(CONVS, "qemu_mps2_an386", tmp_path, EXTREMES)
    assert {kernels(done)[layer.name] for layer in CONVS} == {"ConvDsp"}
    text = (tmp_path / "project/src/layers.c").read_text()
    for form in ("4_paired(", "3_paired(", "1_paired(", "2_paired(", "4_wide_limited(", "_sparse("):
        assert f"    tilewright_matrix{form}" in text or form == "_sparse("
    assert "_paired_sparse(xs" in text


def test_depthwise_convolutions_of_every_kind(tmp_path: Path) -> None:
    done = check(DEPTHWISE, "qemu_mps2_an386", tmp_path, EXTREMES)
    assert {kernels(done)[layer.name] for layer in DEPTHWISE} == {"DepthwiseDsp"}


def test_dense_layers_of_every_kind(tmp_path: Path) -> None:
    done = check(DENSE, "qemu_mps2_an386", tmp_path, EXTREMES)
    assert {kernels(done)[layer.name] for layer in DENSE} == {"DenseDsp"}


def test_what_the_pairs_cannot_do_goes_to_the_portable_kernel(tmp_path: Path) -> None:
    done = check([DILATED], "qemu_mps2_an386", tmp_path)
    node = next(node for node in done.bound.nodes if node.call.node.name == "line_dilated")
    refusals = {candidate.kernel.name: candidate.refusal for candidate in node.candidates}
    assert refusals["DepthwiseDsp"] == "no axis has stride 1 or 2 without dilation"
    assert kernels(done)["line_dilated"] == "DepthwiseI8"


@pytest.mark.parametrize("board", ["qemu_mps2_an500", "qemu_mps2_an505"])
def test_other_cores_with_the_extension_compute_the_same(board: str, tmp_path: Path) -> None:
    some = [
        dataclasses.replace(layer, name=f"{kind}_{layer.name}")
        for kind, layers in (("conv", CONVS[::3]), ("depthwise", DEPTHWISE[::4]), ("dense", DENSE[::2]))
        for layer in layers
    ]
    check(some, board, tmp_path, ("random", "low"))


@pytest.mark.parametrize("board", ["qemu_mps2_an385"])
def test_cores_without_the_extension_take_portable_kernels(board: str, tmp_path: Path) -> None:
    done = check(CONVS[:2], board, tmp_path)
    assert "ConvDsp" not in kernels(done).values()
    candidates = [candidate for node in done.bound.nodes for candidate in node.candidates]
    refused = next(candidate for candidate in candidates if candidate.kernel.name == "ConvDsp")
    assert refused.refusal == "the core has no 'dsp' among its capabilities"
