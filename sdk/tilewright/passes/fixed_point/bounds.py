"""Bounds on real tensors that hold for all inputs: of every element, and of the root of a row's squares.

Norms make rows whose size is known, whatever the operands: so what products make of them is bounded by the size of rows
of weights, and a network that normalises before each product needs no sample to choose how many bits stand behind the
point. A row runs along the last axis.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf, sqrt

import numpy as np

from tilewright.model import Array
from tilewright.ops.fixed.meaning import SCATTERED, moved_operands
from tilewright.ops.operator import Call, Kind
from tilewright.ops.relayout import DOMAIN
from tilewright.ops.row_codes import highest_code
from tilewright.ops.transpose import permutation

_LARGEST_SQUARE = 1 << 9
"""Sides of a matrix up to which its largest singular value is computed."""
_FARTHEST_CODE, _SHARES = 128, 1.01
"""Of a cache, and what shares of rows may add up to."""


@dataclass(frozen=True)
class Bound:
    """No element is larger than `most`, no row's root of squares than `row`. The row divided by `factors`, one for each
    element, is no larger than `even`."""

    most: float
    row: float
    factors: Array | None = None
    even: float = inf

    def scaled(self, by: float) -> Bound:
        """Of the same numbers times a constant."""
        return Bound(self.most * by, self.row * by)


Given = list[Bound | None]
Rule = Callable[[Call, Given], Bound | None]


def of_array(values: Array) -> Bound:
    """The bound of constant numbers."""
    wide = values.astype(np.float64)
    row = np.sqrt((wide * wide).sum(-1)).max(initial=0.0) if wide.ndim else np.abs(wide)
    return Bound(float(np.abs(wide).max(initial=0.0)), float(row))


def bound_of(call: Call, given: Given) -> Bound | None:
    """The bound of a call's first result from those of its operands; None where nothing is known of it."""
    rule = RULES.get((call.node.domain, call.node.op))
    if rule is not None:
        return rule(call, given)
    data = moved_operands(call)
    return None if data is None else _moved(call, given, data)


def _known(given: Given, *places: int) -> list[Bound] | None:
    chosen = [given[place] if place < len(given) else None for place in places]
    return None if any(one is None for one in chosen) else [one for one in chosen if one is not None]


def _width(call: Call, index: int = 0) -> int:
    shape = call.shape(index)
    return shape[-1] if shape else 1


def _moved(call: Call, given: Given, data: tuple[int, ...]) -> Bound | None:
    """Values that are moved: rows stay rows where the last axis is whole, or a part of it."""
    bounds = _known(given, *data)
    if not bounds:
        return None
    most, row = max(one.most for one in bounds), max(one.row for one in bounds)
    before, after = _width(call), _out_width(call)
    last = len(call.shape()) - 1
    if call.node.op == "Transpose":
        stay = permutation(call)[-1] == last
    elif call.operator is not None and call.operator.kind is Kind.VIEW:
        stay = before % max(after, 1) == 0
        row *= 1.0 if stay or after % before else sqrt(after / before)
        stay = stay or after % before == 0
    else:
        taken = call.node.op == "Gather"
        axis = call.integer("axis", 0 if taken else last - 1) % max(last + 1, 1)
        stay = axis != last and (taken or (call.node.domain, call.node.op) in SCATTERED)
    return Bound(most, min(row, most * sqrt(after)) if stay else most * sqrt(after))


def _sum(call: Call, given: Given) -> Bound | None:
    if (known := _known(given, 0, 1)) is None:
        return None
    wide = sqrt(call.outputs[0].shape[-1]) if call.outputs[0].shape else 1.0
    rows = [min(one.row, one.most * wide) if _width(call, i) == _out_width(call) else one.most * wide
            for i, one in enumerate(known)]  # fmt: skip
    return Bound(known[0].most + known[1].most, rows[0] + rows[1])


def _out_width(call: Call) -> int:
    return call.outputs[0].shape[-1] if call.outputs[0].shape else 1


def _product(call: Call, given: Given) -> Bound | None:
    if (known := _known(given, 0, 1)) is None:
        return None
    (a, b), width = known, _out_width(call)
    rows = [one.most * other.row for i, (one, other) in enumerate(((b, a), (a, b))) if _width(call, i) == width]
    return Bound(a.most * b.most, min([a.most * b.most * sqrt(width), *rows]))


def _no_larger(call: Call, given: Given) -> Bound | None:
    """A function that is no further from zero than its operand."""
    return given[0] and Bound(given[0].most, given[0].row)


def _within_one(call: Call, given: Given) -> Bound | None:
    return Bound(1.0, sqrt(_out_width(call)))


def _turned(call: Call, given: Given) -> Bound | None:
    """Two elements turned by an angle whose cosine and sine are no larger than they are."""
    if (known := _known(given, 0, 1, 2)) is None:
        return None
    x, cosine, sine = known
    size = max(sqrt(cosine.most**2 + sine.most**2), 1.0)
    return Bound(min(sqrt(2) * x.most, x.row) * size, x.row * size)


def _norm(call: Call, given: Given) -> Bound | None:
    """Rows whose root of squares is that of their length."""
    axis, shape = call.integer("axis", -1) % max(len(call.shape()), 1), call.shape()
    if axis != len(shape) - 1 or 1 not in call.constants:
        return None
    size = sqrt(shape[-1])
    factors = np.broadcast_to(call.constants[1].astype(np.float64).reshape(-1), shape[-1:])
    most = float(np.abs(factors).max(initial=0.0))
    if call.optional(2) is None:
        return Bound(size * most, size * most, np.abs(factors), size)
    if 2 not in call.constants:
        return None
    addend = of_array(np.broadcast_to(call.constants[2].reshape(-1), shape[-1:]))
    return Bound(size * most + addend.most, size * most + addend.row)


def _row_codes(call: Call, given: Given) -> Bound | None:
    """Codes stand for their operand: each is off by half a step of the largest."""
    if given[0] is None:
        return None
    x, half = given[0], 0.5 / highest_code(call)
    even = inf if x.factors is None else x.even
    return Bound(x.most * (1 + half), x.row + x.most * half * sqrt(_width(call)), x.factors, even)


def _code_product(call: Call, given: Given) -> Bound | None:
    """Sums of a row of coded weights times a row of codes."""
    if given[0] is None or 2 not in call.constants or 3 not in call.constants:
        return None
    noise = given[0].most * 0.5 / highest_code(call) * sqrt(_width(call))
    return _times(given[0], real_weights(call, 2, 3), noise)


def _matrix(call: Call, given: Given) -> Bound | None:
    """Rows times a constant matrix."""
    if given[0] is None or 1 not in call.constants or len(call.shape(1)) != 2:
        return None
    return _times(given[0], call.constants[1].astype(np.float64).T, 0.0)


def _times(x: Bound, weights: Array, noise: float) -> Bound:
    """Sums of rows of weights [outputs, inputs], by Cauchy and Schwarz and by the largest element; `noise` is the size
    of what a row may be beside `even`."""
    rows = np.sqrt((weights * weights).sum(1))
    each = np.minimum(rows * x.row, np.abs(weights).sum(1) * x.most)
    if x.factors is not None:
        size = np.sqrt(((weights * x.factors) ** 2).sum(1))
        each = np.minimum(each, size * x.even + rows * noise)
    stretch = np.linalg.norm(weights, 2) if max(weights.shape) <= _LARGEST_SQUARE else np.sqrt((rows * rows).sum())
    row = min(float(np.sqrt((each * each).sum())), float(stretch) * x.row)
    return Bound(float(each.max(initial=0.0)), row)


def real_weights(call: Call, codes: int, factors: int) -> Array:
    """Rows of coded weights as real numbers, in float64."""
    weights = call.constants[codes].astype(np.float64)
    block = call.integer("block", 0) or weights.shape[1]
    spread = np.repeat(call.constants[factors].astype(np.float64), block, axis=1)[:, : weights.shape[1]]
    unit = float(np.float32(call.real("unit"))) * (127 if call.node.op == "CodeProduct" else 1)
    return np.asarray(weights * spread * unit)


def _code_rows(call: Call, given: Given) -> Bound | None:
    return of_array(real_weights(call, 0, 1)) if 0 in call.constants and 1 in call.constants else None


def _attention(call: Call, given: Given) -> Bound | None:
    """Means of rows of values, none of which is larger than the largest element of its row says."""
    if (known := _known(given, 4)) is None:
        return None
    most = known[0].most * abs(call.real("v_unit")) * _FARTHEST_CODE * _SHARES
    return Bound(most, most * sqrt(_out_width(call)))


RULES: Mapping[tuple[str, str], Rule] = {
    ("", "Add"): _sum, ("", "Sub"): _sum, ("", "Mul"): _product,
    ("", "Sigmoid"): _within_one, ("", "Tanh"): _within_one,
    ("", "Relu"): _no_larger, ("", "Neg"): _no_larger,
    ("", "MatMul"): _matrix, ("", "RotaryEmbedding"): _turned,
    ("", "LayerNormalization"): _norm, ("", "RMSNormalization"): _norm,
    (DOMAIN, "RowCodes"): _row_codes, (DOMAIN, "CodeProduct"): _code_product, (DOMAIN, "CodeRows"): _code_rows,
    (DOMAIN, "CodedAttention"): _attention,
}  # fmt: skip
