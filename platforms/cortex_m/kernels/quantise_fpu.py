"""QuantizeLinear and DynamicQuantizeLinear on cores with a floating-point unit, and in vectors."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.numerics import code_limits, literal, rounds_twice, the_quantisation
from tilewright.platform import Call, Constant, DType, KernelMethods, Needs, Operands
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels.codes_dynamic import DynamicCodes
from tilewright.platforms.generic.kernels.quantise_f32 import QuantiseContext, QuantiseF32

PORTABLE, RANGE = QuantiseF32(), DynamicCodes()
NEAREST = "../../generic/kernels/nearest.h"
SMALLEST, LARGEST = 2.0**-90, 2.0**90
"""Steps whose reciprocal and multiples by 2^29 are normal numbers."""
TYPES = "f32, *... -> qi8|qu8|qi16|qu16"


@dataclass(frozen=True)
class CodesContext:
    """The numbers of the portable kernel; limits of the codes, of `bits`, and C of `code` within them; 1 / step."""

    portable: QuantiseContext
    least: int
    most: int
    limited: str
    inverse: str
    bits: int


@dataclass(frozen=True)
class DynamicContext:
    """How many elements; C of the least and greatest step whose reciprocal and multiples are normal numbers."""

    elements: int
    smallest: str
    largest: str


def refused(call: Call) -> str | None:
    """None for what the portable kernel takes with halves to the even code and a step that is no extreme."""
    if (why := PORTABLE.accepts(call)) is not None:
        return why
    if rounds_twice(call):
        return "halves go away from zero, the unit rounds them to the even number"
    step = abs(the_quantisation(call.outputs[0]).scale[0])
    return None if SMALLEST <= step <= LARGEST else f"a step of {step:g}, whose multiples leave the normal numbers"


def codes_context(operands: Operands) -> CodesContext:
    """The numbers of the expression."""
    call = operands.call
    y, numbers = call.outputs[0], PORTABLE.context(operands)
    low, high = code_limits(call, y)
    limited = f"(code < {low} ? {low} : code > {high} ? {high} : code)"
    if (low, high) == y.dtype.range:
        half, unsigned = "_half" * (y.dtype.bits == 16), "_unsigned" * (low == 0)
        limited = f"tilewright_saturate{half}{unsigned}(code)"
    inverse = literal(DType.F32, 1.0 / the_quantisation(y).scale[0])
    return CodesContext(numbers, low, high, limited, inverse, y.dtype.bits)


def dynamic_context(operands: Operands) -> DynamicContext:
    """The numbers of the loops."""
    ends = literal(DType.F32, SMALLEST), literal(DType.F32, LARGEST)
    return DynamicContext(operands.call.tensor(0).elements, *ends)


@PLATFORM.kernel(
    "QuantizeLinear", types=TYPES, template="quantise_fpu.c.mako", layout=("axes", "same"),
    sources=[NEAREST, "dsp.h", "quantise_fpu.h"], preference=20, requires=Needs(has=("dsp", "fpu")),
)  # fmt: skip
class QuantiseFpu(KernelMethods):
    """Codes of floats by the unit's own rounding, four at a time."""

    def accepts(self, call: Call) -> str | None:
        """What `refused` asks for."""
        return refused(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """None: scale and zero point stand in the expression."""
        return ()

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """As in the portable kernel: each code is written after its float was read."""
        return PORTABLE.overlap(operands)

    def cost(self, call: Call) -> float:
        """Some nine instructions per element."""
        return 9.0 * call.outputs[0].elements

    def context(self, operands: Operands) -> CodesContext:
        """The numbers of the expression."""
        return codes_context(operands)


@PLATFORM.kernel(
    "QuantizeLinear", types=TYPES, template="mve_quantise.c.mako", layout=("axes", "same"),
    sources=["mve.h", "mve_quantise.h"], preference=40, requires=Needs(has=("mve", "fpu")),
)  # fmt: skip
class QuantiseMve(KernelMethods):
    """Codes of floats in vectors of four."""

    def accepts(self, call: Call) -> str | None:
        """What `refused` asks for."""
        return refused(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """None: scale and zero point stand in the expression."""
        return ()

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """Four codes are written after their floats were read."""
        return PORTABLE.overlap(operands)

    def cost(self, call: Call) -> float:
        """Some sixteen instructions for four elements."""
        return 4.0 * call.outputs[0].elements + 10.0

    def context(self, operands: Operands) -> CodesContext:
        """The numbers of the expression."""
        return codes_context(operands)


@PLATFORM.kernel(
    "DynamicQuantizeLinear", types="f32 -> u8, f32, u8", template="dynamic_fpu.c.mako", layout="default",
    sources=[NEAREST, "dsp.h", "quantise_fpu.h"], preference=20, requires=Needs(has=("dsp", "fpu")),
)  # fmt: skip
class DynamicFpu(KernelMethods):
    """The range by the order of the bits, then codes by the unit's own rounding."""

    def accepts(self, call: Call) -> str | None:
        """What the portable kernel accepts."""
        return RANGE.accepts(call)

    def cost(self, call: Call) -> float:
        """Some fifteen instructions per element."""
        return 15.0 * call.tensor(0).elements

    def context(self, operands: Operands) -> DynamicContext:
        """The numbers of the loops."""
        return dynamic_context(operands)


@PLATFORM.kernel(
    "DynamicQuantizeLinear", types="f32 -> u8, f32, u8", template="dynamic_mve.c.mako", layout="default",
    sources=[NEAREST, "mve.h", "mve_quantise.h"], preference=40, requires=Needs(has=("mve", "fpu")),
)  # fmt: skip
class DynamicMve(KernelMethods):
    """The range and the codes in vectors of four."""

    def accepts(self, call: Call) -> str | None:
        """What the portable kernel accepts."""
        return RANGE.accepts(call)

    def cost(self, call: Call) -> float:
        """Some twenty instructions for four elements."""
        return 5.5 * call.tensor(0).elements + 60.0

    def context(self, operands: Operands) -> DynamicContext:
        """The numbers of the loops."""
        return dynamic_context(operands)
