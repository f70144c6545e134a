"""Float Gemm and MatMul of one tile without float units: lines become whole numbers, cores share their sums."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from tilewright.platform import (
    Call,
    Constant,
    DType,
    Needs,
    Operands,
    Rule,
    TiledKernelMethods,
    TileView,
    prefer,
    whole,
)
from tilewright.platforms.generic.kernels.dense_f32 import weights_of
from tilewright.platforms.generic.kernels.elements import empty
from tilewright.platforms.generic.kernels.product_f32 import refused
from tilewright.platforms.generic.kernels.whole_products import DENSE, limited, too_long
from tilewright.platforms.pulp.kernels.conv_block_i8 import SUMS_WHOLE
from tilewright.platforms.pulp.kernels.product_i8 import matrices_of, sizes_of, unlike_matrices
from tilewright.platforms.pulp.kernels.whole_conv import GENERIC
from tilewright.platforms.pulp.kernels.whole_halves import Halves, halves_of, line_words
from tilewright.platforms.pulp.kernels.windows import CORES
from tilewright.platforms.pulp.platform import PLATFORM

SOURCES = [
    "tiles.h", "product_tile.h", "xpulp.h", "dots.h",
    *(f"{GENERIC}{name}.h" for name in ("fixed_room", "whole_f32", "whole_products")), "whole_halves.h",
]  # fmt: skip
LANES = 4
NUMBER_CYCLES, PRODUCT_CYCLES, RESULT_CYCLES = 42, 4, 170
"""Modelled cycles of a float that becomes a whole number, of a product, and of a sum that becomes a float again."""


@dataclass(frozen=True)
class WholeDenseContext:
    """Lines of numbers; `right` is the C name of the second operand, whose lines lie `across` the rows of a matrix,
    or one behind the other."""

    halves: Halves
    right: str
    across: bool
    bias: bool
    clamp: str


class _Products(TiledKernelMethods):
    """What both kernels share: tiles of rows and columns, whole sums."""

    tile_type = "tilewright_product_tile"
    phases = 2

    def rules(self, call: Call) -> list[Rule]:
        """The sum stays whole."""
        columns = prefer("n", LANES * CORES, why="eight cores take four columns of a row each")
        return [*whole("k", why=SUMS_WHOLE), columns]

    def cost(self, call: Call) -> float:
        """Products, and lines that become whole numbers once."""
        depth, results = call.shape(0)[-1], call.outputs[0].elements
        lines = call.tensor(0).elements + call.tensor(1).elements
        return float(results * (depth * PRODUCT_CYCLES + RESULT_CYCLES) + lines * NUMBER_CYCLES) / CORES

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Of the core that has most lines and most sums."""
        rows, columns = _lines(call, sizes)
        matrices, each = matrices_of(call, sizes)
        sums = LANES * -(-matrices * each * -(-sizes["n"] // LANES) // CORES)
        numbers = -(-(rows + columns) // CORES) * (sizes["k"] * NUMBER_CYCLES + 60)
        return 500 + numbers + sums * (sizes["k"] * PRODUCT_CYCLES + RESULT_CYCLES)

    def tile_scratch(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Lines of both operands as whole numbers, with an exponent and the sizes of each."""
        rows, columns = _lines(call, sizes)
        return 4 * (rows + columns) * (line_words(call.shape(0)[-1]) + 2)

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """Matrices, rows and columns of one tile."""
        return sizes_of(call, view)


@PLATFORM.kernel(
    "Gemm", "MatMul", types="f32, f32, f32? -> f32", template="whole_dense.c.mako", sources=SOURCES, numerics="1e-5",
    preference=30, requires=Needs(lacks=("fpu",)),
)  # fmt: skip
class TiledWholeDense(_Products):
    """Rows times the columns of a constant matrix over tiles in L1, as sums of whole numbers."""

    def accepts(self, call: Call) -> str | None:
        """What the portable kernel takes."""
        return DENSE.accepts(call) or empty(call) or too_long(call.shape(0)[-1])

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Columns one behind the other, and the bias of each; cut along them."""
        weights = np.ascontiguousarray(weights_of(operands.call).T, np.float32).reshape(-1)
        bias = (one for one in DENSE.constants(operands) if one.name == "bias")
        along = ("n",)
        return (
            Constant("w", DType.F32, weights, along=along),
            *(Constant(one.name, one.dtype, one.values, along=along) for one in bias),
        )

    def context(self, operands: Operands) -> WholeDenseContext:
        """The length of a sum, and what is done to it."""
        call = operands.call
        clamp = limited("v", call.node.clamp)
        return WholeDenseContext(halves_of(call.shape(0)[-1], LANES), "w", False, 2 in call.constants, clamp)


@PLATFORM.kernel(
    "MatMul", types="f32, f32 -> f32", template="whole_dense.c.mako", sources=SOURCES, numerics="1e-5", preference=29,
    requires=Needs(lacks=("fpu",)),
)  # fmt: skip
class TiledWholeMatMul(_Products):
    """Products of two operands of the run time over tiles in L1, as sums of whole numbers."""

    def accepts(self, call: Call) -> str | None:
        """Matrices, one right-hand side for all of them or one for each."""
        return unlike_matrices(call) or refused(call) or empty(call) or too_long(call.shape(0)[-1])

    def context(self, operands: Operands) -> WholeDenseContext:
        """The length of a sum, and what is done to it."""
        call = operands.call
        return WholeDenseContext(halves_of(call.shape(0)[-1], LANES), "b", True, False, limited("v", call.node.clamp))


def _lines(call: Call, sizes: Mapping[str, Any]) -> tuple[Any, Any]:
    """Rows of the first operand and columns of the second one in a tile."""
    matrices, rows = matrices_of(call, sizes)
    return matrices * rows, matrices * sizes["n"]
