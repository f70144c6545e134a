"""Kernels with dual multiplies: every shape, stride, padding and remainder, bit for bit on simulated cores."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import pytest
from board_draws import drawn_apart
from board_layers import (
    CONVS,
    DENSE,
    DEPTHWISE,
    DILATED,
    EXTREMES,
    UNROLLED,
    UNROLLED_BEHIND,
    UNROLLED_DENSE,
    WINOGRAD,
    Layer,
    check,
    check_network,
    kernels,
    means,
    sums,
)
from grouped_layers import GROUPED, GROUPS_OVER_OPERAND
from row_layers import DEAD, NO_ROWS, ROWS
from tilewright.model import Numerics

FOLDED = Layer("line_folded", (1, 8, 24), (8, 1, 3), attributes={"pads": [6, 0], "dilations": [3], "group": 8})
PADDED = Layer("line_padded", (1, 8, 24), (8, 1, 3), attributes={"pads": [1, 5], "dilations": [3], "group": 8})
"""A dilated line that is one of rows, and one whose padding is no whole row."""
STRIDED = Layer(
    "strided_dilated", (1, 8, 9, 9), (8, 1, 3, 3), attributes={"strides": [2, 2], "dilations": [2, 2], "group": 8}
)
HALVED = Layer("halved", (1, 1, 21, 20), (80, 1, 3, 5), attributes={"strides": [2, 2], "pads": [0, 1, 1, 2]})
TINY_GROUPS = Layer("tiny_groups", (1, 8, 5, 5), (8, 2, 3, 3), attributes={"pads": [1, 1, 1, 1], "group": 4})
ODD_GROUPS = Layer("odd_groups", (1, 16, 5, 5), (12, 4, 3, 3), attributes={"pads": [1, 1, 1, 1], "group": 4})
SIGNED = Layer("signed", (1, 8, 24, 24), (8, 1, 3, 3), y_zero=5, spread=120.0, attributes={"group": 8})
"""Codes on both sides of the zero point."""
TIES = Layer("ties", (1, 8, 30, 30), (6, 8, 1, 1), x_zero=3, y_zero=5, spread=120.0)
"""So many codes below the zero point that some lie half-way behind the first rounding."""


def test_convolutions_of_every_kind(tmp_path: Path) -> None:
    done = check([*CONVS, *GROUPED], "qemu_mps2_an386", tmp_path, EXTREMES, first=("ConvDsp",))
    assert {kernels(done)[layer.name] for layer in (*CONVS, *GROUPED)} == {"ConvDsp"}
    text = (tmp_path / "project/src/layers.c").read_text()
    for form in ("4_paired(", "3_paired(", "1_paired(", "2_paired(", "4_wide_limited(", "_sparse("):
        assert f"    tilewright_matrix{form}" in text or form == "_sparse("
    assert "_paired_sparse(xs" in text


def test_blocks_that_all_touch_a_border_leave_out_what_the_others_need(tmp_path: Path) -> None:
    attributes = {"pads": [1, 1, 1, 1]}
    layers = [
        Layer("all_at_a_border", (1, 8, 8, 8), (8, 8, 3, 3), attributes=attributes),
        Layer("some_inside", (1, 8, 8, 12), (8, 8, 3, 3), attributes=attributes),
    ]
    check(layers, "qemu_mps2_an386", tmp_path, EXTREMES, first=("ConvDsp",))
    text = (tmp_path / "project/src/layers.c").read_text()
    assert text.count("if (inside != 0)") == 1


@pytest.mark.parametrize("numerics", ["exact", "tflm"])
def test_one_pixel_is_a_row_of_a_product(numerics: Numerics, tmp_path: Path) -> None:
    layers = [*ROWS, *(layer for layer, _ in NO_ROWS)]
    done = check(layers, "qemu_mps2_an386", tmp_path, EXTREMES, first=("ConvRowDsp",), numerics=numerics)
    rows = [bound for bound in done.bound.nodes if bound.kernel is not None and bound.kernel.name == "ConvRowDsp"]
    assert {bound.call.node.name for bound in rows} == {layer.name for layer in ROWS}
    assert not any(bound.kernel.scratch(done.bound.operands(bound)) for bound in rows if bound.kernel is not None)
    refusals = {
        node.call.node.name: candidate.refusal
        for node in done.bound.nodes
        for candidate in node.candidates
        if candidate.kernel.name == "ConvRowDsp"
    }
    assert {layer.name: refusals[layer.name] for layer, _ in NO_ROWS} == {layer.name: why for layer, why in NO_ROWS}


def test_groups_whose_results_lie_over_their_operand(tmp_path: Path) -> None:
    done = check([GROUPS_OVER_OPERAND], "qemu_mps2_an386", tmp_path)
    assert kernels(done)["over"] == "ConvDsp"


def test_winograd_convolutions_are_the_direct_ones(tmp_path: Path) -> None:
    done = check(WINOGRAD, "qemu_mps2_an386", tmp_path, EXTREMES, optimize="speed", first=("WinogradDsp",))
    assert {kernels(done)[layer.name] for layer in WINOGRAD if not layer.unsigned} == {"WinogradDsp"}
    refused = next(c for n in done.bound.nodes for c in n.candidates if c.kernel.name == "WinogradDsp")
    assert refused.kernel.on_core(["dsp"], ["size"]).refusal == "it is offered with --optimize speed only"


def test_convolutions_unrolled_for_their_layer(tmp_path: Path) -> None:
    layers = [*UNROLLED, *CONVS]
    done = check(layers, "qemu_mps2_an386", tmp_path, EXTREMES, optimize="speed", first=("ConvUnrolled",))
    refused = {
        node.call.node.name: candidate.refusal
        for node in done.bound.nodes
        for candidate in node.candidates
        if candidate.kernel.name == "ConvUnrolled" and candidate.refusal
    }
    assert refused == {"point_one": "the kernel computes two pixels at once"}
    assert {kernels(done)[layer.name] for layer in layers} == {"ConvUnrolled", "ConvDsp"}
    text = (tmp_path / "project/src/layers.c").read_text()
    for form in ("4_wide(", "4_paired(", "3_wide(", "2_wide(", "4_wide_unsigned(", "4(", "4_unsigned("):
        assert f"tilewright_pairs{form}" in text or f"tilewright_one{form}" in text, form


def test_depthwise_convolutions_of_every_kind(tmp_path: Path) -> None:
    layers = [*DEPTHWISE, FOLDED]
    done = check(layers, "qemu_mps2_an386", tmp_path, EXTREMES, first=("DepthwiseDsp",), optimize="speed")
    assert {kernels(done)[layer.name] for layer in layers} == {"DepthwiseDsp"}


@pytest.mark.parametrize(
    ("layers", "kernel", "forms"),
    [
        ((*CONVS, *DEAD, TIES), "ConvDsp", ("matrix4_paired_twice(", "matrix3_paired_twice(", "matrix2_paired_twice(",
                            "matrix1_paired_twice(", "matrix4_wide_twice_limited(", "_paired_sparse_twice(")),
        (DENSE, "DenseDsp", ("row_paired_uniform_twice(", "matrix1_paired_uniform_twice(")),
        ((*DEPTHWISE, FOLDED, SIGNED), "DepthwiseDsp", ("twice(sum0", "scale_rounded(sum0")),
    ],
)  # fmt: skip
def test_two_roundings_in_every_form(
    layers: Sequence[Layer], kernel: str, forms: Sequence[str], tmp_path: Path
) -> None:
    done = check(layers, "qemu_mps2_an386", tmp_path, EXTREMES, first=(kernel,), numerics="tflm", optimize="speed")
    assert {kernels(done)[layer.name] for layer in layers} == {kernel}
    text = (tmp_path / "project/src/layers.c").read_text()
    text = text[text.index("static void ") :]  # behind the functions of all forms
    assert [form for form in forms if form not in text] == []


def test_dense_layers_of_every_kind(tmp_path: Path) -> None:
    done = check(DENSE, "qemu_mps2_an386", tmp_path, EXTREMES)
    assert {kernels(done)[layer.name] for layer in DENSE} == {"DenseDsp"}


def test_small_rows_unrolled_for_their_layer(tmp_path: Path) -> None:
    done = check([*UNROLLED_DENSE, *DENSE], "qemu_mps2_an386", tmp_path, EXTREMES, optimize="speed")
    assert {kernels(done)[layer.name] for layer in UNROLLED_DENSE} == {"DenseUnrolled"}
    assert {kernels(done)[name] for name in ("row", "row_three", "row_eight")} == {"DenseUnrolled"}
    assert {kernels(done)[name] for name in ("rows", "rows_three", "row_heavy")} == {"DenseDsp"}


def test_sums_of_codes(tmp_path: Path) -> None:
    done = check_network(sums(), "qemu_mps2_an386", tmp_path, EXTREMES)
    assert "PairDsp" in kernels(done).values()


def test_means_of_whole_maps(tmp_path: Path) -> None:
    taken = kernels(check_network(means(), "qemu_mps2_an386", tmp_path, EXTREMES))
    assert [taken[name] for name in ("global", "window", "large")] == ["MeanDsp"] * 3
    assert taken["odd"] == "MeanCodes"


@pytest.mark.parametrize("numerics", ["exact", "tflm"])
def test_dilated_windows_and_several_results_of_a_channel(numerics: Numerics, tmp_path: Path) -> None:
    layers = [DILATED, PADDED, HALVED, *drawn_apart(3)]
    done = check(layers, "qemu_mps2_an386", tmp_path, EXTREMES, first=("DepthwiseDsp",), numerics=numerics)
    taken = kernels(done)
    assert {taken[layer.name] for layer in layers if layer.x[1] > 1} == {"DepthwiseDsp"}
    assert sum(taken[layer.name] == "DepthwiseDsp" for layer in layers if layer.x[1] == 1) > 2


def test_what_the_pairs_cannot_do_goes_to_the_portable_kernel(tmp_path: Path) -> None:
    layers = (TINY_GROUPS, ODD_GROUPS, STRIDED)
    done = check(layers, "qemu_mps2_an386", tmp_path)
    refusals = {
        (node.call.node.name, candidate.kernel.name): candidate.refusal
        for node in done.bound.nodes
        for candidate in node.candidates
    }
    assert refusals["strided_dilated", "DepthwiseDsp"] == "no axis has stride 1 with a small dilation, or 2 without"
    tiny, odd = refusals["tiny_groups", "ConvDsp"], refusals["odd_groups", "ConvDsp"]
    assert tiny == "groups are so small that copying their inputs costs more than their products"
    assert odd == "a group has 3 output channels, the kernel computes two at once"
    assert {kernels(done)[layer.name] for layer in layers} <= {"DepthwiseFours", "ConvI8", "ConvDotI8"}


@pytest.mark.parametrize("board", ["qemu_mps2_an500", "qemu_mps2_an505"])
def test_other_cores_with_the_extension_compute_the_same(board: str, tmp_path: Path) -> None:
    some = [
        dataclasses.replace(layer, name=f"{kind}_{layer.name}")
        for kind, layers in (("conv", CONVS[::3]), ("depthwise", DEPTHWISE[::4]), ("dense", DENSE[::2]))
        for layer in layers
    ]
    check(some, board, tmp_path, ("random", "low"))


@pytest.mark.parametrize("board", ["qemu_mps2_an500", "qemu_mps2_an505"])
def test_other_cores_compute_the_unrolled_layers_alike(board: str, tmp_path: Path) -> None:
    check([*UNROLLED, *UNROLLED_DENSE], board, tmp_path, ("random", "low"), optimize="speed", first=("ConvUnrolled",))


@pytest.mark.parametrize("board", ["qemu_mps2_an385"])
def test_cores_without_the_extension_take_portable_kernels(board: str, tmp_path: Path) -> None:
    done = check(CONVS[:2], board, tmp_path)
    assert "ConvDsp" not in kernels(done).values()
    candidates = [candidate for node in done.bound.nodes for candidate in node.candidates]
    refused = next(candidate for candidate in candidates if candidate.kernel.name == "ConvDsp")
    assert refused.refusal == "the core has no 'dsp' among its capabilities"


def test_a_row_whose_result_lies_behind_it(tmp_path: Path) -> None:
    done = check([UNROLLED_BEHIND], "qemu_mps2_an386", tmp_path, optimize="speed")
    assert kernels(done)["behind"] == "DenseUnrolled"
