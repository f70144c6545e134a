"""Gradients that follow from facts which operators declare anyway: views, boxes that are copied, index maps.

An operator that moves elements and computes nothing has its gradient for nothing: the adjoint of a gather by an index
map is the scatter by it.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np

from tilewright.model import Array, DType
from tilewright.ops.index.body import FINISH_KEEP
from tilewright.ops.index.nest import Access, Nest
from tilewright.ops.index.reference import evaluate_chain
from tilewright.ops.operator import Adjoint, Call, Kind

MOST_ELEMENTS = 1 << 20
"""Elements of a result whose index map is written out."""


def derived(a: Adjoint, index: int, result: int) -> str | None:
    """The gradient of operand `index` by that of result `result`; None where no fact says it."""
    operator = a.call.operator
    if operator is None:
        return None
    if operator.kind is Kind.VIEW and operator.nests is None:
        return a.reshape(a.dy, a.shape(0)) if index == 0 else ""
    if operator.copies is not None and (boxes := operator.copies(a.call)):
        return _boxed(a, index, result) if boxes else None
    return _mapped(a, index, result)


def _boxed(a: Adjoint, index: int, result: int) -> str:
    """The box of the gradient where the operand stands in the result, or the gradient amid zeros."""
    assert a.call.operator is not None
    assert a.call.operator.copies is not None
    for box in a.call.operator.copies(a.call):
        if (box.operand, box.result) != (index, result):
            continue
        shape, whole = box.shape, a.shape(index)
        if box.inward:
            axes = [x for x, (want, have) in enumerate(zip(shape, a.shape_of(a.dy), strict=True)) if want != have]
            starts, ends = [box.low[x] for x in axes], [box.low[x] + shape[x] for x in axes]
            return a.op("Slice", a.dy, *map(a.integers, (starts, ends, axes))) if axes else a.dy
        behind = [size - low - length for size, low, length in zip(whole, box.low, shape, strict=True)]
        dy = a.reshape(a.dy, shape)
        return a.op("Pad", dy, a.integers([*box.low, *behind])) if any((*box.low, *behind)) else dy
    return ""


def _mapped(a: Adjoint, index: int, result: int) -> str | None:
    """The scatter of the gradient by the operator's index map; None where it does more than move elements."""
    sources = _sources(a.call, result)
    if sources is None:
        return None
    size, flat = prod(a.shape(index)), prod(a.shape_of(a.dy))
    mine = sources[index] if index in sources else np.full(flat, -1)
    places = np.flatnonzero(mine >= 0)
    if not places.size:
        return ""
    dy = a.reshape(a.dy, (flat,))
    if len(places) < flat:
        dy = a.op("Gather", dy, a.integers(places))
    targets = mine[places]
    if len(targets) == size == len(np.unique(targets)):
        back = np.empty(size, np.int64)
        back[targets] = np.arange(size)
        return a.reshape(a.op("Gather", dy, a.integers(back)), a.shape(index))
    zeros = a.expand(a.number([0]), (size,))
    added = a.op("ScatterElements", zeros, a.integers(targets), dy, axis=0, reduction="add")
    return a.reshape(added, a.shape(index))


def _sources(call: Call, result: int) -> dict[int, Array] | None:
    """For each operand and element of the result the element of the operand that stands there, -1 where none does."""
    operator = call.operator
    if operator is None or operator.nests is None or operator.evaluate is None:
        return None
    nests = [nest for nest in call.nests if nest.out.tensor.name == operator.result(result)]
    if not nests or not all(map(_moves, nests)) or call.outputs[result].elements > MOST_ELEMENTS:
        return None
    names = {operator.operand(at): at for at in range(len(call.inputs))}
    wide = [_counted(nest) for nest in nests]
    read = {access.tensor.name for nest in nests for access in nest.ins}
    arrays = {
        name: 1 + np.arange(call.tensor(at).elements, dtype=np.int64).reshape(call.shape(at))
        for name, at in names.items()
        if name in read
    }
    sources: dict[int, Array] = {}
    for name, at in names.items():
        if name in read:
            own = {other: value if other == name else value * 0 for other, value in arrays.items()}
            sources[at] = evaluate_chain(wide, own)[operator.result(result)].reshape(-1) - 1
    return sources


def _moves(nest: Nest) -> bool:
    """True where an element of the result is an element of one operand, or what its padding holds."""
    plain = nest.body.name == "copy" and nest.combine.name == "set" and nest.finish.name in ("keep", "pad_value")
    return plain and len(nest.ins) == 1 and not nest.ins[0].tensor.iota


def _counted(nest: Nest) -> Nest:
    """The nest over numbers of elements, 0 where none is."""

    def whole(access: Access) -> Access:
        return replace(access, tensor=replace(access.tensor, dtype=DType.I64))

    return replace(nest, out=whole(nest.out), ins=tuple(map(whole, nest.ins)), finish=FINISH_KEEP)
