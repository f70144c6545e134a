"""Integer Gemm and MatMul with constant weights by blocks: rows are pixels, columns are channels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from tilewright.platform import Call, Constant, Operands, Rule, TiledKernelMethods, TileView, multiple, whole
from tilewright.platforms.generic.kernels.dense_i8 import accepts, matrix
from tilewright.platforms.pulp.kernels.block_costs import cycles
from tilewright.platforms.pulp.kernels.block_i8 import (
    BlockContext,
    context,
    exact,
    plan_of,
    refusal,
    stream,
)
from tilewright.platforms.pulp.kernels.block_plan import WIDTH
from tilewright.platforms.pulp.kernels.block_window import Window
from tilewright.platforms.pulp.kernels.conv_block_i8 import BLOCK_SOURCES, FOURS, SUMS_WHOLE
from tilewright.platforms.pulp.kernels.conv_i8 import TYPES
from tilewright.platforms.pulp.kernels.dense_i8 import rows_in, rows_of
from tilewright.platforms.pulp.kernels.windows import TILE
from tilewright.platforms.pulp.platform import PLATFORM


def window_of(call: Call) -> Window:
    """The matrix product as a convolution with one tap; all leading axes count pixels."""
    return Window(call.shape(0)[-1] * call.tensor(0).dtype.bits // 8, call.outputs[0].shape[-1])


@PLATFORM.kernel("Gemm", "MatMul", types=TYPES, template="block_i8.c.mako", sources=BLOCK_SOURCES, preference=30)
class BlockDenseI8(TiledKernelMethods):
    """Integer matrix product with a constant right-hand side over tiles in L1, by blocks of four columns."""

    tile_type = TILE

    def accepts(self, call: Call) -> str | None:
        """Rows times a constant matrix of eight bits; a requantisation of 32 bits."""
        return accepts(call) or refusal(window_of(call), call, matrix(call)[1])

    def rules(self, call: Call) -> list[Rule]:
        """The sum stays whole; columns go in fours."""
        return [*whole("k", why=SUMS_WHOLE), multiple("n", WIDTH, why=FOURS)]

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Those of the core that has most blocks."""
        return cycles(plan_of(window_of(call), call), 1, rows_in(sizes), sizes["n"])

    def tile_scratch(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Where the cores gather rows whose bytes are no multiple of four."""
        return plan_of(window_of(call), call).scratch_bytes

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """One stream per group of four columns."""
        call = operands.call
        weights, _ = matrix(call)
        plan = plan_of(window_of(call), call)
        columns = np.ascontiguousarray(weights.T)[:, None, None, :]
        return (stream(plan, call, columns, "n"), *exact(plan, call, "n"))

    def context(self, operands: Operands) -> BlockContext:
        """The listings of the blocks, and how the cores share them."""
        return context(plan_of(window_of(operands.call), operands.call), operands.call, "a")

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """Rows and columns of one tile."""
        rows = rows_of(view)
        return {
            "rows": 1, "columns": rows, "channels": view.size("n"), "in_rows": 1, "in_columns": rows, "top": 0,
            "left": 0,
        }  # fmt: skip
