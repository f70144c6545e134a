"""Softmax on codes: a table of exponentials, one exact quotient per element."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from tilewright.numerics import C_TYPES, softmax_axis, softmax_form
from tilewright.platform import Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.platform import PLATFORM


@dataclass(frozen=True)
class SoftmaxI8Context:
    """`outer` x `length` x `inner` codes, the sum over `length`."""

    x_type: str
    y_type: str
    outer: int
    length: int
    inner: int
    factor: int
    fraction_bits: int
    zero_point: int
    low: int
    high: int


@PLATFORM.kernel("Softmax", types="qi8|qu8 -> qi8|qu8|qi16|qu16", template="softmax_i8.c.mako", preference=10)
class SoftmaxI8(KernelMethods):
    """Softmax on codes in integers."""

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """The exponential of every difference of codes."""
        return (Constant("exponentials", DType.U32, softmax_form(operands.call).exponentials),)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Each code is read for the last time just before its result is written."""
        return ((0, 0),) if call.tensor(0).dtype.bits == call.outputs[0].dtype.bits else ()

    def context(self, operands: Operands) -> SoftmaxI8Context:
        """Extents and the quotient's constants."""
        call = operands.call
        form, axis, shape = softmax_form(call), softmax_axis(call), call.shape(0)
        return SoftmaxI8Context(
            x_type=C_TYPES[call.tensor(0).dtype],
            y_type=C_TYPES[call.outputs[0].dtype],
            outer=prod(shape[:axis]),
            length=shape[axis],
            inner=prod(shape[axis + 1 :]),
            factor=form.factor,
            fraction_bits=form.fraction_bits,
            zero_point=form.zero_point,
            low=form.low,
            high=form.high,
        )
