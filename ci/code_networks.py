"""The networks on which kernels are measured, and for kernels that none of them has nodes as networks of their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from board_layers import CONVS, DENSE, DEPTHWISE, Network
from make_networks import grow
from row_layers import DEAD, ROWS
from tilewright.codegen.artifacts import Artifacts
from tilewright.conformance.boards import on_board
from tilewright.conformance.graphs import network
from tilewright.conformance.kernels import attempts
from tilewright.errors import TilewrightError
from tilewright.options import CompileOptions
from tilewright.plugins import platform
from tilewright.target import load_target

ROOT = Path(__file__).parents[1]
GROWN = ("ad", "resnet8", "vww")
DRAWN = range(1000, 1200)
"""Seeds of the networks that are drawn; those below 1000 hold the tables to account."""
OPERATORS, EACH = 6, 2
"""Of a kernel so many of its operators are drawn, each so often."""


@dataclass(frozen=True)
class MeasuredNetwork:
    """A network and the options that it is compiled with."""

    file: Path
    options: CompileOptions = field(default_factory=CompileOptions)


ROUNDED_TWICE = CompileOptions(numerics="tflm", allocator="greedy", disabled_passes=frozenset({"row_chains"}))
"""Layers beside one another, whose kernels have functions of their own for two roundings."""


def networks(folder: Path) -> Iterator[MeasuredNetwork]:
    """The networks of tests/models, those in floats that are not committed, and drawn ones, half of them in floats;
    and layers of every shape, each by itself, whose codes are rounded twice.
    """
    for file in sorted((ROOT / "tests" / "models").glob("*/model.onnx")):
        yield MeasuredNetwork(file)
    for name in GROWN:
        file = folder / f"{name}.onnx"
        file.write_bytes(grow(name).SerializeToString())
        yield MeasuredNetwork(file)
    for seed in DRAWN:
        file = folder / f"drawn_{seed}.onnx"
        file.write_bytes(network(seed, quantised=seed % 2 == 0).SerializeToString())
        yield MeasuredNetwork(file)
    for kind, layers in (("conv", (*CONVS, *DEAD)), ("row", ROWS), ("depthwise", DEPTHWISE), ("dense", DENSE)):
        drawn = Network(np.random.default_rng(len(layers)))
        for layer in layers:
            drawn.add(layer)
        yield MeasuredNetwork(drawn.save(folder / f"{kind}.onnx"), ROUNDED_TWICE)


def nodes(board: str, name: str) -> Iterator[Artifacts]:
    """Drawn nodes of a kernel, each as a network of its own; none of a kernel that nobody draws."""
    target = load_target(board)
    chosen = platform(target.platform)
    kernels = on_board(chosen, target)
    relayouts = [kernel for kernel in kernels if kernel.op == "Relayout"]
    mine = [kernel for kernel in kernels if kernel.name.lower() == name and kernel.refusal is None]
    for kernel in mine[:: max(1, len(mine) // OPERATORS)]:
        try:
            drawn = attempts([kernel], chosen, relayouts, 0, EACH)
        except TilewrightError:
            continue
        yield from (one.subject.artifacts for one in drawn if not one.at_the_ends)
