"""From a network over a whole sequence to its streaming form: an ordinary model with states.

Every tensor that has time is followed from the inputs on: through operators that compute each frame by itself, through
windows, whose last frames become a state in front of the new ones, through recurrent layers, whose last value becomes
one. Branches that meet are delayed to the latest of them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tilewright.errors import UnsupportedError, UsageError
from tilewright.frontend.check import check_model
from tilewright.frontend.names import quoted
from tilewright.model import Model, Node, Stream, StreamedTensor
from tilewright.options import StreamWish
from tilewright.passes.stream.draft import Draft
from tilewright.passes.stream.frames import VIEWS, each_frame, view
from tilewright.passes.stream.recurrent import RECURRENT, recurrent
from tilewright.passes.stream.timed import Indivisible, Timed
from tilewright.passes.stream.windows import cut, pad, slices_time, window

MOST_FRAMES = 1024
"""The smallest number of frames a call is searched up to here."""


def streamed(model: Model, wish: StreamWish) -> Model:
    """The network that is given `wish.frames` frames a call, or as few as it can be, along the axis that is named.

    UsageError for inputs without that axis, UnsupportedError with the node that has no streaming form.
    """
    if model.states:
        raise UsageError(
            "--stream and --state", why="a network with states already takes frames", fix="leave one of them out"
        )
    frames = wish.frames or 1
    while True:
        try:
            return _attempt(model, wish, frames)
        except Indivisible as error:
            if wish.frames is not None or error.multiple > MOST_FRAMES:
                raise
            frames = int(np.lcm(frames, error.multiple))


def _attempt(model: Model, wish: StreamWish, frames: int) -> Model:
    """The streaming network of so many frames a call; Indivisible where they make no whole frames."""
    draft = Draft(model)
    draft.total = _begin(draft, wish, frames)
    for node in draft.model.nodes:
        if any(name in draft.timed for name in node.inputs):
            _node(draft, node)
        else:
            draft.nodes.append(node)
    outputs = tuple(_output(draft, name) for name in draft.model.outputs)
    inputs = tuple(
        StreamedTensor(name, one.axis, one.frames, 0, 0) for name, one in draft.timed.items()
        if name in draft.model.inputs
    )  # fmt: skip
    made = draft.model.replace(
        nodes=tuple(draft.nodes), tensors=draft.tensors, constants=draft.constants,
        inputs=(*draft.model.inputs, *(state.past for state in draft.states)),
        outputs=(*draft.model.outputs, *(state.present for state in draft.states)), states=tuple(draft.states),
    )  # fmt: skip
    told = [f"{frames} frames a call of {draft.total} in the file"]
    for one in outputs:
        late = f"comes {one.delay} frames late" if one.delay else "comes at once"
        told.append(f"{quoted(one.name)} {late}, equal to the whole sequence from frame {one.settled} on")
    stream = Stream(draft.total, inputs, outputs)
    return check_model(replace(made, notes=(*made.notes, *told), stream=stream), "streaming")


def _begin(draft: Draft, wish: StreamWish, frames: int) -> int:
    """Give the inputs their frames; the frames of the whole sequence."""
    lengths = set[int]()
    for name in draft.model.inputs:
        tensor = draft.model.tensors[name]
        if wish.tensor and name != wish.tensor:
            continue
        axis = wish.axis + len(tensor.shape) if wish.axis < 0 else wish.axis
        if not 0 <= axis < len(tensor.shape) or tensor.shape[axis] < 2:
            raise UsageError(
                f"--stream {wish.axis}: input {quoted(name)} is {list(tensor.shape)}",
                why="a sequence has at least two frames along that axis",
                fix="name the axis of time, as INPUT=AXIS where inputs differ", tensor=name,
            )  # fmt: skip
        lengths.add(tensor.shape[axis])
        draft.timed[name] = Timed(axis, frames, 1, tensor.shape[axis])
        draft.tensors[name] = draft.sized(tensor, axis, frames)
    if len(lengths) != 1:
        names = ", ".join(map(quoted, draft.model.inputs))
        why = "sequences of one length are given together" if lengths else f"the inputs are {names}"
        raise UsageError(f"--stream {wish.tensor or wish.axis}", why=why, fix="name an input of the network")
    return lengths.pop()


def _output(draft: Draft, name: str) -> StreamedTensor:
    """An output under its own name, never ahead of the sequence."""
    if name not in draft.timed:
        raise UnsupportedError(
            f"output {quoted(name)} has no frames", why="it does not depend on the sequence",
            fix="remove it from the model", tensor=name,
        )  # fmt: skip
    one = draft.timed[name]
    if one.delay < 0:
        raise UnsupportedError(
            f"output {quoted(name)} is padding at first", why=f"its first {-one.delay} frames come from no input",
            fix="remove the Pad before it", tensor=name,
        )  # fmt: skip
    return StreamedTensor(name, one.axis, one.frames, one.delay, one.settled)


def _node(draft: Draft, node: Node) -> None:
    """Take up one node that reads a tensor with time."""
    call = draft.whole(node)
    if node.op in RECURRENT:
        recurrent(draft, call)
    elif node.op == "Pad":
        pad(draft, call)
    elif node.op == "Slice" and slices_time(draft, call):
        cut(draft, call)
    elif call.operator is not None and call.operator.window is not None and _walks(draft, node):
        window(draft, call)
    elif node.op in VIEWS:
        view(draft, call)
    else:
        each_frame(draft, call)


def _walks(draft: Draft, node: Node) -> bool:
    """True where the window moves along time, which then is no axis of channels or of a batch."""
    x = draft.timed.get(node.inputs[0])
    return x is not None and x.axis > 1
