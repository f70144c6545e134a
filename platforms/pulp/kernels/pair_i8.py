"""Add, Sub and Mul of codes: a tile is a line of elements that the cores share, two at a time with Xpulp."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from tilewright.numerics import C_TYPES, OF_PAIRS, PairForm, pair_text
from tilewright.platform import Call, Constant, DType, Operands, Rule, TiledKernelMethods, TileView
from tilewright.platforms.generic.kernels.codes import PAIRS, pair_of, without_form
from tilewright.platforms.pulp.kernels.listing import Listing, constant
from tilewright.platforms.pulp.kernels.windows import CORES
from tilewright.platforms.pulp.platform import PLATFORM


@dataclass(frozen=True)
class PairContext:
    """An integer expression of the codes e0 and e1, computed in `word`; `asm` computes two elements per turn of a
    hardware loop, empty where the form is no sum in 32 bits."""

    word: str
    y_type: str
    form: str
    low: int
    high: int
    asm: str
    left: int
    right: int
    addend: int


@PLATFORM.kernel(
    *PAIRS, types="qi8|qu8, qi8|qu8 -> qi8|qu8", template="pair_i8.c.mako", layout="same",
    sources=[*OF_PAIRS, "tiles.h", "line_tile.h", "xpulp.h"], preference=40,
)  # fmt: skip
class TiledPairI8(TiledKernelMethods):
    """Add, Sub and Mul of codes over tiles in L1."""

    tile_type = "tilewright_line_tile"

    def accepts(self, call: Call) -> str | None:
        """Two tensors of one shape at run time, with an integer form."""
        if call.constants or call.shape(0) != call.shape(1):
            return "an operand is constant or broadcast, the kernel handles two of one shape"
        return without_form(call)

    def rules(self, call: Call) -> list[Rule]:
        """Any tile will do."""
        return []

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """See `pair_cycles`."""
        return pair_cycles(call, sizes)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """None: the form holds literals."""
        return ()

    def context(self, operands: Operands) -> PairContext:
        """The form as an expression of both codes."""
        return pair_context(operands.call)

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """All elements as one row."""
        (box,) = {footprint.box for footprint in view.boxes.values()}
        return {"rows": 1, "columns": prod(high - low for low, high in box)}


def pair_cycles(call: Call, sizes: Mapping[str, Any]) -> Any:
    """Eight instructions an element, as many again where they are portable C; see `COSTS` of `block_i8`."""
    points: Any = 1
    for name, size in sizes.items():
        if "." not in name:
            points = points * size
    form = pair_of(call)
    assert form is not None
    each = 30 if form.product or form.bits == 64 or form.ties != "up" else 9
    return 250 + -(-points // CORES) * each


def pair_context(call: Call) -> PairContext:
    """The form as an expression of both codes."""
    form = pair_of(call)
    assert form is not None
    word = "int64_t" if form.bits == 64 else "int32_t"
    y_type = C_TYPES[call.outputs[0].dtype]
    unsigned = [call.tensor(i).dtype is DType.U8 for i in range(2)]
    asm = "" if form.product or form.bits == 64 or form.ties != "up" else _pairs(form, unsigned)
    return PairContext(word, y_type, pair_text(form), form.low, form.high, asm, form.left, form.right, form.addend)


def _pairs(form: PairForm, unsigned: Sequence[bool]) -> str:
    """Two elements per turn: a0 and a1 walk over the operands, a2 over the result, a3 counts, a4 to a6 are factors."""
    out, turns = Listing(), range(2)
    limits = (form.low, form.high)
    narrow = {(-128, 127): "p.clip {0}, {0}, 8", (0, 255): "p.clipu {0}, {0}, 9", (0, 127): "p.clipu {0}, {0}, 8"}.get(
        limits
    )
    if narrow is None:
        out(*constant("a7", form.low), *constant("t6", form.high))
    out.begin_loop("a3")
    for operand, plain in enumerate(unsigned):
        out(*(f"p.{'lbu' if plain else 'lb'} t{2 * turn + operand}, 1, a{operand}" for turn in turns))
    out(*(f"mv t{4 + turn}, a6" for turn in turns))
    for operand in range(2):
        out(*(f"p.mac t{4 + turn}, t{2 * turn + operand}, a{4 + operand}" for turn in turns))
    out(*(f"srai t{4 + turn}, t{4 + turn}, {form.shift}" for turn in turns))
    for line in [narrow] if narrow else ["p.max {0}, {0}, a7", "p.min {0}, {0}, t6"]:
        out(*(line.format(f"t{4 + turn}") for turn in turns))
    out(*(f"p.sb t{4 + turn}, 1, a2" for turn in turns))
    out.end_loop()
    return out.text("            ")
