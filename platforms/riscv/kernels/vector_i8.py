"""Integer convolution and matrix products on cores with vectors: four pixels times sixteen channels at once.

Weights lie [block][kh][kw][ic][16]. A step loads sixteen weights, widens them and multiplies them with one code of each
pixel: fifteen instructions for sixty-four multiply-accumulates. Vectors of 128 bits or more are enough.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.numerics import C_TYPES, ROUNDING, Requantiser, accumulator, proof, requantise
from tilewright.platform import Call, Constant, DType, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels import conv_i8, dense_i8
from tilewright.platforms.generic.kernels.blocks import (
    Axis,
    Block,
    Groups,
    axis,
    channel_blocks,
    groups_of,
    pack_weights,
)
from tilewright.platforms.generic.kernels.overlap import gap_bytes, patch_steps
from tilewright.platforms.riscv.kernels.conv_i8 import square
from tilewright.platforms.riscv.platform import PLATFORM

LANES = 16
PIXELS = 4
TYPES = "qi8|qu8, qi8|qu8|qi4|qu4, i32|i64? -> qi8|qu8|qi16|qu16"


@dataclass(frozen=True)
class VectorContext:
    """Every number of one product; without `gather` the rows lie `x_stride` apart in the operand."""

    x_name: str
    bias_name: str
    x_type: str
    w_type: str
    y_type: str
    products: str
    h: Axis
    w: Axis
    groups: Groups
    depth: int
    results: int
    pixels: int
    x_stride: int
    blocks: tuple[Block, ...]
    padded: bool
    gather: bool
    zero: int
    requantise: Requantiser


def eight_bits(dtype: DType) -> str | None:
    """None, or why the weights do not fit the vectors."""
    return None if dtype is DType.I8 else "the weights minus their zero point need more than eight bits"


@PLATFORM.kernel(
    "Conv", types=TYPES, template="vector_i8.c.mako", layout="channels_last", sources=["rvv_i8.h", *ROUNDING],
    preference=34, requires=Needs(has=("rvv",)),
)  # fmt: skip
class ConvVectorI8(KernelMethods):
    """Integer convolution in vectors of output channels over the gathered windows of four pixels."""

    def accepts(self, call: Call) -> str | None:
        """Output channels that fill half a vector at least."""
        if (refused := conv_i8.accepts(call)) is not None:
            return refused
        if call.outputs[0].shape[1] // call.integer("group", 1) < LANES // 2:
            return f"a group has fewer than {LANES // 2} output channels, vectors would stay empty"
        return eight_bits(square(call)[1])

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights in blocks of sixteen channels, folded starts, requantisation."""
        call = operands.call
        weights, dtype = square(call)
        groups = call.integer("group", 1)
        per_group = weights.shape[0] // groups
        parts = [pack_weights(weights[g * per_group : (g + 1) * per_group], LANES) for g in range(groups)]
        requantisation = requantise(proof(call)).constants
        start = np.asarray(accumulator(call).start, np.int32)
        return (Constant("w", dtype, np.concatenate(parts)), Constant("b", DType.I32, start), *requantisation)

    def scratch(self, operands: Operands) -> int:
        """The windows of four pixels, where they do not lie side by side."""
        made = self.context(operands)
        return made.pixels * made.depth if made.gather else 0

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """Blocks of pixels are written after all that they and later ones read."""
        made = self.context(operands)
        if made.groups.count != 1:
            return ()
        y_bytes = operands.call.outputs[0].dtype.bits // 8
        steps = patch_steps(made.h, made.w, made.pixels, made.groups.results, 1, y_bytes)
        return ((0, 0, gap_bytes(*steps, reads_before_writing=made.gather)),)

    def context(self, operands: Operands) -> VectorContext:
        """The numbers of the windows."""
        call = operands.call
        x, y = call.tensor(0), call.outputs[0]
        assert x.quantisation is not None
        _, dtype = square(call)
        h, w = conv_i8.spatial_axes(call, conv_i8.strides_of(call))
        groups = groups_of(call)
        depth = groups.weights // groups.results
        return VectorContext(
            x_name="x", bias_name="b", x_type=C_TYPES[x.dtype], w_type=C_TYPES[dtype], y_type=C_TYPES[y.dtype],
            products=products(x.dtype), h=h, w=w, groups=groups, depth=depth, results=h.out * w.out,
            pixels=min(PIXELS, h.out * w.out), x_stride=w.stride * w.x_stride,
            blocks=channel_blocks(groups.results, depth, min(LANES, groups.results)),
            padded=conv_i8.is_padded(h, w), gather=not conv_i8.is_pointwise(h, w),
            zero=x.quantisation.zero_point[0], requantise=requantise(proof(call)),
        )  # fmt: skip


@PLATFORM.kernel(
    "Gemm", "MatMul", types=TYPES, template="vector_i8.c.mako", layout=("rows", "default"),
    sources=["rvv_i8.h", *ROUNDING], preference=34, requires=Needs(has=("rvv",)),
)  # fmt: skip
class DenseVectorI8(KernelMethods):
    """Integer matrix product in vectors of columns."""

    def accepts(self, call: Call) -> str | None:
        """Columns that fill half a vector at least."""
        if (refused := dense_i8.accepts(call)) is not None:
            return refused
        if call.outputs[0].shape[-1] < LANES // 2:
            return f"there are fewer than {LANES // 2} columns, vectors would stay empty"
        return eight_bits(dense_i8.matrix(call)[1])

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights in blocks of sixteen columns."""
        return dense_i8.dense_constants(operands, LANES)

    def context(self, operands: Operands) -> VectorContext:
        """The rows as pixels of a pointwise convolution."""
        call = operands.call
        x, y = call.tensor(0), call.outputs[0]
        assert x.quantisation is not None
        _, dtype = dense_i8.matrix(call)
        depth, columns = x.shape[-1], y.shape[-1]
        rows = x.elements // depth
        line = axis(rows, rows, 1, 1, 1, 0, depth)
        return VectorContext(
            x_name="a", bias_name="bias", x_type=C_TYPES[x.dtype], w_type=C_TYPES[dtype], y_type=C_TYPES[y.dtype],
            products=products(x.dtype), h=axis(1, 1, 1, 1, 1, 0, x.elements), w=line,
            groups=Groups(1, depth, columns, depth * columns), depth=depth, results=rows, pixels=min(PIXELS, rows),
            x_stride=depth, blocks=channel_blocks(columns, depth, min(LANES, columns)), padded=False, gather=False,
            zero=0, requantise=requantise(proof(call)),
        )  # fmt: skip


def products(dtype: DType) -> str:
    """The function of `rvv_i8.h` for codes of this type."""
    return f"tilewright_rvv_products_{'u8' if dtype is DType.U8 else 'i8'}"
