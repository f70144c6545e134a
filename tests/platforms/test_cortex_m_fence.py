"""Kernels with intrinsics and assembly stay inside the bytes that their layers declare."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from board_layers import (
    CONVS,
    DENSE,
    DEPTHWISE,
    ODD_CONVS,
    ODD_DEPTHWISE,
    UNROLLED,
    UNROLLED_DENSE,
    Layer,
    Network,
    fenced,
    kernels,
)
from graphs import node


def named(kind: str, layers: tuple[Layer, ...]) -> list[Layer]:
    return [dataclasses.replace(layer, name=f"{kind}_{layer.name}") for layer in layers]


@pytest.mark.parametrize("board", ["qemu_mps2_an386", "qemu_mps3_an547"])
def test_no_layer_leaves_its_bytes(board: str, tmp_path: Path) -> None:
    depthwise = (*DEPTHWISE[::2], *ODD_DEPTHWISE)
    layers = named("conv", (*CONVS, *ODD_CONVS)) + named("depthwise", depthwise) + named("dense", DENSE)
    fenced(layers, board, tmp_path)


def test_no_vector_of_codes_leaves_its_bytes(tmp_path: Path) -> None:
    network = Network(np.random.default_rng(4), opset=21)
    for kind in (np.int8, np.int16):
        n, scale = kind.__name__, network.constant(f"{kind.__name__}_s", np.float32(0.01))
        zero = network.constant(f"{n}_z", kind(5))
        network.inputs[f"{n}_x"], network.outputs[f"{n}_y"] = ((1, 33), np.float32), kind
        network.nodes.append(node("QuantizeLinear", f"{n}_x {scale} {zero}", f"{n}_y", n))
    done = fenced(network, "qemu_mps3_an547", tmp_path)
    assert set(kernels(done).values()) == {"QuantiseMve"}


def test_no_unrolled_layer_leaves_its_bytes(tmp_path: Path) -> None:
    layers = named("conv", CONVS) + named("unrolled", UNROLLED) + named("dense", UNROLLED_DENSE)
    fenced(layers, "qemu_mps2_an386", tmp_path, optimize="speed", first=("ConvUnrolled",))
