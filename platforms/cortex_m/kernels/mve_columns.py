"""Integer depthwise convolution of up to 3x3 on cores with the vector extension: a result is one sum of products.

Four rows of sixteen channels are interleaved in scratch, so that a word holds one column of a channel. A window of four
columns is one gather; with stride 1 it serves two rows of two results, by weights moved by a byte and by a word.
Weights of nine bits are the sum of two of eight, and a window the sum of two sums.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.numerics import C_TYPES
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Needs, Operands, Work
from tilewright.platforms.cortex_m.kernels import matrix_i8, mve, mve_conv
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels import conv_i8 as portable
from tilewright.platforms.generic.kernels import depthwise_i8 as portable_depthwise
from tilewright.platforms.generic.kernels.blocks import Axis
from tilewright.platforms.generic.kernels.overlap import gap_bytes, row_steps


@dataclass(frozen=True)
class ColumnsWork(Work):
    """Instructions that fill columns, and of channels; steps of sixteen channels."""

    fill_instructions: float
    channel_instructions: float
    steps: float


LANES = 16
COLUMN_BYTES = 4 * LANES
PRICES = ColumnsWork(fill_instructions=1.0, channel_instructions=1.0, steps=40.0)
"""Instructions for one unit of each kind of work."""
LARGEST_STEP = 4095
"""Largest constant that is added at once."""


@dataclass(frozen=True)
class MveColumnsContext:
    """Every number of one layer: `columns` of words in scratch, of which `filled` come from the input; `whole` fours of
    results in a row and `rest` beside them; `places` of four results, or of eight for both and for one row. Weights
    have `nine` bits or eight, and a channel `words` in the stream."""

    y_type: str
    h: Axis
    w: Axis
    channels: int
    squares: bool
    nine: bool
    columns: int
    filled: int
    whole: int
    rest: int
    places: tuple[tuple[int, ...], ...]
    zero_point: int
    shift: int
    words: int


def is_nine(call: Call) -> bool:
    """True where weights minus their zero point need nine bits."""
    return portable.weights_of(call)[1] is not DType.I8


def is_square(call: Call) -> bool:
    """True where a window serves two rows of two results."""
    h, w = matrix_i8.folded_axes(call)
    return not is_nine(call) and h.stride == w.stride == 1 and (h.dilation == 1 or h.kernel == 1)


def columns_of(w: Axis) -> int:
    """Columns that the windows of a row read."""
    return (w.out - 1) * w.stride + 4


def is_in_place(call: Call) -> bool:
    """True where a row is read before the results of its place are written."""
    h, w = matrix_i8.folded_axes(call)
    return is_square(call) and (h.out, w.out) == (h.size, w.size) and h.pad <= 1


def places_of(call: Call) -> tuple[tuple[int, ...], ...]:
    """See `MveColumnsContext`; for single results their columns' offsets in the words of scratch come first."""
    _, w = matrix_i8.folded_axes(call)
    channels = call.shape(0)[1]
    if is_square(call):
        right = min(2, w.out - 2) * channels
        rows = (w.out * channels, 0)
        return tuple(
            tuple(row + column + side for row in (0, lower) for column in (0, channels) for side in (0, right))
            for lower in rows
        )
    at = [min(i, w.out - 1) for i in range(4)]
    gathers = [(i * w.stride + column) * COLUMN_BYTES for i in at for column in range(4)]
    return ((*gathers, *(i * channels for i in at)),)


def stream_of(call: Call) -> Array:
    """uint32 words of every channel: four columns of four weights, start, multiplier, addend of twice the word; of
    weights of nine bits the second halves last.

    Two bytes reach from -256 to 254: a channel with a weight of 255 has none below zero, and takes weights, start and
    multiplier of the other sign, which leave the product as it is.
    """
    weights, _ = portable.weights_of(call)
    fixed = matrix_i8.fixed_point(call)
    h, w = matrix_i8.folded_axes(call)
    plain = weights.reshape(weights.shape[0], h.kernel, w.kernel).astype(np.int64)
    start, multiplier, *_ = matrix_i8.channel_table(call, plain.shape[0]).T
    addend = 2 * fixed.addend.spread(start.size) - (1 << fixed.shift.values[0])
    numbers = np.stack([start.view(np.int32), multiplier.view(np.int32), addend], axis=1).astype(np.int64)
    if is_nine(call):
        sign = np.where(plain.max(axis=(1, 2)) > 254, -1, 1)
        plain, numbers = plain * sign[:, None, None], numbers * np.stack([sign, sign, sign * sign], axis=1)
    first = plain >> 1 if is_nine(call) else plain
    words = [taps_of(first), (numbers & 0xFFFFFFFF).astype(np.uint32)]
    return np.concatenate([*words, taps_of(plain - first)] if is_nine(call) else words, axis=1).reshape(-1)


def taps_of(plain: Array) -> Array:
    """Weights [channel, row, column] as four words of a column each."""
    padded = np.zeros((plain.shape[0], 4, 4), np.int8)
    padded[:, : plain.shape[2], : plain.shape[1]] = plain.transpose(0, 2, 1)
    return mve.bytes_as_words(padded).reshape(plain.shape[0], 4)


def work(call: Call) -> ColumnsWork:
    """The work of one call."""
    h, w = matrix_i8.folded_axes(call)
    channels, fours = call.shape(0)[1], -(-w.out // 4)
    blocks, columns = -(-channels // LANES), min(w.size, columns_of(w) - w.pad)
    if is_square(call):
        steps = -(-h.out // 2)
        return ColumnsWork(
            fill_instructions=blocks * (steps + 1) * 14 * columns,
            channel_instructions=channels * steps * (19 + 28 * fours),
            steps=blocks * steps,
        )
    return ColumnsWork(
        fill_instructions=blocks * h.out * 12 * columns,
        channel_instructions=channels * h.out * (11 + (24 if is_nine(call) else 19) * fours),
        steps=blocks * h.out,
    )


@PLATFORM.kernel(
    "Conv", types=mve.TYPES, template="mve_columns.c.mako", layout="channels_last",
    sources=["mve.h", "mve_columns.h"], preference=45, requires=Needs(has=("mve",)),
)  # fmt: skip
class DepthwiseColumnsMve(KernelMethods):
    """Integer depthwise convolution of up to 3x3 by gathered windows."""

    def accepts(self, call: Call) -> str | None:
        """Up to nine taps side by side, strides that constants reach, codes that saturate."""
        if (why := portable_depthwise.accepts(call)) is not None:
            return why
        h, w = matrix_i8.folded_axes(call)
        channels = call.shape(0)[1]
        if max(h.kernel, w.kernel) > 3 or (w.dilation > 1 and w.kernel > 1):
            return "the kernel takes windows of up to 3x3 whose columns lie side by side"
        if is_square(call) and w.out < 2:
            return "the kernel computes two columns of results at once"
        if max(4 * channels, 4 * w.stride * COLUMN_BYTES) > LARGEST_STEP or (w.out + 4) * channels >= 1 << 16:
            return f"a step over four columns has more than {LARGEST_STEP} bytes, or a row more than {1 << 16}"
        if (why := matrix_i8.refusal(call)) is not None:
            return why
        if (why := mve_conv.word_refusal(call)) is not None:
            return why
        return None if mve_conv.form_of(call)[0] == "SATURATED" else "the kernel saturates to int8 with one shift"

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """The stream, and a run of zero points for rows outside."""
        call = operands.call
        x = call.tensor(0)
        assert x.quantisation is not None
        pad = np.full(LANES, x.quantisation.zero_point[0], x.dtype.numpy)
        return Constant("stream", DType.U32, stream_of(call)), Constant("pad", x.dtype, pad)

    def scratch(self, operands: Operands) -> int:
        """Words of the columns of one row's windows."""
        _, w = matrix_i8.folded_axes(operands.call)
        return COLUMN_BYTES * columns_of(w)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Where channels take several turns, each leaves the others' bytes alone; see `overlap` for one."""
        return ((0, 0),) if is_in_place(call) and call.shape(0)[1] > LANES else ()

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """Single rows are computed for all channels, one after the other; two rows after the next two are read."""
        call = operands.call
        h, w = matrix_i8.folded_axes(call)
        channels = call.shape(0)[1]
        if not is_square(call):
            return ((0, 0, gap_bytes(*row_steps(h, w, channels, 1, 1), reads_before_writing=False)),)
        if channels > LANES:
            return ()
        rows = np.arange(0, h.out, 2, dtype=np.int64)
        write_end = np.minimum(rows + 2, h.out) * w.out * channels
        read_first = np.maximum(0, rows + 2 - h.pad) * h.x_stride
        return ((0, 0, gap_bytes(write_end, read_first, reads_before_writing=True)),)

    def cost(self, call: Call) -> float:
        """Work at the prices of its kinds."""
        return work(call).priced(PRICES)

    def context(self, operands: Operands) -> MveColumnsContext:
        """The numbers of the layer."""
        call = operands.call
        x = call.tensor(0)
        assert x.quantisation is not None
        h, w = matrix_i8.folded_axes(call)
        columns = columns_of(w)
        return MveColumnsContext(
            y_type=C_TYPES[call.outputs[0].dtype],
            h=h,
            w=w,
            channels=x.shape[1],
            squares=is_square(call),
            nine=is_nine(call),
            columns=columns,
            filled=min(w.size, columns - w.pad),
            whole=w.out // 4,
            rest=w.out % 4,
            places=places_of(call),
            zero_point=x.quantisation.zero_point[0],
            shift=mve_conv.form_of(call)[1],
            words=11 if is_nine(call) else 7,
        )
