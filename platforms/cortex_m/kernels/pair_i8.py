"""Add, Sub and Mul of codes, checked over every pair: operands of one shape, or one of them a code of every channel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from tilewright.numerics import OF_PAIRS, NearForm, PairForm
from tilewright.platform import Call, Constant, DType, KernelMethods, Needs, Operands, Work
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels.codes import pair_of
from tilewright.platforms.generic.kernels.codes_near import near_of
from tilewright.platforms.generic.kernels.nest import same_size

TYPES = "qi8, qi8 -> qi8"
NEAR = "../../generic/kernels/near.h"
FEW = 64
"""Codes of a bias below which the portable loop is the smaller code, and a few instructions are all that is lost."""

SHORTEST_ROW = 8
"""Codes of a row that is met again and again, from which on a round of the loop pays."""


@dataclass(frozen=True)
class PairWork(Work):
    """Results by fours; those of products, of listed forms; calls."""

    fours: float
    products: float
    listed: float
    calls: float


@dataclass(frozen=True)
class PairContext:
    """The form of codes `a` and `b`, which go `rounds` times over the codes of the operand called `again`.

    Products are those of centred codes. Words whose fraction is at least `window` are looked up in `listed` pairs.
    """

    form: PairForm
    window: int
    listed: int
    again: str
    rounds: int
    elements: int


def narrow_form(call: Call) -> PairForm | NearForm | None:
    """The form in words of 32 bits: that of all pairs, else one with a list."""
    form = pair_of(call)
    if form is not None and form.bits == 32:
        return form
    near = near_of(call)
    return near if near is not None and near.form.bits == 32 else None


def unlike_shapes(call: Call) -> str | None:
    """None where operands lie like the result."""
    y = call.outputs[0]
    if call.constants and y.elements < FEW:
        return f"for fewer than {FEW} codes with a constant the portable loop takes less code"
    if len(y.shape) <= 2:  # one order of elements, so a constant and a missing axis of one change nothing
        same = all(call.tensor(i).elements == y.elements for i in range(2)) or _row_again(call)
    else:
        same = not call.constants and all(call.shape(i) == y.shape for i in range(2))
    return None if same else "the kernel takes operands of one shape, and a constant of at most two axes"


def _row_again(call: Call) -> bool:
    """True where one operand is a row that every row of the other meets."""
    shape, sizes = call.outputs[0].shape, [call.shape(i) for i in range(2)]
    row = shape[-1:]
    return (
        len(shape) == 2 and row >= (SHORTEST_ROW,) and sizes.count(shape) == 1 and (row in sizes or (1, *row) in sizes)
    )


def repeated(call: Call) -> tuple[str, int, int]:
    """The operand that is read again and again, how often, and its codes."""
    elements = call.outputs[0].elements
    again = next((i for i in range(2) if call.tensor(i).elements < elements), 1)
    each = call.tensor(again).elements
    return "ab"[again], elements // each if each else 0, each


class PairMethods(KernelMethods):
    """What all kernels answer alike; they differ in their C, its prices, and the shapes that they take."""

    _prices: ClassVar[PairWork]

    def _refuses(self, call: Call) -> str | None:
        return unlike_shapes(call)

    def accepts(self, call: Call) -> str | None:
        """Shapes that the kernel takes, and a form in 32 bits."""
        if (why := self._refuses(call)) is not None:
            return why
        if narrow_form(call) is None:
            return "no 32-bit form equals the float32 arithmetic on every pair of codes, or on nearly all"
        return None

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Codes of a constant operand; listed pairs."""
        call = operands.call
        constants = [Constant("ab"[i], DType.I8, value.reshape(-1)) for i, value in sorted(call.constants.items())]
        form = narrow_form(call)
        if isinstance(form, NearForm):
            constants.append(Constant("pairs", DType.U16, np.array(form.listed or (0,), np.uint16)))
        return tuple(constants)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Operands of the result's shape."""
        return same_size(call)

    def cost(self, call: Call) -> float:
        """Results by fours, and the call."""
        fours, form = call.outputs[0].elements / 4, narrow_form(call)
        near = isinstance(form, NearForm)
        product = call.node.op == "Mul"
        return PairWork(fours, fours * product, fours * near, calls=1).priced(self._prices)

    def context(self, operands: Operands) -> PairContext:
        """The factors of the form, and which operand is read again and again."""
        call = operands.call
        form = narrow_form(call)
        assert form is not None
        if isinstance(form, NearForm):
            return PairContext(form.form, form.window, len(form.listed), *repeated(call))
        return PairContext(form, 0, 0, *repeated(call))


def one_code_a_channel(call: Call) -> str | None:
    """None where one operand has the result's shape, and the other one code for every channel."""
    y, sizes = call.outputs[0], [call.shape(i) for i in range(2)]
    if len(y.shape) not in (3, 4) or y.shape[0] != 1 or sizes.count(y.shape) != 1:
        return "the kernel takes one operand of the result's shape"
    full = sizes.index(y.shape)
    other = (1,) * (len(y.shape) - len(sizes[1 - full])) + sizes[1 - full]
    if full in call.constants or other != (1, y.shape[1], *(1 for _ in y.shape[2:])):
        return "the other operand has not one code for every channel"
    return None


@PLATFORM.kernel(
    "Add", "Sub", "Mul", types=TYPES, template="pair_i8.c.mako", layout="same", sources=[*OF_PAIRS, "dsp.h", NEAR],
    preference=20, requires=Needs(has=("dsp",)),
)  # fmt: skip
class PairDsp(PairMethods):
    """Codes with saturation in one instruction, eight at a time, four where pairs are listed."""

    _prices = PairWork(fours=34.0, products=8.0, listed=12.0, calls=0.0)


@PLATFORM.kernel(
    "Add", "Sub", "Mul", types=TYPES, template="pair_mve.c.mako", layout="same", sources=["mve.h", NEAR],
    preference=40, requires=Needs(has=("mve",)),
)  # fmt: skip
class PairMve(PairMethods):
    """Codes in vectors of four."""

    _prices = PairWork(fours=11.2, products=2.0, listed=6.0, calls=77.0)


@PLATFORM.kernel(
    "Add", "Sub", "Mul", types=TYPES, template="pair_i8.c.mako", layout="channels_last",
    sources=[*OF_PAIRS, "dsp.h", NEAR], preference=20, requires=Needs(has=("dsp",)),
)  # fmt: skip
class GainDsp(PairMethods):
    """The same for one code of every channel, as squeeze-and-excite multiplies."""

    _prices = PairWork(fours=34.0, products=8.0, listed=12.0, calls=0.0)

    def _refuses(self, call: Call) -> str | None:
        return one_code_a_channel(call)


@PLATFORM.kernel(
    "Add", "Sub", "Mul", types=TYPES, template="pair_mve.c.mako", layout="channels_last", sources=["mve.h", NEAR],
    preference=40, requires=Needs(has=("mve",)),
)  # fmt: skip
class GainMve(PairMethods):
    """The same in vectors of four channels."""

    _prices = PairWork(fours=11.2, products=2.0, listed=6.0, calls=77.0)

    def _refuses(self, call: Call) -> str | None:
        return one_code_a_channel(call)
