"""Takes a constant Pad into the padding of the convolution or pool that alone reads it."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np

from tilewright.model import Model, Node
from tilewright.ops.facts import Margin
from tilewright.ops.registry import find
from tilewright.passes.edit import Edit

name = "pad"


def apply(model: Model) -> Model:
    """Merge pads where the operator's own padding has the same meaning."""
    edit = Edit(model)
    for node in edit.nodes():
        operator = find(node.op, node.domain)
        if operator is None or operator.margin is None:
            continue
        before = edit.writer(node.inputs[0])
        if before is None or before.op != "Pad" or before.domain or not edit.sole_reader(node.inputs[0], node):
            continue
        around = _margin(edit, before)
        attributes = operator.margin(edit.call(node), around) if around is not None else None
        if attributes is not None:
            edit.replace(node, replace(node, inputs=(before.inputs[0], *node.inputs[1:]), attributes=attributes))
            edit.replace(before)
    return edit.result()


def _margin(edit: Edit, pad: Node) -> Margin | None:
    """What a Pad adds; None where it does anything else than widen the spatial axes by one value."""
    pads, value = _spatial_pads(edit, pad), _pad_value(edit, pad)
    if pads is None or value is None or not _same_codes(edit, pad):
        return None
    return Margin(pads, value, _least(edit, pad.inputs[0]))


def _spatial_pads(edit: Edit, pad: Node) -> tuple[int, ...] | None:
    """Begins and ends of the spatial axes; None where the Pad does anything else than widen those by a constant."""
    pads, rank = edit.constant(pad, 1), len(edit.tensors[pad.inputs[0]].shape)
    axes = edit.constant(pad, 3) if len(pad.inputs) > 3 and pad.inputs[3] else np.arange(rank)
    if pads is None or axes is None or pad.attributes.get("mode", "constant") != "constant" or pad.clamp:
        return None
    amounts, count = [int(amount) for amount in pads], len(axes)
    full = [0] * (2 * rank)
    for i, axis in enumerate(int(axis) % rank for axis in axes):
        full[axis], full[rank + axis] = amounts[i], amounts[count + i]
    if min(full, default=0) < 0 or any((*full[:2], *full[rank : rank + 2])):
        return None
    return (*full[2:rank], *full[rank + 2 :])


def _same_codes(edit: Edit, pad: Node) -> bool:
    """True for real numbers, and for codes that stand for the same numbers before and behind the Pad."""
    before, behind = (edit.tensors[name] for name in (pad.inputs[0], pad.outputs[0]))
    return (before.quantisation, before.dtype) == (behind.quantisation, behind.dtype)


def _pad_value(edit: Edit, pad: Node) -> float | None:
    """The real number that a Pad fills with; None where it is computed."""
    meaning = edit.tensors[pad.inputs[0]].quantisation
    if len(pad.inputs) < 3 or not pad.inputs[2]:
        return 0.0 if meaning is None else None
    value = edit.constant(pad, 2)
    if value is None or value.size != 1:
        return None
    number = value.reshape(-1)[0]
    return float(number) if meaning is None else (int(number) - meaning.zero_point[0]) * meaning.scale[0]


def _least(edit: Edit, tensor: str) -> float:
    """A number below which the tensor has no element: that of a limit or a clamp before it."""
    writer = edit.writer(tensor)
    if writer is None:
        return -inf
    if writer.clamp is not None:
        return writer.clamp.low
    call = edit.call(writer)
    limits = call.operator.limit(call) if call.operator is not None and call.operator.limit is not None else None
    return -inf if limits is None else limits.low
