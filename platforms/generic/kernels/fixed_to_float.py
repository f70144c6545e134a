"""Numbers in fixed point as floats: by the float unit, or by shifts, which make the bits of a float."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.numerics import fraction_bits, literal
from tilewright.platform import Call, Constant, DType, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels.elements import empty
from tilewright.platforms.generic.platform import PLATFORM


@dataclass(frozen=True)
class ConversionContext:
    """Elements, and bits behind the point."""

    elements: int
    bits: int

    @property
    def step(self) -> str:
        """C of a code's worth."""
        return literal(DType.F32, 2.0**-self.bits)


@PLATFORM.kernel(
    "DequantizeLinear", types="qi32, f32, *? -> f32", template="fixed_to_float.c.mako", layout=("axes", "same"),
    sources=["fixed_room.h", "fixed_to_float.h"], preference=5,
)  # fmt: skip
class FixedToFloat(KernelMethods):
    """The nearest float of every number."""

    def accepts(self, call: Call) -> str | None:
        """A step that is a power of two, whose floats are normal numbers."""
        if fraction_bits(call.tensor(0)) > 90:
            return "its step is too small for a float"
        return empty(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """None: the step is an exponent."""
        return ()

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """The operand."""
        return ((0, 0),)

    def cost(self, call: Call) -> float:
        """Some thirty instructions an element."""
        return 30.0 * call.outputs[0].elements

    def context(self, operands: Operands) -> ConversionContext:
        """All of them."""
        return ConversionContext(operands.call.outputs[0].elements, fraction_bits(operands.call.tensor(0)))


@PLATFORM.kernel(
    "DequantizeLinear", types="qi32, f32, *? -> f32", template="fixed_to_real.c.mako", layout=("axes", "same"),
    preference=6, requires=Needs(has=("fpu",)),
)  # fmt: skip
class FixedToReal(FixedToFloat):
    """A conversion and a product."""

    def cost(self, call: Call) -> float:
        """Few instructions an element."""
        return 5.0 * call.outputs[0].elements
