"""A cache behind what exporters do to it before a product: heads repeated for groups, axes turned, a factor."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from tilewright.model import Array, Node
from tilewright.ops.transpose import permutation
from tilewright.passes.edit import Edit
from tilewright.passes.filled_rows import cone_of
from tilewright.passes.quantise.kinds import moves

MOST_ELEMENTS = 1 << 22


@dataclass(frozen=True)
class Cached:
    """A tensor [batch, heads, rows, depth], and what it is multiplied by."""

    name: str
    rows: int
    scale: float


def cached_rows(edit: Edit, operand: str, held: Collection[str], opset: int, *, turned: bool) -> Cached | None:
    """The tensor that an operand of a product shows, its heads repeated one by one, [..., depth, rows] where `turned`.

    Back to a tensor of `held` where there is one; else what a Transpose turns, or the operand itself.
    """
    cone = cone_of(edit, operand, held)
    if cone is not None and len(cone.sources) == 1 and cone.sources[0] in held:
        source, scale, nodes = edit.tensors[cone.sources[0]], 1.0, list[Node]()
        for node in cone.nodes:
            at, factor = _factor(edit, node)
            scale *= factor
            moving = replace(node, op="Identity", inputs=(node.inputs[at],), attributes={}) if factor != 1 else node
            if moves(moving) is None or moving.domain:
                return _as_it_is(edit, operand, turned)
            nodes.append(moving)
        if len(source.shape) == 4 and source.elements <= MOST_ELEMENTS and edit.is_float(source.name):
            numbers: Array = np.arange(source.elements, dtype=np.float32).reshape(source.shape)
            shown = replace(cone, nodes=tuple(nodes)).carried_out(edit, opset, {source.name: numbers})
            if shown is not None and _repeated(numbers, shown.swapaxes(2, 3) if turned and shown.ndim == 4 else shown):
                return Cached(source.name, source.shape[2], scale)
    return _as_it_is(edit, operand, turned)


def _repeated(numbers: Array, shown: Array) -> bool:
    """True where `shown` has every head of `numbers` some times, one after the other."""
    if shown.ndim != 4 or not numbers.shape[1] or shown.shape[1] % numbers.shape[1]:
        return False
    return np.array_equal(np.repeat(numbers, shown.shape[1] // numbers.shape[1], 1), shown)


def _as_it_is(edit: Edit, operand: str, turned: bool) -> Cached | None:
    """The operand, or what a Transpose turns to make it."""
    if turned:
        turn = edit.writer(operand)
        if turn is None or turn.op != "Transpose" or permutation(edit.call(turn)) != (0, 1, 3, 2):
            return None
        operand = turn.inputs[0]
    shape = edit.tensors[operand].shape
    return Cached(operand, shape[2], 1.0) if len(shape) == 4 else None


def _factor(edit: Edit, node: Node) -> tuple[int, float]:
    """The place of the operand that a node multiplies by a positive constant, and that; 1 where it does not."""
    for at in (0, 1) if node.op == "Mul" and not node.domain and node.clamp is None else ():
        factor = edit.constant(node, 1 - at)
        if factor is not None and factor.size == 1 and float(factor.reshape(-1)[0]) > 0:
            return at, float(factor.reshape(-1)[0])
    return 0, 1.0
