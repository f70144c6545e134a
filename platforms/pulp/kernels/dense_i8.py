"""Integer Gemm and MatMul with constant weights: the columns of a tile are shared among the cores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from tilewright.numerics import C_TYPES, ROUNDING, Requantiser, accumulator, proof, requantise
from tilewright.platform import Call, Constant, DType, Operands, Rule, TiledKernelMethods, TileView, prefer, whole
from tilewright.platforms.generic.kernels.dense_i8 import accepts, matrix
from tilewright.platforms.pulp.kernels.conv_i8 import TYPES
from tilewright.platforms.pulp.kernels.windows import CORES, per_channel
from tilewright.platforms.pulp.platform import PLATFORM


@dataclass(frozen=True)
class DenseContext:
    """The numbers of one matrix product that all its tiles share."""

    x_type: str
    w_type: str
    y_type: str
    depth: int
    requantise: Requantiser


@PLATFORM.kernel(
    "Gemm", "MatMul", types=TYPES, template="dense_i8.c.mako", sources=["tiles.h", "line_tile.h", *ROUNDING],
    preference=10,
)  # fmt: skip
class TiledDenseI8(TiledKernelMethods):
    """Integer matrix product with a constant right-hand side over tiles in L1."""

    tile_type = "tilewright_line_tile"

    def accepts(self, call: Call) -> str | None:
        """A matrix, or several that lie one after the other, times a constant one."""
        return accepts(call)

    def rules(self, call: Call) -> list[Rule]:
        """The sum stays whole."""
        return [
            *whole("k", why="a sum stays in one register from the first product to the last"),
            prefer("n", CORES, why="eight cores take a column each"),
        ]

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Six cycles a product."""
        return 400 + rows_in(sizes) * -(-sizes["n"] // CORES) * (20 + sizes["k"] * 6)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights by column, folded starts, requantisation; all cut along the columns."""
        call = operands.call
        weights, dtype = matrix(call)
        columns = weights.shape[1]
        start = np.broadcast_to(np.asarray(accumulator(call).start, np.int32), (columns,))
        requantisation = requantise(proof(call)).constants
        packed = Constant("w", dtype, np.ascontiguousarray(weights.T).reshape(-1), along=("n",))
        return (packed, *per_channel((Constant("bias", DType.I32, start), *requantisation), columns, "n"))

    def context(self, operands: Operands) -> DenseContext:
        """Types, depth and requantisation."""
        call = operands.call
        types = C_TYPES[call.tensor(0).dtype], C_TYPES[matrix(call)[1]], C_TYPES[call.outputs[0].dtype]
        return DenseContext(*types, call.shape(0)[-1], requantise(proof(call)))

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """Rows and columns of one tile."""
        return {"rows": rows_of(view), "columns": view.size("n")}


def rows_in(sizes: Mapping[str, Any]) -> Any:
    """Rows of a tile: leading axes lie one behind the other, so each of them counts rows."""
    rows: Any = 1
    for name, size in sizes.items():
        if name not in ("n", "k") and "." not in name:
            rows = rows * size
    return rows


def rows_of(view: TileView) -> int:
    """`rows_in` of the tile's loops."""
    rows: int = rows_in({name: high - low for name, (low, high) in view.loops.items()})
    return rows
