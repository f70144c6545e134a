"""Softmax: one thread for each row along the axis, on floats and on codes."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from tilewright.numerics import C_TYPES, softmax_axis, softmax_form
from tilewright.platform import Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.cuda.platform import PLATFORM
from tilewright.platforms.generic.kernels.float_text import clamp_text
from tilewright.platforms.generic.kernels.softmax_i8 import refusal


@dataclass(frozen=True)
class RowContext:
    """`elements` rows of `length`, `inner` elements apart; the numbers of the quotient where codes are divided."""

    elements: int
    x_type: str
    y_type: str
    length: int
    inner: int
    clamp: str = ""
    factor: int = 0
    fraction_bits: int = 0
    zero_point: int = 0
    low: int = 0
    high: int = 0


def _row(call: Call) -> RowContext:
    axis, shape = softmax_axis(call), call.shape(0)
    x, y = call.tensor(0), call.outputs[0]
    inner = prod(shape[axis + 1 :])
    return RowContext(x.elements // shape[axis], C_TYPES[x.dtype], C_TYPES[y.dtype], shape[axis], inner)


@PLATFORM.kernel("Softmax", types="qi8|qu8 -> qi8|qu8|qi16|qu16", template="softmax_codes.cu.mako", preference=20)
class SoftmaxCodesByRow(KernelMethods):
    """Softmax on codes: a table of exponentials, one exact quotient per element."""

    def accepts(self, call: Call) -> str | None:
        """Exact codes."""
        return refusal(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """The exponential of every difference of codes."""
        return (Constant("exponentials", DType.U32, softmax_form(operands.call).exponentials),)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """A row belongs to one thread, which reads each code for the last time just before it writes it."""
        return ((0, 0),) if call.tensor(0).dtype.bits == call.outputs[0].dtype.bits else ()

    def context(self, operands: Operands) -> RowContext:
        """Extents and the quotient's constants."""
        row, form = _row(operands.call), softmax_form(operands.call)
        return RowContext(
            row.elements, row.x_type, row.y_type, row.length, row.inner, "", form.factor, form.fraction_bits,
            form.zero_point, form.low, form.high,
        )  # fmt: skip


@PLATFORM.kernel("Softmax", types="f32 -> f32", template="softmax_f32.cu.mako", numerics="1e-5", preference=20)
class SoftmaxByRow(KernelMethods):
    """Softmax on floats, the largest element taken off first."""

    def accepts(self, call: Call) -> str | None:
        """From opset 13 on; before it all axes from the given one on were one."""
        if call.opset < 13 and softmax_axis(call) != len(call.shape(0)) - 1:
            return "before opset 13 the axes from the given one on are one row"
        return None

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """A row belongs to one thread."""
        return ((0, 0),)

    def context(self, operands: Operands) -> RowContext:
        """Extents."""
        row = _row(operands.call)
        clamp = clamp_text("value", operands.call.node.clamp)
        return RowContext(row.elements, row.x_type, row.y_type, row.length, row.inner, clamp)
