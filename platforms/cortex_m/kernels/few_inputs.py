"""Integer convolutions and products of few inputs on cores with the DSP extension: pixels that stay in registers.

Where a window has up to eight inputs, a result is a few multiplications, and what makes a code of it counts: shift and
strides stand in the code, and no block of widened pixels lies in scratch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.numerics import C_TYPES
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Needs, Operands, Work
from tilewright.platforms.cortex_m.kernels import conv_i8, dense_i8, matrix_i8
from tilewright.platforms.cortex_m.kernels.one_channel import channels_of, sides
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels import conv_i8 as portable
from tilewright.platforms.generic.kernels.blocks import Axis
from tilewright.platforms.generic.kernels.overlap import gap_bytes, patch_steps

MOST_INPUTS = 8
AT_ONCE = 2
"""Pixels in registers."""
FARTHEST = 4095
"""Bytes that a store reaches from its base."""
SATURATES = {(-128, 127): "SIGNED", (0, 255): "UNSIGNED", (0, 127): "POSITIVE"}
"""Limits of codes that one instruction keeps."""
UNROLLED = (4, 3, 2, 1)
"""Channels that stand one behind the other in the code: the most that divides their number."""


@dataclass(frozen=True)
class FewWork(Work):
    """Results, words of weights that they meet, blocks of pixels, gathered inputs, and tests whether a tap is there."""

    results: float
    words: float
    blocks: float
    inputs: float
    tests: float


PRICES = FewWork(results=3.5, words=1.55, blocks=24.0, inputs=1.6, tests=5.0)
"""Instructions for one unit of each kind of work."""


@dataclass(frozen=True)
class FewContext:
    """Every number of one layer; `taps` are (row, column, elements from the window's first input) of each input."""

    x_name: str
    x_type: str
    y_type: str
    h: Axis
    w: Axis
    direct: bool
    padded: bool
    inputs: int
    taps: tuple[tuple[int, int, int], ...]
    words: int
    channels: int
    at_once: int
    zero_point: int
    saturates: str
    shift: int
    addend: int


def weights_of(operands: Operands) -> Array:
    """[OC, inputs of a window, padded to an even number]."""
    call = operands.call
    if call.node.op != "Conv":
        weights = dense_i8.weights_of(operands)
        inputs = call.shape(0)[-1]
    else:
        weights = conv_i8.weights_of(call)
        inputs = int(np.prod(call.shape(1)[1:]))
    return np.asarray(weights[:, : inputs + inputs % 2])


def inputs_of(call: Call) -> int:
    """Inputs of a window."""
    h, w = sides(call)
    return h.kernel * w.kernel * channels_of(call)


def is_direct(h: Axis, w: Axis) -> bool:
    """True where pixels lie one behind the other as they are taken."""
    return (h.kernel, w.kernel, h.stride, w.stride) == (1, 1, 1, 1) and not portable.is_padded(h, w)


class FewMethods(KernelMethods):
    """What convolutions and products answer alike."""

    def accepts(self, call: Call) -> str | None:
        """Few inputs, two or more pixels and results, a plain requantisation with one shift and one saturation."""
        conv = call.node.op == "Conv"
        if (why := conv_i8.accepts_groups(call) if conv else dense_i8.fits(call)) is not None:
            return why
        if conv and call.integer("group", 1) != 1:
            return "the kernel handles one group"
        if (inputs := inputs_of(call)) > MOST_INPUTS:
            return f"a window has {inputs} inputs, {MOST_INPUTS} stay in registers"
        h, w = sides(call)
        if h.out * w.out < AT_ONCE:
            return "the kernel computes two pixels at once"
        if call.outputs[0].shape[1 if conv else -1] > FARTHEST:
            return "pixels of the result lie too far apart"
        return matrix_i8.refusal(call) or _unfit(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Of each channel its start, weights of 16 bits in pairs, its multiplier."""
        weights = weights_of(operands)
        channels = matrix_i8.channels_of(operands.call, weights)
        pairs = channels.weights.astype(np.int64).reshape(len(weights), -1, 2) & 0xFFFF
        columns = [channels.start[:, None], pairs[..., 0] | pairs[..., 1] << 16, channels.multiplier[:, None]]
        stream = np.concatenate(columns, axis=1) & 0xFFFFFFFF
        return (Constant("stream", DType.I32, stream.reshape(-1).astype(np.uint32).view(np.int32)),)

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """Two pixels are read before their results are written."""
        if operands.call.node.op != "Conv":
            return ()
        steps = patch_steps(*sides(operands.call), AT_ONCE, operands.call.outputs[0].shape[1], 1, 1)
        return ((0, 0, gap_bytes(*steps, reads_before_writing=True)),)

    def cost(self, call: Call) -> float:
        """Work at the prices of its kinds."""
        h, w = sides(call)
        inputs, channels = inputs_of(call), call.outputs[0].shape[1 if call.node.op == "Conv" else -1]
        blocks = -(-h.out * w.out // AT_ONCE)
        return FewWork(
            results=AT_ONCE * blocks * channels,
            words=AT_ONCE * blocks * channels * -(-inputs // 2),
            blocks=blocks,
            inputs=AT_ONCE * blocks * inputs,
            tests=0.0 if is_direct(h, w) else AT_ONCE * blocks * (2 + inputs * portable.is_padded(h, w)),
        ).priced(PRICES)

    def context(self, operands: Operands) -> FewContext:
        """The numbers of the layer."""
        call = operands.call
        x, y = call.tensor(0), call.outputs[0]
        assert x.quantisation is not None
        h, w = sides(call)
        conv = call.node.op == "Conv"
        form, channels, depth = matrix_i8.fixed_point(call), y.shape[1 if conv else -1], channels_of(call)
        taps = [
            (kh, kw, kh * h.dilation * h.x_stride + kw * w.dilation * w.x_stride + c)
            for kh in range(h.kernel) for kw in range(w.kernel) for c in range(depth)
        ]  # fmt: skip
        return FewContext(
            "x" if conv else "a", C_TYPES[x.dtype], C_TYPES[y.dtype], h, w, is_direct(h, w),
            portable.is_padded(h, w), inputs_of(call), tuple(taps), -(-len(taps) // 2), channels,
            next(count for count in UNROLLED if channels % count == 0), x.quantisation.zero_point[0],
            SATURATES[form.low, form.high], form.shift.values[0], form.addend.values[0],
        )  # fmt: skip


def _unfit(call: Call) -> str | None:
    """None, or why a multiplication and an instruction that shifts and saturates do not make a code."""
    form = matrix_i8.fixed_point(call)
    if matrix_i8.is_own(call):
        return "channels differ in shift or addend"
    if (form.low, form.high) not in SATURATES:
        return f"codes from {form.low} to {form.high} are none that one instruction limits"
    return None if 1 <= form.shift.values[0] <= 31 else "the shift is none that saturates in one instruction"


@PLATFORM.kernel(
    "Conv", types=matrix_i8.TYPES, template="few_inputs.c.mako", layout="channels_last", sources=["dsp.h", "few_dsp.h"],
    preference=21, requires=Needs(has=("dsp",)),
)  # fmt: skip
class ConvFewDsp(FewMethods):
    """Integer convolution whose window has few inputs: all channels of two pixels that stay in registers."""


@PLATFORM.kernel(
    "Gemm", "MatMul", types=matrix_i8.TYPES, template="few_inputs.c.mako", layout=("rows", "default"),
    sources=["dsp.h", "few_dsp.h"], preference=21, requires=Needs(has=("dsp",)),
)  # fmt: skip
class DenseFewDsp(FewMethods):
    """The same for rows of a product."""
