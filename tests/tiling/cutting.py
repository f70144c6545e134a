"""A platform with a small fast memory for tests of the tiler, and works to cut on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from tilewright.layout import Layout
from tilewright.model import Attribute, DType, Node, Quantisation, Shape, Tensor
from tilewright.ops.registry import call_of
from tilewright.ops.relayout import DOMAIN
from tilewright.platform import (
    Call,
    Constant,
    Copy,
    Kernel,
    KiB,
    MemoryLevel,
    Operands,
    Platform,
    Rule,
    TiledKernelMethods,
    TileView,
    adds,
    multiple,
    prefer,
    whole,
)
from tilewright.tiling.hierarchy import Hierarchy, hierarchy
from tilewright.tiling.stages import Work, work_of
from tilewright.tiling.subject import Subject, subject_of

LEVELS = [
    MemoryLevel("l1", size=64 * KiB, align=4),
    MemoryLevel("l2", size=512 * KiB, align=4),
    MemoryLevel("l3", size=8 * 1024 * KiB, align=4, readonly=True),
]
COPIES = [
    Copy("l2", "l1", ranks=2, setup_cycles=60, burst_cycles=4, bytes_per_cycle=8, asynchronous=True),
    Copy("l1", "l2", ranks=2, setup_cycles=60, burst_cycles=4, bytes_per_cycle=8, asynchronous=True),
    Copy("l3", "l2", setup_cycles=200, bytes_per_cycle=1, asynchronous=True),
]
PLATFORM = Platform("tcm", "a cluster for tests", LEVELS, COPIES, "l1", "l3", cores=8)


class Cut(TiledKernelMethods):
    """A kernel whose tiles are looked at and never printed."""

    tile_type = "none"

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        return {}


@PLATFORM.kernel("Conv", types="qi8, qi8, i32? -> qi8", template="none.mako", layout="channels_last")
class ConvI8(Cut):
    """Convolution on eight cores; the cycle formula is an example."""

    def rules(self, call: Call) -> list[Rule]:
        inner = ("ic", *(f"k{axis}" for axis in _axes(call)))
        rules = whole(*inner, why="a sum stays in one register from the first tap to the last")
        if call.integer("group", 1) > 1:
            return [*rules, multiple("g", 4, why="four channels share a word")]
        if call.shape(1)[0] % 4 == 0:
            rules.append(multiple("oc", 4, why="four output channels share one load of the input"))
        first = f"o{_axes(call)[0]}"
        return [*rules, prefer(first, 8, why="eight cores take a row each")]

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        weights = operands.call.constants[1]
        along = ("g", "oc")
        channels = weights.shape[0]
        return (
            Constant("w", DType.I8, np.moveaxis(weights, 1, -1).reshape(-1), along=along),
            Constant("b", DType.I32, np.zeros(channels, np.int32), along=along),
            Constant("m", DType.I32, np.zeros(channels, np.int32), along=along),
        )

    def tile_scratch(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        taps = sizes["ic"]
        for axis in _axes(call):
            taps = taps * sizes[f"k{axis}"]
        return 2 * 8 * taps

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        taps = sizes["ic"]
        for axis in _axes(call):
            taps = taps * sizes[f"k{axis}"]
        rows, columns = (sizes[f"o{axis}"] for axis in _axes(call)[:2])
        channels = sizes["oc"] * sizes["g"]
        return 300 + -(-rows // 8) * (30 + -(-columns // 2) * (taps + -(-channels // 4) * (taps // 4 * 14 + 40)))


def _axes(call: Call) -> tuple[str, ...]:
    return ("h", "w")[2 - (len(call.shape(0)) - 2) :]


@PLATFORM.kernel("Add", "Gelu", "Relu", "Lookup", types="qi8, qi8? -> qi8", template="none.mako", layout="same")
class Pointwise(Cut):
    """Anything element by element."""

    def rules(self, call: Call) -> list[Rule]:
        return []


@PLATFORM.kernel("MatMul", types="qi8, qi8 -> qi8", template="none.mako")
class MatMulI8(Cut):
    """Rows by columns; the second operand is constant and packed by columns, or comes at run time."""

    def rules(self, call: Call) -> list[Rule]:
        return whole("k", why="a sum stays in one register")

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        if 1 not in operands.call.constants:
            return ()
        return (Constant("w", DType.I8, operands.call.constants[1].T.reshape(-1), along=("n",)),)


@PLATFORM.kernel("Descent", types="f32, f32?, f32... -> f32, f32...", template="none.mako")
class TakenBack(Cut):
    """A convolution taken back, whose slopes are sums over rows."""

    def rules(self, call: Call) -> list[Rule]:
        kept = whole("o0", "k0h", "k0w", "iw", why="the gradient is a sum over them")
        return [*kept, *adds("ih", why="slopes are added from rows to rows")]


def kernel(op: str) -> Kernel:
    return next(k for k in PLATFORM.own_kernels() if k.op == op)


CODES = Quantisation((0.05,), (0,))


def tensor(name: str, shape: Shape) -> Tensor:
    return Tensor(name, DType.I8, shape, CODES)


def conv_call(
    channels: int = 16, outputs: int = 32, size: int = 32, taps: int = 3, stride: int = 1, group: int = 1,
    name: str = "conv", x: str = "x", y: str = "y",
) -> Call:  # fmt: skip
    """A quantised convolution that pads to the same size, with random weights."""
    pad = taps // 2
    out = (size + 2 * pad - taps) // stride + 1
    weights = np.random.default_rng(3).integers(-90, 90, (outputs, channels // group, taps, taps)).astype(np.int8)
    node = Node(name, "Conv", (x, f"{name}_w"), (y,), {"pads": (pad,) * 4, "strides": (stride, stride), "group": group})
    inputs = (tensor(x, (1, channels, size, size)), Tensor(f"{name}_w", DType.I8, weights.shape, CODES))
    return call_of(node, inputs, (tensor(y, (1, outputs, out, out)),), {1: weights})


def matmul_call(rows: int, inner: int, columns: int, name: str = "matmul", x: str = "x", y: str = "t") -> Call:
    weights = np.random.default_rng(4).integers(-90, 90, (inner, columns)).astype(np.int8)
    node = Node(name, "MatMul", (x, f"{name}_w"), (y,))
    inputs = (tensor(x, (rows, inner)), Tensor(f"{name}_w", DType.I8, weights.shape, CODES))
    return call_of(node, inputs, (tensor(y, (rows, columns)),), {1: weights})


def descent_call(channels: int, outputs: int, size: int, taps: int = 3, stride: int = 1) -> Call:
    """A convolution of floats that pads to the same size, taken back with a step of its weights."""
    pad = taps // 2
    out = (size + 2 * pad - taps) // stride + 1
    shapes = {"x": (1, channels, size, size), "w": (outputs, channels, taps, taps), "dy": (1, outputs, out, out)}
    x, w, dy = (Tensor(name, DType.F32, shape) for name, shape in shapes.items())
    windows = (1, stride, stride, 1, 1, pad, pad)
    attributes: dict[str, Attribute] = {"windows": windows, "turned": (0,), "rate": -0.5, "decay": 1.0, "masked": 1}
    node = Node("descent", "Descent", ("x", "", "w", "dy", ""), ("dx", "next"), attributes, DOMAIN)
    results = Tensor("dx", DType.F32, x.shape), Tensor("next", DType.F32, w.shape)
    return call_of(node, (x, None, w, dy, None), results, {})


def unary_call(op: str, shape: Shape, name: str = "unary", x: str = "t", y: str = "y") -> Call:
    return call_of(Node(name, op, (x,), (y,)), (tensor(x, shape),), (tensor(y, shape),))


def work(call: Call) -> Work:
    found = kernel(call.node.op)
    kept = found.layout == ("default", "default")
    layouts = {
        t.name: Layout.default(t.shape) if kept else Layout.channels_last(t.shape)
        for t in (*call.inputs, *call.outputs) if t is not None
    }  # fmt: skip
    return work_of(call, found, layouts, found.constants(Operands(call, layouts)))


def levels(compute: int | None = None, home: int | None = None) -> Hierarchy:
    sizes = {"l1": compute, "l2": home}
    changed = [MemoryLevel(n, size=s, align=4) for n, s in sizes.items() if s is not None]
    found = hierarchy(PLATFORM, changed)
    assert found is not None
    return found


def subject(calls: Sequence[Call], compute: int | None = None, **options: Any) -> Subject:
    found = subject_of([work(call) for call in calls], levels(compute), **options)
    assert found is not None
    return found
