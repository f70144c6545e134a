"""Products of coded rows with coded weights on cores with the vector extension: sixteen inputs of four outputs."""

from __future__ import annotations

from tilewright.platform import Call, Constant, DType, KernelMethods, Needs, Operands
from tilewright.platforms.cortex_m.kernels.mve import VECTOR
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels.row_codes import CodeProduct as Portable
from tilewright.platforms.generic.kernels.row_codes import ProductContext

PORTABLE = Portable()


@PLATFORM.kernel(
    "CodeProduct", types="i8, f32, i8|i4, i8 -> f32", template="mve_code_product.c.mako", numerics="exact",
    sources=["mve.h", "in_order.h"], preference=40, requires=Needs(has=("mve",)),
)  # fmt: skip
class CodeProductMve(KernelMethods):
    """Weights lie as those of the portable kernel; codes are put in the order of weights of four bits once a row."""

    def accepts(self, call: Call) -> str | None:
        """Blocks of whole vectors, or one; sums of four outputs."""
        refused = PORTABLE.accepts(call)
        if refused is not None:
            return refused
        size = PORTABLE.context(Operands(call))
        vector = 2 * VECTOR if size.four else VECTOR
        if size.outputs % 4 or (size.blocks > 1 and size.block % vector):
            return f"outputs are no multiple of four, or blocks none of {vector}"
        return None

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Those of the portable kernel."""
        return PORTABLE.constants(operands)

    def scratch(self, operands: Operands) -> int:
        """A row of codes in the order of weights of four bits, and where the sums of its blocks start."""
        size = PORTABLE.context(operands)
        return size.width + -size.width % (2 * VECTOR) + 4 * size.blocks if size.four else 0

    def cost(self, call: Call) -> float:
        """Instructions: a load and a sum for each vector, some twenty around four outputs."""
        size = 2.0 if call.tensor(2).dtype is DType.I4 else 1.0
        return call.tensor(0).elements * call.shape(2)[0] * (0.11 * size + 6.0 / call.shape(0)[-1])

    def context(self, operands: Operands) -> ProductContext:
        """That of the portable kernel."""
        return PORTABLE.context(operands)
