"""Det: the determinant of the last two axes by elimination with row pivots."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.numerics import loaded
from tilewright.platform import Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.kernels.elements import FLOATS, as_element, constants_by_name, empty
from tilewright.platforms.generic.kernels.nest_expressions import computing
from tilewright.platforms.generic.platform import PLATFORM


@dataclass(frozen=True)
class DeterminantContext:
    """`count` squares of `size` x `size`; `real` is the type that is computed in, `abs` its absolute value."""

    count: int
    size: int
    real: str
    abs: str
    dtype: DType

    def real_of(self, element: str) -> str:
        """The value of an element."""
        return loaded(self.dtype, element)

    def element_of(self, value: str) -> str:
        """A computed value as an element."""
        return as_element(self.dtype, value)


@PLATFORM.kernel("Det", types=f"{FLOATS} -> {FLOATS}", template="determinant.c.mako", numerics="1e-4")
class Determinant(KernelMethods):
    """Gaussian elimination on a copy of each square."""

    def accepts(self, call: Call) -> str | None:
        """Squares with elements."""
        return empty(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """The data where it is constant."""
        return constants_by_name(operands, 0)

    def scratch(self, operands: Operands) -> int:
        """One square."""
        size = operands.call.shape()[-1]
        return size * size * computing(operands.call.tensor(0).dtype).bits // 8

    def context(self, operands: Operands) -> DeterminantContext:
        """Number and size of the squares."""
        call = operands.call
        size, wide = call.shape()[-1], computing(call.tensor(0).dtype)
        real, absolute = ("double", "fabs") if wide.bits == 64 else ("float", "fabsf")
        return DeterminantContext(call.outputs[0].elements, size, real, absolute, call.outputs[0].dtype)
