"""Softmax on codes: a table of exponentials, one reciprocal a line, a multiplication for each element.

The quotient `e * factor / (sum << bits)` is taken as `e * M >> shift`, with an `M` that is larger than
`factor << (shift - bits) / sum` by less than 3.1. So the product is too large by less than a unit of its high word, and
only what lies less than such a unit beside a tie is divided exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from tilewright.numerics import C_TYPES, SHIFTS, SoftmaxForm, rounds_twice, softmax_axis, softmax_form
from tilewright.platform import Call, Constant, DType, KernelMethods, Operands, Shape
from tilewright.platforms.generic.platform import PLATFORM

WORD, TABLE_BITS, UNROLLED = 32, 30, 4


@dataclass(frozen=True)
class Quotient:
    """The numbers of a quotient: `M` is `numerator / sum`; of the high word of `e * M`, `half` added, `shift` bits are
    the fraction. Where `high_bits` are given, the share of 1 is one code too high for so many bits; none is more.
    """

    factor: int
    fraction_bits: int
    numerator: int
    half: int
    shift: int
    zero_point: int
    low: int | None
    high: int | None
    high_bits: int | None


@dataclass(frozen=True)
class Line:
    """A loop over lines: how many, and how far apart they lie in operand and result."""

    count: int
    x: int
    y: int


@dataclass(frozen=True)
class SoftmaxI8Context:
    """Lines of `length` codes, `x_step` and `y_step` apart."""

    x_type: str
    y_type: str
    lines: tuple[Line, ...]
    length: int
    x_step: int
    y_step: int
    quotient: Quotient

    @property
    def rounds(self) -> tuple[tuple[int, int, int], ...]:
        """First element, end and step of the loops over a line: by fours, then what is left."""
        whole = self.length // UNROLLED * UNROLLED
        return tuple(one for one in ((0, whole, UNROLLED), (whole, self.length, 1)) if one[0] < one[1])


def quotient_of(form: SoftmaxForm) -> Quotient:
    """The widest shift by which `M` has 32 bits for the least sum, 2^30; limits where codes can pass them."""
    shift = min(2 * WORD - 2, 2 * WORD - 2 + form.fraction_bits - form.factor.bit_length())
    if form.factor << (shift - form.fraction_bits) > ((1 << WORD) - 8) << TABLE_BITS:
        shift -= 1  # what is a little too large would leave the word
    numerator = form.factor << (shift - form.fraction_bits)
    largest, room = (form.factor + (1 << form.fraction_bits - 1)) >> form.fraction_bits, form.high - form.zero_point
    bits = room.bit_length() if largest == room + 1 and not room & largest else None
    return Quotient(
        factor=form.factor,
        fraction_bits=form.fraction_bits,
        numerator=numerator,
        half=1 << (shift - WORD - 1),
        shift=shift - WORD,
        zero_point=form.zero_point,
        low=form.low if form.zero_point < form.low else None,
        high=form.high if largest > room else None,
        high_bits=bits,
    )


def lines_of(shape: Shape, axis: int, x: tuple[int, ...], y: tuple[int, ...]) -> tuple[Line, ...]:
    """Loops over all axes but one; neighbours that lie evenly are one loop."""
    return lines_over(shape, tuple(at for at in range(len(shape)) if at != axis), x, y)


def lines_over(shape: Shape, axes: tuple[int, ...], x: tuple[int, ...], y: tuple[int, ...]) -> tuple[Line, ...]:
    """Loops over some axes; neighbours that lie evenly are one loop."""
    lines: list[Line] = []
    for size, *steps in ((shape[axis], x[axis], y[axis]) for axis in axes):
        if size == 1:
            continue
        line = Line(size, *steps)
        if lines and (lines[-1].x, lines[-1].y) == (line.x * size, line.y * size):
            lines[-1] = Line(lines[-1].count * size, line.x, line.y)
        else:
            lines.append(line)
    return tuple(lines)


def refusal(call: Call) -> str | None:
    """None, or why an exact quotient is none of the codes."""
    return "its codes are rounded twice, the kernel divides exactly" if rounds_twice(call) else None


@PLATFORM.kernel(
    "Softmax", types="qi8|qu8 -> qi8|qu8|qi16|qu16", template="softmax_i8.c.mako", layout=("axes", "same"),
    sources=[SHIFTS, "fixed.h", "fixed_reciprocal.h", "softmax_multiplier.h", "softmax.h"], preference=10,
)  # fmt: skip
class SoftmaxI8(KernelMethods):
    """Softmax on codes in integers."""

    def accepts(self, call: Call) -> str | None:
        """Exact codes."""
        return refusal(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """The exponential of every difference of codes."""
        return (Constant("exponentials", DType.U32, softmax_form(operands.call).exponentials),)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Each code is read for the last time just before its result is written."""
        return ((0, 0),) if call.tensor(0).dtype.bits == call.outputs[0].dtype.bits else ()

    def context(self, operands: Operands) -> SoftmaxI8Context:
        """Extents and the quotient's numbers."""
        call = operands.call
        axis, shape = softmax_axis(call), call.shape(0)
        x, y = (strides(operands, tensor.name, shape) for tensor in (call.tensor(0), call.outputs[0]))
        return SoftmaxI8Context(
            x_type=C_TYPES[call.tensor(0).dtype],
            y_type=C_TYPES[call.outputs[0].dtype],
            lines=lines_of(shape, axis, x, y),
            length=shape[axis],
            x_step=x[axis],
            y_step=y[axis],
            quotient=quotient_of(softmax_form(call)),
        )


def strides(operands: Operands, name: str, shape: Shape) -> tuple[int, ...]:
    """Elements between neighbours along each axis as a tensor lies in memory."""
    layout = operands.layouts.get(name)
    of_layout = None if layout is None else layout.axis_strides(shape)
    return of_layout or tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))
