"""Layers on codes taken back in integers: gradients over what they are gradients of, weights over themselves."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.numerics import ROUNDING, the_quantisation
from tilewright.operators import (
    CodeDescentPlace,
    CodeDescentResult,
    DescentTerm,
    code_descent_products,
    code_descent_replaces,
    code_term,
)
from tilewright.platform import Call, Constant, KernelMethods, Operands, Tensor
from tilewright.platforms.generic.kernels.descent import Steps, steps_of, weight_steps
from tilewright.platforms.generic.kernels.elements import constants_by_name, empty
from tilewright.platforms.generic.kernels.learnt_i8 import is_depthwise, plane_of, row_major
from tilewright.platforms.generic.kernels.nest import operand_names, result_names
from tilewright.platforms.generic.platform import PLATFORM

TYPES = "qi8, i8, i32, qi8, i32, i32?, i16?, i8?, i32? -> i8|qi8, i32|i8, i32?, i8|qi8?, i8?"
SOURCES = ["products_f32.h", *ROUNDING, "whole_steps.h", "code_move.h", "code_blocks.h", "code_descent.h"]
DEPTHWISE = [*ROUNDING, "whole_steps.h", "plane_i8.h", "spread_i8.h", "code_move.h"]
GATHERED = 64
"""Pixels, about, of which four lanes are gathered at once: whole rows of the gradient."""
REACH_BYTES = 10
"""What is kept of a column: the taps that meet it."""


@dataclass(frozen=True)
class CodeDescentContext:
    """The product, how everything lies, and names in C, "NULL" where there is none; places in scratch are in bytes."""

    product: DescentTerm
    turned: bool
    x_steps: Steps
    y_steps: Steps
    place: Steps
    weight_steps: tuple[Steps, Steps, Steps, Steps]
    names: dict[str, str]
    zero: int
    limits: tuple[int, int]
    before: int
    places: int
    share_bits: int
    own: int
    slopes: int
    columns: int
    gathered: int
    at_once: int


@dataclass(frozen=True)
class Room:
    """Bytes of scratch: weights of four channels aside, slopes of a tap behind them, then what meets each column, then
    what four lanes read for the pixels that are summed `at_once`."""

    aside: int
    slopes: int
    columns: int
    at_once: int

    @property
    def gathered(self) -> int:
        """Where that begins."""
        return self.aside + self.slopes + -(-self.columns // 4) * 4

    @property
    def total(self) -> int:
        """All of it; pixels are gathered in pairs."""
        return self.gathered + 8 * (self.at_once + self.at_once % 2)


def room_of(call: Call) -> Room:
    """The scratch of a call; none for a layer of one row."""
    term, back = code_term(call), CodeDescentResult.DX in call.present
    learns = CodeDescentResult.NEXT in call.present
    if term.matrix and term.size[1] == 1:
        return Room(0, 0, 0, 0)
    results, (rows, columns) = -(-term.results // 4) * 4, term.outs
    whole = max(1, min(rows, GATHERED // columns)) * columns
    aside, met = 8 * results * term.taps if back else 0, REACH_BYTES * term.size[1] if back else 0
    return Room(aside, 16 * results if learns else 0, met, whole if learns else 0)


def place_steps(tensor: Tensor, term: DescentTerm) -> Steps:
    """From the number of an element to those of its neighbours by image, channel, row and column."""
    if term.matrix:
        return 0, 1, 0, tensor.shape[-1]
    rows, columns = term.size
    return term.groups * term.channels * rows * columns, rows * columns, columns, 1


class CodeDescent(KernelMethods):
    """Four channels at a time: the slopes of their weights, the weights' step, then their gradient."""

    def accepts(self, call: Call) -> str | None:
        """Weights that move lie where they can be written."""
        if CodeDescentResult.NEXT in call.present and CodeDescentPlace.WEIGHTS in call.constants:
            return "weights that move are constants"
        if CodeDescentPlace.X in call.constants or CodeDescentPlace.CODES in call.constants:
            return "an operand is constant"
        return empty(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Every constant operand."""
        return constants_by_name(operands, *range(len(operands.call.inputs)))

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """See `replaces`."""
        pairs = code_descent_replaces(call.node)
        return tuple((a, call.present.index(b)) for a, b in pairs if a not in call.constants)

    def scratch(self, operands: Operands) -> int:
        """Weights aside, slopes, and columns."""
        return room_of(operands.call).total

    def cost(self, call: Call) -> float:
        """About three instructions for a multiply-accumulate, and thirty for a weight that moves."""
        term = code_term(call)
        products = code_descent_products(call)
        each = 3.0 if term.groups == 1 else 8.0
        return each * products + 30.0 * call.tensor(CodeDescentPlace.WEIGHTS).elements + 20.0 * call.tensor(0).elements

    def context(self, operands: Operands) -> object:
        """See `context_of`."""
        return context_of(operands)


def context_of(operands: Operands) -> CodeDescentContext:
    """The numbers of the call."""
    call, room = operands.call, room_of(operands.call)
    term, x = code_term(call), call.tensor(0)
    names = dict(zip(call.operator.operands, operand_names(call), strict=True)) if call.operator else {}
    given = {name: names[name] if call.optional(at) is not None else "NULL" for at, name in enumerate(names)}
    made = dict.fromkeys(call.operator.results, "NULL") if call.operator else {}
    made |= {name: name for name in result_names(call)}
    lying = [_weights(operands, call, place, term) for place in (CodeDescentPlace.WEIGHTS, CodeDescentPlace.REST)]
    following = [
        _results(operands, call, place, term) for place in (CodeDescentResult.NEXT, CodeDescentResult.NEXT_REST)
    ]
    y_steps = steps_of(operands, call.tensor(CodeDescentPlace.CODES), term)
    even = term.outs[0] == 1 or y_steps[2] == term.outs[1] * y_steps[3]
    at_once = room.at_once if even else min(room.at_once, term.outs[1])
    return CodeDescentContext(
        term, bool(call.integer("turned", 0)), steps_of(operands, x, term), y_steps, place_steps(x, term),
        (lying[0], lying[1], following[0], following[1]), {**given, **made}, the_quantisation(x).zero_point[0],
        (call.integer("low", -256), call.integer("high", 256)), call.integer("before", 0),
        call.integer("places", 0), call.integer("share_bits", 0), call.integer("own"), room.aside,
        room.aside + room.slopes, room.gathered, at_once,
    )  # fmt: skip


def _weights(operands: Operands, call: Call, place: int, term: DescentTerm) -> Steps:
    tensor = call.optional(place)
    if tensor is None:
        return 0, 0, 0, 0
    if place in call.constants:
        return row_major(term)
    return weight_steps(operands, tensor, term)


def _results(operands: Operands, call: Call, place: int, term: DescentTerm) -> Steps:
    if place not in call.present:
        return 0, 0, 0, 0
    return weight_steps(operands, call.outputs[call.present.index(place)], term)


PLATFORM.kernel("CodeDescent", types=TYPES, template="code_descent.c.mako", sources=SOURCES)(CodeDescent)


@PLATFORM.kernel(
    "CodeDescent", types=TYPES, template="code_descent.c.mako", sources=SOURCES, layout=("same", "same"), preference=5
)
class CodeDescentInPlace(CodeDescent):
    """In whatever order the operand lies: its gradient lies alike."""

    def accepts(self, call: Call) -> str | None:
        """Images."""
        return "matrices are read where they lie row-major" if code_term(call).matrix else super().accepts(call)


@dataclass(frozen=True)
class CodeDepthwiseContext:
    """What every layer has; rows and columns of a plane amid zeros, and of its gradient, and where that begins."""

    common: CodeDescentContext
    plane: tuple[int, int]
    spread: tuple[int, int]
    spread_at: tuple[int, int]


def spread_of(term: DescentTerm) -> tuple[tuple[int, int], tuple[int, int]]:
    """Rows and columns of a plane of gradients as the operand's pixels meet them, and the place of the first one."""
    reach = [(kernel - 1) * dilation for kernel, dilation in zip(term.kernel, term.dilations, strict=True)]
    rows, columns = (size + more for size, more in zip(term.size, reach, strict=True))
    down, right = (more - begin for more, begin in zip(reach, term.begins, strict=True))
    return (rows, columns), (down, right)


@PLATFORM.kernel(
    "CodeDescent", types=TYPES, template="code_depthwise.c.mako", layout=("same", "same"), preference=10,
    sources=DEPTHWISE,
)  # fmt: skip
class CodeDescentDepthwise(CodeDescent):
    """Plane by plane: slopes and weights in registers, the plane and its gradient copied amid zeros."""

    def accepts(self, call: Call) -> str | None:
        """A window of every channel of one image."""
        term = code_term(call)
        if not is_depthwise(term) or term.images > 1:
            return "it is no depthwise layer of one image and few taps"
        return super().accepts(call)

    def scratch(self, operands: Operands) -> int:
        """The larger of both planes, of which only one is there at a time."""
        term = code_term(operands.call)
        (rows, columns), (wide, high) = plane_of(term), spread_of(term)[0]
        return max(2 * rows * columns, wide * high)

    def cost(self, call: Call) -> float:
        """Three and a half instructions for a multiply-accumulate, copies, and thirty for a weight that moves."""
        weights = call.tensor(CodeDescentPlace.WEIGHTS).elements
        return 3.5 * code_descent_products(call) + 30.0 * weights + 25.0 * call.tensor(0).elements

    def context(self, operands: Operands) -> CodeDepthwiseContext:
        """The numbers of the call."""
        term = code_term(operands.call)
        return CodeDepthwiseContext(context_of(operands), plane_of(term), *spread_of(term))
