"""How many rows of a cache a mask shows, as a number behind one run-time position: tried for every position.

Exporters write such masks in many ways: comparisons with a range, a row of a triangle, (1 - seen) * lowest, of any
shape and integer type. What they have in common is that nothing but the position is known at run time only; so the
nodes are carried out for each position that a cache has.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np

from tilewright.errors import TilewrightError
from tilewright.frontend.shapes import evaluate
from tilewright.model import Array, DType, Node
from tilewright.ops.operator import Call
from tilewright.ops.registry import find
from tilewright.passes.edit import Edit

MOST_NODES, MOST_ELEMENTS = 64, 1 << 24
"""What is tried at most: nodes, and elements of their results over all positions."""


@dataclass(frozen=True)
class Cone:
    """The nodes between a tensor and the run-time tensors that it is made of, in order."""

    result: str
    sources: tuple[str, ...]
    nodes: tuple[Node, ...]

    def carried_out(self, edit: Edit, opset: int, values: dict[str, Array]) -> Array | None:
        """The tensor where the sources have these values; None where a node cannot be computed here."""
        known = dict(values)
        for node in self.nodes:
            operator = find(node.op, node.domain)
            tensors = tuple(edit.tensors[name] if name else None for name in node.inputs)
            outputs = tuple(edit.tensors[name] for name in node.outputs if name)
            plain = node.clamp is None and not any(one.quantisation for one in (*tensors, *outputs) if one)
            if operator is None or not operator.folds or len(outputs) != len(node.outputs) or not plain:
                return None
            operands = {place: _value(edit, known, name) for place, name in enumerate(node.inputs) if name}
            call = Call(node, tensors, outputs, operands, opset, operator=operator)
            try:
                results = evaluate(operator, call)
            except TilewrightError:  # an index beyond what it picks from
                return None
            known |= {tensor.name: array for tensor, array in zip(outputs, results, strict=True)}
        return known[self.result]


@dataclass(frozen=True)
class Filled:
    """Rows below `position` + `ahead` are read at most. `exact`: these and no others are shown, and by zeros."""

    position: str
    ahead: int
    exact: bool


def cone_of(edit: Edit, result: str, stop: Collection[str] = ()) -> Cone | None:
    """What makes a tensor, back to inputs of the network and to the tensors of `stop`; None where that is too much."""
    nodes, sources, seen, waiting = list[Node](), list[str](), set[str](), [(result, False)]
    while waiting:
        name, made = waiting.pop()
        writer = None if name in stop else edit.writer(name)
        if made:
            assert writer is not None
            nodes.append(writer)
        elif name in seen or not name or name in edit.constants:
            continue
        elif writer is None:
            seen.add(name)
            sources.append(name)
        else:
            seen |= {name, *writer.outputs}
            waiting += [(name, True), *((operand, False) for operand in writer.inputs)]
        if len(seen) > MOST_NODES:
            return None
    return Cone(result, tuple(sources), tuple(nodes))


def filled_rows(edit: Edit, opset: int, mask: str, hides: Callable[[Array], Array], rows: int) -> Filled | None:
    """How far a mask, [..., rows], shows a cache: `hides` says of its values which entries have no weight.

    None where anything but one position decides that, or where no row is shown for the first position.
    """
    cone = cone_of(edit, mask)
    if cone is None or len(cone.sources) != 1 or not _position(edit, cone.sources[0]):
        return None
    if rows * sum(edit.tensors[name].elements for node in cone.nodes for name in node.outputs if name) > MOST_ELEMENTS:
        return None
    shown = np.zeros((rows, rows), bool)
    all_shown = np.ones((rows, rows), bool)
    plain = True
    for at in range(rows):
        values = _at(edit, opset, cone, at)
        if values is None or values.shape[-1:] != (rows,):
            return None
        hidden = hides(values).reshape(-1, rows)
        shown[at], all_shown[at] = ~hidden.all(0), ~hidden.any(0)
        plain = plain and (values.dtype == bool or not values.reshape(-1, rows)[~hidden].any())
    counts = [int(np.flatnonzero(row)[-1]) + 1 if row.any() else 0 for row in shown]
    ahead = max(count - at for at, count in enumerate(counts))
    if counts[0] < 1 or ahead >= rows:
        return None
    below = np.arange(rows) < np.arange(rows)[:, None] + ahead
    exact = plain and bool((all_shown == below).all() and (shown == below).all())
    return Filled(cone.sources[0], ahead, exact)


def written_at(edit: Edit, opset: int, index: str, rows: int) -> str:
    """The position that an index of a write is, whatever its shape and type; "" where it is no such position."""
    cone = cone_of(edit, index)
    if cone is None or len(cone.sources) != 1 or not _position(edit, cone.sources[0]):
        return ""
    for at in range(rows):
        values = _at(edit, opset, cone, at)
        if values is None or not (values == at).all():
            return ""
    return cone.sources[0]


def _at(edit: Edit, opset: int, cone: Cone, at: int) -> Array | None:
    tensor = edit.tensors[cone.sources[0]]
    if at > tensor.dtype.range[1]:
        return None
    return cone.carried_out(edit, opset, {tensor.name: np.full(tensor.shape, at, tensor.dtype.numpy)})


def _position(edit: Edit, name: str) -> bool:
    tensor = edit.tensors[name]
    return tensor.elements == 1 and tensor.dtype in (DType.I64, DType.I32) and tensor.quantisation is None


def _value(edit: Edit, known: dict[str, Array], name: str) -> Array:
    return edit.constants[name] if name in edit.constants else known[name]
