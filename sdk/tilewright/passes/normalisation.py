"""Layer and root mean square normalisations that are written as means, squares and a root, as one operator.

PyTorch writes them so for opsets before 17, TensorFlow always, and both for the second kind before opset 23.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tilewright.model import Array, Model, Node
from tilewright.passes.edit import Edit

name = "normalisation"


@dataclass(frozen=True)
class _Normalised:
    """`source` divided by the root of its mean square over the last `axes`, less its mean where it is `centred`."""

    source: str
    axes: int
    epsilon: float
    centred: bool
    nodes: tuple[Node, ...]


def apply(model: Model) -> Model:
    """Rewrite every such quotient, with the constants that its results are multiplied with and added to."""
    edit = Edit(model)
    for node in edit.nodes():
        if not node.domain and node.clamp is None:
            quotient = _normalised(edit, node)
            if quotient is not None and edit.encloses(quotient.nodes, node):
                _rewrite(edit, node, quotient)
    return edit.result()


def _normalised(edit: Edit, node: Node) -> _Normalised | None:
    for divided, root, between in _quotients(edit, node):
        rooted = edit.plain_writer(root, "Sqrt")
        added = edit.plain_writer(rooted.inputs[0], "Add") if rooted is not None else None
        if rooted is None or added is None:
            continue
        for place in (0, 1):
            epsilon, mean = edit.constant(added, place), edit.plain_writer(added.inputs[1 - place], "ReduceMean")
            if epsilon is None or epsilon.size != 1 or mean is None:
                continue
            square = edit.writer(mean.inputs[0])
            axes = _last_axes(edit, mean)
            if square is None or not axes or not _squares(edit, square, divided):
                continue
            nodes = (*between, rooted, added, mean, square)
            value = float(epsilon.reshape(-1)[0])
            if (centred := _centred(edit, divided, axes)) is not None:
                return _Normalised(centred[0].inputs[0], axes, value, True, (*nodes, *centred))
            return _Normalised(divided, axes, value, False, nodes)
    return None


def _quotients(edit: Edit, node: Node) -> Iterable[tuple[str, str, tuple[Node, ...]]]:
    """What the node divides, and by what: it is a Div, or a product with an inverse, whose node is the third."""
    if node.op == "Div":
        yield node.inputs[0], node.inputs[1], ()
    for own, other in (node.inputs, node.inputs[::-1]) if node.op == "Mul" else ():
        if (inverse := edit.plain_writer(other, "Reciprocal")) is not None:
            yield own, inverse.inputs[0], (inverse,)
        elif (inverse := edit.plain_writer(other, "Div")) is not None:
            one = edit.constant(inverse, 0)
            if one is not None and one.size == 1 and np.all(one == 1):
                yield own, inverse.inputs[1], (inverse,)


def _squares(edit: Edit, node: Node, of: str) -> bool:
    """Whether the node squares `of`."""
    if node.domain or node.clamp is not None or node.inputs[0] != of:
        return False
    exponent = edit.constant(node, 1)
    return (node.op == "Mul" and node.inputs[1] == of) or (
        node.op == "Pow" and exponent is not None and exponent.size == 1 and bool(np.all(exponent == 2))
    )


def _last_axes(edit: Edit, mean: Node) -> int:
    """How many axes, the last ones, a ReduceMean takes together and keeps; 0 where it does anything else."""
    axes, rank = edit.constant(mean, 1), len(edit.tensors[mean.inputs[0]].shape)
    if axes is None or mean.attributes.get("keepdims", 1) != 1:
        return 0
    taken = sorted(int(axis) % rank for axis in axes.reshape(-1))
    return len(taken) if taken == list(range(rank - len(taken), rank)) else 0


def _centred(edit: Edit, divided: str, axes: int) -> tuple[Node, Node] | None:
    """The difference from the mean over the same axes, and the mean; None where `divided` is none."""
    difference = edit.plain_writer(divided, "Sub")
    mean = edit.plain_writer(difference.inputs[1], "ReduceMean") if difference is not None else None
    if difference is None or mean is None or mean.inputs[0] != difference.inputs[0]:
        return None
    return (difference, mean) if _last_axes(edit, mean) == axes else None


def _rewrite(edit: Edit, node: Node, quotient: _Normalised) -> None:
    sizes = edit.tensors[quotient.source].shape[-quotient.axes :]
    last, scale = node, np.ones(sizes, np.float32)
    gone = [node]
    if (multiplied := _by_constant(edit, last, "Mul", sizes)) is not None:
        last, scale = multiplied
        gone.append(last)
    inputs = [quotient.source, edit.add_constant(f"{node.name}/scale", scale)]
    if quotient.centred and (shifted := _by_constant(edit, last, "Add", sizes)) is not None:
        last, bias = shifted
        gone.append(last)
        inputs.append(edit.add_constant(f"{node.name}/bias", bias))
    op = "LayerNormalization" if quotient.centred else "RMSNormalization"
    attributes = {"axis": -quotient.axes, "epsilon": quotient.epsilon}
    for each in gone[:-1]:
        edit.replace(each)
    edit.replace(last, Node(last.name, op, tuple(inputs), last.outputs, attributes))


def _by_constant(edit: Edit, node: Node, op: str, sizes: tuple[int, ...]) -> tuple[Node, Array] | None:
    """The only reader of a node's result where it takes it and a constant of these sizes, and the constant."""
    result = node.outputs[0]
    readers = edit.readers(result)
    if len(readers) != 1 or not edit.sole_reader(result, readers[0]):
        return None
    (reader,) = readers
    if reader.op != op or reader.domain or reader.clamp is not None:
        return None
    value = edit.constant(reader, 1 - reader.inputs.index(result))
    shape = edit.tensors[result].shape
    if value is None or value.dtype != np.float32 or edit.tensors[reader.outputs[0]].shape != shape:
        return None
    if value.ndim > len(sizes) and any(extent != 1 for extent in value.shape[: value.ndim - len(sizes)]):
        return None
    return reader, np.broadcast_to(value.reshape(value.shape[-len(sizes) :]), sizes).copy()
