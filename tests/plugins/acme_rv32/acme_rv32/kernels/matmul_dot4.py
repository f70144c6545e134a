# mypy: ignore-errors
"""Integer matrix product, four products at a time."""

import numpy as np
from tilewright.platform import Call, Constant, DType, Operands

from acme_rv32.platform import PLATFORM


@PLATFORM.kernel("MatMul", types="qi8, qi8 -> qi8", template="matmul_dot4.c.mako", sources=["dot4.h"])
class MatMulDot4:
    """Rows of bytes times a constant matrix, kept by columns."""

    def accepts(self, call: Call) -> str | None:
        """A constant matrix without zero point; sums stay below 2^29, so that their product with m is exact."""
        if 1 not in call.constants or len(call.shape(1)) != 2 or any(call.tensor(1).quantisation.zero_point):
            return "the right-hand side is no constant matrix without zero point"
        if call.node.clamp or len(call.shape(0)) < 2:
            return "it neither clamps nor takes a vector"
        return "sums may leave 29 bits" if call.shape(0)[-1] > 8192 else None

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights [column][depth], the share of the zero point in every sum, and m for every column."""
        call = operands.call
        x, y = (tensor.quantisation for tensor in (call.tensor(0), call.outputs[0]))
        columns = call.constants[1].T.astype(np.int32)
        weights = np.array(call.tensor(1).quantisation.scale, np.float32)
        m = weights * np.float32(x.scale[0]) / np.float32(y.scale[0])  # float32 after each operation
        return (
            Constant("w", DType.I8, columns.astype(np.int8).reshape(-1)),
            Constant("start", DType.I32, -x.zero_point[0] * columns.sum(1, dtype=np.int32)),
            Constant("m", DType.F32, np.broadcast_to(m, len(columns))),
        )

    def context(self, operands: Operands) -> tuple[int, int, int, int]:
        """Rows, depth, columns, and the zero point of the result."""
        depth, columns = operands.call.shape(1)
        y = operands.call.outputs[0]
        return y.elements // columns, depth, columns, y.quantisation.zero_point[0]
