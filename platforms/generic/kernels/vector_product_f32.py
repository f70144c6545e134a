"""One row of floats times a matrix that changes at run time: neighbouring columns are summed together."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.platform import Call, Clamp, Constant, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels.elements import constants_by_name
from tilewright.platforms.generic.kernels.float_text import rectified_text
from tilewright.platforms.generic.platform import PLATFORM


@dataclass(frozen=True)
class VectorContext:
    """`inputs` times `inputs` x `columns`."""

    inputs: int
    columns: int
    clamp: Clamp | None
    clamped: str


class VectorProductF32(KernelMethods):
    """Float product of one row with a matrix of the run time."""

    def accepts(self, call: Call) -> str | None:
        """One row, and a matrix that is no constant."""
        if 1 in call.constants:
            return "the right-hand side is constant, other kernels repack it at compile time"
        if len(call.shape(1)) != 2 or not call.shape(0) or call.tensor(0).elements != call.shape(0)[-1]:
            return "the kernel handles one row and one matrix"
        return None if call.tensor(1).elements else "there is nothing to compute"

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """An operand that is constant."""
        return constants_by_name(operands, 0)

    def cost(self, call: Call) -> float:
        """Forty-three instructions for thirty-two multiply-accumulates."""
        return 1.4 * call.tensor(1).elements

    def context(self, operands: Operands) -> VectorContext:
        """The numbers of the product."""
        inputs, columns = operands.call.shape(1)
        clamp = operands.call.node.clamp
        return VectorContext(inputs, columns, clamp, rectified_text("v", clamp))


TYPES = "f32, f32 -> f32"
PLATFORM.kernel(
    "MatMul", types=TYPES, template="vector_product_f32.c.mako", layout=("default", "default"), numerics="1e-5",
    sources=["registers_f32.h", "blocks_f32.h"], preference=10, requires=Needs(has=("fpu",)),
)(VectorProductF32)  # fmt: skip
