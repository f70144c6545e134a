"""Rows in fixed point times a constant matrix, in sums of 64 bits."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.numerics import fixed_matrix
from tilewright.platform import Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.kernels.elements import empty
from tilewright.platforms.generic.platform import PLATFORM


@dataclass(frozen=True)
class MatrixContext:
    """`rows` of `depth` elements and of `columns` results; sums are shifted to the right, to the left below 0."""

    rows: int
    depth: int
    columns: int
    shift: int


@PLATFORM.kernel("MatMul", types="qi32, f32 -> qi32", template="fixed_matrix.c.mako")
class FixedMatrix(KernelMethods):
    """Every sum by itself."""

    def accepts(self, call: Call) -> str | None:
        """A constant matrix of two axes."""
        if 1 not in call.constants or len(call.shape(1)) != 2 or len(call.shape(0)) < 2:
            return "the kernel takes rows times a constant matrix"
        return empty(call) or ("the result is limited" if call.node.clamp else None)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Whole weights, those of a column beside each other."""
        weights = fixed_matrix(operands.call).weights
        return (Constant("w", DType.I32, weights.T.reshape(-1)),)

    def cost(self, call: Call) -> float:
        """Two loads, a long product and a long sum."""
        return 9.0 * call.tensor(0).elements * call.shape(1)[1]

    def context(self, operands: Operands) -> MatrixContext:
        """Sizes and the shift."""
        call = operands.call
        depth, columns = call.shape(1)
        return MatrixContext(call.tensor(0).elements // max(depth, 1), depth, columns, fixed_matrix(call).shift)
