"""Operators that compute each frame by itself, and views of whole frames."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tilewright.model import Node
from tilewright.ops.operator import Call
from tilewright.passes.stream.draft import Draft, refused
from tilewright.passes.stream.pointwise import result_axes
from tilewright.passes.stream.timed import Timed

VIEWS = ("Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Dropout")


def each_frame(draft: Draft, call: Call) -> None:
    """Each frame by itself; operands that come at other times are delayed to the last of them."""
    node = call.node
    axes = {at: draft.timed[name].axis for at, name in enumerate(node.inputs) if name in draft.timed}
    time_axes = result_axes(call, axes)
    rates = {(draft.timed[node.inputs[at]].rate, draft.timed[node.inputs[at]].frames) for at in axes}
    if time_axes is None or len(rates) != 1 or len({call.shape(at)[axis] for at, axis in axes.items()}) != 1:
        raise refused(call, "one frame of its result needs others than that frame of its operands")
    names = draft.aligned(node.inputs)
    operands = [draft.timed[name] for name in names if name in draft.timed]
    draft.emit(replace(node, inputs=names))
    last = operands[0].delay
    for name, axis in zip([name for name in node.outputs if name], time_axes, strict=True):
        length = draft.model.tensors[name].shape[axis]
        draft.timed[name] = Timed(
            axis, operands[0].frames, operands[0].rate, length, last, max(one.settled for one in operands),
            clean=all(one.clean for one in operands),
        )  # fmt: skip


def view(draft: Draft, call: Call) -> None:
    """The axis of time keeps its frames and has as many elements before it."""
    node, x = call.node, draft.timed[call.node.inputs[0]]
    old, new = call.shape(0), call.outputs[0].shape
    before = int(np.prod(old[: x.axis], dtype=np.int64))
    places = [
        axis for axis in range(len(new))
        if new[axis] == old[x.axis] and int(np.prod(new[:axis], dtype=np.int64)) == before
    ]  # fmt: skip
    if not places:
        raise refused(call, "frames become elements of something else")
    if old[x.axis] == 1 or x.delay < 0:
        names = draft.aligned(node.inputs[:1])
        x = draft.timed[names[0]]
    else:
        names = node.inputs[:1]
    axis = places[0]
    if node.op == "Identity":
        draft.emit(replace(node, inputs=names))
    else:
        shape = np.array([*new[:axis], x.frames, *new[axis + 1 :]], np.int64)
        made = draft.constant(f"{node.name}/shape", shape)
        draft.emit(Node(node.name, "Reshape", (*names, made), node.outputs[:1], {"allowzero": 1}))
    draft.timed[node.outputs[0]] = replace(x, axis=axis, length=new[axis])
