"""Networks bound to the platform of `cutting`, with the portable kernels behind its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tilewright.binding.bind import bind
from tilewright.binding.graph import BoundGraph, BoundNode
from tilewright.frontend.load import load
from tilewright.layout import Layout
from tilewright.model import Model
from tilewright.passes.driver import run
from tilewright.passes.quantise.lower import lower
from tilewright.platform import Call, MemoryLevel
from tilewright.platforms.pulp.memory import LEVELS
from tilewright.plugins import kernels_of, platform
from tiling.cutting import PLATFORM, conv_call, kernel, matmul_call, unary_call


def bound(path: Path) -> BoundGraph:
    """The network's graph on the platform with a small fast memory."""
    model, _ = run(lower(load(path)))
    return bind(model, PLATFORM, (*PLATFORM.own_kernels(), *kernels_of(platform("generic"))))


def on_pulp(path: Path) -> BoundGraph:
    """The network's graph with the kernels of the cluster."""
    cluster = platform("pulp")
    model, _ = run(lower(load(path)))
    return bind(model, cluster, kernels_of(cluster))


def of_l1(size: int) -> list[MemoryLevel]:
    """The cluster's levels with so much L1."""
    return [replace(level, size=size) if level.name == "l1" else level for level in LEVELS]


def sized(l1: int, l2: int = 512 * 1024) -> list[MemoryLevel]:
    """Levels of these sizes."""
    return [MemoryLevel("l1", size=l1, align=4), MemoryLevel("l2", size=l2, align=4)]


def chain_of_convolutions(layers: int) -> BoundGraph:
    """Convolutions that grow deeper as the picture shrinks, every fourth one twice as deep."""
    calls, size, channels = [], 32, 16
    for index in range(layers):
        outputs = min(128, channels * 2) if index % 6 == 5 else channels
        stride = 2 if outputs != channels and size > 4 else 1
        taps = 3 if index % 2 else 1
        calls.append(
            conv_call(channels, outputs, size, taps, stride, name=f"n{index}", x=f"t{index}", y=f"t{index + 1}")
        )
        size, channels = size // stride, outputs
    return graph_of(calls)


def dense_and_gelu(rows: int, inner: int, columns: int) -> BoundGraph:
    """A matrix product with constant weights, and an activation on it."""
    return graph_of([matmul_call(rows, inner, columns), unary_call("Gelu", (rows, columns))])


def graph_of(calls: Sequence[Call]) -> BoundGraph:
    """Calls one after the other, each bound to the test platform's kernel; convolutions have channels last."""
    tensors = {t.name: t for call in calls for t in (*call.inputs, *call.outputs) if t is not None}
    constants = {call.tensor(i).name: v for call in calls for i, v in call.constants.items()}
    first, last = calls[0].tensor(0).name, calls[-1].outputs[0].name
    model = Model("net", tuple(c.node for c in calls), tensors, constants, (first,), (last,), 21)
    layouts = {name: Layout.channels_last(t.shape) for name, t in tensors.items() if name not in constants}
    nodes = tuple(BoundNode(call, kernel(call.node.op)) for call in calls)
    return BoundGraph(model, PLATFORM, nodes, layouts, (last,))
