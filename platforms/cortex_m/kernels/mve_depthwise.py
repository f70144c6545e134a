"""Integer depthwise 3x3 convolution on cores with the vector extension: sixteen channels of one pixel at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.numerics import C_TYPES
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Needs, Operands, Work
from tilewright.platforms.cortex_m.kernels import matrix_i8, mve
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels import conv_i8 as portable
from tilewright.platforms.generic.kernels import depthwise_i8 as portable_depthwise
from tilewright.platforms.generic.kernels.blocks import Axis


@dataclass(frozen=True)
class DepthwiseWork(Work):
    """Results in vectors of sixteen channels; pixels; inputs in vectors that are kept aside."""

    vectors: float
    pixels: float
    kept_vectors: float


LANES = 16
PRICES = DepthwiseWork(vectors=156.0, pixels=34.0, kept_vectors=0.0)
"""Instructions for one unit of each kind of work."""
TAPS = 9
SMALLEST = -127
"""Two products of such weights and any two codes fit sixteen bits."""


@dataclass(frozen=True)
class MveDepthwiseContext:
    """Every number of one layer; strides in elements."""

    y_type: str
    h: Axis
    w: Axis
    channels: int
    in_place: bool
    own: bool


def interleaved(values: Array) -> Array:
    """[channel] as [group][remainder by four in the order 0, 2, 1, 3][4]."""
    return values.reshape(-1, LANES // 4, 4).transpose(0, 2, 1)[:, [0, 2, 1, 3]]


@PLATFORM.kernel(
    "Conv", types=mve.TYPES, template="mve_depthwise.c.mako", layout="channels_last",
    sources=["mve.h", "mve_depthwise.h"], preference=50, requires=Needs(has=("mve",)),
)  # fmt: skip
class DepthwiseMve(KernelMethods):
    """Integer depthwise 3x3 convolution of any stride in vectors of sixteen channels."""

    def accepts(self, call: Call) -> str | None:
        """Nine taps, channels in sixteens, weights above -128, codes that saturate."""
        if (why := portable_depthwise.accepts(call)) is not None:
            return why
        weights, dtype = portable.weights_of(call)
        if weights.shape[2:] != (3, 3) or call.shape(0)[1] % LANES:
            return "the kernel takes windows of 3x3 and channels in sixteens"
        if dtype is not DType.I8 or int(weights.min()) < SMALLEST:
            return f"a weight lies below {SMALLEST}, two products would leave 16 bits"
        if (why := matrix_i8.refusal(call)) is not None:
            return why
        fixed = matrix_i8.fixed_point(call)
        return None if (fixed.low, fixed.high) == (-128, 127) else "the kernel saturates to int8"

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights [group][tap][16], the table, codes, and a run of zero points for taps outside."""
        call = operands.call
        x = call.tensor(0)
        assert x.quantisation is not None
        weights, _ = portable.weights_of(call)
        channels = weights.shape[0]
        by_group = weights.reshape(channels // LANES, LANES, TAPS).transpose(0, 2, 1)
        parts = matrix_i8.channel_table(call, channels).astype(np.int64)
        start, multiplier, *others = (interleaved(part) for part in parts.T)
        blocks = []
        for at in (0, 2):
            blocks += [start[:, at], start[:, at + 1], multiplier[:, at], multiplier[:, at + 1]]
            if others:
                addend, shift = others
                blocks += [addend[:, at], -shift[:, at], addend[:, at + 1], -shift[:, at + 1]]
        table = np.concatenate(blocks, axis=1)
        constants = [
            Constant("w", DType.U32, mve.bytes_as_words(by_group)),
            Constant("table", DType.I32, mve.words(table)),
            matrix_i8.codes_constant(call),
        ]
        if portable.is_padded(*matrix_i8.axes_of(call)):
            constants.append(Constant("pad", x.dtype, np.full(channels, x.quantisation.zero_point[0], x.dtype.numpy)))
        return tuple(constants)

    def _keeps(self, call: Call) -> bool:
        """True where results have the place of their inputs, so that two rows kept aside let them share memory."""
        h, w = matrix_i8.axes_of(call)
        x, y = call.tensor(0), call.outputs[0]
        return x.shape == y.shape and h.stride == w.stride == 1 and h.pad == h.dilation == 1

    def scratch(self, operands: Operands) -> int:
        """Two rows kept aside, where the result may lie over its input."""
        x = operands.call.tensor(0)
        return 2 * x.shape[-1] * x.shape[1] if self._keeps(operands.call) else 0

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """The operand, whose rows are kept aside before they are overwritten."""
        return ((0, 0),) if self._keeps(call) else ()

    def cost(self, call: Call) -> float:
        """Work at the prices of its kinds."""
        results, inputs = call.outputs[0].elements, call.tensor(0).elements
        done = DepthwiseWork(
            vectors=results / LANES,
            pixels=results / call.shape(0)[1],
            kept_vectors=inputs / LANES if self._keeps(call) else 0.0,
        )
        return done.priced(PRICES)

    def context(self, operands: Operands) -> MveDepthwiseContext:
        """The numbers of the layer."""
        call = operands.call
        h, w = matrix_i8.axes_of(call)
        return MveDepthwiseContext(
            y_type=C_TYPES[call.outputs[0].dtype],
            h=h,
            w=w,
            channels=call.shape(0)[1],
            in_place=self._keeps(call),
            own=matrix_i8.is_own(call),
        )
