"""RNN, GRU and LSTM: a loop over the steps for each direction and batch entry."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.operators import RecurrentActivation, RecurrentCell, recurrent_cell
from tilewright.platform import Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.kernels.elements import c_type, constants_by_name, empty
from tilewright.platforms.generic.kernels.nest_expressions import literal
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
class DirectionContext:
    """One direction: its number, whether it runs backwards, and its activations as expressions of `v`."""

    number: int
    backwards: bool
    activations: tuple[str, ...]


@dataclass(frozen=True)
class RecurrentContext:
    """Sizes, the operands that are there, and the element strides of sequences and states by axis.

    `gate_elements` are those of W and of R for one gate; `packed` where they lie in fours of rows behind their biases.
    """

    op: str
    cell: RecurrentCell
    directions: tuple[DirectionContext, ...]
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
    gate_elements: tuple[int, int]
    packed: bool = False


GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


@PLATFORM.kernel(
    "RNN", "GRU", "LSTM", template="recurrent.c.mako", numerics="1e-4",
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
        names = tuple(bool(name) for name in (*call.node.outputs, "", "", "")[:3])
        return RecurrentContext(
            op=call.node.op, cell=cell, real=c_type(x), clip=literal(x.dtype, cell.clip) if cell.clip > 0 else "",
            directions=tuple(
                DirectionContext(n, backwards, tuple(_form(a, x.dtype) for a in cell.activations[n]))
                for n, backwards in enumerate(cell.directions)
            ),
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
            gate_elements=(hidden * cell.inputs, hidden * hidden),
        )  # fmt: skip


def _form(activation: RecurrentActivation, kind: DType) -> str:
    f = "" if kind is DType.F64 else "f"
    return _FORMS[activation.name].format(f=f, a=literal(kind, activation.alpha), b=literal(kind, activation.beta))
