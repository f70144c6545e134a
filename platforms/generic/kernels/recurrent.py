"""RNN, GRU and LSTM: a loop over the steps for each direction and batch entry."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.operators import RecurrentActivation, RecurrentCell, recurrent_cell
from tilewright.platform import Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.kernels.elements import c_type, constants_by_name, empty
from tilewright.platforms.generic.kernels.exponential_f32 import Exponential, exponential
from tilewright.platforms.generic.kernels.float_text import ATTRIBUTE
from tilewright.platforms.generic.kernels.functions_f32 import FUNCTIONS, Function
from tilewright.platforms.generic.kernels.nest_expressions import literal
from tilewright.platforms.generic.kernels.whole_products import Line
from tilewright.platforms.generic.platform import PLATFORM

_FORMS = {
    "Relu": "v < 0 ? 0 : v", "Tanh": "tanh{f}(v)",
    "Sigmoid": "v < 0 ? exp{f}(v) / (1 + exp{f}(v)) : 1 / (1 + exp{f}(-v))", "Affine": "{a} * v + {b}",
    "LeakyRelu": "v < 0 ? {a} * v : v", "ThresholdedRelu": "v > {a} ? v : 0", "ScaledTanh": "{a} * tanh{f}({b} * v)",
    "HardSigmoid": "{a} * v + {b} < 0 ? 0 : {a} * v + {b} > 1 ? 1 : {a} * v + {b}",
    "Elu": "v < 0 ? {a} * expm1{f}(v) : v", "Softsign": "v / (1 + fabs{f}(v))",
    "Softplus": "(v > 0 ? v : 0) + log1p{f}(exp{f}(-fabs{f}(v)))",
}  # fmt: skip
_REALS = "f32|f64"


@dataclass(frozen=True)
class FormContext:
    """C of one activation: of floats by an exponential of `functions_f32`, else an expression of `v`."""

    text: str
    function: Function | None


@dataclass(frozen=True)
class DirectionContext:
    """One direction: its number, whether it runs backwards, and its activations as places among the forms."""

    number: int
    backwards: bool
    activations: tuple[int, ...]


@dataclass(frozen=True)
class PackedGates:
    """Elements of one direction of W, of R and of the starts where rows of several gates lie in blocks, and before the
    rows of R of a GRU's last gate.
    """

    w: int
    r: int
    r_last: int
    starts: int


@dataclass(frozen=True)
class WholeGates:
    """Sums of an input's and of a state's products as whole numbers."""

    inputs: Line
    hidden: Line


@dataclass(frozen=True)
class RecurrentContext:
    """Sizes, the operands that are there, and the element strides of sequences and states by axis."""

    op: str
    cell: RecurrentCell
    directions: tuple[DirectionContext, ...]
    forms: tuple[FormContext, ...]
    exponential: Exponential
    attribute: str
    real: str
    clip: str
    lengths: bool
    bias: bool
    start_h: bool
    start_c: bool
    peepholes: bool
    results: tuple[bool, bool, bool]
    reset_first: bool
    coupled: bool
    x_step: int
    x_entry: int
    y_step: int
    y_direction: int
    y_entry: int
    h_direction: int
    h_entry: int
    packed: PackedGates | None = None
    whole: WholeGates | None = None


GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


@PLATFORM.kernel(
    "RNN", "GRU", "LSTM", template="recurrent.c.mako", numerics="1e-4", 
    sources=["vectorised.h", "functions.h"],
    types=f"{_REALS}, {_REALS}, {_REALS}, {_REALS}?, i32|i64?, {_REALS}?, {_REALS}?, {_REALS}? "
    f"-> {_REALS}?, {_REALS}?, {_REALS}?",
)  # fmt: skip
class Recurrent(KernelMethods):
    """All activations, directions, layouts, peepholes, clipping; lengths are limited to the steps."""

    def accepts(self, call: Call) -> str | None:
        """Sizes that are not empty."""
        if call.node.clamp is not None:
            return "the result is limited"
        return empty(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights, biases and constant states."""
        return constants_by_name(operands, *range(len(operands.call.inputs)))

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """The last h and c take the memory of the first: of every entry they are read before the last are written."""
        given = ((5, 1), (6, 2))
        return tuple(
            (operand, call.present.index(result))
            for operand, result in given
            if call.optional(operand) is not None and operand not in call.constants and result in call.present
        )

    def scratch(self, operands: Operands) -> int:
        """State, cell and the gates of one batch entry."""
        cell = recurrent_cell(operands.call)
        return 8 * cell.hidden * operands.call.tensor(0).dtype.bits // 8

    def cost(self, call: Call) -> float:
        """Multiply-accumulates of all gates."""
        cell = recurrent_cell(call)
        return float(
            GATES[call.node.op]
            * cell.hidden
            * (cell.inputs + cell.hidden)
            * cell.steps
            * cell.batch
            * len(cell.directions)
        )

    def context(self, operands: Operands) -> RecurrentContext:
        """Everything that the loops need."""
        call = operands.call
        cell, x = recurrent_cell(call), call.tensor(0)
        count, hidden = len(cell.directions), cell.hidden
        first = cell.batch_first
        chosen = [[_form(activation, x.dtype) for activation in each] for each in cell.activations]
        forms = tuple(dict.fromkeys(form for each in chosen for form in each))
        names = tuple(bool(name) for name in (*call.node.outputs, "", "", "")[:3])
        return RecurrentContext(
            op=call.node.op, cell=cell, real=c_type(x), clip=literal(x.dtype, cell.clip) if cell.clip > 0 else "",
            directions=tuple(
                DirectionContext(n, backwards, tuple(forms.index(form) for form in chosen[n]))
                for n, backwards in enumerate(cell.directions)
            ),
            forms=forms, exponential=exponential(), attribute=ATTRIBUTE,
            lengths=call.optional(4) is not None, bias=call.optional(3) is not None,
            start_h=call.optional(5) is not None, start_c=call.optional(6) is not None,
            peepholes=call.optional(7) is not None, results=(names[0], names[1], names[2]),
            reset_first=not call.integer("linear_before_reset", 0) if call.node.op == "GRU" else False,
            coupled=bool(call.integer("input_forget", 0)) if call.node.op == "LSTM" else False,
            x_step=cell.inputs if first else cell.batch * cell.inputs,
            x_entry=cell.steps * cell.inputs if first else cell.inputs,
            y_step=count * hidden if first else count * cell.batch * hidden,
            y_direction=hidden if first else cell.batch * hidden,
            y_entry=cell.steps * count * hidden if first else hidden,
            h_direction=hidden if first else cell.batch * hidden, h_entry=count * hidden if first else hidden,
        )  # fmt: skip


def _form(activation: RecurrentActivation, kind: DType) -> FormContext:
    f = "" if kind is DType.F64 else "f"
    alpha, beta = (literal(kind, value) for value in (activation.alpha, activation.beta))
    text = _FORMS[activation.name].format(f=f, a=alpha, b=beta)
    known = FUNCTIONS.get(activation.name.lower()) if kind is DType.F32 else None
    return FormContext(text, Function(known.t, known.power, known.value.format(p=alpha)) if known is not None else None)
