"""RNN, GRU and LSTM of floats where there is no float unit: the products of all gates as sums of whole numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from tilewright.operators import recurrent_cell
from tilewright.platform import Call, Constant, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels.functions_f32 import FUNCTIONS
from tilewright.platforms.generic.kernels.functions_whole import GATES as FUNCTION_SOURCES
from tilewright.platforms.generic.kernels.recurrent import GATES, FormContext, Recurrent, RecurrentContext, WholeGates
from tilewright.platforms.generic.kernels.whole_products import BARE, line_of, too_long, tops_of
from tilewright.platforms.generic.platform import PLATFORM

PORTABLE = Recurrent()
FORMS = {
    FUNCTIONS[name]: FormContext(f"tilewright_whole_real_of(tilewright_whole_{name}(tilewright_whole_bits(&v)))", None)
    for name in ("sigmoid", "tanh")
}
STATES = 6
"""Rows of a state, a cell and gates in scratch, before the whole numbers of an input or of a state."""


@PLATFORM.kernel(
    "RNN", "GRU", "LSTM", template="recurrent.c.mako", numerics="1e-4", preference=10,
    sources=[*BARE, "whole_rows.h", *FUNCTION_SOURCES, "whole_real.h", "vectorised.h", "functions.h"],
    types="f32, f32, f32, f32?, i32|i64?, f32?, f32?, f32? -> f32?, f32?, f32?", requires=Needs(lacks=("fpu",)),
)  # fmt: skip
class WholeRecurrent(KernelMethods):
    """All that the portable kernel computes, with constant weights."""

    def accepts(self, call: Call) -> str | None:
        """Constant weights, sums that are not too long."""
        if any(call.optional(index) is not None and index not in call.constants for index in (1, 2, 3)):
            return "weights or biases are computed at run time, the kernel wants the largest of rows at compile time"
        refused = PORTABLE.accepts(call)
        if refused is not None:
            return refused
        cell = recurrent_cell(call)
        return too_long(max(cell.inputs, cell.hidden))

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Those of the portable kernel, both biases of a gate as one, and the exponent of the largest of every row of
        W, then of R."""
        constants = operands.call.constants
        rows = [tops_of(constants[index].reshape(-1, constants[index].shape[-1])) for index in (1, 2)]
        tops = replace(rows[0], values=np.concatenate([one.values for one in rows]))
        return (*(_joined(operands.call, one) for one in PORTABLE.constants(operands)), tops)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Those of the portable kernel."""
        return PORTABLE.in_place(call)

    def scratch(self, operands: Operands) -> int:
        """State, cell and gates of one batch entry, an input or a state as whole numbers."""
        cell = recurrent_cell(operands.call)
        return 4 * (STATES * cell.hidden + max(cell.hidden, cell.inputs))

    def cost(self, call: Call) -> float:
        """Some thirty instructions a product, and the functions of the gates."""
        cell = recurrent_cell(call)
        return 28.0 * PORTABLE.cost(call) + 1500.0 * cell.steps * cell.batch * cell.hidden * len(cell.directions)

    def context(self, operands: Operands) -> RecurrentContext:
        """That of the portable kernel, with whole numbers."""
        context = PORTABLE.context(operands)
        inputs, hidden = (line_of(length, 1) for length in (context.cell.inputs, context.cell.hidden))
        forms = tuple(form if form.function is None else FORMS.get(form.function, form) for form in context.forms)
        return replace(context, forms=forms, whole=WholeGates(inputs, hidden, STATES * context.cell.hidden))


def _joined(call: Call, constant: Constant) -> Constant:
    """Biases of R added to those of W, but for the gate that a GRU multiplies before it adds."""
    if constant.name != "b":
        return constant
    gates = GATES[call.node.op]
    biases = constant.values.reshape(-1, 2, gates, recurrent_cell(call).hidden).copy()
    joined = gates - int(call.node.op == "GRU" and bool(call.integer("linear_before_reset", 0)))
    biases[:, 0, :joined] += biases[:, 1, :joined]
    return replace(constant, values=biases.reshape(-1))
