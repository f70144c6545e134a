"""Rows that normalisations take: what runs together, and which factor and addend each element has."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from tilewright.model import Array
from tilewright.ops.codes import Normalises
from tilewright.ops.operator import Call


@dataclass(frozen=True)
class NormRows:
    """`count` rows of `length` elements. `span` neighbours share a factor, rows take the `sets` of factors in turn."""

    count: int
    length: int
    span: int
    sets: int

    @property
    def factors(self) -> int:
        """Factors of a row."""
        return self.length // self.span

    def spread(self, parameters: Array) -> Array:
        """Parameters of all sets as one for each element: rows of a set each."""
        return np.repeat(parameters.reshape(self.sets, self.factors), self.span, axis=1)


def norm_rows(call: Call) -> NormRows | None:
    """The rows of a Layer, RMS, Instance or GroupNormalization in the order of their elements; None for other calls,
    for rows without elements, and where factors are not those of a row's elements."""
    shape, op = call.shape(), call.node.op
    if not isinstance(call.codes, Normalises) or not prod(shape):
        return None
    if op in ("LayerNormalization", "RMSNormalization"):
        axis = call.integer("axis", -1)
        over = shape[axis % len(shape) :] if -len(shape) <= axis < len(shape) else ()
        fits = all(_of_a_row(call.optional(index), over) for index in (1, 2))
        return NormRows(prod(shape) // prod(over), prod(over), 1, 1) if over and fits else None
    groups = shape[1] if op == "InstanceNormalization" else call.integer("num_groups")
    if groups < 1 or shape[1] % groups:
        return None
    each, plane = shape[1] // groups, prod(shape[2:])
    span = each * plane if op == "GroupNormalization" and call.opset < 21 else plane
    return NormRows(shape[0] * groups, each * plane, span, groups)


def _of_a_row(tensor: object, over: tuple[int, ...]) -> bool:
    """True where a parameter has no axis along which rows differ."""
    shape: tuple[int, ...] = getattr(tensor, "shape", ())
    return prod(shape[: max(len(shape) - len(over), 0)]) == 1


def row_parameter(call: Call, index: int, rows: NormRows) -> Array | None:
    """A constant operand as [sets, factors] in float64; None where it is none, or not finite."""
    value, tensor = call.constants.get(index), call.optional(index)
    if value is None or tensor is None or tensor.quantisation is not None or value.dtype != np.float32:
        return None
    if not np.isfinite(value).all():
        return None
    if call.node.op in ("LayerNormalization", "RMSNormalization"):
        over = call.shape()[call.integer("axis", -1) % len(call.shape()) :]
        value = np.broadcast_to(value.reshape(value.shape[max(value.ndim - len(over), 0) :]), over)
    return np.asarray(value.astype(np.float64).reshape(rows.sets, rows.factors))
