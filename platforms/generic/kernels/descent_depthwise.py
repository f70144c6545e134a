"""A depthwise layer taken back: slopes in registers plane by plane, then the gradient in tiles of columns."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tilewright.operators import DescentTerm, descent_terms
from tilewright.platform import Call, Constant, DType, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels.blocks import Axis, axis
from tilewright.platforms.generic.kernels.depthwise_tile_f32 import REGISTERS, Load, Tile, cheapest, tile_of, widest
from tilewright.platforms.generic.kernels.descent import replaces
from tilewright.platforms.generic.kernels.elements import constants_by_name, empty
from tilewright.platforms.generic.kernels.nest import operand_names, result_names
from tilewright.platforms.generic.kernels.nest_expressions import literal
from tilewright.platforms.generic.platform import PLATFORM

MOST_TAPS = 16
"""Slopes of a channel that stay in registers beside the gradient of a tile."""


@dataclass(frozen=True)
class PlaneTiles:
    """Axes and tiles of the slopes, and of the gradient of the operand: no columns lie in two tiles."""

    channels: int
    taps: int
    h: Axis
    w: Axis
    slopes: Tile
    back_h: Axis
    back_w: Axis
    back_tile: Tile
    add: bool
    back: bool
    masked: bool


@dataclass(frozen=True)
class PlanesContext:
    """The tiles, and the operands by their names in C."""

    tiles: PlaneTiles
    weights: str
    gradient: str
    target: str
    following: str
    rate: str


def plane_tiles(term: DescentTerm, channels: int, *, add: bool, back: bool, masked: bool) -> PlaneTiles:
    """The text of both tiles, for so many channels that are taken back together."""
    (h, w), (back_h, back_w), slopes = _sliding(term), _backwards(term), _slopes(term, channels)[1]
    back_tile = _whole_tiles(back_h, back_w, channels, REGISTERS)[1] if back else slopes
    return PlaneTiles(channels, term.taps, h, w, slopes, back_h, back_w, back_tile, add, back, back and masked)


def planes_cost(term: DescentTerm, *, back: bool) -> float:
    """The tiles of slopes and of the gradient."""
    return _slopes(term, term.groups)[0] + (_whole_tiles(*_backwards(term), term.groups, REGISTERS)[0] if back else 0.0)


def _sliding(term: DescentTerm) -> tuple[Axis, Axis]:
    """How the window slides over the operand."""
    h, w = (
        axis(size, out, kernel, stride, dilation, begin, step)
        for size, out, kernel, stride, dilation, begin, step in zip(
            term.size, term.outs, term.kernel, term.strides, term.dilations, term.begins, (term.size[1], 1), strict=True
        )
    )
    return h, w


def _backwards(term: DescentTerm) -> tuple[Axis, Axis]:
    """How the turned window slides over the gradient of the results."""
    h, w = (
        axis(out, size, kernel, 1, dilation, (kernel - 1) * dilation - begin, step)
        for size, out, kernel, dilation, begin, step in zip(
            term.size, term.outs, term.kernel, term.dilations, term.begins, (term.outs[1], 1), strict=True
        )
    )
    return h, w


def _whole_tiles(h: Axis, w: Axis, channels: int, most: int) -> tuple[float, Tile]:
    """Instructions and the cheapest tile that divides a row."""
    columns = [each for each in range(1, min(widest(w), most) + 1) if w.out % each == 0]
    cost, tile = cheapest(h, w, [tile_of(h, w, 1, each, 0) for each in columns], channels, None)
    return cost, replace(tile, pointers=tuple(pointer for pointer in tile.pointers if pointer.readonly))


def _slopes(term: DescentTerm, channels: int) -> tuple[float, Tile]:
    """The same with sums for taps in the place of those for results, which multiply inputs."""
    cost, tile = _whole_tiles(*_sliding(term), channels, max(1, REGISTERS - term.taps - 4))
    rows = tuple(
        replace(row, weights=(), loads=tuple(replace(load, products=_turned(kh, load)) for load in row.loads))
        for kh, row in enumerate(tile.rows)
    )
    return cost, replace(tile, rows=rows)


def _turned(kh: int, load: Load) -> tuple[tuple[str, str], ...]:
    """The slopes to which an input adds, and the gradients that it multiplies."""
    return tuple((f"g{kh}_{weight[1:]}", f"d{total[1:]}") for total, weight in load.products)


class DescentDepthwise(KernelMethods):
    """A depthwise layer of one image, stride 1 where a gradient of its operand is asked for."""

    def accepts(self, call: Call) -> str | None:
        """One product with as many groups as channels and one result each, weights in memory that can be written."""
        terms = descent_terms(call)
        term = terms[0]
        if len(terms) > 1 or term.matrix or (term.channels, term.results, term.images) != (1, 1, 1) or term.groups == 1:
            return "the kernel handles one depthwise layer of one image"
        if 0 in call.present and (term.strides != (1, 1) or min(*_pads(term)) < 0):
            return "the kernel handles strides of 1"
        if term.taps > MOST_TAPS:
            return f"a window of {term.taps} taps, the kernel holds the slopes of at most {MOST_TAPS}"
        return "weights that move are constants" if {2, 4} & set(call.constants) else empty(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Every constant operand."""
        return constants_by_name(operands, *range(len(operands.call.inputs)))

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """See `replaces`."""
        return replaces(call)

    def scratch(self, operands: Operands) -> int:
        """The old weights, turned."""
        call = operands.call
        return call.tensor(2).size_bytes if 0 in call.present else 0

    def cost(self, call: Call) -> float:
        """The tiles of slopes and of the gradient."""
        return planes_cost(descent_terms(call)[0], back=0 in call.present)

    def context(self, operands: Operands) -> PlanesContext:
        """The text of both tiles."""
        call = operands.call
        term, masked = descent_terms(call)[0], bool(call.integer("masked", 0))
        names, results = operand_names(call), result_names(call)
        decay, moved = call.real("decay", 1.0), names[2] if call.optional(4) is None else names[4]
        tiles = plane_tiles(term, term.groups, add=call.optional(1) is not None, back=0 in call.present, masked=masked)
        return PlanesContext(
            tiles, names[2], names[3], decayed(decay, f"{moved}[at]"), results[call.present.index(1)],
            literal(DType.F32, call.real("rate")),
        )  # fmt: skip


def decayed(decay: float, target: str) -> str:
    """What is left of a target."""
    return target if decay == 1.0 else f"{literal(DType.F32, decay)} * {target}"


def _pads(term: DescentTerm) -> tuple[int, int]:
    rows, columns = (
        (kernel - 1) * dilation - begin
        for kernel, dilation, begin in zip(term.kernel, term.dilations, term.begins, strict=True)
    )
    return rows, columns


TYPES = "f32, f32?, f32... -> f32, f32..."
PLATFORM.kernel(
    "Descent", types=TYPES, template="descent_depthwise.c.mako", sources=["registers_f32.h"], numerics="1e-4",
    layout=("default", "default"), preference=20, requires=Needs(has=("fpu",)),
)(DescentDepthwise)  # fmt: skip
