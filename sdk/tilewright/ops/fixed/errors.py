"""How far results in fixed point may lie from what the operator gives in real numbers for the same operands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import exp, sqrt

import numpy as np

from tilewright.model import Array
from tilewright.ops.fixed.attention import attention_reals
from tilewright.ops.fixed.elements import product_exponent, step_form
from tilewright.ops.fixed.normalised import norm_form
from tilewright.ops.fixed.products import matrix_form
from tilewright.ops.fixed.rows import product_form, table_form
from tilewright.ops.fixed.tensors import fraction_bits, reals_of
from tilewright.ops.fixed.turned import turn_exponents
from tilewright.ops.fixed.whole import ONE, headroom
from tilewright.ops.operator import Call
from tilewright.ops.relayout import DOMAIN
from tilewright.ops.row_codes import highest_code

Arrays = Sequence[Array | None]
RECIPROCAL = 2.0**-28
"""What a reciprocal and an inverse root are off by, of themselves."""


def step(call: Call) -> float:
    """One code of the result."""
    return float(2.0 ** -fraction_bits(call.outputs[0]))


def sum_error(call: Call, arrays: Arrays) -> float:
    """Both operands are rounded down."""
    return 2 * step(call)


def times_error(call: Call, arrays: Arrays) -> float:
    """The upper half of the product, and its move."""
    return step(call) * (1 + 2.0 ** max(product_exponent(call), 0))


def sigmoid_error(call: Call, arrays: Arrays) -> float:
    """The exponent's 24 bits, the polynomial, the reciprocal; and what is left where numbers are limited."""
    return step(call) + 5e-8 + _beyond(call, 1.0)


def tanh_error(call: Call, arrays: Arrays) -> float:
    """Twice a sigmoid's."""
    return step(call) + 1e-7 + 2 * _beyond(call, 2.0)


def _beyond(call: Call, scale: float) -> float:
    """What is left of a power of e at the limit of numbers, where some are beyond it."""
    limit = step_form(call, scale).limit
    return 0.0 if limit == ONE else exp(-scale * limit * 2.0 ** -fraction_bits(call.tensor(0)))


def turned_error(call: Call, arrays: Arrays) -> float:
    """Two upper halves, and their move."""
    return step(call) * (1 + 2 * 2.0 ** max(turn_exponents(call)[0], 0))


def product_error(call: Call, arrays: Arrays) -> float:
    """The row's unit, to 2^-27 of itself, the upper half and its move."""
    most, form = arrays[1], product_form(call)
    assert most is not None, "operand 1 is missing"
    away = form.exponent - headroom(np.abs(most.astype(np.int64)))
    largest = 2.0 ** float(30 - fraction_bits(call.outputs[0]))
    return float(step(call) * (1 + 2.0 ** max(int(away.max(initial=0)), 0)) + largest * 2.0**-27)


def matrix_error(call: Call, arrays: Arrays) -> float:
    """Weights rounded to half a unit each, and the sum rounded down."""
    x, form = arrays[0], matrix_form(call)
    assert x is not None, "operand 0 is missing"
    rounded = 0.5 * float(np.abs(x.astype(np.float64)).sum(-1).max(initial=0))
    return step(call) * (1 + rounded * 2.0**-form.shift)


def rows_error(call: Call, arrays: Arrays) -> float:
    """The table's unit, to 2^-31 of itself, the upper half and its move."""
    return step(call) * (2 + 2.0 ** max(table_form(call).exponent, 0))


def norm_error(call: Call, arrays: Arrays) -> float:
    """Squares rounded down, the inverse root, factors and upper halves; of a row whose mean is far from zero beside its
    spread, the mean's rounding too."""
    x, form = arrays[0], norm_form(call)
    assert x is not None, "operand 0 is missing"
    largest = float(np.abs(form.factors).max(initial=0)) * 2.0 ** (form.exponent - 32 - fraction_bits(call.outputs[0]))
    relative = (form.length + 16) * 2.0**-29 + 4 * RECIPROCAL
    part = largest * 2.0**29 * relative
    if form.centred:
        rows = reals_of(x, call.tensor(0)).reshape(-1, form.length)
        epsilon = float(np.float32(call.real("epsilon", 1e-5)))
        spread = np.sqrt(rows.var(axis=1) + epsilon)
        apart = float((np.abs(rows).max(axis=1) / spread).max(initial=0))
        part += largest * 2.0**2 / sqrt(form.length) * apart
    return float(part + step(call) * (2 + 2.0 ** max(form.exponent + 2, 0)))


def attention_error(call: Call, arrays: Arrays) -> float:
    """That of the whole numbers between, for the same operands; parts, units and shares are nearer."""
    assert call.operator is not None
    assert call.operator.error is not None
    return 1.01 * call.operator.error(call, attention_reals(call, arrays)) + 2 * step(call)


ERRORS: Mapping[tuple[str, str], Callable[[Call, Arrays], float]] = {
    ("", "Add"): sum_error, ("", "Sub"): sum_error, ("", "Mul"): times_error,
    ("", "Sigmoid"): sigmoid_error, ("", "Tanh"): tanh_error,
    ("", "LayerNormalization"): norm_error, ("", "RMSNormalization"): norm_error,
    ("", "MatMul"): matrix_error, ("", "RotaryEmbedding"): turned_error,
    (DOMAIN, "CodeProduct"): product_error, (DOMAIN, "CodeRows"): rows_error,
    (DOMAIN, "CodedAttention"): attention_error,
}  # fmt: skip


def fixed_error(call: Call, arrays: Arrays) -> float:
    """How far a result may lie from real arithmetic; 0 for what only moves."""
    rule = ERRORS.get((call.node.domain, call.node.op))
    return 0.0 if rule is None else rule(call, arrays)


NEAR_TIE = 2.0**-10
"""Of a step of codes of a row: what a float32 operand and its product may be off by, and far more than ours are."""


def codes_next_to_ties(call: Call, arrays: Arrays, ours: Array, theirs: Array) -> int:
    """How many codes of a row differ by one because the number lies next to the middle of two."""
    x = arrays[0]
    assert x is not None, "operand 0 is missing"
    wide = x.astype(np.float64)
    most = np.maximum(np.abs(wide).max(-1, keepdims=True), 1)
    steps = wide * highest_code(call) / most
    near = np.abs(steps - np.floor(steps) - 0.5) <= NEAR_TIE
    apart = np.abs(ours.astype(np.int64) - theirs.astype(np.int64))
    return int(((apart == 1) & near).sum())
