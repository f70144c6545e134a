"""Integer depthwise convolution on cores with vectors: three pixels times thirty-two channels at once, or six times
sixteen.

Weights lie [kh][kw][channel]. A tap loads and widens the weights of the channels once for all pixels of a block; taps
that padding leaves out are zero points times weights. 3x3 takes 0.25 instructions a product of 64 channels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.numerics import C_TYPES, ROUNDING, MultiplyHigh, Requantiser, accumulator, proof, requantise
from tilewright.platform import Call, Constant, DType, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels import conv_i8, depthwise_i8
from tilewright.platforms.generic.kernels.blocks import Axis
from tilewright.platforms.riscv.kernels.conv_i8 import square
from tilewright.platforms.riscv.kernels.rvv_asm import VectorBlock, code_operands
from tilewright.platforms.riscv.kernels.vector_i8 import lanes_of, rows_at_once
from tilewright.platforms.riscv.platform import PLATFORM

WEIGHTS, INPUTS = "v4", "v0"


@dataclass(frozen=True)
class Pixels:
    """The statements of blocks of so many pixels: starts of the sums, taps of one row, taps that are missing, codes."""

    count: int
    start: tuple[str, ...]
    taps: tuple[str, ...]
    missing: tuple[str, ...]
    codes: tuple[str, ...]


@dataclass(frozen=True)
class DepthwiseVectorContext:
    """Every number of one convolution; `pixels` are blocks of several, where a row has such, and of one."""

    x_type: str
    w_type: str
    y_type: str
    x_bytes: int
    w_bytes: int
    y_bytes: int
    h: Axis
    w: Axis
    channels: int
    lanes: int
    pixels: tuple[Pixels, ...]
    padded: bool
    zero: int
    requantise: Requantiser
    operands: tuple[tuple[str, str], ...]


def _narrow(block: VectorBlock) -> str:
    """The upper part of the registers that inputs are widened to."""
    return f"v{block.group // 2 - block.group // 4}"


def _tap(block: VectorBlock, w_type: DType) -> list[str]:
    """The weights of one tap in sixteen bits, and on to those of the next."""
    if w_type is DType.I16:
        return [f"vle16.v {WEIGHTS}, (%[w])", "add %[w], %[w], %[w_step]"]
    return [f"vle8.v {INPUTS}, (%[w])", "add %[w], %[w], %[w_step]", f"vsext.vf2 {WEIGHTS}, {INPUTS}"]


def pixels_of(block: VectorBlock, w_type: DType, form: Requantiser, y_type: DType) -> Pixels:
    """The statements of blocks of `block.rows` pixels."""
    rows, x_type = range(block.rows), block.x_type
    sums = [block.sums(row) for row in rows]
    start = [f"vsetvli zero, %[width], e32, m{block.group}, ta, ma", f"vle32.v {sums[0]}, (%[b])"]
    start += [f"vmv.v.v {total}, {sums[0]}" for total in sums[1:]]
    start += [f"vsetvli zero, %[width], e16, m{block.group // 2}, ta, ma"]
    taps = ["1:", *_tap(block, w_type)]
    multiply = "vwmaccsu.vv" if x_type is DType.U16 else "vwmacc.vv"  # of weights, then of inputs
    for row, total in zip(rows, sums, strict=True):
        if x_type.bits == 16:
            taps.append(f"vle16.v {INPUTS}, (%[x{row}])")
        else:
            narrow = _narrow(block)
            taps += [f"vle8.v {narrow}, (%[x{row}])",
                     f"v{'z' if x_type is DType.U8 else 's'}ext.vf2 {INPUTS}, {narrow}"]  # fmt: skip
        taps += [f"add %[x{row}], %[x{row}], %[x_step]", f"{multiply} {total}, {WEIGHTS}, {INPUTS}"]
    taps += ["addi %[taps], %[taps], -1", "bnez %[taps], 1b"]
    padding = "vwmaccus.vx" if x_type is DType.U16 else "vwmacc.vx"
    missing = ["1:", *_tap(block, w_type), *(f"{padding} {total}, %[zero], {WEIGHTS}" for total in sums)]
    missing += ["addi %[taps], %[taps], -1", "bnez %[taps], 1b"]
    codes = block.codes(form, y_type) if isinstance(form, MultiplyHigh) else block.kept()
    return Pixels(block.rows, tuple(start), tuple(taps), tuple(missing), codes)


@PLATFORM.kernel(
    "Conv", types=conv_i8.TYPES, template="depthwise_vector.c.mako", layout="channels_last", sources=[*ROUNDING],
    preference=50, requires=Needs(has=("rvv",)),
)  # fmt: skip
class DepthwiseVectorI8(KernelMethods):
    """Integer depthwise convolution in vectors of channels."""

    def accepts(self, call: Call) -> str | None:
        """As many groups as input and output channels."""
        return depthwise_i8.accepts(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights with the channel innermost, folded starts, requantisation."""
        call = operands.call
        weights, dtype = square(call)
        packed = np.ascontiguousarray(weights[:, 0].transpose(1, 2, 0)).reshape(-1)
        start = np.asarray(accumulator(call).start, np.int32)
        requantisation = requantise(proof(call), DType.I32).constants
        return (Constant("w", dtype, packed), Constant("b", DType.I32, start), *requantisation)

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """Rows are written after all that later ones read."""
        return depthwise_i8.depthwise_overlap(operands)

    def cost(self, call: Call) -> float:
        """Five instructions for a tap of a vector of channels of one pixel, twenty for its codes."""
        h, w = conv_i8.spatial_axes(call, conv_i8.strides_of(call))
        channels = call.shape(0)[1]
        vectors = -(-channels // lanes_of(channels))
        return h.out * w.out * vectors * (5.5 * h.kernel * w.kernel + 20.0)

    def context(self, operands: Operands) -> DepthwiseVectorContext:
        """The statements of both kinds of blocks."""
        call = operands.call
        x, y = call.tensor(0), call.outputs[0]
        assert x.quantisation is not None
        _, dtype = square(call)
        h, w = conv_i8.spatial_axes(call, conv_i8.strides_of(call))
        channels, form = x.shape[1], requantise(proof(call), DType.I32)
        lanes, inner = lanes_of(channels), w.inner_last - w.inner_first
        counts = sorted({rows_at_once(inner, lanes) if inner else 1, 1}, reverse=True)
        blocks = [VectorBlock(count, lanes, 1, x.dtype, dtype) for count in counts]
        return DepthwiseVectorContext(
            x_type=C_TYPES[x.dtype], w_type=C_TYPES[dtype], y_type=C_TYPES[y.dtype], x_bytes=x.dtype.bits // 8,
            w_bytes=dtype.bits // 8, y_bytes=y.dtype.bits // 8, h=h, w=w, channels=channels, lanes=lanes,
            pixels=tuple(pixels_of(block, dtype, form, y.dtype) for block in blocks),
            padded=conv_i8.is_padded(h, w), zero=x.quantisation.zero_point[0], requantise=form,
            operands=code_operands(form, y.dtype) if isinstance(form, MultiplyHigh) else (),
        )  # fmt: skip
