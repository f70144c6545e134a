"""Sequences of calls: the inputs of every call from a file or drawn, and ONNX Runtime with its own state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tilewright.arrays import read_arrays
from tilewright.errors import UnsupportedError, UsageError
from tilewright.frontend.read import openable
from tilewright.model import Array, Tensor
from tilewright.plan.execute import check_memory
from tilewright.plan.plan import ExecutionPlan, StatePair
from tilewright.run.inputs import random_values
from tilewright.run.lengths import counting, counts_of, outputs_of
from tilewright.run.limits import check_limits, input_limits
from tilewright.run.reference import NAME, NoReferenceError, as_held, as_named, first_states, refuse_other_numerics

MOST_BYTES = 1 << 30
"""What the inputs and results of all calls may take together."""

Frames = tuple[tuple[Array, ...], ...]
"""The inputs of every call, in the plan's order."""
Kept = dict[str, Array]
"""What lives between calls, by the inputs of the file."""


def read_frames(plan: ExecutionPlan, wanted: Path | int, seed: int) -> Frames:
    """The inputs of every call: from an .npz file whose leading axis counts the calls, or so many drawn at random.

    UsageError names what is missing or of the wrong form.
    """
    check_memory(plan)
    tensors, limits = [plan.slots[slot].tensor for slot in plan.input_slots], input_limits(plan)
    if isinstance(wanted, int):
        _check_size(plan, wanted)
        generator = np.random.default_rng(seed)
        return tuple(
            tuple(
                random_values(tensor, generator, limits.get(slot))
                for slot, tensor in zip(plan.input_slots, tensors, strict=True)
            )
            for _ in range(wanted)
        )
    columns = _columns(tensors, wanted)
    for slot, tensor, column in zip(plan.input_slots, tensors, columns, strict=True):
        for value in column if slot in limits else ():
            check_limits(tensor.name, value, limits[slot], str(wanted))
    calls = len(columns[0])
    _check_size(plan, calls)
    return tuple(tuple(np.ascontiguousarray(column[at]) for column in columns) for at in range(calls))


def _columns(tensors: Sequence[Tensor], file: Path) -> list[Array]:
    """One array per input, its first axis the calls."""
    arrays, columns = read_arrays(file), list[Array]()
    for tensor in tensors:
        if tensor.name not in arrays:
            raise UsageError(
                f"{file} holds no array for the input '{tensor.name}'",
                why=f"it holds {', '.join(sorted(arrays)) or 'nothing'}",
                fix="the keys of the file are the names of the model's inputs that are no state", tensor=tensor.name,
                file=str(file),
            )  # fmt: skip
        value = arrays[tensor.name]
        if value.shape[1:] != tensor.shape or not value.ndim or value.dtype != tensor.dtype.numpy:
            raise UsageError(
                f"'{tensor.name}' in {file} is {value.dtype}{list(value.shape)}",
                why=f"a call takes {tensor.dtype.numpy}{list(tensor.shape)}, and the first axis counts the calls",
                fix="stack the inputs of all calls", tensor=tensor.name, file=str(file),
            )  # fmt: skip
        columns.append(value)
    lengths = {len(value) for value in columns}
    if len(lengths) != 1 or 0 in lengths:
        raise UsageError(
            f"{file} does not say how many calls there are",
            why=f"its arrays have {' and '.join(map(str, sorted(lengths))) or 'no'} entries",
            fix="give every input one entry for each call", file=str(file),
        )  # fmt: skip
    return columns


def _check_size(plan: ExecutionPlan, calls: int) -> None:
    slots = (*plan.input_slots, *plan.output_slots, *plan.state_slots)
    each = sum(plan.slots[slot].tensor.elements * plan.slots[slot].tensor.dtype.numpy.itemsize for slot in slots)
    if calls * each > MOST_BYTES:
        raise UnsupportedError(
            f"{calls} calls are too many", why=f"each reads and gives {each} bytes, the limit is {MOST_BYTES} in all",
            fix="give fewer",
        )  # fmt: skip


def _held(plan: ExecutionPlan, pair: StatePair, before: Array, value: Array) -> Array:
    """A state of the file behind a call, or the part of it that is meant, as we hold it."""
    tensor = plan.slots[pair.state].tensor
    if pair.window is not None:
        value = pair.window.after(before, value)
    return as_held(tensor, value if pair.part is None else pair.part.of(value).reshape(tensor.shape))


@dataclass(frozen=True)
class Results:
    """What one call gives: its outputs and the states behind it, in the plan's order."""

    outputs: tuple[Array, ...]
    states: tuple[Array, ...]


@dataclass(frozen=True)
class Reference:
    """ONNX Runtime with the model's file, asked call by call."""

    plan: ExecutionPlan
    session: Any
    types: Mapping[str, str]

    @staticmethod
    def of(source: Path, plan: ExecutionPlan) -> Reference:
        """Open the file; NoReferenceError where that cannot be done."""
        try:
            import onnxruntime
        except ImportError:
            raise NoReferenceError(f"{NAME} is not installed") from None
        refuse_other_numerics(plan)
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 4
        try:
            session = onnxruntime.InferenceSession(
                openable(source), sess_options=options, providers=["CPUExecutionProvider"]
            )
            return Reference(plan, session, {entry.name: entry.type for entry in session.get_inputs()})
        except Exception as error:
            raise _refused(error) from None

    def first(self) -> Kept:
        """The states before the first call, by the inputs of the file."""
        return {name: as_named(t, value, self.types) for name, (t, value) in first_states(self.plan).items()}

    def held(self, before: Kept, states: Kept) -> tuple[Array, ...]:
        """The states behind a call as the plan holds them."""
        return tuple(_held(self.plan, pair, before[pair.past], states[pair.past]) for pair in self.plan.state)

    def call(self, frame: Sequence[Array], held: Kept) -> tuple[Results, Kept]:
        """The results of one call and the states that it leaves; NoReferenceError where it fails."""
        plan = self.plan
        present = dict.fromkeys(pair.past for pair in plan.state)
        present |= {pair.past: pair.present for pair in plan.state}
        try:
            tensors = [plan.slots[slot].tensor for slot in plan.input_slots]
            given = {t.name: as_named(t, value, self.types) for t, value in zip(tensors, frame, strict=True)}
            states = {past: held[past] for past in present}
            uncounted = [name for name in plan.output_names if name not in counting(plan)]
            wanted = [*uncounted, *present.values()]
            results_of_call = [np.asarray(value) for value in self.session.run(wanted, {**given, **states})]
            before, held = held, {**held, **dict(zip(present, results_of_call[len(uncounted) :], strict=True))}
            values = dict(zip(uncounted, results_of_call, strict=False))
            values |= counts_of(outputs_of(plan), values)
            results = Results(
                tuple(as_held(tensor, values[name]) for name, tensor in outputs_of(plan)),
                self.held(before, held),
            )
        except Exception as error:  # an operator or type that it does not have, an input that was frozen
            raise _refused(error) from None
        return results, held


def _refused(error: Exception) -> NoReferenceError:
    why = str(error).strip().splitlines() or [type(error).__name__]
    return NoReferenceError(f"{NAME} refuses the file: {why[0][:200]}")


def reference_steps(source: Path, plan: ExecutionPlan, frames: Frames) -> Iterator[Results]:
    """ONNX Runtime's results, call by call; NoReferenceError where it cannot be asked."""
    reference = Reference.of(source, plan)
    states = reference.first()
    for frame in frames:
        results, states = reference.call(frame, states)
        yield results
