"""Integer convolution and matrix products on cores with vectors: three pixels times thirty-two channels at once, or six
times sixteen.

Weights lie [block][kh][kw][ic][lanes]. A step loads the weights of one input, widens them and multiplies them with one
code of each pixel: nine instructions for ninety-six multiply-accumulates. Windows are read where they lie, rows of taps
after the other; those that padding cuts, or whose taps lie apart, are copied side by side first. Vectors of 128 bits or
more are enough.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.numerics import C_TYPES, ROUNDING, MultiplyHigh, Requantiser, accumulator, proof, requantise
from tilewright.platform import Call, Constant, DType, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels import conv_i8, dense_i8
from tilewright.platforms.generic.kernels.blocks import Axis, Groups, axis, groups_of, pack_weights
from tilewright.platforms.generic.kernels.overlap import gap_bytes, patch_steps
from tilewright.platforms.riscv.kernels.conv_i8 import square
from tilewright.platforms.riscv.kernels.rvv_asm import VectorBlock, code_operands
from tilewright.platforms.riscv.platform import PLATFORM

WIDE, NARROW = 32, 16
"""Channels at once: as many as eight registers hold as sums, or four."""
MOST_PIXELS = {WIDE: 3, NARROW: 6}
UNROLLED = (4, 3, 2, 1)


@dataclass(frozen=True)
class VectorContext:
    """Every number of one product. A window is `runs` runs of `length` inputs, `pitch` apart, or one run once it is
    copied, as `gather` has it done for all and `padded` for those at the edge."""

    x_name: str
    bias_name: str
    x_type: str
    w_type: str
    y_type: str
    x_bytes: int
    w_bytes: int
    y_bytes: int
    block: VectorBlock
    h: Axis
    w: Axis
    groups: Groups
    depth: int
    results: int
    runs: int
    length: int
    pitch: int
    padded: bool
    gather: bool
    pointwise: bool
    joined: bool
    zero: int
    requantise: Requantiser
    sums: tuple[str, ...]
    codes: tuple[str, ...]
    operands: tuple[tuple[str, str], ...]


def lanes_of(channels: int) -> int:
    """Channels at once."""
    return WIDE if channels > NARROW else NARROW


def rows_at_once(results: int, lanes: int) -> int:
    """Pixels at once: the fewest instructions where the last block overlaps the one before."""
    counts = range(1, min(results, MOST_PIXELS[lanes]) + 1)
    return min(counts, key=lambda rows: (-(-results // rows) * (4 + 2 * rows), -rows))


def block_of(call: Call, channels: int, results: int, run: int, dtype: DType) -> VectorBlock:
    """Rows and lanes of a block whose runs have so many inputs."""
    lanes = lanes_of(channels)
    unroll = next(count for count in UNROLLED if run % count == 0)
    return VectorBlock(rows_at_once(results, lanes), lanes, unroll, call.tensor(0).dtype, dtype)


def work(results: int, channels: int, depth: int, groups: int = 1) -> float:
    """Instructions of blocks: steps of the sums, codes, and what pixels and blocks take beside."""
    lanes = lanes_of(channels)
    rows = rows_at_once(results, lanes)
    blocks = -(-channels // lanes)
    each = depth * (3.5 + 2.25 * rows) + 8 * rows + 45
    return groups * -(-results // rows) * (blocks * each + 13 * rows)


def printed(call: Call, block: VectorBlock) -> tuple[tuple[str, ...], tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Instructions of the sums and of their codes, which are stored as sums where the codes have no form of 32 bits."""
    form, y_type = requantise(proof(call), DType.I32), call.outputs[0].dtype
    if isinstance(form, MultiplyHigh):
        return block.products(), block.codes(form, y_type), code_operands(form, y_type)
    return block.products(), block.kept(), ()


@PLATFORM.kernel(
    "Conv", types=conv_i8.TYPES, template="vector_i8.c.mako", layout="channels_last", sources=["rvv_copy.h", *ROUNDING],
    preference=34, requires=Needs(has=("rvv",)),
)  # fmt: skip
class ConvVectorI8(KernelMethods):
    """Integer convolution in vectors of output channels."""

    def accepts(self, call: Call) -> str | None:
        """More than one output channel in each of several groups."""
        groups = call.integer("group", 1)
        if groups > 1 and call.outputs[0].shape[1] == groups:
            return "every group has one output channel, vectors would stay empty"
        return conv_i8.accepts(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights in blocks of a vector's channels, folded starts, requantisation."""
        call = operands.call
        weights, dtype = square(call)
        groups = call.integer("group", 1)
        each = weights.shape[0] // groups
        parts = [pack_weights(weights[g * each : (g + 1) * each], lanes_of(each)) for g in range(groups)]
        start = np.asarray(accumulator(call).start, np.int32)
        requantisation = requantise(proof(call), DType.I32).constants
        return (Constant("w", dtype, np.concatenate(parts)), Constant("b", DType.I32, start), *requantisation)

    def scratch(self, operands: Operands) -> int:
        """The windows of a block's pixels, where some do not lie as they are read."""
        made = self.context(operands)
        return made.block.rows * made.depth * made.x_bytes if made.gather or made.padded else 0

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """Blocks of pixels are written after all that they and later ones read."""
        made = self.context(operands)
        if made.groups.count != 1:
            return ()
        steps = patch_steps(made.h, made.w, made.block.rows, made.groups.results, made.x_bytes, made.y_bytes)
        first = made.gather or made.groups.results <= made.block.lanes
        return ((0, 0, gap_bytes(*steps, reads_before_writing=first)),)

    def cost(self, call: Call) -> float:
        """Blocks of all pixels."""
        groups, y = call.integer("group", 1), call.outputs[0]
        depth = call.tensor(1).elements // call.shape(1)[0]
        return work(y.elements // y.shape[1], y.shape[1] // groups, depth, groups)

    def context(self, operands: Operands) -> VectorContext:
        """The numbers of the windows."""
        call = operands.call
        x, y = call.tensor(0), call.outputs[0]
        assert x.quantisation is not None
        _, dtype = square(call)
        h, w = conv_i8.spatial_axes(call, conv_i8.strides_of(call))
        groups = groups_of(call)
        depth = groups.weights // groups.results
        apart = w.kernel > 1 and (w.dilation > 1 or groups.count > 1)
        runs, length = (1, depth) if apart else (h.kernel, w.kernel * groups.channels)
        block = block_of(call, groups.results, h.out * w.out, length, dtype)
        sums, codes, names = printed(call, block)
        return VectorContext(
            x_name="x", bias_name="b", x_type=C_TYPES[x.dtype], w_type=C_TYPES[dtype], y_type=C_TYPES[y.dtype],
            x_bytes=x.dtype.bits // 8, w_bytes=dtype.bits // 8, y_bytes=y.dtype.bits // 8, block=block, h=h, w=w,
            groups=groups, depth=depth, results=h.out * w.out, runs=runs, length=length,
            pitch=0 if runs == 1 else h.dilation * h.x_stride - length, padded=conv_i8.is_padded(h, w), gather=apart,
            pointwise=conv_i8.is_pointwise(h, w), joined=w.dilation == 1 and groups.count == 1,
            zero=x.quantisation.zero_point[0], requantise=requantise(proof(call), DType.I32), sums=sums, codes=codes,
            operands=names,
        )  # fmt: skip


@PLATFORM.kernel(
    "Gemm", "MatMul", types=conv_i8.TYPES, template="vector_i8.c.mako", layout=("rows", "default"),
    sources=["rvv_copy.h", *ROUNDING], preference=34, requires=Needs(has=("rvv",)),
)  # fmt: skip
class DenseVectorI8(KernelMethods):
    """Integer matrix product in vectors of columns."""

    def accepts(self, call: Call) -> str | None:
        """What every integer matrix product asks for."""
        return dense_i8.accepts(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights in blocks of a vector's columns."""
        return dense_i8.dense_constants(operands, lanes_of(operands.call.outputs[0].shape[-1]), DType.I32)

    def cost(self, call: Call) -> float:
        """Blocks of all rows."""
        y = call.outputs[0]
        return work(y.elements // y.shape[-1], y.shape[-1], call.shape(0)[-1])

    def context(self, operands: Operands) -> VectorContext:
        """The rows as pixels of a pointwise convolution."""
        call = operands.call
        x, y = call.tensor(0), call.outputs[0]
        assert x.quantisation is not None
        _, dtype = dense_i8.matrix(call)
        depth, columns = x.shape[-1], y.shape[-1]
        rows = x.elements // depth
        line = axis(rows, rows, 1, 1, 1, 0, depth)
        block = block_of(call, columns, rows, depth, dtype)
        sums, codes, names = printed(call, block)
        return VectorContext(
            x_name="a", bias_name="bias", x_type=C_TYPES[x.dtype], w_type=C_TYPES[dtype], y_type=C_TYPES[y.dtype],
            x_bytes=x.dtype.bits // 8, w_bytes=dtype.bits // 8, y_bytes=y.dtype.bits // 8, block=block,
            h=axis(1, 1, 1, 1, 1, 0, x.elements), w=line, groups=Groups(1, depth, columns, depth * columns),
            depth=depth, results=rows, runs=1, length=depth, pitch=0, padded=False, gather=False, pointwise=True,
            joined=True, zero=0,
            requantise=requantise(proof(call), DType.I32), sums=sums, codes=codes, operands=names,
        )  # fmt: skip
