"""LSTM, GRU and RNN: the last value of a call is the first of the next."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tilewright.frontend.names import unique
from tilewright.model import Array, State, Tensor
from tilewright.ops.operator import Call
from tilewright.passes.stream.draft import Draft, refused

RECURRENT = ("LSTM", "GRU", "RNN")


def recurrent(draft: Draft, call: Call) -> None:
    """The last value of a call is the first of the next."""
    node = call.node
    name = draft.aligned(node.inputs[:1])[0]
    x = draft.timed[name]
    if call.text("direction", "forward") != "forward":
        raise refused(call, "it runs from the end of the sequence, which a stream has not")
    if x.axis != (1 if call.integer("layout", 0) else 0):
        raise refused(call, "time is not the axis that it walks along")
    if call.optional(4) is not None or any(other in draft.timed for other in node.inputs[1:]):
        raise refused(call, "lengths and weights must not change with time")
    if not x.clean or x.delay:
        late = f"frames come {x.delay} late there" if x.delay else f"the first {x.settled} frames are other ones there"
        raise refused(
            call, f"{late}, and it would remember what is in no sequence",
            "pad in front of the layers before it, with zeros that count, so that they look back alone",
        )  # fmt: skip
    readers = {other for each in draft.model.nodes for other in each.inputs} | set(draft.model.outputs)
    if any(other in readers for other in node.outputs[1:] if other):
        raise refused(call, "its last value is asked for, which only the whole sequence has")
    inputs = [name, *node.inputs[1:]] + [""] * (7 - len(node.inputs))
    outputs = [node.outputs[0]]
    for place in (5, 6) if node.op == "LSTM" else (5,):
        first = draft.model.constants.get(inputs[place]) if inputs[place] else None
        if inputs[place] and first is None:
            raise refused(call, "its first value is computed at run time")
        inputs[place], present = _memory(draft, call, place, first)
        outputs.append(present)
    if node.op != "LSTM" and len(inputs) > 6:
        inputs = inputs[:6]
    while inputs and not inputs[-1]:
        inputs.pop()
    draft.emit(replace(node, inputs=tuple(inputs), outputs=tuple(outputs)))
    time_axes = [axis for axis in range(4) if axis == (1 if call.integer("layout", 0) else 0)]
    draft.timed[node.outputs[0]] = replace(x, axis=time_axes[0], length=call.outputs[0].shape[time_axes[0]])


def _memory(draft: Draft, call: Call, place: int, first: Array | None) -> tuple[str, str]:
    """The state of a recurrent layer."""
    hidden = call.integer("hidden_size", call.shape(2)[-1])
    x = call.shape(0)
    shape = (x[0], 1, hidden) if call.integer("layout", 0) else (1, x[1], hidden)
    word = "hidden" if place == 5 else "cell"
    past = unique(f"{call.node.name}/{word}_past", draft.names)
    present = unique(f"{call.node.name}/{word}_present", draft.names)
    for one in (past, present):
        draft.tensors[one] = Tensor(one, draft.model.tensors[call.node.inputs[0]].dtype, shape)
    draft.states.append(State(past, present, None if first is None else np.ascontiguousarray(first)))
    return past, present
