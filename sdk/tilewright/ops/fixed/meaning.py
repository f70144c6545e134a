"""Which operators have a meaning in fixed point, what it is, and how far it may lie from real arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tilewright.model import Array
from tilewright.ops.codes import Moves
from tilewright.ops.fixed.attention import evaluate_attention
from tilewright.ops.fixed.elements import evaluate_sigmoid, evaluate_sum, evaluate_tanh, evaluate_times
from tilewright.ops.fixed.normalised import evaluate_norm
from tilewright.ops.fixed.products import evaluate_matrix
from tilewright.ops.fixed.rows import evaluate_product, evaluate_row_codes, evaluate_rows
from tilewright.ops.fixed.tensors import is_fixed
from tilewright.ops.fixed.turned import evaluate_turned
from tilewright.ops.operator import Call
from tilewright.ops.quantised.real import code_limits
from tilewright.ops.relayout import DOMAIN

Evaluate = Callable[[Call, Sequence[Array | None]], tuple[Array, ...]]


@dataclass(frozen=True)
class FixedMeaning:
    """How results are computed; operands in `floats` stay constant real numbers; `limited` results may have a clamp."""

    evaluate: Evaluate
    floats: tuple[int, ...] = ()
    limited: bool = False


FIXED: Mapping[tuple[str, str], FixedMeaning] = {
    ("", "Add"): FixedMeaning(evaluate_sum, limited=True),
    ("", "Sub"): FixedMeaning(evaluate_sum, limited=True),
    ("", "Mul"): FixedMeaning(evaluate_times, limited=True),
    ("", "Sigmoid"): FixedMeaning(evaluate_sigmoid, limited=True),
    ("", "Tanh"): FixedMeaning(evaluate_tanh, limited=True),
    ("", "LayerNormalization"): FixedMeaning(evaluate_norm, floats=(1, 2)),
    ("", "RMSNormalization"): FixedMeaning(evaluate_norm, floats=(1, 2)),
    ("", "MatMul"): FixedMeaning(evaluate_matrix, floats=(1,)),
    ("", "RotaryEmbedding"): FixedMeaning(evaluate_turned),
    (DOMAIN, "RowCodes"): FixedMeaning(evaluate_row_codes),
    (DOMAIN, "CodeProduct"): FixedMeaning(evaluate_product),
    (DOMAIN, "CodeRows"): FixedMeaning(evaluate_rows),
    (DOMAIN, "CodedAttention"): FixedMeaning(evaluate_attention),
}


SCATTERED = {("", "TensorScatter"): (0, 1)}
"""Operands whose values reach the results of operators that move values, and have no meaning on codes."""


def moved_operands(call: Call) -> tuple[int, ...] | None:
    """The places of the operands whose values a call moves to its results; None where it computes."""
    codes = call.codes
    if isinstance(codes, Moves):
        return tuple(place for place in codes.data_of(call.node) if call.optional(place) is not None)
    return SCATTERED.get((call.node.domain, call.node.op))


def of_one_step(call: Call) -> tuple[tuple[str, ...], ...]:
    """The names of operands and results that have one step: all that are moved, a row and its largest element, both
    angles."""
    node, data = call.node, moved_operands(call)
    if data is not None:
        return ((*(node.inputs[place] for place in data), *filter(None, node.outputs)),)
    if (node.domain, node.op) == (DOMAIN, "RowCodes"):
        return ((node.inputs[0], node.outputs[1]),)
    return ((node.inputs[1], node.inputs[2]),) if (node.domain, node.op) == ("", "RotaryEmbedding") else ()


def fixed_operands(call: Call) -> tuple[int, ...]:
    """The places of operands that are in fixed point where the call is; not those that stay constant real numbers."""
    meaning = FIXED.get((call.node.domain, call.node.op))
    if meaning is None:
        return moved_operands(call) or ()
    return tuple(place for place in range(len(call.inputs)) if place not in meaning.floats)


def fixed_meaning(call: Call) -> FixedMeaning | None:
    """The meaning of a call whose operand or result is in fixed point; None for others."""
    if not is_fixed(call.optional(0)) and not any(map(is_fixed, call.outputs)):
        return None
    return FIXED.get((call.node.domain, call.node.op))


def evaluate_fixed(meaning: FixedMeaning, call: Call, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
    """Codes of the results, within the node's clamp."""
    results = meaning.evaluate(call, arrays)
    if call.node.clamp is None:
        return results
    low, high = code_limits(call, call.outputs[0])
    return (np.clip(results[0], low, high), *results[1:])
