"""Fuses Relu and Clip, also where written as Min and Max with a constant, into the node that computes their input."""

from __future__ import annotations

from dataclasses import replace
from math import inf, isnan

from tilewright.model import Clamp, Model, Node
from tilewright.passes.edit import Edit

name = "activation"

_PRODUCERS = frozenset(
    "Conv ConvTranspose Gemm MatMul Add Sub Mul MaxPool AveragePool GlobalAveragePool GlobalMaxPool".split()
)


def apply(model: Model) -> Model:
    """Give producers with a single reader the limits of that reader."""
    edit = Edit(model)
    for node in edit.nodes():
        found = limits(edit, node)
        if found is None:
            continue
        source, low, high = found
        before = edit.writer(source)
        if before is None or before.op not in _PRODUCERS or before.domain or len(before.outputs) != 1:
            continue
        if edit.sole_reader(source, node) and edit.is_float(source, *node.outputs):
            edit.replace(before, replace(before, outputs=node.outputs, clamp=_combined(before.clamp, low, high)))
            edit.replace(node)
    return edit.result()


def limits(edit: Edit, node: Node) -> tuple[str, float, float] | None:
    """The tensor that the node limits and the bounds; None where it does more, or a bound is no constant."""
    if node.domain or node.clamp is not None:
        return None
    if node.op == "Relu":
        return node.inputs[0], 0.0, inf
    if node.op == "Clip":
        low, high = _bound(edit, node, 1, -inf), _bound(edit, node, 2, inf)
        return None if low is None or high is None else (node.inputs[0], min(low, high), high)
    if node.op in ("Min", "Max") and len(node.inputs) == 2:
        for position in (0, 1):
            bound, other = _bound(edit, node, position, None), node.inputs[1 - position]
            same = edit.tensors[other].shape == edit.tensors[node.outputs[0]].shape
            if bound is not None and other not in edit.constants and same:
                return (other, bound, inf) if node.op == "Max" else (other, -inf, bound)
    return None


def _bound(edit: Edit, node: Node, index: int, default: float | None) -> float | None:
    if index >= len(node.inputs) or not node.inputs[index]:
        return default
    value = edit.constant(node, index)
    if value is None or value.size == 0:
        return None
    first = float(value.reshape(-1)[0])
    return None if isnan(first) or bool((value != value.reshape(-1)[0]).any()) else first


def _combined(clamp: Clamp | None, low: float, high: float) -> Clamp:
    """`clamp` first, then the limits."""
    if clamp is None:
        return Clamp(low, high)
    return Clamp(min(max(clamp.low, low), high), max(min(clamp.high, high), low))
