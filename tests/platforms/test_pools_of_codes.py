"""Pools of codes over borders, by plain C on this machine and by vectors on a core, equal to their meaning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from board_layers import Network, check_network, kernels
from drawn_pools import drawn_pools
from graphs import node
from ops.building import call
from tilewright.plugins import kernels_of, platform

LAYERS = 12


def coded_pools(seed: int, bits: int) -> Network:
    """Drawn pools of signed and unsigned codes, whose zero point is what padding holds; a mean has another scale. The
    last two are means whose sums of codes of eight bits leave sixteen."""
    network = Network(np.random.default_rng(seed), opset=21)
    kinds = (np.int8, np.uint8) if bits == 8 else (np.int16, np.uint16)
    wide = ("AveragePool", (1, 2, 17, 17), {"kernel_shape": (17, 17)})
    for number, (op, shape, attributes) in enumerate([*drawn_pools(seed)[:LAYERS], wide, wide]):
        n, kind = f"pool{number}", kinds[number % 2]
        zero = kind(3) if number % 3 else kind(np.iinfo(kind).min)
        channels = 4 * shape[1] + 15 if number % 4 else shape[1]
        network.inputs[f"{n}_x"] = ((shape[0], channels, *shape[2:]), kind)
        scale, other = (network.constant(f"{n}_s{i}", np.float32(s)) for i, s in enumerate((0.03, 0.021)))
        place = network.constant(f"{n}_z", zero)
        made = scale if op == "MaxPool" else other
        network.nodes += [
            node("DequantizeLinear", f"{n}_x {scale} {place}", f"{n}_r"),
            node(op, f"{n}_r", f"{n}_p", n, **attributes),
            node("QuantizeLinear", f"{n}_p {made} {place}", f"{n}_y"),
        ]
        network.outputs[f"{n}_y"] = kind
    return network


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize(
    ("board", "kernel", "least"),
    [("host", "PoolI8", 9), ("qemu_rv32gcv", "PoolVectorI8", 5), ("qemu_mps3_an547", "PoolMve", 5)],
    ids=["c", "vectors", "helium"],
)
def test_drawn_pools_equal_their_meaning(board: str, kernel: str, least: int, bits: int, tmp_path: Path) -> None:
    taken = kernels(check_network(coded_pools(4, bits), board, tmp_path, ("random", "high", "low")))
    assert sum(name == kernel for name in taken.values()) >= least, taken


def refusal(op: str, shape: tuple[int, ...], **attributes: Any) -> str:
    """Why the kernel does not take it."""
    kernel = next(k for k in kernels_of(platform("generic")) if k.name == "PoolI8")
    return str(kernel.methods.accepts(call(op, shape, **attributes)))


def test_pools_that_the_loops_take() -> None:
    assert "places of the largest" in refusal("MaxPool", (1, 2, 6, 6), kernel_shape=(2, 2), outputs=2)
    assert "3 spatial axes" in refusal("AveragePool", (1, 2, 6, 6, 6), kernel_shape=(2, 2, 2))
    assert "padding only" in refusal("MaxPool", (1, 1, 1), kernel_shape=(2,), dilations=(2,), pads=(1, 1))
