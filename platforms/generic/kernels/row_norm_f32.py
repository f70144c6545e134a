"""RMSNormalization of rows of floats: sums in NumPy's order, so that codes made of results are the same everywhere."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from tilewright.platform import Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.kernels.elements import constants_by_name, empty
from tilewright.platforms.generic.kernels.nest_expressions import literal
from tilewright.platforms.generic.platform import PLATFORM


@dataclass(frozen=True)
class RowNormContext:
    """Rows, elements of one, and what is added to the mean of squares; no mean is taken off."""

    rows: int
    width: int
    epsilon: str
    centred: bool = False


@PLATFORM.kernel(
    "RMSNormalization", types="f32, f32 -> f32", template="row_norm_f32.c.mako", numerics="1e-5", preference=5,
    sources=["each_rounded.h"],
)  # fmt: skip
class RowNormF32(KernelMethods):
    """Squares are added in eight sums, as NumPy adds up to 128 elements; every operation is rounded by itself."""

    def accepts(self, call: Call) -> str | None:
        """The last axis, a constant scale of one row."""
        shape = call.shape(0)
        if call.integer("axis", -1) not in (-1, len(shape) - 1) or call.node.clamp is not None:
            return "more than the last axis is normalised, or the result is limited"
        if 1 not in call.constants or call.constants[1].size != shape[-1]:
            return "its scale is no constant of one row"
        return empty(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """The scale."""
        return constants_by_name(operands, 1)

    def cost(self, call: Call) -> float:
        """A product and a sum for each element, then two products; a root for each row."""
        return 9.0 * call.tensor(0).elements + 60.0 * prod(call.shape(0)[:-1])

    def context(self, operands: Operands) -> RowNormContext:
        """Sizes."""
        shape = operands.call.shape(0)
        return RowNormContext(prod(shape[:-1]), shape[-1], literal(DType.F32, operands.call.real("epsilon", 1e-5)))
