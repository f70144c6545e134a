"""Float convolution and dense layers on cores with a floating-point unit: sixteen sums in registers.

The inputs of four pixels are interleaved in scratch, so that four of them and four weights are one load each: 18
instructions for 16 multiply-accumulates. Weights follow their four starts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.platform import Call, Constant, DType, KernelMethods, Layout, Needs, Operands, Work
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels.blocks import Axis, cannot_repack, groups_of, joined, some_inside
from tilewright.platforms.generic.kernels.blocks_f32 import (
    REGISTERS,
    in_blocks,
    matrix_in_blocks,
    refused_product,
    starts,
)
from tilewright.platforms.generic.kernels.conv_f32 import operand_axes, spatial
from tilewright.platforms.generic.kernels.float_text import rectified_text
from tilewright.platforms.generic.kernels.overlap import gap_bytes, patch_steps


@dataclass(frozen=True)
class ConvWork(Work):
    """For four pixels: inputs of blocks of four channels, and those blocks; inputs and taps that are gathered."""

    block_inputs: float
    blocks: float
    inputs: float
    taps: float


WIDTH = 4
"""Channels of a block."""
PRICES = ConvWork(block_inputs=18.0, blocks=150.0, inputs=14.0, taps=60.0)
"""Instructions for one unit of each kind of work."""


SLID = 0.8
"""Of what gathering an input costs, where rows slide through registers."""
FEWEST = 8
"""Results of a group, where there are several: sums of fewer stay in the registers of the portable kernel."""
LEAST_FILLED = 1.25
"""Pixels of blocks for each of a row."""
LOADED = 32
"""Registers of the unit."""


@dataclass(frozen=True)
class Slide:
    """What four neighbouring pixels read of a plane's row: `span` elements, in as many registers, and for each tap the
    registers that are stored at once.
    """

    span: int
    stores: tuple[str, ...]


def slide(h: Axis, w: Axis, in_planes: bool) -> Slide | None:
    """That of an operand in planes with rows of four results at least; none where its elements do not fit registers."""
    span = 3 * w.stride + (w.kernel - 1) * w.dilation + 1
    if not in_planes or w.x_stride != 1 or w.out < WIDTH or span > LOADED or (h.out > 1 and h.x_stride < w.size):
        return None
    firsts = [kw * w.dilation for kw in range(w.kernel)]
    if w.stride == 1:
        return Slide(span, tuple(f"s{first}-s{first + 3}" for first in firsts))
    return Slide(span, tuple(f"s{first + j * w.stride}" for first in firsts for j in range(WIDTH)))


def one_plane(call: Call) -> bool:
    """True where the operand is a plane of its own, windows have several inputs, and blocks of a row nearly fill."""
    row = call.outputs[0].shape[-1]
    return call.shape(0)[1] == 1 and call.constants[1][0].size > 1 and WIDTH * -(-row // WIDTH) <= LEAST_FILLED * row


@dataclass(frozen=True)
class FloatConvContext:
    """Every number of one convolution; strides in elements. `slide` where the operand lies in planes.

    `channels` and `results` are those of one group, whose weights take `group_floats`.
    """

    h: Axis
    w: Axis
    groups: int
    channels: int
    results: int
    group_floats: int
    x_channel: int
    runs: bool
    padded: bool
    out_channels: int
    pixels: int
    clamp: str
    slide: Slide | None


@dataclass(frozen=True)
class FloatDenseContext:
    """`rows` x `inputs` times `inputs` x `columns`."""

    rows: int
    inputs: int
    columns: int
    clamp: str


@PLATFORM.kernel(
    "Conv", types="f32, f32, f32? -> f32", template="fpu_conv.c.mako", layout=("axes", "channels_last"),
    sources=[REGISTERS, "fpu.h"], numerics="1e-5", preference=20, requires=Needs(has=("fpu",)),
)  # fmt: skip
class ConvFpu(KernelMethods):
    """Float convolution, group by group: four pixels by four channels in registers."""

    def accepts(self, call: Call) -> str | None:
        """Constant weights, one group or such of eight results and four pixels, batch 1, at most two spatial axes."""
        if (refused := cannot_repack(call)) is not None:
            return refused
        groups = groups_of(call)
        y = call.outputs[0]
        few = groups.count > 1 and (groups.results < FEWEST or y.elements < WIDTH * y.shape[1])
        return "groups of few results or few pixels are as fast with the portable kernel" if few else None

    def adds_in_order(self, call: Call) -> bool:
        """Sums stay in registers from the bias to the last product."""
        return True

    def adds_planes(self, operands: Operands) -> bool:
        """Where rows of planes slide through the registers."""
        return self.context(operands).slide is not None

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Starts and weights by four channels, and zeros for taps outside."""
        weights, _ = spatial(operands.call)
        numbers = self.context(operands)
        order = weights if numbers.slide is not None else weights.transpose(0, 2, 3, 1)
        flat, first = order.reshape(weights.shape[0], -1), starts(operands.call, weights.shape[0])
        parts = [slice(at, at + numbers.results) for at in range(0, len(flat), numbers.results)]
        blocks = np.concatenate([in_blocks(flat[part], first[part], WIDTH) for part in parts])
        constants = [Constant("w", DType.F32, blocks)]
        if numbers.padded and numbers.slide is None and numbers.pixels >= WIDTH:
            constants.append(Constant("pad", DType.F32, np.zeros(self._reach(operands), np.float32)))
        return tuple(constants)

    def _reach(self, operands: Operands) -> int:
        _, _, x_channel = operand_axes(operands)
        return int((operands.call.shape(0)[1] - 1) * x_channel + 1) if x_channel == 1 else 1

    def scratch(self, operands: Operands) -> int:
        """The interleaved inputs of four pixels."""
        return 16 * int(operands.call.constants[1][0].size)

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """The pixels of a block are gathered before their results are written."""
        call = operands.call
        x = call.tensor(0)
        if operands.layout(x) != Layout.channels_last(x.shape) or groups_of(call).count > 1:
            return ()
        h, w, _ = operand_axes(operands)
        if w.out % 4 and self.adds_planes(operands):
            return ()  # the last block of each row begins in the one before
        steps = patch_steps(h, w, min(4, h.out * w.out), call.outputs[0].shape[1], 4, 4)
        return ((0, 0, gap_bytes(*steps, reads_before_writing=True)),)

    def cost(self, call: Call) -> float:
        """Eighteen instructions for sixteen multiply-accumulates, the results, and the gathering of four pixels."""
        weights, y = call.constants[1], call.outputs[0]
        inputs, taps = weights[0].size, weights[0, 0].size
        blocks = -(-y.elements // y.shape[1] // 4)
        groups = groups_of(call)
        columns = -(-groups.results // WIDTH)
        if one_plane(call) and self.adds_planes(Operands(call)):
            inputs, taps = SLID * inputs, 0
        four_pixels = ConvWork(block_inputs=columns * weights[0].size, blocks=columns, inputs=inputs, taps=taps)
        return groups.count * blocks * four_pixels.priced(PRICES)

    def context(self, operands: Operands) -> FloatConvContext:
        """The numbers of the layer."""
        call = operands.call
        h, w, x_channel = operand_axes(operands)
        groups = groups_of(call)
        channels, results = groups.channels, groups.results
        by_planes = slide(*joined(h, w), x_channel != 1 or one_plane(call))
        h, w = joined(h, w) if by_planes is not None else (h, w)
        inner = (h.inner_first, h.inner_last, w.inner_first, w.inner_last)
        return FloatConvContext(
            h=h,
            w=w,
            groups=groups.count,
            channels=channels,
            results=results,
            group_floats=-(-results // WIDTH) * WIDTH * (call.constants[1][0].size + 1),
            x_channel=x_channel,
            runs=x_channel == 1 and w.dilation == 1 and w.kernel > 1 and w.x_stride == channels and some_inside(h, w),
            padded=inner != (0, h.out, 0, w.out),
            out_channels=call.outputs[0].shape[1],
            pixels=h.out * w.out,
            clamp=rectified_text("v", call.node.clamp),
            slide=by_planes,
        )


@PLATFORM.kernel(
    "Gemm", "MatMul", types="f32, f32, f32? -> f32", template="fpu_dense.c.mako", layout=("rows", "default"),
    sources=[REGISTERS, "fpu.h"], numerics="1e-5", preference=20, requires=Needs(has=("fpu",)),
)  # fmt: skip
class DenseFpu(KernelMethods):
    """Float matrix product with a constant right-hand side: four columns of a row, or of four, in registers."""

    def accepts(self, call: Call) -> str | None:
        """What the portable kernel accepts, with a constant bias."""
        return refused_product(call)

    def adds_in_order(self, call: Call) -> bool:
        """Sums stay in registers from the bias to the last product."""
        return True

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Starts and weights by four columns, rows in the order in which the operand lies in memory."""
        return (Constant("w", DType.F32, matrix_in_blocks(operands, WIDTH)),)

    def cost(self, call: Call) -> float:
        """About one and a third instructions per multiply-accumulate, one and a fifth where four rows go at once."""
        each = 1.22 if call.tensor(0).elements >= 4 * call.shape(0)[-1] else 1.35
        return each * float(call.outputs[0].elements * call.shape(0)[-1])

    def context(self, operands: Operands) -> FloatDenseContext:
        """The numbers of the layer."""
        call = operands.call
        x = call.tensor(0)
        return FloatDenseContext(
            rows=x.elements // x.shape[-1],
            inputs=x.shape[-1],
            columns=call.outputs[0].shape[-1],
            clamp=rectified_text("v", call.node.clamp),
        )
