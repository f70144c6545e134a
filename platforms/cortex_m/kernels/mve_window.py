"""Integer depthwise convolution with any window on cores with the vector extension: sixteen channels of one result."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.numerics import C_TYPES
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Needs, Operands, Work
from tilewright.platforms.cortex_m.kernels import depthwise_i8, matrix_i8, mve
from tilewright.platforms.cortex_m.kernels.mve_depthwise import LANES, SMALLEST, interleaved
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels import conv_i8 as portable
from tilewright.platforms.generic.kernels import depthwise_i8 as portable_depthwise
from tilewright.platforms.generic.kernels.blocks import Axis
from tilewright.platforms.generic.kernels.overlap import gap_bytes, row_steps


@dataclass(frozen=True)
class WindowWork(Work):
    """Pairs of taps of sixteen channels; results in vectors of sixteen; taps of pixels that are laid anew; pixels."""

    pairs: float
    vectors: float
    taps: float
    pixels: float


PRICES = WindowWork(pairs=25.0, vectors=46.0, taps=12.0, pixels=30.0)
"""Instructions for one unit of each kind of work."""

FEWEST = 9
"""With fewer taps the codes of a result take longer than its products."""


@dataclass(frozen=True)
class MveWindowContext:
    """Every number of one layer."""

    y_type: str
    h: Axis
    w: Axis
    channels: int
    pairs: int
    own: bool


def groups_of(channels: int) -> Array:
    """The channels of each group: sixteen that follow each other, the last ones those at the end."""
    firsts = np.minimum(np.arange(0, channels, LANES), channels - LANES)
    return np.asarray(firsts[:, None] + np.arange(LANES))


def pairs_of(call: Call) -> int:
    """Pairs of taps, the last with a tap of zero weights where they are odd."""
    h, w = matrix_i8.axes_of(call)
    return (h.kernel * w.kernel + 1) // 2


@PLATFORM.kernel(
    "Conv", types=mve.TYPES, template="mve_window.c.mako", layout="channels_last",
    sources=["mve.h", "mve_window.h"], preference=35, requires=Needs(has=("mve",)),
)  # fmt: skip
class DepthwiseWindowMve(KernelMethods):
    """Integer depthwise convolution of any window, stride and dilation in vectors of sixteen channels."""

    def accepts(self, call: Call) -> str | None:
        """Sixteen or more channels, weights above -128, signed codes."""
        if (why := portable_depthwise.accepts(call)) is not None:
            return why
        weights, dtype = portable.weights_of(call)
        h, w = matrix_i8.axes_of(call)
        if call.shape(0)[1] < LANES:
            return "the kernel computes sixteen channels at once"
        pairs = depthwise_i8.oriented(call)
        few = max(h.stride, w.stride) > 1 or h.kernel * w.kernel < FEWEST
        if pairs is not None and pairs[0].dilation == 1 and few:
            return (
                f"with a stride, or less than {FEWEST} taps, the kernel of pairs saves more memory than this one time"
            )
        if dtype is not DType.I8 or int(weights.min()) < SMALLEST:
            return f"a weight lies below {SMALLEST}, two products would leave 16 bits"
        if (why := matrix_i8.refusal(call)) is not None:
            return why
        fixed = matrix_i8.fixed_point(call)
        return None if -128 <= fixed.low and fixed.high <= 127 else "the kernel saturates to int8"

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Of each group its table and weights [tap][16]; codes with two sizes; zero points for taps outside."""
        call = operands.call
        x = call.tensor(0)
        assert x.quantisation is not None
        weights, _ = portable.weights_of(call)
        channels, pairs = weights.shape[0], pairs_of(call)
        groups = groups_of(channels)
        taps = np.zeros((channels, 2 * pairs), np.int8)
        taps[:, : weights[0].size] = weights.reshape(channels, -1)
        columns = matrix_i8.channel_table(call, channels).view(np.int32).astype(np.int64).T
        if len(columns) > 2:
            columns = np.concatenate([columns[:3], -columns[3:]])
        parts = [interleaved(column[groups].reshape(-1)).reshape(len(groups), LANES) for column in columns]
        words = mve.bytes_as_words(taps[groups].transpose(0, 2, 1)).view(np.int32).reshape(len(groups), -1)
        codes = matrix_i8.codes_constant(call)
        constants = [
            Constant("stream", DType.I32, mve.words(np.concatenate([*parts, words], axis=1))),
            Constant("codes", DType.I32, np.concatenate([codes.values, [pairs, channels]]).astype(np.int32)),
        ]
        if portable.is_padded(*matrix_i8.axes_of(call)):
            constants.append(Constant("pad", x.dtype, np.full(channels, x.quantisation.zero_point[0], x.dtype.numpy)))
        return tuple(constants)

    def scratch(self, operands: Operands) -> int:
        """Where the taps of a pixel lie."""
        return 8 * pairs_of(operands.call)

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """Rows of results follow one another."""
        h, w = matrix_i8.axes_of(operands.call)
        channels = operands.call.shape(0)[1]
        return ((0, 0, gap_bytes(*row_steps(h, w, channels, 1, 1), reads_before_writing=False)),)

    def cost(self, call: Call) -> float:
        """Work at the prices of its kinds; that rows at the edge lay more taps is left out."""
        h, w = matrix_i8.axes_of(call)
        channels = call.shape(0)[1]
        pixels, vectors = h.out * w.out, h.out * w.out * -(-channels // LANES)
        inner = h.out * max(0, w.inner_last - w.inner_first - 1)
        laid = (pixels - inner) * h.kernel * w.kernel
        return WindowWork(pairs=vectors * pairs_of(call), vectors=vectors, taps=laid, pixels=pixels).priced(PRICES)

    def context(self, operands: Operands) -> MveWindowContext:
        """The numbers of the layer."""
        call = operands.call
        h, w = matrix_i8.axes_of(call)
        y_type = C_TYPES[call.outputs[0].dtype]
        return MveWindowContext(y_type, h, w, call.shape(0)[1], pairs_of(call), matrix_i8.is_own(call))
