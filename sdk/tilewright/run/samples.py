"""Data sets: many samples of every input in one file, and a class number for each of them."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tilewright.arrays import UNNAMED, read_arrays
from tilewright.errors import UnsupportedError, UsageError
from tilewright.model import Array, Tensor
from tilewright.options import RunOptions
from tilewright.plan.execute import check_memory, run_slots
from tilewright.plan.plan import ExecutionPlan
from tilewright.run.inputs import as_typed
from tilewright.run.limits import check_limits, input_limits
from tilewright.run.predictions import check_file

LABELS = "labels"
COMPARED = 16
"""Samples of a set that NumPy computes as well, where no expected outputs are given."""
MOST_BYTES = 1 << 30
"""What the outputs of all samples may take together."""


@dataclass(frozen=True)
class SampleSet:
    """`count` samples: one array per input with a first axis more than the input has, and labels where given."""

    count: int
    inputs: tuple[Array, ...]
    labels: Array | None

    def call(self, sample: int) -> list[Array]:
        """The inputs of one sample."""
        return [values[sample] for values in self.inputs]


def read_set(plan: ExecutionPlan, options: RunOptions, *, one: bool = False) -> SampleSet | None:
    """The samples that `--inputs` holds; None where it holds one of each input, unless `one` sample is a set as well,
    or where there is no file.

    Samples lie along a first axis of their own, or along the input's first axis where that has extent 1. Class
    numbers stand in a file of their own, or beside the inputs as `labels`. UsageError for what is no set where one is
    asked for, and where arrays hold different numbers of samples.
    """
    if options.inputs is None:
        return None
    check_memory(plan)
    arrays = read_arrays(options.inputs)
    tensors = [plan.slots[slot].tensor for slot in plan.input_slots]
    if UNNAMED in arrays and len(tensors) == 1:
        arrays = {tensors[0].name: arrays[UNNAMED]}
    needed = one or options.labels is not None or options.predictions is not None or options.against is not None
    columns = {t.name: samples_of(t, arrays[t.name], 1 if needed else 2) for t in tensors if t.name in arrays}
    if not tensors or (not needed and all(values is None for values in columns.values())):
        return None
    for tensor in tensors:
        if columns.get(tensor.name) is None:
            raise _no_samples(tensor, arrays, options.inputs)
    inputs = tuple(values for t in tensors if (values := columns[t.name]) is not None)
    for slot, tensor, values in zip(plan.input_slots, tensors, inputs, strict=True):
        if slot in (limits := input_limits(plan)):
            check_limits(tensor.name, values, limits[slot], str(options.inputs))
    labels = arrays.get(LABELS) if LABELS not in columns and options.labels is None else None
    counts = {len(values) for values in inputs} | (set() if labels is None else {labels.size})
    if len(counts) != 1:
        raise UsageError(
            f"{options.inputs} holds different numbers of samples", why=", ".join(map(str, sorted(counts))),
            fix="pass equally many of each input, and as many labels", file=str(options.inputs),
        )  # fmt: skip
    count = counts.pop()
    _check(plan, options, count)
    if options.labels is not None:
        labels = _labels(options.labels, count)
    elif labels is not None:
        labels = _class_numbers(labels, options.inputs)
    if labels is not None:
        _check_classes(labels, plan.slots[plan.output_slots[0]].tensor, options.labels or options.inputs)
    return SampleSet(count, inputs, labels)


def samples_of(tensor: Tensor, value: Array, least: int = 1) -> Array | None:
    """The value as samples of the tensor, at least so many; None where it is something else."""
    value = as_typed(tensor, value)
    if value.dtype != tensor.dtype.numpy or value.ndim == 0 or value.shape[0] < least:
        return None
    if value.shape[1:] == tensor.shape:
        return value
    if tensor.shape[:1] == (1,) and value.shape[1:] == tensor.shape[1:]:
        return value.reshape(len(value), *tensor.shape)
    return None


def expected_set(plan: ExecutionPlan, file: Path, count: int) -> tuple[Array, ...]:
    """The expected outputs of `count` samples, from an .npz; UsageError for another number or form."""
    arrays = read_arrays(file)
    expected = []
    for name, slot in zip(plan.output_names, plan.output_slots, strict=True):
        values = samples_of(plan.slots[slot].tensor, arrays[name]) if name in arrays else None
        if values is None or len(values) != count:
            raise UsageError(
                f"{file} does not hold {count} samples of the output '{name}'",
                why=f"it holds {', '.join(f'{n}{list(a.shape)}' for n, a in sorted(arrays.items())) or 'nothing'}",
                fix="pass one for each sample of the inputs", tensor=name, file=str(file),
            )  # fmt: skip
        expected.append(values)
    return tuple(expected)


def numpy_set(plan: ExecutionPlan, samples: SampleSet) -> tuple[Array, ...]:
    """What NumPy computes for the first samples, `COMPARED` at the most, one array per output."""
    each = [run_slots(plan, samples.call(n)) for n in range(min(COMPARED, samples.count))]
    return tuple(np.stack([values[slot] for values in each]) for slot in plan.output_slots)


def progress_bar(done: int, count: int) -> None:
    """A bar on standard error where that is a terminal."""
    if sys.stderr.isatty():
        width = done * 40 // count
        end = "\n" if done == count else ""
        sys.stderr.write(f"\r[{'#' * width}{'.' * (40 - width)}] {done:,} of {count:,} samples{end}")
        sys.stderr.flush()


def _no_samples(tensor: Tensor, arrays: dict[str, Array], file: Path) -> UsageError:
    """The error for an input of which a file holds no samples."""
    if tensor.name not in arrays:
        return UsageError(
            f"{file} holds no array for the input '{tensor.name}'",
            why=f"it holds {', '.join(sorted(arrays)) or 'nothing'}",
            fix="the keys of the file are the names of the model's inputs", tensor=tensor.name, file=str(file),
        )  # fmt: skip
    value, shape = arrays[tensor.name], ", ".join(map(str, tensor.shape[tensor.shape[:1] == (1,) :]))
    return UsageError(
        f"'{tensor.name}' in {file} is {value.dtype}{list(value.shape)}",
        why=f"N samples of it are {tensor.dtype.numpy}[N{', ' * bool(shape)}{shape}], with N of 1 or more",
        fix="stack the samples along a first axis, in the model's own type", tensor=tensor.name, file=str(file),
    )  # fmt: skip


def _check(plan: ExecutionPlan, options: RunOptions, count: int) -> None:
    """Refuse what has no meaning for a set, and outputs that no memory holds."""
    if plan.state:
        raise UsageError(
            f"'{plan.name}' keeps state, and {options.inputs} holds {count} samples",
            why="samples are independent, and a state lasts from call to call",
            fix="pass a sequence with --frames, or compile with --state none", file=str(options.inputs),
        )  # fmt: skip
    if options.layers or options.profile:
        raise UsageError(
            f"{options.inputs} holds {count} samples", why="--layers and --profile apply to one inference",
            fix="pass them one sample", file=str(options.inputs),
        )  # fmt: skip
    tensors = [plan.slots[slot].tensor for slot in plan.output_slots]
    if options.predictions is not None:
        check_file(options.predictions, sum(tensor.elements for tensor in tensors))
    each = sum(tensor.size_bytes for tensor in tensors)
    if count * each > MOST_BYTES:
        raise UnsupportedError(
            f"{count} samples are too many", why=f"each gives {each} bytes, the limit is {MOST_BYTES} in all",
            fix="pass fewer at once",
        )  # fmt: skip


def classes_in(tensor: Tensor) -> int | None:
    """How many classes a first output tells apart: its elements, 0 where it is a class number itself, else None."""
    if tensor.elements > 1:
        return tensor.elements
    return 0 if tensor.elements == 1 and tensor.dtype.numpy.kind in "iub" and tensor.quantisation is None else None


def _check_classes(labels: Array, tensor: Tensor, file: Path) -> None:
    """UsageError for labels that are no class of the output."""
    classes = classes_in(tensor)
    if classes is None:
        raise UsageError(
            f"the output '{tensor.name}' says no class", why=f"it is one number of type {tensor.dtype.value}",
            fix="leave the labels out, or give the network an output for each class", tensor=tensor.name,
        )  # fmt: skip
    wrong = (labels < 0) | (labels >= classes) if classes else labels < 0
    if wrong.any():
        first = int(np.flatnonzero(wrong)[0])
        known = f"the output '{tensor.name}' has {classes} classes, 0 to {classes - 1}"
        raise UsageError(
            f"label {labels[first]} of sample {first} in {file} is no class",
            why=f"{known if classes else 'classes are 0 or more'}; {int(wrong.sum())} of {labels.size} labels are none",
            fix="count classes from 0, in the order of the network's outputs", file=str(file),
        )  # fmt: skip


def _labels(file: Path, count: int) -> Array:
    """The labels of a file of their own: the array `labels`, or the only one that there is."""
    arrays = read_arrays(file)
    numbers = arrays.get(LABELS) if LABELS in arrays else next(iter(arrays.values()), None)
    if numbers is None or (LABELS not in arrays and len(arrays) > 1):
        raise UsageError(
            f"{file} does not say which array the labels are", why=f"it holds {', '.join(sorted(arrays)) or 'nothing'}",
            fix=f"name the array '{LABELS}'", file=str(file),
        )  # fmt: skip
    labels = _class_numbers(numbers, file)
    if labels.size != count:
        raise UsageError(
            f"{file} holds {labels.size} labels for {count} samples", why="each sample has one",
            fix="pass as many labels as samples, in the same order", file=str(file),
        )  # fmt: skip
    return labels


def _class_numbers(values: Array, file: Path) -> Array:
    """Labels as one axis of whole numbers; UsageError for anything else."""
    many = values.ndim == 0 or (values.ndim > 1 and values.size != len(values))
    if values.dtype.kind not in "iub" or many:
        raise UsageError(
            f"the labels in {file} are {values.dtype}{list(values.shape)}",
            why="a label is a class number: one whole number for each sample",
            fix="save class numbers as integers; of one-hot rows take argmax(axis=1)", file=str(file),
        )  # fmt: skip
    return values.reshape(-1).astype(np.int64)
