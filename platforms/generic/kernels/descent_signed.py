"""A pair of layers before a mean over planes: two planes at a time, the gradient of a result where its sign is set."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from tilewright.operators import FIRST_NEXT, FIRST_OF_PAIR, SIGNS, pair_terms, sign_bytes
from tilewright.platform import Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.kernels.depthwise_tile_f32 import TileContext
from tilewright.platforms.generic.kernels.descent import weight_steps
from tilewright.platforms.generic.kernels.descent_depthwise import PlaneTiles, decayed, plane_tiles, planes_cost
from tilewright.platforms.generic.kernels.descent_pair import Names, forward_tile, pair_in_place, pair_refusal
from tilewright.platforms.generic.kernels.elements import constants_by_name
from tilewright.platforms.generic.kernels.nest import operand_names, result_names
from tilewright.platforms.generic.kernels.nest_expressions import literal
from tilewright.platforms.generic.platform import PLATFORM

TYPES = "f32, f32, f32?, f32?, f32?, f32, f32, f32?, u8 -> f32, f32, f32, f32"
SOURCES = ["registers_f32.h", "descent_signed.h"]


@dataclass(frozen=True)
class BehindContext:
    """The layer behind: names in C, results, bytes of a pixel's signs, and steps of weights, target and next value."""

    weights: str
    target: str
    gradient: str
    following: str
    results: int
    sign_bytes: int
    steps: tuple[int, ...]


@dataclass(frozen=True)
class SignedContext:
    """Elements of a plane between both layers and of one of the operand; `forward` makes planes of a block again."""

    channels: int
    block: int
    plane: int
    x_plane: int
    rectified: bool
    rate: str
    decay: str
    left: str
    names: Names
    signed: BehindContext
    forward: TileContext
    depthwise: PlaneTiles


def block_of(channels: int) -> int:
    """Planes that are taken back together."""
    return 1 if channels % 2 else 2


@PLATFORM.kernel(
    "DescentPair", types=TYPES, template="descent_signed.c.mako", sources=SOURCES, numerics="1e-4",
    layout=("default", "default"),
)  # fmt: skip
class DescentSigned(KernelMethods):
    """Planes between, their signs' sums as the weights' step, their gradient over them, and the layer before."""

    def accepts(self, call: Call) -> str | None:
        """Signs of a pointwise layer behind a depthwise one, weights in memory that can be written."""
        if call.optional(SIGNS) is None:
            return "its gradient has no signs"
        if pair_terms(call)[0].groups == 1 or call.optional(4) is not None:
            return "the layer before is no depthwise one, or something else reads what lies between"
        return pair_refusal(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Every constant operand."""
        return constants_by_name(operands, *range(len(operands.call.inputs)))

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """The gradient takes the memory of the operand, next values that of targets."""
        return pair_in_place(call)

    def scratch(self, operands: Operands) -> int:
        """Planes of a block, weights of both layers for it."""
        before, behind = pair_terms(operands.call)
        block = block_of(before.groups)
        return 4 * (block * (prod(before.outs) + before.taps) + 16 * sign_bytes(behind.results))

    def cost(self, call: Call) -> float:
        """Two instructions for each sign and channel, and the layer before."""
        before, behind = pair_terms(call)
        products = behind.channels * behind.results * prod(behind.outs)
        forward = forward_tile(call, block_of(before.groups))[0]
        return 4.0 * products + forward + planes_cost(before, back=True)

    def context(self, operands: Operands) -> SignedContext:
        """The numbers of the call."""
        call, (before, behind) = operands.call, pair_terms(operands.call)
        names, results, decay = operand_names(call), result_names(call), call.real("decay", 1.0)
        block, held = block_of(before.groups), call.optional(FIRST_OF_PAIR + 2)
        w, bias = call.tensor(FIRST_OF_PAIR), names[2] if call.optional(2) is not None else ""
        lying = (weight_steps(operands, one, behind) for one in (w, held or w, call.outputs[FIRST_NEXT]))
        target = names[1] if call.optional(3) is None else names[3]
        signed = BehindContext(
            names[FIRST_OF_PAIR], names[FIRST_OF_PAIR + 2 * (held is not None)], names[FIRST_OF_PAIR + 1],
            results[FIRST_NEXT], behind.results, sign_bytes(behind.results),
            tuple(step for steps in lying for step in steps[:2]),
        )  # fmt: skip
        return SignedContext(
            before.groups, block, prod(before.outs), prod(before.size), bool(call.integer("rectified", 0)),
            literal(DType.F32, call.real("rate")), literal(DType.F32, decay), decayed(decay, f"{target}[at]"),
            Names(names[1], bias, target, results[0], "", results[1]), signed, forward_tile(call, block)[1],
            plane_tiles(before, block, add=False, back=True, masked=bool(call.integer("masked", 0))),
        )  # fmt: skip
