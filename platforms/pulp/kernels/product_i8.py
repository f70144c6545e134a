"""Integer MatMul of two operands of the run time: cores share blocks of four rows by four columns.

A core packs the four columns of its blocks in scratch, four inputs a word, so that both operands are read by words.
Products are of plain codes; the starts of a column and of a row hold what the other operand's zero point takes off.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import dropwhile
from typing import Any

from tilewright.numerics import C_TYPES, ROUNDING, MultiplyHigh, Requantiser, proof, requantise, the_quantisation
from tilewright.platform import Call, DType, Operands, Rule, TiledKernelMethods, TileView, multiple, whole
from tilewright.platforms.generic.kernels import product_i8 as portable
from tilewright.platforms.pulp.kernels.conv_block_i8 import FOURS, SUMS_WHOLE
from tilewright.platforms.pulp.kernels.product_asm import WIDTH, listing, packing, row_sums
from tilewright.platforms.pulp.kernels.windows import CORES
from tilewright.platforms.pulp.platform import PLATFORM

ENTRY_CYCLES, BLOCK_CYCLES, PACK_CYCLES, ROW_CYCLES = 600, 170, 6, 3


@dataclass(frozen=True)
class ProductContext:
    """What the template prints; `flips` makes the right-hand side's words signed codes, `b_zero` is their zero point.
    Blocks are `fused` with their requantisation where it takes 32 bits.
    """

    a_type: str
    y_type: str
    depth: int
    a_zero: int
    b_zero: int
    flips: str
    packing: str
    fused: bool
    text: str
    row_sums: str
    requantise: Requantiser


def lead_of(call: Call) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Leading axes of both operands, without ones in front of them."""
    left, right = (tuple(dropwhile(lambda size: size == 1, call.shape(index)[:-2])) for index in (0, 1))
    return left, right


def unlike_matrices(call: Call) -> str | None:
    """None for matrices of the run time, of which the second ones are one for all, or one for each of the first."""
    if call.constants:
        return "an operand is constant, the kernel takes two of the run time"
    if min(len(call.shape(0)), len(call.shape(1))) < 2:
        return "an operand is a vector, the kernel handles matrices"
    left, right = lead_of(call)
    if right not in ((), left):
        return f"leading axes {list(left)} and {list(right)} broadcast, the kernel takes equal ones or one matrix"
    return None


@PLATFORM.kernel(
    "MatMul", types=portable.TYPES, template="product_i8.c.mako",
    sources=["tiles.h", "xpulp.h", "dots.h", "product_tile.h", "product.h", *ROUNDING], preference=30,
)  # fmt: skip
class TiledProductI8(TiledKernelMethods):
    """Integer matrix product of two operands over tiles in L1."""

    tile_type = "tilewright_product_tile"

    def accepts(self, call: Call) -> str | None:
        """Matrices whose depth is whole words, one right-hand side for all of them or one for each."""
        if (why := unlike_matrices(call)) is not None:
            return why
        if call.shape(0)[-1] % WIDTH:
            return f"{call.shape(0)[-1]} inputs of a sum are no multiple of {WIDTH}"
        return portable.refused(call)

    def rules(self, call: Call) -> list[Rule]:
        """The sum stays whole; columns go in fours."""
        return [*whole("k", why=SUMS_WHOLE), multiple("n", WIDTH, why=FOURS)]

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Of the core that has most blocks: twenty-four instructions for sixty-four products, and what it packs."""
        matrices, rows = matrices_of(call, sizes)
        words, blocks, groups = call.shape(0)[-1] // WIDTH, -(-rows // WIDTH), -(-sizes["n"] // WIDTH)
        items = -(-matrices * blocks * groups // CORES)
        packs = -(-items // blocks) + 1
        return (
            ENTRY_CYCLES + items * (24 * words + BLOCK_CYCLES) + packs * words * 4 * PACK_CYCLES
            + rows * words * ROW_CYCLES
        )  # fmt: skip

    def tile_scratch(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Packed columns, and the starts of rows where the other zero point makes some, for every core."""
        _, rows = matrices_of(call, sizes)
        return CORES * (WIDTH * call.shape(0)[-1] + 4 * rows * (right_zero(call) != 0))

    def context(self, operands: Operands) -> ProductContext:
        """Types, zero points and the statement of a block."""
        call = operands.call
        a, b = call.tensor(0), call.tensor(1)
        form = requantise(proof(call))
        fixed = form if isinstance(form, MultiplyHigh) else None
        return ProductContext(
            a_type=C_TYPES[a.dtype],
            y_type=C_TYPES[call.outputs[0].dtype],
            depth=call.shape(0)[-1],
            a_zero=the_quantisation(a).zero_point[0],
            b_zero=right_zero(call),
            flips=" ^ 0x80808080u" if b.dtype is DType.U8 else "",
            packing=packing(call.shape(0)[-1], b.dtype is DType.U8, the_quantisation(a).zero_point[0] != 0).text(
                " " * 12
            ),
            fused=fixed is not None,
            text=listing(call.shape(0)[-1], a.dtype is DType.U8, right_zero(call) != 0, fixed).text(" " * 20),
            row_sums=row_sums(call.shape(0)[-1], a.dtype is DType.U8, -right_zero(call)).text(" " * 16),
            requantise=form,
        )

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """Matrices, rows and columns of one tile."""
        return sizes_of(call, view)


def right_zero(call: Call) -> int:
    """The zero point of the right-hand side's codes as signed ones."""
    b = call.tensor(1)
    return the_quantisation(b).zero_point[0] - 128 * (b.dtype is DType.U8)


def matrices_of(call: Call, sizes: Mapping[str, Any]) -> tuple[Any, Any]:
    """Matrices and rows of a tile; where one right-hand side serves all, leading axes count rows."""
    lead: Any = 1
    for name, size in sizes.items():
        if name not in ("m", "n", "k") and "." not in name:
            lead = lead * size
    return (lead, sizes["m"]) if lead_of(call)[1] else (1, lead * sizes["m"])


def sizes_of(call: Call, view: TileView) -> dict[str, int]:
    """Matrices, rows and columns of one tile, and elements from one right-hand side to the next, 0 for one of all."""
    matrices, rows = matrices_of(call, {name: high - low for name, (low, high) in view.loops.items()})
    right = call.shape(0)[-1] * view.size("n") if lead_of(call)[1] else 0
    return {"matrices": int(matrices), "rows": int(rows), "columns": view.size("n"), "right": right}
