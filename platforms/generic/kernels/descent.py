"""Products taken back: gradients written over what they are gradients of, weights over themselves."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tilewright.operators import DescentTerm, descent_replaces, descent_terms
from tilewright.platform import Call, Constant, DType, KernelMethods, Operands, Tensor
from tilewright.platforms.generic.kernels.elements import constants_by_name, empty
from tilewright.platforms.generic.kernels.nest import operand_names, result_names
from tilewright.platforms.generic.kernels.nest_expressions import literal
from tilewright.platforms.generic.platform import PLATFORM

BLOCK = 4
"""Channels that are taken back together, where every product has a multiple of them."""


Steps = tuple[int, int, int, int]
"""Elements between neighbouring images, channels, rows and columns."""


@dataclass(frozen=True)
class TermContext:
    """A product, its operands by their names in C, steps of its weights where all lie row-major and of
    weights, targets and next values, and where in scratch its slopes wait."""

    product: DescentTerm
    x_steps: Steps
    y_steps: Steps
    weights: str
    gradient: str
    target: str
    following: str
    steps: tuple[int, int]
    weight_steps: tuple[Steps, Steps, Steps]
    waiting: int | None


@dataclass(frozen=True)
class DescentContext:
    """Sizes in elements; `back` asks for the gradient of the operand, `noted` is where in scratch its signs are."""

    terms: tuple[TermContext, ...]
    vector: bool
    block: int
    channels: int
    add: bool
    back: bool
    masked: bool
    noted: int
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


def joined(term: DescentTerm, *steps: Steps) -> DescentTerm:
    """A convolution that reads every pixel once is one of a single row, where pixels lie at equal distances."""
    plain = (term.size, term.kernel, term.strides) == (term.outs, (1, 1), (1, 1)) and not any(term.begins)
    even = all(term.size[0] == 1 or row == term.size[1] * column for _, _, row, column in steps)
    if term.matrix or not plain or not even:
        return term
    row = (1, term.size[0] * term.size[1])
    return replace(term, size=row, outs=row, dilations=(1, 1))


@dataclass(frozen=True)
class Room:
    """Channels of a block, and elements of scratch: the slopes of each term, none where they need not wait, and
    words of signs behind them."""

    block: int
    waiting: tuple[int, ...]
    signs: int


def is_vector(call: Call) -> bool:
    """True where every product is of one row: weights move as soon as they are read."""
    return all(term.matrix and term.size[1] == 1 for term in descent_terms(call))


def room_of(call: Call) -> Room:
    """The scratch of a call."""
    terms = descent_terms(call)
    block = BLOCK if all(term.channels % BLOCK == 0 for term in terms) else 1
    back = 0 in call.present and not is_vector(call)
    waiting = tuple(
        block * term.results * term.taps if back and call.optional(4 + 3 * at) is None else 0
        for at, term in enumerate(terms)
    )
    signs = -(-block * terms[0].images * terms[0].size[0] * terms[0].size[1] // 32)
    return Room(block, waiting, signs if back and call.integer("masked", 0) else 0)


class Descent(KernelMethods):
    """Four channels at a time, or one: the slopes of their weights, then their gradient, then the weights' step."""

    def accepts(self, call: Call) -> str | None:
        """Weights in memory that can be written."""
        if set(call.constants) & {2 + 3 * at + part for at in range(len(descent_terms(call))) for part in (0, 2)}:
            return "weights that move are constants"
        return empty(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Every constant operand."""
        return constants_by_name(operands, *range(len(operands.call.inputs)))

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """The gradient takes the memory of the operand or of other readers' gradient, next values that of targets."""
        return tuple(
            (operand, call.present.index(result))
            for operand, result in descent_replaces(call.node)
            if operand not in call.constants
        )

    def scratch(self, operands: Operands) -> int:
        """Slopes that wait until the old weights are read, and signs."""
        room = room_of(operands.call)
        return 4 * (sum(room.waiting) + room.signs)

    def cost(self, call: Call) -> float:
        """About two instructions for a multiply-accumulate in a block."""
        terms, room = descent_terms(call), room_of(call)
        wide = room.block == BLOCK or is_vector(call)
        return (2.2 if wide else 7.0) * sum(2 * term.taps * term.channels * call.tensor(3 + 3 * at).elements
                                            for at, term in enumerate(terms))  # fmt: skip

    def context(self, operands: Operands) -> DescentContext:
        """The numbers of the call."""
        call = operands.call
        room, names, results = room_of(call), operand_names(call), result_names(call)
        terms, first = list[TermContext](), 0
        for at, term in enumerate(descent_terms(call)):
            weights, gradient, target = (names[2 + 3 * at + part] for part in range(3))
            moved = weights if call.optional(4 + 3 * at) is None else target
            named = weights, gradient, moved, results[call.present.index(1 + at)]
            waiting = first if room.waiting[at] else None
            x, y = (steps_of(operands, tensor, term) for tensor in (call.tensor(0), call.tensor(3 + 3 * at)))
            product = joined(term, x, y)
            w = call.tensor(2 + 3 * at)
            held = (w, call.optional(4 + 3 * at) or w, call.outputs[call.present.index(1 + at)])
            lying = tuple(weight_steps(operands, tensor, term) for tensor in held)
            terms.append(TermContext(product, x, y, *named, term.weight_steps, (lying[0], lying[1], lying[2]), waiting))
            first += room.waiting[at]
        whole = descent_terms(call)[0]
        return DescentContext(
            tuple(terms), is_vector(call), room.block, whole.groups * whole.channels, call.optional(1) is not None,
            0 in call.present, bool(call.integer("masked", 0)) and 0 in call.present, first,
            literal(DType.F32, call.real("rate")), literal(DType.F32, call.real("decay", 1.0)),
        )  # fmt: skip


TYPES = "f32, f32?, f32... -> f32, f32..."
SOURCES = ["registers_f32.h", "products_f32.h", "descent.h"]
PLATFORM.kernel("Descent", types=TYPES, template="descent.c.mako", sources=SOURCES, numerics="1e-4")(Descent)


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
