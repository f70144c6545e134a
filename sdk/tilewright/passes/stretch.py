"""Stretches: consecutive indices of one axis of a tensor, whole along all others."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tilewright.model import Node
from tilewright.ops.slice import ranges
from tilewright.passes.edit import Edit


@dataclass(frozen=True)
class Stretch:
    """Indices [low, high) of one axis."""

    axis: int
    low: int
    high: int


def stretch_of(edit: Edit, node: Node) -> Stretch | None:
    """The stretch that a Slice takes; None where it takes anything else, or all."""
    if node.op != "Slice" or node.domain or node.clamp is not None:
        return None
    if any(name and name not in edit.constants for name in node.inputs[1:]):
        return None
    taken, shape = ranges(edit.call(node)), edit.tensors[node.inputs[0]].shape
    cuts = [axis for axis, one in enumerate(taken) if len(one) < shape[axis] or one.step < 0]
    if len(cuts) != 1 or taken[cuts[0]].step != 1 or not len(taken[cuts[0]]):
        return None
    return Stretch(cuts[0], taken[cuts[0]].start, taken[cuts[0]].stop)


def cut(edit: Edit, before: Node, source: str, stretch: Stretch, step: int = 1) -> str:
    """The tensor that holds a stretch of `source`, every `step`-th of it; itself where that is all.

    It is made in front of the node `before`.
    """
    tensor, axis = edit.tensors[source], stretch.axis
    size = -(-(stretch.high - stretch.low) // step)
    if size == tensor.shape[axis]:
        return source
    shape = (*tensor.shape[:axis], size, *tensor.shape[axis + 1 :])
    made = edit.add_tensor(f"{source}/{stretch.low}_{stretch.high}", replace(tensor, shape=shape))
    values = (stretch.low, stretch.high, axis, step)
    words = ("starts", "ends", "axes", "steps")
    given = [
        edit.add_constant(f"{made}/{word}", np.array([v], np.int64)) for word, v in zip(words, values, strict=True)
    ]
    edit.insert(before, Node(edit.node_name(made), "Slice", (source, *given), (made,)))
    return made


def concat_axis(edit: Edit, node: Node) -> int:
    """The axis along which a Concat joins."""
    axis = node.attributes.get("axis", 1)
    assert isinstance(axis, int), "axis is an integer"
    return axis % len(edit.tensors[node.outputs[0]].shape)
