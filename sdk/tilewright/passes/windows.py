"""Windows over time that a state holds: what moves on becomes a Shift, and of what a convolution does not read nothing
is put together.

Exporters write `whole = Concat(past, new)`, `Conv(whole)`, `present = whole[k:]`, or take the slice first, or pad it.
Where it saves memory, the state is `whole` (`wider_windows.py`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tilewright.model import Model, Node, State
from tilewright.ops.relayout import DOMAIN
from tilewright.passes.edit import Edit
from tilewright.passes.stretch import Stretch, concat_axis, cut, stretch_of
from tilewright.passes.wider_windows import widened

name = "windows"


def apply(model: Model) -> Model:
    """Rewrite what reads and makes the states; a network without any stays as it is."""
    if not model.states:
        return model
    edit = Edit(model)
    present = {state.present for state in model.states}
    for node in edit.nodes():
        if node.op == "Slice" and not node.domain:
            _before_joining(edit, node, present)
    for state in model.states:
        _shift(edit, state)
    for node in edit.nodes():
        if node.op == "Conv" and not node.domain:
            _taps(edit, node)
    return widened(edit.result())


def _before_joining(edit: Edit, node: Node, present: set[str]) -> None:
    """A slice of a Concat is one of its operand, or what is left of each where that is the next value of a state."""
    before, taken = edit.writer(node.inputs[0]), stretch_of(edit, node)
    if taken is None or before is None or before.op != "Concat" or before.domain or before.clamp:
        return
    axis, wanted, at = concat_axis(edit, before), list[tuple[str, Stretch]](), 0
    if axis != taken.axis:
        return
    for operand in before.inputs:
        size = edit.tensors[operand].shape[axis]
        low, high = max(taken.low, at), min(taken.high, at + size)
        if low < high:
            wanted.append((operand, Stretch(axis, low - at, high - at)))
        at += size
    if len(wanted) == 1 or node.outputs[0] in present:
        parts = tuple(cut(edit, node, *one) for one in wanted)
        edit.replace(node, Node(node.name, "Concat", parts, node.outputs, {"axis": axis}))


def _shift(edit: Edit, state: State) -> None:
    """The next value of a state as a Shift, where its oldest entries go and others come."""
    node = edit.writer(state.present)
    while node is not None and not node.domain and "Scatter" in node.op:
        node = edit.writer(node.inputs[0])
    if node is None or node.domain or node.clamp or not node.inputs:
        return
    if node.op == "Concat":
        _joined(edit, node, state.past)
    else:
        _padded(edit, node, state.past)


def _joined(edit: Edit, node: Node, past: str) -> None:
    """`Concat(past[k:], new)` or `Concat(new, past[:-k])`."""
    axis, shape = concat_axis(edit, node), edit.tensors[past].shape
    if len(node.inputs) < 2 or edit.tensors[node.outputs[0]].shape != shape:
        return
    for first, place in ((False, 0), (True, len(node.inputs) - 1)):
        before = edit.writer(node.inputs[place])
        taken = None if before is None or before.inputs[0] != past else stretch_of(edit, before)
        if taken is None or taken.axis != axis or (taken.low == 0) != first or (taken.high == shape[axis]) == first:
            continue
        others = node.inputs[:-1] if first else node.inputs[1:]
        update = others[0]
        made = tuple[Node, ...]()
        if len(others) > 1:
            sizes = sum(edit.tensors[other].shape[axis] for other in others)
            like = replace(edit.tensors[past], shape=(*shape[:axis], sizes, *shape[axis + 1 :]))
            update = edit.add_tensor(f"{node.name}/update", like)
            made = (Node(edit.node_name(f"{node.name}/update"), "Concat", others, (update,), {"axis": axis}),)
        edit.replace(node, *made, _moved(node, past, update, axis, first=first))
        return


def _padded(edit: Edit, node: Node, past: str) -> None:
    """`Pad(past[k:])` or `Pad(past)[k:]` with a constant at one end: that is the update."""
    before = edit.writer(node.inputs[0])
    if before is None or before.domain or before.clamp:
        return
    sliced, pad = (node, before) if before.op == "Pad" else (before, node)
    if pad.op != "Pad" or sliced.op != "Slice":
        return
    tensor, taken, value = edit.tensors[past], stretch_of(edit, sliced), _pad_value(edit, pad)
    if before.inputs[0] != past or edit.tensors[node.outputs[0]].shape != tensor.shape or taken is None:
        return
    axis, rank = taken.axis, len(tensor.shape)
    amounts = _pads(edit, pad, rank)
    if amounts is None or value is None or tensor.quantisation is not None:
        return
    low, high = amounts.pop(axis, 0), amounts.pop(rank + axis, 0)
    first = low > 0
    count = low or high
    size = tensor.shape[axis] + (count if sliced is node else 0)
    whole = (0, size - count) if first else (count, size)
    if any(amounts.values()) or min(low, high) != 0 or not 0 < count < tensor.shape[axis]:
        return
    if (taken.low, taken.high) != whole:
        return
    shape = (*tensor.shape[:axis], count, *tensor.shape[axis + 1 :])
    update = edit.add_constant(f"{node.name}/update", np.full(shape, value, tensor.dtype.numpy), tensor.dtype)
    edit.replace(node, _moved(node, past, update, axis, first=first))


def _pads(edit: Edit, pad: Node, rank: int) -> dict[int, int] | None:
    """What a Pad adds before each axis, and behind each, counted on from the rank; None where that is not known."""
    pads = edit.constant(pad, 1)
    axes = edit.constant(pad, 3) if len(pad.inputs) > 3 and pad.inputs[3] else np.arange(rank)
    if pads is None or axes is None or pad.attributes.get("mode", "constant") != "constant":
        return None
    places = [int(axis) % rank for axis in axes]
    return dict(zip((*places, *(rank + place for place in places)), (int(amount) for amount in pads), strict=True))


def _pad_value(edit: Edit, pad: Node) -> float | None:
    if len(pad.inputs) < 3 or not pad.inputs[2]:
        return 0.0
    value = edit.constant(pad, 2)
    return None if value is None or value.size != 1 else float(value.reshape(-1)[0])


def _moved(node: Node, past: str, update: str, axis: int, *, first: bool) -> Node:
    attributes = {"axis": axis, "newest_first": int(first)}
    return Node(node.name, "Shift", (past, update), node.outputs, attributes, DOMAIN)


def _taps(edit: Edit, node: Node) -> None:
    """A dilated convolution with one result along the axis of a Concat reads just the entries under its taps."""
    before = edit.writer(node.inputs[0])
    if before is None or before.op != "Concat" or before.domain or before.clamp:
        return
    axis, (source, weights, result) = concat_axis(edit, before), (
        edit.tensors[one] for one in (node.inputs[0], node.inputs[1], node.outputs[0])
    )  # fmt: skip
    if not edit.sole_reader(source.name, node) or axis < 2 or result.shape[axis] != 1:
        return
    rank, at = len(source.shape) - 2, axis - 2
    dilations = list(_listed(node, "dilations", (1,) * rank))
    pads = _listed(node, "pads", (0,) * (2 * rank))
    taps, dilation = weights.shape[axis], dilations[at]
    exact = source.shape[axis] == (taps - 1) * dilation + 1
    if dilation < 2 or not exact or pads[at] or pads[rank + at] or "auto_pad" in node.attributes:
        return
    parts, begin = list[str](), 0
    for operand in before.inputs:
        size = edit.tensors[operand].shape[axis]
        rows = [row - begin for row in range(0, taps * dilation, dilation) if begin <= row < begin + size]
        if rows:
            parts.append(cut(edit, before, operand, Stretch(axis, rows[0], rows[-1] + 1), dilation))
        begin += size
    shape = (*source.shape[:axis], taps, *source.shape[axis + 1 :])
    joined = edit.add_tensor(f"{source.name}/taps", replace(source, shape=shape))
    edit.replace(before, replace(before, inputs=tuple(parts), outputs=(joined,)))
    dilations[at] = 1
    attributes = {**node.attributes, "dilations": tuple(dilations)}
    edit.replace(node, replace(node, inputs=(joined, *node.inputs[1:]), attributes=attributes))


def _listed(node: Node, attribute: str, default: tuple[int, ...]) -> tuple[int, ...]:
    numbers = node.attributes.get(attribute, default)
    assert isinstance(numbers, tuple), "it is a list of integers"
    return tuple(int(one) for one in numbers)
