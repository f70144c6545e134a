"""Integer convolution with one pixel of result whose window lies in one run of bytes: a row of a matrix product.

So are the pointwise layers of a network that streams, and a first layer that sees its whole buffer. Eight channels go
at a time and read the inputs where they lie, so that nothing is gathered or widened and no scratch is needed.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.numerics import C_TYPES, SHIFTS
from tilewright.platform import Call, Constant, DType, KernelMethods, Needs, Operands
from tilewright.platforms.cortex_m.kernels import conv_i8, dense_i8, matrix_i8
from tilewright.platforms.cortex_m.platform import PLATFORM


@dataclass(frozen=True)
class RowContext:
    """`columns` channels from the first `depth` inputs of the operand, in one form of the row."""

    y_type: str
    depth: int
    columns: int
    form: str


def accepts(call: Call) -> str | None:
    """What `ConvDsp` takes, with one pixel, a window in one run of bytes, and channels that go by eights."""
    if (why := conv_i8.fits(call) or matrix_i8.refusal_of_both(call)) is not None:
        return why
    if call.tensor(0).dtype is DType.U8:
        return "the row takes signed codes"
    h, w = matrix_i8.axes_of(call)
    if h.out * w.out != 1:
        return "the result has several pixels"
    if h.pad or w.pad or not (h.inner_last and w.inner_last):
        return "the window is padded"
    one_run = w.kernel == 1 or w.dilation == 1
    rows_join = h.kernel == 1 or (h.dilation == 1 and w.kernel == w.size)
    if not (one_run and rows_join):
        return "the window is not one run of bytes"
    weights = conv_i8.weights_of(call)
    if weights.shape[1] != call.shape(0)[1] * h.kernel * w.kernel or weights.shape[0] % dense_i8.WIDE:
        return f"inputs go by fours and channels by {dense_i8.WIDE}"
    if form_of(call) not in dense_i8.ROW_FORMS:
        return "its codes are limited, or two channels have no pair"
    return None


def form_of(call: Call) -> str:
    """Which form of the row makes the codes."""
    return matrix_i8.codes_of(call, channels_of(call), uniform=True).form


def channels_of(call: Call) -> matrix_i8.Channels:
    """Starts, multipliers and pairs of all channels."""
    return matrix_i8.channels_of(call, conv_i8.weights_of(call))


@PLATFORM.kernel(
    "Conv", types=matrix_i8.TYPES, template="conv_row_i8.c.mako", layout="channels_last",
    sources=[SHIFTS, "dsp.h", "matrix_i8.h", "dense_i8.h"], preference=21, requires=Needs(has=("dsp",)),
)  # fmt: skip
class ConvRowDsp(KernelMethods):
    """Integer convolution of one pixel, eight channels at a time, inputs read as they lie."""

    def accepts(self, call: Call) -> str | None:
        """See `accepts`."""
        return accepts(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights in pairs of channels by eights, starts and multipliers."""
        call = operands.call
        channels, form = channels_of(call), form_of(call)
        weights = matrix_i8.pack(channels.weights, channels.pairs, paired=True, at_once=dense_i8.WIDE)
        _, *others = matrix_i8.matrix_constants(call, channels, form)
        return Constant("w", DType.U32, weights), *others

    def cost(self, call: Call) -> float:
        """Work at the prices of a row of a matrix product."""
        columns, depth = conv_i8.weights_of(call).shape
        work = dense_i8.DenseWork(
            wide_products=columns * depth, core_instructions=0, wide_columns=columns, column_pairs=0,
            widened_words=0, blocks=1,
        )  # fmt: skip
        return work.priced(dense_i8.PRICES)

    def context(self, operands: Operands) -> RowContext:
        """The numbers of the layer."""
        columns, depth = conv_i8.weights_of(operands.call).shape
        return RowContext(
            y_type=C_TYPES[operands.call.outputs[0].dtype],
            depth=depth,
            columns=columns,
            form=form_of(operands.call),
        )
