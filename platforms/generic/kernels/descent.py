"""Products taken back: gradients written over what they are gradients of, weights over themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import lcm

from tilewright.operators import DescentTerm, descent_replaces, descent_terms
from tilewright.platform import Call, Constant, DType, KernelMethods, Operands, Tensor
from tilewright.platforms.generic.kernels.elements import constants_by_name, empty
from tilewright.platforms.generic.kernels.nest import operand_names, result_names
from tilewright.platforms.generic.kernels.nest_expressions import literal
from tilewright.platforms.generic.platform import PLATFORM

BLOCK = 4
"""Channels that are taken back together."""
GATHERED = 128
"""Elements of a gradient, about, for which the operand is gathered at once."""
WIDE = 17
"""Columns of a gradient from which its rows are read where they lie."""


FIRST = (2, 1)
"""Operand and result of the first product: its weights, and their next value."""

Steps = tuple[int, int, int, int]
"""Elements between neighbouring images, channels, rows and columns."""


@dataclass(frozen=True)
class TermContext:
    """A product, its operands by their names in C, steps of its weights where all lie row-major and of weights,
    targets and next values, where in scratch its weights lie aside, and the rows for which the operand is gathered."""

    product: DescentTerm
    x_steps: Steps
    y_steps: Steps
    weights: str
    gradient: str
    target: str
    following: str
    steps: tuple[int, int]
    weight_steps: tuple[Steps, Steps, Steps]
    aside: int | None
    rows_at_once: int


@dataclass(frozen=True)
class DescentContext:
    """Sizes in elements; `back` asks for the gradient of the operand, `slopes` and `gathered` are places in scratch.

    Four pixels that are taken back together are `apart` columns from each other: every stride divides that.
    """

    terms: tuple[TermContext, ...]
    vector: bool
    beside: bool
    block: int
    channels: int
    apart: int
    add: bool
    back: bool
    masked: bool
    slopes: int
    gathered: int
    rate: str
    decay: str

    def decayed(self, target: str) -> str:
        """What is left of a target."""
        return target if self.decay == literal(DType.F32, 1.0) else f"{self.decay} * {target}"


def steps_of(operands: Operands, tensor: Tensor, term: DescentTerm) -> Steps:
    """How a tensor lies: a matrix is one image of one row whose channels are its columns."""
    if term.matrix:
        row = tensor.shape[-1]
        by_axis = operands.layout(tensor).axis_strides(tensor.shape) if len(tensor.shape) == 2 else (row, 1)
        assert by_axis is not None, "every axis has a stride"
        return 0, by_axis[-1], 0, by_axis[0]
    strides = operands.layout(tensor).axis_strides(tensor.shape)
    assert strides is not None, "every axis has a stride"
    image, channel, *spatial = strides
    return image, channel, spatial[0] if len(spatial) == 2 else 0, spatial[-1]


def weight_steps(operands: Operands, tensor: Tensor, term: DescentTerm) -> Steps:
    """Elements between neighbouring results, channels, rows and columns of weights."""
    if term.matrix:
        return (*term.weight_steps, 0, 0)
    return steps_of(operands, tensor, term)


def joined(terms: Sequence[DescentTerm], steps: Sequence[Steps]) -> tuple[DescentTerm, ...]:
    """Convolutions that all read every pixel once are of a single row, where pixels lie at equal distances."""
    plain = all(
        (term.size, term.kernel, term.strides) == (term.outs, (1, 1), (1, 1)) and not any(term.begins) for term in terms
    )
    size = terms[0].size
    even = all(size[0] == 1 or row == size[1] * column for _, _, row, column in steps)
    if terms[0].matrix or not plain or not even:
        return tuple(terms)
    row = (1, size[0] * size[1])
    return tuple(replace(term, size=row, outs=row, dilations=(1, 1)) for term in terms)


def rows_at_once(term: DescentTerm, x: Steps, y: Steps, block: int) -> int:
    """Rows of a gradient for which the operand is gathered: 0 where neither is read faster than in place."""
    if y[3] != 1 or (y[2] != term.outs[1] and term.outs[0] > 1):
        return 0
    in_place = x[3] == term.strides[1] == 1 and block == BLOCK and term.channels % BLOCK == 0
    if in_place and (term.outs[1] >= WIDE or term.outs[0] == 1):
        return 0
    return min(term.outs[0], max(1, GATHERED // term.outs[1]))


@dataclass(frozen=True)
class Room:
    """Channels of a block, and elements of scratch: weights of each term aside, None where nothing reads them, slopes
    and what is gathered behind them."""

    block: int
    aside: tuple[int | None, ...]
    slopes: int
    gathered: int


def is_vector(call: Call) -> bool:
    """True where every product is of one row: weights move as soon as they are read."""
    return all(term.matrix and term.size[1] == 1 for term in descent_terms(call))


def room_of(operands: Operands) -> Room:
    """The scratch of a call."""
    call = operands.call
    terms = descent_terms(call)
    block = BLOCK if all(term.groups == 1 or term.channels % BLOCK == 0 for term in terms) else 1
    if is_vector(call):
        return Room(block, tuple(None for _ in terms), 0, 0)
    aside = tuple(weights_aside(term) if 0 in call.present else None for term in terms)
    rows = [one.rows_at_once * one.product.outs[1] for one in _terms(operands, aside, block)]
    turns = 0 in call.present and block == BLOCK and not terms[0].groups * terms[0].channels % BLOCK
    slopes = 0 if turns else slopes_beside(terms)
    return Room(block, aside, slopes, BLOCK * max(rows))


def weights_aside(term: DescentTerm) -> int:
    """Elements of the weights of a block: those of a tap begin as slopes, of a multiple of four results."""
    return BLOCK * (term.results * (term.taps - 1) + -(-term.results // BLOCK) * BLOCK)


def slopes_beside(terms: Sequence[DescentTerm]) -> int:
    """Elements of slopes where they do not lie aside."""
    return BLOCK * max(-(-term.results // BLOCK) * BLOCK for term in terms)


def _terms(operands: Operands, aside: Sequence[int | None], block: int) -> tuple[TermContext, ...]:
    whole = descent_terms(operands.call)
    steps = [steps_of(operands, operands.call.tensor(0), term) for term in whole]
    return terms_in_memory(operands, whole, steps, aside, block, FIRST)


def terms_in_memory(
    operands: Operands, whole: Sequence[DescentTerm], x_steps: Sequence[Steps], aside: Sequence[int | None], block: int,
    first: tuple[int, int],
) -> tuple[TermContext, ...]:  # fmt: skip
    """The products as their operands lie in memory; weights and next value of the first are `first` of the call."""
    call = operands.call
    names, results, (operand, result) = operand_names(call), result_names(call), first
    y_steps = [steps_of(operands, call.tensor(operand + 1 + 3 * at), term) for at, term in enumerate(whole)]
    terms, put = list[TermContext](), 0
    for at, product in enumerate(joined(whole, [*x_steps, *y_steps])):
        weights, gradient, target = (names[operand + 3 * at + part] for part in range(3))
        w, held = call.tensor(operand + 3 * at), call.optional(operand + 2 + 3 * at)
        moved, following = weights if held is None else target, call.present.index(result + at)
        lying = tuple(weight_steps(operands, one, whole[at]) for one in (w, held or w, call.outputs[following]))
        terms.append(
            TermContext(
                product, x_steps[at], y_steps[at], weights, gradient, moved, results[following],
                whole[at].weight_steps, (lying[0], lying[1], lying[2]), None if aside[at] is None else put,
                rows_at_once(product, x_steps[at], y_steps[at], block),
            )
        )  # fmt: skip
        put += aside[at] or 0
    return tuple(terms)


def _beside(call: Call) -> bool:
    """True where the weights of a channel of a matrix lie side by side, and they themselves move by SGD."""
    terms = descent_terms(call)
    own = all(call.optional(4 + 3 * at) is None for at in range(len(terms)))
    return own and call.real("decay", 1.0) == 1.0 and all(term.turned or term.channels == 1 for term in terms)


class Descent(KernelMethods):
    """Four channels at a time: the slopes of their weights, the weights' step, then their gradient."""

    def accepts(self, call: Call) -> str | None:
        """Weights in memory that can be written."""
        if set(call.constants) & {2 + 3 * at + part for at in range(len(descent_terms(call))) for part in (0, 2)}:
            return "weights that move are constants"
        return empty(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Every constant operand."""
        return constants_by_name(operands, *range(len(operands.call.inputs)))

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """See `replaces`."""
        return replaces(call)

    def scratch(self, operands: Operands) -> int:
        """Weights aside, slopes, and what is gathered."""
        room = room_of(operands)
        return 4 * (sum(one or 0 for one in room.aside) + room.slopes + room.gathered)

    def cost(self, call: Call) -> float:
        """About one and a half instructions for a multiply-accumulate in a block, many where channels are alone."""
        return sum(
            (1.7 if term.channels >= BLOCK else 8.0 if term.groups == 1 else 40.0)
            * 2 * term.taps * term.channels * call.tensor(3 + 3 * at).elements
            for at, term in enumerate(descent_terms(call))
        )  # fmt: skip

    def context(self, operands: Operands) -> DescentContext:
        """The numbers of the call."""
        call = operands.call
        room, whole = room_of(operands), descent_terms(call)
        slopes = sum(one or 0 for one in room.aside)
        return DescentContext(
            _terms(operands, room.aside, room.block), is_vector(call), _beside(call), room.block,
            whole[0].groups * whole[0].channels,
            lcm(*(term.strides[1] for term in whole)), call.optional(1) is not None, 0 in call.present,
            bool(call.integer("masked", 0)) and 0 in call.present, slopes, slopes + room.slopes,
            literal(DType.F32, call.real("rate")), literal(DType.F32, call.real("decay", 1.0)),
        )  # fmt: skip


TYPES = "f32, f32?, f32... -> f32, f32..."
SOURCES = ["registers_f32.h", "blocks_f32.h", "products_f32.h", "runs_f32.h", "descent_slopes.h", "descent.h"]
PLATFORM.kernel("Descent", types=TYPES, template="descent.c.mako", sources=SOURCES, numerics="1e-4")(Descent)


def replaces(call: Call) -> tuple[tuple[int, int], ...]:
    """The gradient takes the memory of the operand or of other readers' gradient, next values that of targets."""
    return tuple(
        (operand, call.present.index(result))
        for operand, result in descent_replaces(call.node)
        if operand not in call.constants
    )


@PLATFORM.kernel(
    "Descent", types=TYPES, template="descent.c.mako", sources=SOURCES, numerics="1e-4", layout=("same", "same"),
    preference=5,
)  # fmt: skip
class DescentInPlace(Descent):
    """In whatever order the operand lies: its gradient lies alike."""

    def accepts(self, call: Call) -> str | None:
        """Images."""
        if any(term.matrix for term in descent_terms(call)):
            return "matrices are read where they lie row-major"
        return super().accepts(call)
