"""A whole set of samples through one plan: the accuracy of the very bits that will be flashed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tilewright.arrays import read_arrays
from tilewright.errors import UsageError
from tilewright.model import Array, Tensor
from tilewright.plan.plan import ExecutionPlan
from tilewright.run.cuda_executor import CUDAGraphExecutor

LABELS = "labels"
AT_ONCE = 64


@dataclass(frozen=True)
class SampleSet:
    """`count` samples: one array per input with a first axis more than the input has, and labels where given."""

    count: int
    inputs: tuple[Array, ...]
    labels: Array | None


def read_set(plan: ExecutionPlan, file: Path | None) -> SampleSet | None:
    """The samples of an .npz whose arrays hold many of each input; None where it holds one, or where there is no file.

    Samples lie along a first axis of their own, or along the input's first axis where that has extent 1. Class
    numbers may stand beside them as `labels`. UsageError where arrays hold different numbers of samples.
    """
    if file is None:
        return None
    arrays = read_arrays(file)
    tensors = [plan.slots[slot].tensor for slot in plan.input_slots]
    found = [_many(tensor, arrays[tensor.name]) if tensor.name in arrays else None for tensor in tensors]
    if not found or any(values is None for values in found):
        return None
    inputs = tuple(values for values in found if values is not None)
    labels = arrays.get(LABELS) if LABELS not in {tensor.name for tensor in tensors} else None
    counts = {len(values) for values in inputs} | (set() if labels is None else {labels.size})
    if len(counts) != 1:
        raise UsageError(
            f"{file} holds different numbers of samples", why=", ".join(map(str, sorted(counts))),
            fix="give as many of each input, and as many labels", file=str(file),
        )  # fmt: skip
    return SampleSet(counts.pop(), inputs, None if labels is None else labels.reshape(-1))


def expected_set(plan: ExecutionPlan, file: Path, count: int) -> tuple[Array, ...]:
    """The expected outputs of `count` samples, from an .npz; UsageError for another number or form."""
    arrays = read_arrays(file)
    expected = []
    for name, slot in zip(plan.output_names, plan.output_slots, strict=True):
        values = _many(plan.slots[slot].tensor, arrays[name]) if name in arrays else None
        if values is None or len(values) != count:
            raise UsageError(
                f"{file} does not hold {count} samples of the output '{name}'",
                why=f"it holds {', '.join(f'{n}{list(a.shape)}' for n, a in sorted(arrays.items())) or 'nothing'}",
                fix="give one for each sample of the inputs", tensor=name, file=str(file),
            )  # fmt: skip
        expected.append(values)
    return tuple(expected)


def _many(tensor: Tensor, value: Array) -> Array | None:
    """The value as samples of the tensor, more than one; None where it is something else."""
    if value.dtype != tensor.dtype.numpy or value.ndim == 0 or value.shape[0] < 2:
        return None
    if value.shape[1:] == tensor.shape:
        return value
    if tensor.shape[:1] == (1,) and value.shape[1:] == tensor.shape[1:]:
        return value.reshape(len(value), *tensor.shape)
    return None


def run_set(
    executor: CUDAGraphExecutor, inputs: Sequence[Array], progress: Callable[[int, int], None] | None = None
) -> tuple[Array, ...]:
    """Every output for every sample, `executor.samples` at a time; the last batch is filled up with its last sample."""
    count, at_once = len(inputs[0]), executor.samples
    parts: list[tuple[Array, ...]] = []
    for start in range(0, count, at_once):
        chunk = [values[start : start + at_once] for values in inputs]
        here = len(chunk[0])
        filled = [np.concatenate([v, np.repeat(v[-1:], at_once - here, axis=0)]) for v in chunk]
        outputs = executor.run(*(v[0] if at_once == 1 else v for v in filled))
        parts.append(tuple((output[None] if at_once == 1 else output)[:here] for output in outputs))
        if progress is not None:
            progress(min(start + at_once, count), count)
    return tuple(np.concatenate(values) for values in zip(*parts, strict=True))


def accuracy(outputs: Array, labels: Array) -> float:
    """The part of samples whose largest output is the label's."""
    return float((outputs.reshape(len(outputs), -1).argmax(axis=1) == labels).mean())


def progress_bar(done: int, count: int) -> None:
    """A bar on standard error where that is a terminal."""
    if sys.stderr.isatty():
        width = done * 40 // count
        end = "\n" if done == count else ""
        sys.stderr.write(f"\r[{'#' * width}{'.' * (40 - width)}] {done:,} of {count:,} samples{end}")
        sys.stderr.flush()
