"""Matrix products of two operands of the run time: in every form of every board, bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from board_layers import Network, check_network, kernels
from onnx import helper

SHAPES = {
    "batches": ((2, 3, 9, 7), (2, 3, 7, 21)),
    "one_for_all": ((2, 5, 32), (32, 6)),
    "rows_of_one": ((3, 1, 20), (3, 20, 40)),
    "column": ((4, 35), (35, 1)),
    "pair": ((3, 2, 16), (3, 16, 2)),
    "bytes": ((6, 33), (33, 18)),
    "ties": ((5, 64), (64, 9)),
    "three": ((2, 5, 6), (2, 6, 3)),
    "eleven": ((2, 11, 10), (2, 10, 11)),
    "few_bytes": ((6, 5), (5, 18)),
    "few_ties": ((5, 8), (8, 9)),
    "sixteen_of_eight": ((2, 16, 8), (2, 8, 16)),
    "vector_bytes": ((3, 16), (16, 15)),
    "three_bytes": ((4, 7), (7, 3)),
    "short_column": ((4, 3), (3, 1)),
}
TURNED = {
    "heads": ((5, 3, 8), (1, 0, 2), (6, 3, 8), (1, 2, 0)),
    "odd_keys": ((5, 3, 6), (1, 0, 2), (7, 3, 6), (1, 2, 0)),
    "odd_heads": ((5, 3, 7), (1, 0, 2), (6, 3, 7), (1, 2, 0)),
    "inner": ((8, 4, 3), (2, 1, 0), (2, 8, 3), (2, 1, 0)),
    "apart": ((5, 3, 8), (1, 0, 2), (8, 6), (0, 1)),
    "outer": ((2, 7, 9), (0, 2, 1), (2, 7, 6), (0, 1, 2)),
    "outer_of_one": ((1, 5), (1, 0), (1, 8), (0, 1)),
    "row_of_columns": ((5, 2, 1), (1, 2, 0), (2, 11, 5), (0, 2, 1)),
    "turned_column": ((2, 4, 7), (0, 2, 1), (2, 4, 1), (0, 1, 2)),
}
"""Shapes as they come, and the orders of axes in which the operands are shown."""


def products(real: bool = False) -> Network:
    """Products of codes or floats that lie as they come, and those whose operands a Transpose shows."""
    network = Network(np.random.default_rng(11))
    for name, (left, right) in SHAPES.items():
        _inputs(network, name, left, right, real)
        _product(network, name, right[-2], f"{name}_a", f"{name}_b")
    for name, (left, turn, right, other) in TURNED.items():
        _inputs(network, name, left, right, real)
        for letter, perm in (("a", turn), ("b", other)):
            network.nodes.append(helper.make_node("Transpose", [f"{name}_{letter}"], [f"{name}_{letter}t"], perm=perm))
        _product(network, name, right[other[-2]], f"{name}_at", f"{name}_bt")
    return network


def _inputs(network: Network, name: str, left: tuple[int, ...], right: tuple[int, ...], real: bool) -> None:
    kind = np.float32 if real else np.uint8 if name.endswith("bytes") else np.int8
    network.inputs[f"{name}_a"], network.inputs[f"{name}_b"] = (left, kind), (right, kind)
    network.outputs[f"{name}_y"] = kind


def _product(network: Network, name: str, depth: int, left: str, right: str) -> None:
    """One MatMul or QLinearMatMul; the scales of `ties` give results that lie between two codes."""
    kind = network.outputs[f"{name}_y"]
    if kind is np.float32:
        network.nodes.append(helper.make_node("MatMul", [left, right], [f"{name}_y"], name))
        return
    scale = 2.0**6 if name.endswith("ties") else 73.0 * 73.0 * float(np.sqrt(depth)) / 60.0
    zeros = {"rows_of_one": (-128, 0), "ties": (5, 0), "few_ties": (5, 0)}.get(name, (3, -7))
    offset = 128 if kind is np.uint8 else 0
    operands = []
    for source, letter, zero in ((left, "a", zeros[0]), (right, "b", zeros[1])):
        operands += [
            source, network.constant(f"{name}_{letter}s", np.float32(1.0)),
            network.constant(f"{name}_{letter}z", kind(zero + offset)),
        ]  # fmt: skip
    operands += [network.constant(f"{name}_ys", np.float32(scale)), network.constant(f"{name}_yz", kind(-9 + offset))]
    network.nodes.append(helper.make_node("QLinearMatMul", operands, [f"{name}_y"], name))


@pytest.mark.parametrize(
    ("board", "kernel"),
    [
        ("qemu_mps2_an386", "ProductDsp"),
        ("qemu_mps3_an547", "ProductMve"),
        ("qemu_rv32imc", "ProductBlockI8"),
    ],
)
def test_products_of_codes(board: str, kernel: str, tmp_path: Path) -> None:
    done = check_network(products(), board, tmp_path, ("random", "low"), "speed", (kernel,))
    taken = kernels(done)
    assert {taken[name] for name in (*SHAPES, *TURNED)} == {kernel}


def test_columns_farther_apart_than_offsets_of_sixteen_bits_reach(tmp_path: Path) -> None:
    network = Network(np.random.default_rng(12))
    _inputs(network, "far", (2, 1, 4700), (8, 4700, 2), False)
    network.nodes.append(helper.make_node("Transpose", ["far_b"], ["far_bt"], perm=[2, 1, 0]))
    _product(network, "far", 4700, "far_a", "far_bt")
    taken = kernels(check_network(network, "qemu_mps3_an547", tmp_path, first=("ProductMve",)))
    assert taken == {"far": "ProductMve"}


def test_products_of_codes_in_vectors_of_columns(tmp_path: Path) -> None:
    taken = kernels(check_network(products(), "qemu_rv32gcv", tmp_path, ("random", "low")))
    others = {name for name in (*SHAPES, *TURNED) if taken[name] != "ProductVectorI8"}
    assert others == {
        "ties",
        "few_ties",
        "column",
        "short_column",
        "turned_column",
    }  # codes in 64 bits, and lanes that stay empty
    assert {taken[name] for name in others} == {"ProductBlockI8"}


WINDOWS: dict[str, tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
    "same": ((1, 3, 7, 6), (5, 3, 3, 2), {"pads": [1, 1, 1, 1]}),
    "apart": ((2, 2, 8, 9), (4, 2, 2, 3), {"pads": [1, 2, 2, 3], "dilations": [2, 2]}),
    "halved": ((1, 5, 9, 5), (3, 5, 3, 3), {"pads": [0, 1, 1, 2], "strides": [2, 2]}),
}


@pytest.mark.parametrize(
    ("board", "kernel"), [("qemu_mps2_an386", "IntegerConvDsp"), ("qemu_mps3_an547", "IntegerConvMve")]
)
def test_windows_of_plain_bytes(board: str, kernel: str, tmp_path: Path) -> None:
    network = Network(np.random.default_rng(13))
    for name, (image, weights, attributes) in WINDOWS.items():
        network.inputs |= {f"{name}_x": (image, np.uint8), f"{name}_w": (weights, np.uint8)}
        network.outputs[f"{name}_y"] = np.int32
        operands = [f"{name}_x", f"{name}_w"]
        network.nodes.append(helper.make_node("ConvInteger", operands, [f"{name}_y"], name, **attributes))
    taken = kernels(check_network(network, board, tmp_path, first=(kernel,)))
    assert {taken[name] for name in WINDOWS} <= {kernel, "IntegerConvDsp"}
    assert kernel in taken.values()


def test_products_of_floats(tmp_path: Path) -> None:
    done = check_network(products(real=True), "qemu_mps2_an386", tmp_path)
    taken = kernels(done)
    assert {taken[name] for name in (*SHAPES, *TURNED)} == {"ProductFpu"}
