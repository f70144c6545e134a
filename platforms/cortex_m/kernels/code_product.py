"""Products of coded rows with coded weights on cores with the DSP extension: four outputs at a time."""

from __future__ import annotations

from tilewright.platform import Call, Constant, KernelMethods, Needs, Operands
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels.row_codes import CodeProduct as Portable
from tilewright.platforms.generic.kernels.row_codes import ProductContext

PORTABLE = Portable()


@PLATFORM.kernel(
    "CodeProduct", types="i8, f32, i8|i4, i8 -> f32", template="code_product_dsp.c.mako", numerics="exact",
    sources=["dsp.h", "in_order.h"], preference=20, requires=Needs(has=("dsp",)),
)  # fmt: skip
class CodeProductDsp(KernelMethods):
    """Words of four or eight weights, two products an instruction; weights lie as those of the portable kernel."""

    def accepts(self, call: Call) -> str | None:
        """Rows of whole words, sums of four outputs."""
        if call.shape(0)[-1] % 4 or call.shape(2)[0] % 4:
            return "rows or outputs are no multiple of four"
        return PORTABLE.accepts(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Those of the portable kernel."""
        return PORTABLE.constants(operands)

    def cost(self, call: Call) -> float:
        """About one and a half instructions for a product."""
        return 1.6 * call.tensor(0).elements * call.shape(2)[0]

    def context(self, operands: Operands) -> ProductContext:
        """That of the portable kernel."""
        return PORTABLE.context(operands)
