"""A layer and the one before it taken back together: four planes between both are made and become gradients."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, lcm, prod

from tilewright.operators import FIRST_NEXT, FIRST_OF_PAIR, PAIR_DX, SIGNS, DescentTerm, pair_replaces, pair_terms
from tilewright.platform import Call, Clamp, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.kernels.blocks import axis
from tilewright.platforms.generic.kernels.conv_gathered_f32 import GATHERED
from tilewright.platforms.generic.kernels.depthwise_tile_f32 import TileContext, cheapest, tile_of, widest
from tilewright.platforms.generic.kernels.descent import (
    BLOCK,
    Steps,
    TermContext,
    rows_at_once,
    slopes_beside,
    steps_of,
    terms_in_memory,
    weight_steps,
    weights_aside,
)
from tilewright.platforms.generic.kernels.descent_depthwise import PlaneTiles, decayed, plane_tiles, planes_cost
from tilewright.platforms.generic.kernels.elements import constants_by_name, empty
from tilewright.platforms.generic.kernels.float_text import rectified_text
from tilewright.platforms.generic.kernels.nest import operand_names, result_names
from tilewright.platforms.generic.kernels.nest_expressions import literal
from tilewright.platforms.generic.platform import PLATFORM

FIRST = (FIRST_OF_PAIR, FIRST_NEXT)


@dataclass(frozen=True)
class Names:
    """Operands and results of the layer before by their names in C; "" where there is none."""

    weights: str
    bias: str
    target: str
    following: str
    add: str
    sums: str


@dataclass(frozen=True)
class BeforeContext:
    """The layer before as a product of its own: whose results are the planes of a block, and how many channels of it
    are gathered at once and taken back together."""

    term: TermContext
    at_once: int
    block: int


@dataclass(frozen=True)
class PairContext:
    """Elements of a plane between both layers and of one of the operand, and places in scratch; the layer before is
    `depthwise`, in tiles of planes that are made by `forward`, or `before`."""

    terms: tuple[TermContext, ...]
    channels: int
    block: int
    plane: int
    x_plane: int
    between: int
    slopes: int
    gathered: int
    turned: int
    apart: int
    rectified: bool
    rate: str
    decay: str
    left: str
    names: Names
    forward: TileContext | None
    depthwise: PlaneTiles | None
    before: BeforeContext | None


@dataclass(frozen=True)
class Room:
    """Places in scratch, in elements, and its end."""

    aside: tuple[int, ...]
    slopes: int
    gathered: int
    turned: int
    between: int
    end: int


def _block(before: DescentTerm) -> int:
    """Channels between both layers that are taken back together; tiles of planes want as many each time."""
    channels = before.groups * before.results
    return next(each for each in (4, 3, 2, 1) if channels % each == 0) if before.groups > 1 else BLOCK


def _plane_steps(term: DescentTerm) -> Steps:
    return 0, prod(term.size), term.size[1], 1


def _before(operands: Operands) -> BeforeContext:
    """Half as many rows are gathered as elsewhere: planes lie beside them."""
    call = operands.call
    term = replace(pair_terms(call)[0], results=BLOCK)
    names, results, w = operand_names(call), result_names(call), call.tensor(1)
    held = (w, call.optional(3) or w, call.outputs[0])
    lying = tuple(weight_steps(operands, tensor, term) for tensor in held)
    x, y = steps_of(operands, call.tensor(0), term), (0, prod(term.outs), term.outs[1], 1)
    block = BLOCK if term.channels % BLOCK == 0 else min(BLOCK, term.channels)
    target = names[1] if call.optional(3) is None else names[3]
    context = TermContext(
        term, x, y, names[1], "planes", target, results[0], term.weight_steps,
        (lying[0], lying[1], lying[2]), None, -(-rows_at_once(term, x, y, block) // 2),
    )  # fmt: skip
    return BeforeContext(context, min(term.channels, max(1, GATHERED // term.taps)), block)


def _terms(operands: Operands, aside: tuple[int, ...], block: int) -> tuple[TermContext, ...]:
    whole = pair_terms(operands.call)[1:]
    return terms_in_memory(operands, whole, [_plane_steps(term) for term in whole], aside, block, FIRST)


def _room(operands: Operands) -> Room:
    """Weights aside, slopes where they lie elsewhere, what is gathered, turned weights of a block, and its planes."""
    before, *terms = pair_terms(operands.call)
    block, depthwise = _block(before), before.groups > 1
    aside = tuple(weights_aside(term) for term in terms)
    rows = [BLOCK * one.rows_at_once * one.product.outs[1] for one in _terms(operands, aside, block)]
    turns = block == BLOCK and not terms[0].channels % BLOCK
    slopes = 0 if turns else slopes_beside(terms)
    if not depthwise:
        own = _before(operands)
        slopes = max(slopes, BLOCK * BLOCK)
        rows += [BLOCK * own.term.rows_at_once * own.term.product.outs[1], BLOCK * own.at_once * before.taps]
    places = [sum(aside), slopes, max(rows), block * before.taps if depthwise else 0, block * prod(before.outs)]
    ends = [sum(places[: at + 1]) for at in range(len(places))]
    return Room(aside, ends[0], ends[1], ends[2], ends[3], ends[4])


def forward_tile(call: Call, block: int) -> tuple[float, TileContext]:
    """Instructions of making the planes of a depthwise layer again, and the tile that does it for a block of them."""
    before = pair_terms(call)[0]
    h, w = (
        axis(size, out, kernel, 1, dilation, begin, step)
        for size, out, kernel, dilation, begin, step in zip(
            before.size, before.outs, before.kernel, before.dilations, before.begins, (before.size[1], 1), strict=True
        )
    )
    clamp = Clamp(0.0, inf) if call.integer("rectified", 0) else None
    tiles = [tile_of(h, w, 1, columns, 0) for columns in range(1, widest(w) + 1)]
    cost, tile = cheapest(h, w, tiles, before.groups, clamp)
    bias = call.optional(2) is not None
    return cost, TileContext(
        h, w, block, before.taps, h.size * w.size, h.out * w.out, bias, "*b" if bias else "0.0f", tile,
        rectified_text("v", clamp),
    )  # fmt: skip


def pair_refusal(call: Call) -> str | None:
    """None, or why a pair of layers cannot be taken back: weights that move lie in memory that can be written."""
    moving = {1, 3, FIRST_OF_PAIR, FIRST_OF_PAIR + 2}
    return "weights that move are constants" if moving & set(call.constants) else empty(call)


def pair_in_place(call: Call) -> tuple[tuple[int, int], ...]:
    """Operands of a pair of layers and the results that take their memory."""
    return tuple(pair for pair in pair_replaces(call.node) if pair[0] not in call.constants)


class DescentPair(KernelMethods):
    """Block by block: the planes between, their weights' step and gradient, and the layer before of these planes."""

    def accepts(self, call: Call) -> str | None:
        """Weights in memory that can be written."""
        if call.optional(SIGNS) is not None:
            return "its gradient is one number a plane"
        return pair_refusal(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Every constant operand."""
        return constants_by_name(operands, *range(len(operands.call.inputs)))

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """The gradient takes the memory of the operand, next values that of targets."""
        return pair_in_place(call)

    def scratch(self, operands: Operands) -> int:
        """Weights aside, what is gathered, and the planes of a block."""
        return 4 * _room(operands).end

    def cost(self, call: Call) -> float:
        """About one and a half instructions for a multiply-accumulate in a block, and the layer before."""
        before, *terms = pair_terms(call)
        products = sum(term.taps * term.channels * term.results * prod(term.outs) for term in terms)
        own = 2 * before.taps * before.channels * before.results * prod(before.outs)
        if before.groups > 1:
            forward = forward_tile(call, _block(before))[0]
            return 3.4 * products + forward + planes_cost(before, back=True)
        return 3.4 * products + 1.7 * own

    def context(self, operands: Operands) -> PairContext:
        """The numbers of the call."""
        call = operands.call
        room, (before, *terms), depthwise = _room(operands), pair_terms(call), PAIR_DX in call.present
        names, results, decay = operand_names(call), result_names(call), call.real("decay", 1.0)
        block, masked = _block(before), bool(call.integer("masked", 0))
        bias, add = (names[at] if call.optional(at) is not None else "" for at in (2, 4))
        target = names[1] if call.optional(3) is None else names[3]
        return PairContext(
            _terms(operands, room.aside, block), before.groups * before.results, block, prod(before.outs),
            prod(before.size), room.between, room.slopes, room.gathered, room.turned,
            lcm(*(term.strides[1] for term in terms)), bool(call.integer("rectified", 0)),
            literal(DType.F32, call.real("rate")), literal(DType.F32, decay), decayed(decay, f"{target}[at]"),
            Names(names[1], bias, target, results[0], add, results[1]),
            forward_tile(call, block)[1] if depthwise else None,
            plane_tiles(before, block, add=False, back=True, masked=masked) if depthwise else None,
            None if depthwise else _before(operands),
        )  # fmt: skip


TYPES = "f32, f32, f32?, f32?, f32?, f32, f32, f32? -> f32, f32, f32, f32?"
SOURCES = [
    "registers_f32.h",
    "blocks_f32.h",
    "products_f32.h",
    "runs_f32.h",
    "descent_slopes.h",
    "descent.h",
    "gathered_f32.h",
]
PLATFORM.kernel(
    "DescentPair", types=TYPES, template="descent_pair.c.mako", sources=SOURCES, numerics="1e-4",
    layout=("default", "default"),
)(DescentPair)  # fmt: skip
