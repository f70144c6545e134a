"""Softmax with the codes of TensorFlow Lite Micro: a table of exponentials, one reciprocal a line in fixed point."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.numerics import (
    C_TYPES,
    TOTAL_SHIFT,
    rounds_twice,
    softmax_axis,
    softmax_twice_form,
    softmax_twice_unknown,
)
from tilewright.platform import Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.kernels.softmax_i8 import Line, lines_of, strides
from tilewright.platforms.generic.platform import PLATFORM


@dataclass(frozen=True)
class SoftmaxTwiceContext:
    """Lines of `length` codes, `x_step` and `y_step` apart; `exponent` is the shift of a product by a total of 2^31."""

    y_type: str
    lines: tuple[Line, ...]
    length: int
    x_step: int
    y_step: int
    total_shift: int
    exponent: int
    lowest: int
    low: int
    high: int


@PLATFORM.kernel(
    "Softmax", types="qi8 -> qi8|qi16", template="softmax_twice.c.mako", layout=("axes", "same"),
    sources=["softmax_twice.h"], preference=10,
)  # fmt: skip
class SoftmaxTwice(KernelMethods):
    """Softmax in the fixed point of TensorFlow Lite Micro's reference kernel."""

    def accepts(self, call: Call) -> str | None:
        """Codes of that contract, in the form that the reference has."""
        return softmax_twice_unknown(call) if rounds_twice(call) else "its codes are exact, the kernel rounds twice"

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """The exponential of every difference of codes."""
        return (Constant("exponentials", DType.U32, softmax_twice_form(operands.call).exponentials),)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Each code is read for the last time just before its result is written."""
        return ((0, 0),) if call.outputs[0].dtype is DType.I8 else ()

    def context(self, operands: Operands) -> SoftmaxTwiceContext:
        """Extents and shifts."""
        call = operands.call
        axis, shape, form = softmax_axis(call), call.shape(0), softmax_twice_form(call)
        x, y = (strides(operands, tensor.name, shape) for tensor in (call.tensor(0), call.outputs[0]))
        return SoftmaxTwiceContext(
            y_type=C_TYPES[call.outputs[0].dtype],
            lines=lines_of(shape, axis, x, y),
            length=shape[axis],
            x_step=x[axis],
            y_step=y[axis],
            total_shift=TOTAL_SHIFT,
            exponent=form.exponent,
            lowest=call.outputs[0].dtype.range[0],
            low=form.low,
            high=form.high,
        )
