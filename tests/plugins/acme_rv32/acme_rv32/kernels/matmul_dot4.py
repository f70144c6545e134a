# mypy: ignore-errors
"""Integer matrix product, four products at a time, without a float."""

from dataclasses import dataclass

from tilewright.numerics import ROUNDING, Requantiser, accumulator, centred, proof, requantise, too_wide
from tilewright.platform import Call, Constant, DType, KernelMethods, Operands

from acme_rv32.platform import PLATFORM


@dataclass(frozen=True)
class Product:
    """Every number that the template prints."""

    rows: int
    depth: int
    columns: int
    requantise: Requantiser


@PLATFORM.kernel("MatMul", types="qi8, qi8 -> qi8", template="matmul_dot4.c.mako", sources=["dot4.h", *ROUNDING])
class MatMulDot4(KernelMethods):
    """Rows of bytes times a constant matrix, kept by columns."""

    def accepts(self, call: Call) -> str | None:
        """Rows, and a constant matrix without zero point; sums fit 32 bits, or the node is refused before."""
        if 1 not in call.constants or len(call.shape(1)) != 2 or any(call.tensor(1).quantisation.zero_point):
            return "the right-hand side is no constant matrix without zero point"
        return "the left-hand side is a vector" if len(call.shape(0)) < 2 else too_wide(proof(call))

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights [column][depth], the start of every sum with the zero point's share in it, the requantisation."""
        call = operands.call
        weights = Constant("w", DType.I8, centred(call.tensor(1), call.constants[1], DType.I8).T.reshape(-1))
        return (weights, Constant("start", DType.I32, accumulator(call).start), *requantise(proof(call)).constants)

    def context(self, operands: Operands) -> Product:
        """Sizes, and the requantisation, which prints itself."""
        depth, columns = operands.call.shape(1)
        rows = operands.call.outputs[0].elements // columns
        return Product(rows, depth, columns, requantise(proof(operands.call)))
