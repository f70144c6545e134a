"""Float convolution and matrix products on cores with the vector extension: vectors of four channels.

Four pixels by four channels take twenty-five instructions for sixty-four multiply-accumulates, where their inputs lie
side by side or are interleaved first; a single row by eight channels seventeen for thirty-two. Each sum adds its inputs
in order, as scalar units do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from tilewright.platform import Array, Call, Clamp, Constant, DType, KernelMethods, Layout, Needs, Operands, Work
from tilewright.platforms.cortex_m.kernels.conv_i8 import inner_blocks
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels.blocks import Axis, Groups, cannot_repack, groups_of, some_inside
from tilewright.platforms.generic.kernels.blocks_f32 import in_blocks, refused_product, starts
from tilewright.platforms.generic.kernels.conv_f32 import operand_axes, spatial
from tilewright.platforms.generic.kernels.dense_f32 import memory_order, weights_of
from tilewright.platforms.generic.kernels.float_text import limit_texts
from tilewright.platforms.generic.kernels.overlap import gap_bytes, patch_steps

FOUR, EIGHT = 4, 8
"""Channels of a block of pixels, and of a block of one row, whose last one has four where that is enough."""
FEW = 2
"""Pixels or rows that are computed one by one."""
THIN = 8
"""Channels of a tap that are gathered one by one, pixels side by side."""


@dataclass(frozen=True)
class ConvWork(Work):
    """Inputs of blocks of four pixels by four channels, and the blocks; fours of pixels, their inputs, taps of fours
    at the edge. For single rows: inputs of vectors of channels, and the vectors."""

    block_inputs: float = 0.0
    blocks: float = 0.0
    fours: float = 0.0
    inputs: float = 0.0
    edge_taps: float = 0.0
    row_inputs: float = 0.0
    row_vectors: float = 0.0


PRICES = ConvWork(
    block_inputs=6.25, blocks=41.0, fours=27.0, inputs=5.0, edge_taps=46.0, row_inputs=2.2, row_vectors=9.0
)
"""Instructions for one unit of each kind of work."""


@dataclass(frozen=True)
class MveFloatConvContext:
    """Every number of one convolution; strides in elements, `depth` inputs of a pixel of one group.

    `few` pixels are computed one by one, `direct` ones where their inputs lie; `thin` taps have few channels. Channels
    of the operand are `x_channel` apart. Some blocks lie `whole` inside of the image. `places` are those of the pixels
    of a block; `clamp` is C of a vector `v`.
    """

    h: Axis
    w: Axis
    groups: Groups
    x_channel: int
    depth: int
    pixels: int
    few: bool
    direct: bool
    thin: bool
    runs: bool
    padded: bool
    whole: bool
    places: tuple[int, ...]
    group_weights: int
    clamp: str

    @property
    def reads_zeros(self) -> bool:
        """True where taps outside of the image are read from a row of zeros."""
        return self.padded and not self.few and not (self.thin and self.w.dilation == 1)


@dataclass(frozen=True)
class MveFloatDenseContext:
    """`rows` x `inputs` times `inputs` x `columns`; see `MveFloatConvContext`."""

    rows: int
    inputs: int
    columns: int
    few: bool
    places: tuple[int, ...]
    clamp: str


def vector_clamp(value: str, clamp: Clamp | None) -> str:
    """C of a vector limited to the fused activation's range."""
    if clamp is None:
        return value
    low, high = limit_texts(clamp)
    text = f"tilewright_mve_at_most({value}, {high})" if clamp.high < math.inf else value
    if clamp.low == 0.0 and clamp.high >= 0.0:
        return f"tilewright_mve_rectified({text})"
    return f"tilewright_mve_at_least({text}, {low})" if clamp.low > -math.inf else text


def packed(weights: Array, start: Array, few: bool) -> Array:
    """[OC, K] and starts in blocks of four; for single rows of eight, four channels or fewer left in one of four."""
    if not few:
        return in_blocks(weights, start, FOUR)
    eights = len(weights) if len(weights) % EIGHT > FOUR else len(weights) // EIGHT * EIGHT
    parts = [in_blocks(weights[:eights], start[:eights], EIGHT), in_blocks(weights[eights:], start[eights:], FOUR)]
    return np.concatenate(parts)


def places_of(count: int) -> tuple[int, ...]:
    """Places of the four pixels or rows of a block; the last one is repeated where there are fewer."""
    return tuple(min(j, count - 1) for j in range(FOUR))


def row_work(rows: int, columns: int, inputs: int) -> ConvWork:
    """Rows that are computed one by one."""
    vectors = rows * -(-columns // FOUR)
    return ConvWork(row_inputs=vectors * inputs, row_vectors=vectors)


@PLATFORM.kernel(
    "Conv", types="f32, f32, f32? -> f32", template="mve_float_conv.c.mako", layout=("axes", "channels_last"),
    sources=["mve.h", "mve_float.h"], numerics="1e-5", preference=40, requires=Needs(has=("mve", "fpu")),
)  # fmt: skip
class ConvFloatMve(KernelMethods):
    """Float convolution of any window and groups: four pixels by a vector of four channels."""

    def accepts(self, call: Call) -> str | None:
        """Constant weights, batch 1, at most two spatial axes."""
        return cannot_repack(call)

    def adds_in_order(self, call: Call) -> bool:
        """Sums stay in registers from the bias to the last product."""
        return True

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Starts and weights of each group by blocks of channels, and zeros for taps outside."""
        call, numbers = operands.call, self.context(operands)
        weights, _ = spatial(call)
        flat, start = weights.transpose(0, 2, 3, 1).reshape(weights.shape[0], -1), starts(call, weights.shape[0])
        groups = np.split(flat, numbers.groups.count), np.split(start, numbers.groups.count)
        values = np.concatenate([packed(*group, numbers.few) for group in zip(*groups, strict=True)])
        constants = [Constant("w", DType.F32, values)]
        if numbers.reads_zeros:
            reach = numbers.groups.channels if numbers.x_channel == 1 else 1
            constants.append(Constant("pad", DType.F32, np.zeros(reach, np.float32)))
        return tuple(constants)

    def scratch(self, operands: Operands) -> int:
        """The interleaved inputs of four pixels, or those of one."""
        numbers = self.context(operands)
        return 0 if numbers.direct else 4 * numbers.depth * (1 if numbers.few else FOUR)

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """The pixels of a block are gathered before their results are written."""
        call, numbers = operands.call, self.context(operands)
        x = call.tensor(0)
        if operands.layout(x) != Layout.channels_last(x.shape) or numbers.groups.count > 1:
            return ()
        at_once = 1 if numbers.few else min(FOUR, numbers.pixels)
        steps = patch_steps(numbers.h, numbers.w, at_once, call.outputs[0].shape[1], 4, 4)
        return ((0, 0, gap_bytes(*steps, reads_before_writing=not numbers.direct)),)

    def cost(self, call: Call) -> float:
        """Work at the prices of its kinds."""
        numbers = self.context(Operands(call))
        groups, depth, taps = numbers.groups, numbers.depth, numbers.h.kernel * numbers.w.kernel
        if numbers.few:
            return groups.count * row_work(numbers.pixels, groups.results, depth).priced(PRICES)
        fours, columns = -(-numbers.pixels // FOUR), -(-groups.results // FOUR)
        edges = fours - inner_blocks(numbers.h, numbers.w, min(FOUR, numbers.pixels))
        work = ConvWork(
            block_inputs=fours * columns * depth,
            blocks=fours * columns,
            fours=fours,
            inputs=fours * depth,
            edge_taps=edges * taps,
        )
        return groups.count * work.priced(PRICES)

    def context(self, operands: Operands) -> MveFloatConvContext:
        """The numbers of the layer."""
        call = operands.call
        h, w, x_channel = operand_axes(operands)
        groups, pixels = groups_of(call), h.out * w.out
        inner = (h.inner_first, h.inner_last, w.inner_first, w.inner_last)
        padded, few, taps = inner != (0, h.out, 0, w.out), pixels <= FEW, h.kernel * w.kernel
        width = -(-groups.results // FOUR) * FOUR
        if few and groups.results % EIGHT > FOUR:
            width = -(-groups.results // EIGHT) * EIGHT
        return MveFloatConvContext(
            h=h,
            w=w,
            groups=groups,
            x_channel=x_channel,
            depth=taps * groups.channels,
            pixels=pixels,
            few=few,
            direct=few and taps == x_channel == 1 and not padded,
            thin=not few and groups.channels <= THIN,
            runs=x_channel == groups.count == w.dilation == 1 and w.kernel > 1 and w.x_stride == groups.channels,
            padded=padded,
            whole=some_inside(h, w),
            places=places_of(pixels),
            group_weights=width * (taps * groups.channels + 1),
            clamp=vector_clamp("v", call.node.clamp),
        )


@PLATFORM.kernel(
    "Gemm", "MatMul", types="f32, f32, f32? -> f32", template="mve_float_dense.c.mako", layout=("rows", "default"),
    sources=["mve.h", "mve_float.h"], numerics="1e-5", preference=40, requires=Needs(has=("mve", "fpu")),
)  # fmt: skip
class DenseFloatMve(KernelMethods):
    """Float matrix product with a constant right-hand side in vectors of four columns."""

    def accepts(self, call: Call) -> str | None:
        """What the portable kernel accepts, with a constant bias."""
        return refused_product(call)

    def adds_in_order(self, call: Call) -> bool:
        """Sums stay in registers from the bias to the last product."""
        return True

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Starts and weights by blocks of columns, rows in the order in which the operand lies in memory."""
        call = operands.call
        weights, layout = weights_of(call), operands.layout(call.tensor(0))
        if not layout.is_default:
            weights = weights[memory_order(layout)]
        few = self.context(operands).few
        return (Constant("w", DType.F32, packed(weights.T, starts(call, weights.shape[1]), few)),)

    def cost(self, call: Call) -> float:
        """Work at the prices of its kinds."""
        numbers = self.context(Operands(call))
        if numbers.few:
            return row_work(numbers.rows, numbers.columns, numbers.inputs).priced(PRICES)
        fours, columns = -(-numbers.rows // FOUR), -(-numbers.columns // FOUR)
        work = ConvWork(block_inputs=fours * columns * numbers.inputs, blocks=fours * columns, fours=fours)
        return work.priced(PRICES)

    def context(self, operands: Operands) -> MveFloatDenseContext:
        """The numbers of the layer."""
        call = operands.call
        x = call.tensor(0)
        rows = x.elements // x.shape[-1]
        return MveFloatDenseContext(
            rows=rows,
            inputs=x.shape[-1],
            columns=call.outputs[0].shape[-1],
            few=rows <= FEW,
            places=places_of(rows),
            clamp=vector_clamp("v", call.node.clamp),
        )
