"""A streaming network against the whole sequence: ONNX Runtime is given all frames at once, the target some a call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from tilewright.arrays import read_arrays
from tilewright.errors import UsageError
from tilewright.model import Array, Stream, StreamedTensor, Tensor
from tilewright.plan.execute import check_memory
from tilewright.plan.plan import ExecutionPlan
from tilewright.run.frames import Frames, Reference, Results
from tilewright.run.limits import check_limits, input_limits
from tilewright.run.reference import NoReferenceError, as_held, as_named, differing


def calls_of(stream: Stream) -> int:
    """Calls into which the sequence of the file is cut."""
    return stream.length // stream.inputs[0].frames


def check_calls(stream: Stream, calls: int) -> None:
    """UsageError where there are more calls than the sequence of the file has frames for."""
    if calls > calls_of(stream):
        raise UsageError(
            f"{calls} calls are {calls * stream.inputs[0].frames} frames",
            why=f"the whole sequence, with which they are compared, has {stream.length}",
            fix=f"pass at most {calls_of(stream)} calls, or a longer sequence with --shape",
        )


def cut_frames(plan: ExecutionPlan, stream: Stream, file: Path) -> Frames:
    """The inputs of every call, cut from an .npz file with whole sequences; other inputs are the same in every call.

    UsageError names what is missing, of another form, or no multiple of the frames of a call.
    """
    check_memory(plan)
    arrays, timed, limits = read_arrays(file), {one.name: one for one in stream.inputs}, input_limits(plan)
    pieces, counts = list[list[Array]](), dict[str, int]()
    for slot in plan.input_slots:
        tensor = plan.slots[slot].tensor
        one = timed.get(tensor.name)
        value = _sequence(arrays, tensor, one, file)
        if slot in limits:
            check_limits(tensor.name, value, limits[slot], str(file))
        if one is None:
            pieces.append([value])
        else:
            counts[tensor.name] = value.shape[one.axis] // one.frames
            pieces.append(np.split(value, counts[tensor.name], one.axis))
    calls = min(counts.values())
    if len(set(counts.values())) != 1:
        told = ", ".join(f"'{name}' {count}" for name, count in counts.items())
        raise UsageError(f"the sequences in {file} are of different lengths", why=f"calls: {told}", file=str(file))
    check_calls(stream, calls)
    return tuple(
        tuple(np.ascontiguousarray(each[call if len(each) > 1 else 0]) for each in pieces) for call in range(calls)
    )


def _sequence(arrays: Mapping[str, Array], tensor: Tensor, one: StreamedTensor | None, file: Path) -> Array:
    """The array of one input, all its frames."""
    if tensor.name not in arrays:
        raise UsageError(
            f"{file} holds no array for the input '{tensor.name}'",
            why=f"it holds {', '.join(sorted(arrays)) or 'nothing'}", fix="give it the whole sequence",
            tensor=tensor.name, file=str(file),
        )  # fmt: skip
    value, wanted = arrays[tensor.name], list(tensor.shape)
    if one is not None and value.ndim == len(wanted) and value.shape[one.axis] >= one.frames:
        wanted[one.axis] = value.shape[one.axis] - value.shape[one.axis] % one.frames
    if list(value.shape) != wanted or value.dtype != tensor.dtype.numpy:
        axis = "" if one is None else f", any multiple of {one.frames} along axis {one.axis}"
        raise UsageError(
            f"'{tensor.name}' in {file} is {value.dtype}{list(value.shape)}",
            why=f"the network takes {tensor.dtype.numpy}{list(tensor.shape)}{axis}",
            fix="pass the whole sequence in this form", tensor=tensor.name, file=str(file),
        )  # fmt: skip
    return value


def whole_differences(
    source: Path, plan: ExecutionPlan, stream: Stream, frames: Frames, steps: Sequence[Results]
) -> tuple[int, str]:
    """Elements of the outputs that differ from those of the whole sequence, and the first frame that does.

    Compared are the frames that calls have given, from the one on from which both are equal. NoReferenceError where
    ONNX Runtime cannot be asked, or where no frame is left.
    """
    theirs = _whole(source, plan, stream, frames)
    total, first, compared = 0, "", 0
    for place, one in enumerate(stream.outputs):
        ours = np.concatenate([step.outputs[place] for step in steps], axis=one.axis)
        last = min(theirs[place].shape[one.axis], ours.shape[one.axis] - one.delay)
        for frame in range(one.settled, last):
            a = np.take(ours, frame + one.delay, axis=one.axis)
            b = np.take(theirs[place], frame, axis=one.axis)
            wrong = differing(a, b)
            total, compared = total + wrong, compared + a.size
            first = first or (f"frame {frame} of '{one.name}'" if wrong else "")
    if not compared:
        raise NoReferenceError("the sequence ends before the first frame that is the same in both")
    return total, first


def _whole(source: Path, plan: ExecutionPlan, stream: Stream, frames: Frames) -> list[Array]:
    """The outputs of the whole sequence; behind the frames that were given there are zeros, of which nothing comes."""
    reference = Reference.of(source, plan)
    timed = {one.name: one for one in stream.inputs}
    given = {}
    for place, slot in enumerate(plan.input_slots):
        tensor = plan.slots[slot].tensor
        one = timed.get(tensor.name)
        value = frames[0][place] if one is None else np.concatenate([frame[place] for frame in frames], axis=one.axis)
        value = as_named(tensor, value, reference.types)
        if one is not None:
            rest = [(0, 0)] * value.ndim
            rest[one.axis] = (0, stream.length - value.shape[one.axis])
            value = np.pad(value, rest)
        given[tensor.name] = value
    try:
        outputs = [np.asarray(value) for value in reference.session.run(list(plan.output_names), given)]
    except Exception as error:
        raise NoReferenceError(f"the whole sequence cannot be computed: {str(error)[:200]}") from None
    held = []
    for slot, value in zip(plan.output_slots, outputs, strict=True):
        tensor = plan.slots[slot].tensor
        held.append(as_held(replace(tensor, shape=value.shape), value))
    return held
