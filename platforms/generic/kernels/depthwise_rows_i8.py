"""Integer depthwise convolution in place: the rows that are still needed are kept aside before they are overwritten."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.numerics import ROUNDING
from tilewright.platform import Call, Constant, KernelMethods, Operands
from tilewright.platforms.generic.kernels import conv_i8, depthwise_i8
from tilewright.platforms.generic.kernels.depthwise_i8 import WIDTH, DepthwiseI8Context
from tilewright.platforms.generic.kernels.float_text import ATTRIBUTE
from tilewright.platforms.generic.platform import PLATFORM


@dataclass(frozen=True)
class RowsContext:
    """The numbers of the depthwise convolution, and `kept` rows of `row` elements in scratch."""

    depthwise: DepthwiseI8Context
    kept: int
    row: int


def kept_rows(call: Call) -> int:
    """Input rows above and at an output row, which the result would overwrite before they are read."""
    h, _ = conv_i8.spatial_axes(call, conv_i8.strides_of(call))
    return h.pad + 1


@PLATFORM.kernel(
    "Conv", types=conv_i8.TYPES, template="depthwise_rows_i8.c.mako", layout="channels_last",
    sources=["vectorised.h", *ROUNDING], preference=25,
)  # fmt: skip
class DepthwiseRowsI8(KernelMethods):
    """Integer depthwise convolution whose result may take its operand's place."""

    def accepts(self, call: Call) -> str | None:
        """Stride 1, no dilation of rows, a result of the operand's size and type."""
        if (refused := depthwise_i8.accepts(call)) is not None:
            return refused
        x, y = call.tensor(0), call.outputs[0]
        h, _ = conv_i8.spatial_axes(call, conv_i8.strides_of(call))
        if x.shape != y.shape or x.dtype.bits != y.dtype.bits or h.stride != 1 or h.dilation != 1 or h.kernel < 2:
            return "the result does not have the operand's rows, it could not take its place"
        return None

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """The operand."""
        return ((0, 0),)

    def scratch(self, operands: Operands) -> int:
        """The rows that are kept aside."""
        x = operands.call.tensor(0)
        return kept_rows(operands.call) * x.shape[-1] * x.shape[1] * (x.dtype.bits // 8)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights with the channel innermost."""
        return depthwise_i8.depthwise_constants(operands, WIDTH)

    def context(self, operands: Operands) -> RowsContext:
        """Blocks of thirty-two channels: codes of one vector."""
        x = operands.call.tensor(0)
        numbers = depthwise_i8.depthwise_context(operands, WIDTH, ATTRIBUTE)
        return RowsContext(numbers, kept_rows(operands.call), x.shape[-1] * x.shape[1])
