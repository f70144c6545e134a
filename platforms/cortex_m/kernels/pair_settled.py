"""Add, Sub and Mul of codes of eight and sixteen bits of any scales, equal to float32's arithmetic.

Cores with DSP take words of 64 bits, whose upper half is the code and whose lower half says whether it lies next to a
tie; those few are settled in whole numbers. Cores with vectors of floats carry the arithmetic out as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from tilewright.numerics import (
    C_TYPES,
    SHIFTS,
    PairForm,
    SettledForm,
    code_limits,
    literal,
    rounds_as_floats,
    settled_form,
    the_quantisation,
)
from tilewright.platform import Call, Constant, DType, KernelMethods, Needs, Operands, Work
from tilewright.platforms.cortex_m.kernels.pair_i8 import one_code_a_channel, repeated, unlike_shapes
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels.nest import same_size

TYPES = "qi8|qu8|qi16|qu16, qi8|qu8|qi16|qu16 -> qi8|qu8|qi16|qu16"
SETTLED = "../../generic/kernels/settled.h"
HALF_WORD = 32
_IMMEDIATE_BITS = 8
"""Bits of a number that instructions of Armv7-M hold at any place."""
_PLAIN = 2.0**-60, 2.0**40
"""Scales and their products, with which floats of codes neither underflow nor overflow."""


@dataclass(frozen=True)
class SettledWork(Work):
    """Results by fours, those next to a tie, and calls."""

    fours: float
    near: float
    calls: float


@dataclass(frozen=True)
class SettledContext:
    """The form of codes `a` and `b`, which go `rounds` times over the codes of the operand called `again`.

    A result is next to a tie where the upper 32 bits of its fraction are less than `window` from a whole number.
    """

    a_type: str
    b_type: str
    y_type: str
    form: PairForm
    window: int
    limited: str
    again: str
    rounds: int
    elements: int


@dataclass(frozen=True)
class FloatPairContext:
    """Scales and the inverse of the last as C, zero points; types name those of vector loads and stores."""

    a_type: str
    b_type: str
    y_type: str
    op: str
    scales: tuple[str, str, str]
    inverse: str
    zeros: tuple[int, int, int]
    low: int
    high: int
    again: str
    rounds: int
    elements: int


def words(call: Call) -> SettledForm | None:
    """The form in words of 64 bits."""
    return settled_form(call, (64,))


def in_upper_bits(part: int, shift: int) -> int:
    """Part of a fraction of `shift` bits in units of the 32nd, rounded up."""
    return part << HALF_WORD - shift if shift <= HALF_WORD else -(-part >> shift - HALF_WORD)


def window(settled: SettledForm) -> int:
    """The window in the upper 32 bits of the fraction, as a number that an instruction holds."""
    exact = in_upper_bits(settled.window, settled.form.shift)
    spare = max(0, exact.bit_length() - _IMMEDIATE_BITS)
    return -(-exact >> spare) << spare


def limited_text(call: Call) -> str:
    """The limits of `code`, in one instruction where they are those of the type."""
    y = call.outputs[0]
    low, high = code_limits(call, y)
    if (low, high) == y.dtype.range:
        return f"tilewright_saturate{'_half' * (y.dtype.bits == 16)}{'_unsigned' * (low == 0)}(code)"
    return f"code < {low} ? {low} : code > {high} ? {high} : code"


def types_of(call: Call) -> tuple[str, str, str]:
    """C types of both operands and the result."""
    return C_TYPES[call.tensor(0).dtype], C_TYPES[call.tensor(1).dtype], C_TYPES[call.outputs[0].dtype]


def codes_of_constants(call: Call) -> tuple[Constant, ...]:
    """Constant operands as codes."""
    return tuple(
        Constant("ab"[i], call.tensor(i).dtype, value.reshape(-1)) for i, value in sorted(call.constants.items())
    )


class SettledMethods(KernelMethods):
    """What the kernels in whole numbers answer alike; they differ in the shapes that they take."""

    def _refuses(self, call: Call) -> str | None:
        return unlike_shapes(call)

    def accepts(self, call: Call) -> str | None:
        """Shapes that the kernel takes, and words that tell most codes."""
        if (why := self._refuses(call)) is not None:
            return why
        settled = words(call)
        if settled is None:
            return "words of 64 bits do not tell which code is the nearest"
        return _too_large(call, settled.form)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Codes of a constant operand; what settles a tie."""
        call = operands.call
        settled = words(call)
        assert settled is not None, "accepts refuses calls without a form"
        form, zero = settled.form, the_quantisation(call.outputs[0]).zero_point[0]
        behind = zero, abs(form.left), abs(form.right), form.shift, in_upper_bits(settled.cut, form.shift) + 1
        numbers = np.array((*settled.numbers, *behind), np.int32)
        return (*codes_of_constants(call), Constant("numbers", DType.I32, numbers))

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Operands of the result's shape and element size."""
        return same_size(call)

    def cost(self, call: Call) -> float:
        """Results by fours, and the part of them that is settled."""
        settled = words(call)
        near = 0.0 if settled is None else 2 * window(settled) / (1 << HALF_WORD)
        elements = call.outputs[0].elements
        return SettledWork(elements / 4, elements * near, calls=1).priced(PRICES)

    def context(self, operands: Operands) -> SettledContext:
        """The factors of the form, and which operand is read again and again."""
        call = operands.call
        settled = words(call)
        assert settled is not None, "accepts refuses calls without a form"
        return SettledContext(*types_of(call), settled.form, window(settled), limited_text(call), *repeated(call))


PRICES = SettledWork(fours=56.0, near=80.0, calls=20.0)
"""Instructions for one unit of each kind of work."""


def _too_large(call: Call, form: PairForm) -> str | None:
    """None where products of codes less their zero points fit in 32 bits."""
    if not form.product:
        return None
    spans = [max(abs(end - zero) for end in call.tensor(i).dtype.range) for i, zero in enumerate(form.zero_points)]
    return None if spans[0] * spans[1] < 1 << 31 else "a product of two codes may leave 32 bits"


@PLATFORM.kernel(
    "Add", "Sub", "Mul", types=TYPES, template="pair_settled.c.mako", layout="same",
    sources=[SHIFTS, SETTLED, "dsp.h", "pair_settled.h"], preference=19, requires=Needs(has=("dsp",)),
)  # fmt: skip
class SettledDsp(SettledMethods):
    """Words of two products, four results at a time."""


@PLATFORM.kernel(
    "Add", "Sub", "Mul", types=TYPES, template="pair_settled.c.mako", layout="channels_last",
    sources=[SHIFTS, SETTLED, "dsp.h", "pair_settled.h"], preference=19, requires=Needs(has=("dsp",)),
)  # fmt: skip
class SettledGainDsp(SettledMethods):
    """The same for one code of every channel."""

    def _refuses(self, call: Call) -> str | None:
        return one_code_a_channel(call)


class FloatPairMethods(KernelMethods):
    """What the kernels in vectors of floats answer alike."""

    _prices: ClassVar[SettledWork] = SettledWork(fours=22.0, near=0.0, calls=40.0)

    def _refuses(self, call: Call) -> str | None:
        return unlike_shapes(call)

    def accepts(self, call: Call) -> str | None:
        """Shapes that the kernel takes, and scales whose products are plain floats."""
        if (why := self._refuses(call)) is not None:
            return why
        if not rounds_as_floats(call):
            return "the result is not that of float32's arithmetic on two tensors of codes"
        first, second, third = (the_quantisation(t).scale[0] for t in (call.tensor(0), call.tensor(1), call.outputs[0]))
        used = (first, second, third, first * second if call.node.op == "Mul" else first)
        return None if all(_PLAIN[0] < s < _PLAIN[1] for s in used) else "scales are too small or large for floats"

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Codes of a constant operand."""
        return codes_of_constants(operands.call)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Operands of the result's shape and element size."""
        return same_size(call)

    def cost(self, call: Call) -> float:
        """Results by fours, and the call."""
        return SettledWork(call.outputs[0].elements / 4, 0.0, calls=1).priced(self._prices)

    def context(self, operands: Operands) -> FloatPairContext:
        """Scales, zero points and limits."""
        call = operands.call
        tensors = call.tensor(0), call.tensor(1), call.outputs[0]
        a, b, y = (the_quantisation(tensor) for tensor in tensors)
        first, second, third = (literal(DType.F32, meaning.scale[0]) for meaning in (a, b, y))
        inverse = literal(DType.F32, 1.0 / y.scale[0])
        zeros = (a.zero_point[0], b.zero_point[0], y.zero_point[0])
        low, high = code_limits(call, tensors[2])
        return FloatPairContext(
            *types_of(call), call.node.op, (first, second, third), inverse, zeros, low, high, *repeated(call)
        )


@PLATFORM.kernel(
    "Add", "Sub", "Mul", types=TYPES, template="mve_pair.c.mako", layout="same", sources=["mve.h", "mve_quantise.h"],
    preference=39, requires=Needs(has=("mve", "fpu")),
)  # fmt: skip
class FloatPairMve(FloatPairMethods):
    """Four results at a time: products, their sum, and its quotient as a division rounds it."""


@PLATFORM.kernel(
    "Add", "Sub", "Mul", types=TYPES, template="mve_pair.c.mako", layout="channels_last",
    sources=["mve.h", "mve_quantise.h"], preference=39, requires=Needs(has=("mve", "fpu")),
)  # fmt: skip
class FloatGainMve(FloatPairMethods):
    """The same for one code of every channel."""

    def _refuses(self, call: Call) -> str | None:
        return one_code_a_channel(call)
