"""Convolutions and matrix products with one result a pixel or row: sums over runs of codes where they lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from tilewright.numerics import C_TYPES, ROUNDING, Requantiser, accumulator, proof, requantise
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Needs, Operands, Work
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels import conv_i8, dense_i8
from tilewright.platforms.generic.kernels.blocks import Axis, axis
from tilewright.platforms.generic.kernels.dense_f32 import memory_order
from tilewright.platforms.generic.kernels.overlap import gap_bytes, patch_steps

BOUNDS = "../../generic/kernels/pool_f32.h"
WEIGHTS = "qi8|qu8|qi4|qu4"
PIXELS = 4


@dataclass(frozen=True)
class OneWork(Work):
    """Codes by `step`, runs of them, and pixels."""

    steps: float
    runs: float
    pixels: float


@dataclass(frozen=True)
class OneContext:
    """Every number of one layer. A run has codes of `columns` neighbouring taps; `start` is the sum of no code, `lost`
    whether taps outside of the operand count, which are zero points. `at_once` pixels side by side share weights."""

    x_name: str
    x_type: str
    y_type: str
    cast: str
    h: Axis
    w: Axis
    channels: int
    columns: int
    start: int
    lost: bool
    at_once: int
    requantise: Requantiser


def refused(call: Call, weights: Array) -> str | None:
    """None for one result of each pixel and weights of eight bits."""
    if call.outputs[0].dtype.bits != 8:
        return "the kernel makes codes of eight bits"
    low, high = int(weights.min(initial=0)), int(weights.max(initial=0))
    return None if low >= -128 and high <= 127 else "weights minus their zero point need more than eight bits"


def sides(call: Call) -> tuple[Axis, Axis]:
    """Rows and columns of a convolution; rows of a product are the columns of a picture of one row."""
    if call.node.op == "Conv":
        return conv_i8.spatial_axes(call, conv_i8.strides_of(call))
    depth = call.shape(0)[-1]
    rows = call.tensor(0).elements // depth
    return axis(1, 1, 1, 1, 1, 0, 0), axis(rows, rows, 1, 1, 1, 0, depth)


def channels_of(call: Call) -> int:
    """Codes of a tap."""
    return call.shape(0)[1] if call.node.op == "Conv" else call.shape(0)[-1]


class OneMethods(KernelMethods):
    """What the kernels answer alike; they differ in the sum of a run, and in how many pixels share its weights."""

    _prices: ClassVar[OneWork]
    _step: ClassVar[int]
    _at_once: ClassVar[int]

    def accepts(self, call: Call) -> str | None:
        """One output channel or column, constant weights of eight bits."""
        conv = call.node.op == "Conv"
        if (why := conv_i8.accepts(call) if conv else dense_i8.accepts(call)) is not None:
            return why
        if (call.outputs[0].shape[1] if conv else call.outputs[0].shape[-1]) != 1:
            return "the kernel computes one result of each pixel or row"
        if conv and call.integer("group", 1) != 1:
            return "the kernel handles one group"
        return refused(call, conv_i8.weights_of(call)[0])

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights [kh][kw][channel] in the operand's order, and what taps outside of it add."""
        call = operands.call
        weights = _taps(operands)
        constants: tuple[Constant, ...] = (Constant("w", DType.I8, weights.reshape(-1)),)
        if _lost(call):
            quantisation = call.tensor(0).quantisation
            assert quantisation is not None
            sums = weights.astype(np.int64).sum(axis=-1) * quantisation.zero_point[0]
            constants += (Constant("lost", DType.I32, sums.astype(np.int32).reshape(-1)),)
        return (*constants, *requantise(proof(call)).constants)

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """A pixel is read before its result is written, some together with those behind it."""
        if operands.call.node.op != "Conv":
            return ()
        steps = patch_steps(*sides(operands.call), 1, 1, 1, 1)
        return ((0, 0, gap_bytes(*steps, reads_before_writing=True)),)

    def cost(self, call: Call) -> float:
        """Work at the prices of its kinds."""
        h, w = sides(call)
        pixels, runs = h.out * w.out, h.kernel * (1 if w.dilation == 1 else w.kernel)
        run = channels_of(call) * (w.kernel if w.dilation == 1 else 1)
        return OneWork(pixels * runs * -(-run // self._step), pixels * runs, pixels).priced(self._prices)

    def context(self, operands: Operands) -> OneContext:
        """The numbers of the layer."""
        call = operands.call
        x, y = call.tensor(0), call.outputs[0]
        h, w = sides(call)
        start = int(np.asarray(accumulator(call).start).reshape(-1)[0])
        return OneContext(
            "x" if call.node.op == "Conv" else "a", C_TYPES[x.dtype], C_TYPES[y.dtype],
            "" if x.dtype is DType.I8 else "(const int8_t *)", h, w, channels_of(call),
            w.kernel if w.dilation == 1 else 1, start, _lost(call), self._at_once, requantise(proof(call)),
        )  # fmt: skip


def _lost(call: Call) -> bool:
    x = call.tensor(0)
    assert x.quantisation is not None
    return call.node.op == "Conv" and conv_i8.is_padded(*sides(call)) and x.quantisation.zero_point[0] != 0


def _taps(operands: Operands) -> Array:
    """Weights [taps][channel]."""
    call = operands.call
    if call.node.op == "Conv":
        weights, _ = conv_i8.weights_of(call)
        return np.moveaxis(weights[0].reshape(weights.shape[1], -1), 0, -1)
    weights, _ = dense_i8.matrix(call)
    layout = operands.layout(call.tensor(0))
    return (weights if layout.is_default else weights[memory_order(layout)]).T


@PLATFORM.kernel(
    "Conv", types=f"qi8|qu8, {WEIGHTS}, i32|i64? -> qi8|qu8", template="one_channel.c.mako", layout="channels_last",
    sources=[BOUNDS, *ROUNDING, "dsp.h", "one_dsp.h"], preference=22, requires=Needs(has=("dsp",)),
)  # fmt: skip
class ConvOneDsp(OneMethods):
    """Four pixels side by side share widened weights."""

    _prices, _step, _at_once = OneWork(steps=7.0, runs=6.0, pixels=25.0), 4, PIXELS


@PLATFORM.kernel(
    "Gemm", "MatMul", types=f"qi8|qu8, {WEIGHTS}, i32|i64? -> qi8|qu8", template="one_channel.c.mako",
    layout=("rows", "default"), sources=[BOUNDS, *ROUNDING, "dsp.h", "one_dsp.h"], preference=22,
    requires=Needs(has=("dsp",)),
)  # fmt: skip
class DenseOneDsp(OneMethods):
    """The same for rows of a product."""

    _prices, _step, _at_once = OneWork(steps=7.0, runs=6.0, pixels=25.0), 4, PIXELS


@PLATFORM.kernel(
    "Conv", types=f"qi8, {WEIGHTS}, i32|i64? -> qi8|qu8", template="one_channel.c.mako", layout="channels_last",
    sources=[BOUNDS, *ROUNDING, "mve.h", "one_mve.h"], preference=42, requires=Needs(has=("mve",)),
)  # fmt: skip
class ConvOneMve(OneMethods):
    """Sixteen products in an instruction."""

    _prices, _step, _at_once = OneWork(steps=4.0, runs=10.0, pixels=25.0), 16, 1


@PLATFORM.kernel(
    "Gemm", "MatMul", types=f"qi8, {WEIGHTS}, i32|i64? -> qi8|qu8", template="one_channel.c.mako",
    layout=("rows", "default"), sources=[BOUNDS, *ROUNDING, "mve.h", "one_mve.h"], preference=42,
    requires=Needs(has=("mve",)),
)  # fmt: skip
class DenseOneMve(OneMethods):
    """The same for rows of a product."""

    _prices, _step, _at_once = OneWork(steps=4.0, runs=10.0, pixels=25.0), 16, 1
