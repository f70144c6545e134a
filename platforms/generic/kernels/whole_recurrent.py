"""RNN, GRU and LSTM of floats where there is no float unit: the products of all gates as sums of whole numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from tilewright.operators import recurrent_cell
from tilewright.platform import Array, Call, Constant, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels.functions_f32 import FUNCTIONS
from tilewright.platforms.generic.kernels.functions_whole import GATES as FUNCTION_SOURCES
from tilewright.platforms.generic.kernels.recurrent import GATES, FormContext, Recurrent, RecurrentContext, WholeGates
from tilewright.platforms.generic.kernels.whole_products import line_of, too_long, tops_of
from tilewright.platforms.generic.kernels.whole_weights import SOURCES, unable, whole_lines
from tilewright.platforms.generic.platform import PLATFORM

PORTABLE = Recurrent()
FORMS = {
    FUNCTIONS[name]: FormContext(f"tilewright_whole_real_of(tilewright_whole_{name}(tilewright_whole_bits(&v)))", None)
    for name in ("sigmoid", "tanh")
}
STATES = 6
"""Rows of a state, a cell and gates in scratch."""


@PLATFORM.kernel(
    "RNN", "GRU", "LSTM", template="recurrent.c.mako", numerics="1e-4", preference=10,
    sources=[*SOURCES, "whole_gates.h", *FUNCTION_SOURCES, "whole_real.h", "vectorised.h", "functions.h"],
    types="f32, f32, f32, f32?, i32|i64?, f32?, f32?, f32? -> f32?, f32?, f32?", requires=Needs(lacks=("fpu",)),
)  # fmt: skip
class WholeRecurrent(KernelMethods):
    """All that the portable kernel computes, with constant weights."""

    def accepts(self, call: Call) -> str | None:
        """Constant weights, sums that are not too long."""
        if any(call.optional(index) is not None and index not in call.constants for index in (1, 2, 3)):
            return "weights or biases are computed at run time, the kernel makes whole numbers of them at compile time"
        refused = PORTABLE.accepts(call) or unable(call.constants[1]) or unable(call.constants[2])
        if refused is not None:
            return refused
        cell = recurrent_cell(call)
        return too_long(max(cell.inputs, cell.hidden))

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Those of the portable kernel, both biases of a gate as one; W and R as whole numbers."""
        call = operands.call
        others = (_joined(call, one) for one in PORTABLE.constants(operands) if one.name not in ("w", "r"))
        (w, tops, *odd_w), (r, further, *odd_r) = (whole_lines(_rows(call, index)) for index in (1, 2))
        return (
            w, replace(r, name="r"), replace(tops, values=np.concatenate([tops.values, further.values])),
            *(replace(one, name=one.name.replace("odd", "odd_w")) for one in odd_w),
            *(replace(one, name=one.name.replace("odd", "odd_r")) for one in odd_r), *others,
        )  # fmt: skip

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Those of the portable kernel."""
        return PORTABLE.in_place(call)

    def scratch(self, operands: Operands) -> int:
        """State, cell and gates of one batch entry."""
        return 4 * STATES * recurrent_cell(operands.call).hidden

    def cost(self, call: Call) -> float:
        """Some seven instructions a product, and the functions of the gates."""
        cell = recurrent_cell(call)
        return 7.0 * PORTABLE.cost(call) + 1500.0 * cell.steps * cell.batch * cell.hidden * len(cell.directions)

    def context(self, operands: Operands) -> RecurrentContext:
        """That of the portable kernel, with whole numbers."""
        context = PORTABLE.context(operands)
        inputs, hidden = (line_of(length) for length in (context.cell.inputs, context.cell.hidden))
        forms = tuple(form if form.function is None else FORMS.get(form.function, form) for form in context.forms)
        return replace(context, forms=forms, whole=WholeGates(inputs, hidden))


def float_rows(operands: Operands) -> tuple[Constant, ...]:
    """Constants of kernels that make whole numbers of W and R as they multiply: those of the portable kernel, both
    biases of a gate as one, and the exponent of the largest of every row of W, then of R."""
    call = operands.call
    rows = [tops_of(_rows(call, index)) for index in (1, 2)]
    tops = replace(rows[0], values=np.concatenate([one.values for one in rows]))
    return (*(_joined(call, one) for one in PORTABLE.constants(operands)), tops)


def _rows(call: Call, index: int) -> Array:
    weights = call.constants[index]
    return weights.reshape(-1, weights.shape[-1])


def _joined(call: Call, constant: Constant) -> Constant:
    """Biases of R added to those of W, but for the gate that a GRU multiplies before it adds."""
    if constant.name != "b":
        return constant
    gates = GATES[call.node.op]
    biases = constant.values.reshape(-1, 2, gates, recurrent_cell(call).hidden).copy()
    joined = gates - int(call.node.op == "GRU" and bool(call.integer("linear_before_reset", 0)))
    biases[:, 0, :joined] += biases[:, 1, :joined]
    return replace(constant, values=biases.reshape(-1))
