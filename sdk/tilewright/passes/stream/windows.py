"""Operators that see several frames: windows keep the last of them, Pad and Slice shift the sequence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tilewright.model import Attribute, Node
from tilewright.ops.operator import Call
from tilewright.passes.stream.draft import Draft, refused
from tilewright.passes.stream.timed import Reach, shifted

WINDOWS = ("Conv", "MaxPool", "AveragePool")
PADDING = ("auto_pad", "pads", "ceil_mode")


def window(draft: Draft, call: Call) -> None:
    """A convolution or a pool: the last frames that it saw stand in front of the new ones."""
    node, x = call.node, draft.timed[call.node.inputs[0]]
    if any(name in draft.timed for name in node.inputs[1:]):
        raise refused(call, "its weights change with time")
    assert call.operator is not None
    assert call.operator.window is not None
    seen, place = call.operator.window(call), x.axis - 2
    if node.op not in WINDOWS or len(node.outputs) > 1:
        raise refused(call, f"{node.op} has no streaming form here")
    reach = Reach(
        (seen.kernel[place] - 1) * seen.dilations[place], seen.strides[place], seen.begins[place]
    )  # fmt: skip
    fill = _padding(draft, call)
    name = node.inputs[0]
    if x.before is not None and reach.before and x.before != fill:
        name = draft.late(name, -x.delay)
        x = draft.timed[name]
    result = draft.model.tensors[node.outputs[0]]
    shift = shifted(x, reach, node.name, result.shape[x.axis], x.axis)
    both = name
    if shift.kept > 0:
        both = draft.with_past(name, shift.kept, fill if x.before is None else x.before)
    if shift.kept < 0 or shift.unused:
        size = draft.tensors[both].shape[x.axis]
        both = draft.cut(both, x.axis, max(0, -shift.kept), size - shift.unused, f"{name}/seen")
    draft.emit(replace(node, inputs=(both, *node.inputs[1:]), attributes=_without_padding(call, place)))
    made = shift.result
    if node.op == "AveragePool" and reach.before and not call.integer("count_include_pad", 0):
        made = replace(made, settled=max(made.settled, -(-reach.before // reach.stride)), clean=False)
    draft.timed[node.outputs[0]] = made


def _padding(draft: Draft, call: Call) -> float:
    """What padding counts as, in codes where the input holds codes."""
    tensor = draft.model.tensors[call.node.inputs[0]]
    if call.node.op == "MaxPool":
        return -np.inf if tensor.dtype.is_float else float(tensor.dtype.range[0])
    return float(tensor.quantisation.zero_point[0]) if tensor.quantisation is not None else 0.0


def pad(draft: Draft, call: Call) -> None:
    """Frames in front are kept as what was before; those behind never come."""
    node, x = call.node, draft.timed[call.node.inputs[0]]
    rank = len(call.shape(0))
    if call.text("mode", "constant") != "constant" or not {1} <= set(call.constants) or call.optional(3) is not None:
        raise refused(call, "only constant frames can stand before a sequence")
    pads = [int(value) for value in call.constants[1].reshape(-1)]
    front, behind = pads[x.axis], pads[x.axis + rank]
    if front < 0 or behind < 0:
        raise refused(call, "it takes frames away")
    name = draft.aligned(node.inputs[:1])[0]
    x = draft.timed[name]
    value = float(call.constants[2].reshape(-1)[0]) if 2 in call.constants else 0.0
    pads[x.axis] = pads[x.axis + rank] = 0
    made = draft.constant(f"{node.name}/pads", np.array(pads, np.int64))
    draft.emit(replace(node, inputs=(name, made, *node.inputs[2:])))
    length = draft.model.tensors[node.outputs[0]].shape[x.axis]
    if x.clean:
        draft.timed[node.outputs[0]] = replace(x, delay=-front, length=length, before=value if front else None)
    else:
        draft.timed[node.outputs[0]] = replace(
            x, delay=x.delay - front, settled=x.settled + front, length=length, before=None
        )


def slices_time(draft: Draft, call: Call) -> bool:
    """True where a Slice takes frames away."""
    x = draft.timed.get(call.node.inputs[0])
    return x is not None and call.outputs[0].shape[x.axis] != call.shape(0)[x.axis]


def cut(draft: Draft, call: Call) -> None:
    """Frames are cut off: in front they only come later, at the end only those that padding has added may go."""
    node, x = call.node, draft.timed[call.node.inputs[0]]
    if not {1, 2} <= set(call.constants):
        raise refused(call, "where it cuts is computed at run time")
    rank, length = len(call.shape(0)), call.shape(0)[x.axis]
    given = call.constants.get(3)
    axes = [int(a) % rank for a in (given.reshape(-1) if given is not None else range(call.constants[1].size))]
    steps = call.constants[4].reshape(-1) if 4 in call.constants else np.ones(len(axes), np.int64)
    place = axes.index(x.axis) if axes == [x.axis] else -1
    if place < 0 or int(steps[place]) != 1:
        raise refused(call, "it takes every so many frames, or cuts along other axes too")
    start = int(call.constants[1].reshape(-1)[place])
    start = max(0, min(length, start + length if start < 0 else start))
    frames = call.outputs[0].shape[x.axis]
    if length - start - frames > max(0, x.tail(draft.total)):
        raise refused(call, "it takes a part of the sequence whose end only the whole one has")
    draft.emit(Node(node.name, "Identity", node.inputs[:1], node.outputs))
    draft.timed[node.outputs[0]] = replace(
        x.late(start), settled=max(0, x.settled - start), length=frames
    )  # fmt: skip


def _without_padding(call: Call, place: int) -> dict[str, Attribute]:
    """The attributes of a window that is padded along the other axes only."""
    assert call.operator is not None
    assert call.operator.window is not None
    seen = call.operator.window(call)
    begins, ends = list(seen.begins), list(seen.ends)
    begins[place] = ends[place] = 0
    attributes = {
        name: value for name, value in call.node.attributes.items() if name not in ("auto_pad", "pads", "ceil_mode")
    }
    return {**attributes, "pads": (*begins, *ends)}
