"""Outputs whose length data decides: what there is of them, without the padding behind it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from tilewright.model import Array, Tensor
from tilewright.plan.plan import ExecutionPlan


def without_padding(tensors: Sequence[Tensor], arrays: Sequence[Array]) -> tuple[Array, ...]:
    """The outputs, cut to what their counts say, which are among them."""
    values = {tensor.name: array for tensor, array in zip(tensors, arrays, strict=True)}
    return tuple(_cut(tensor, array, values) for tensor, array in zip(tensors, arrays, strict=True))


def _cut(tensor: Tensor, array: Array, values: Mapping[str, Array]) -> Array:
    for length in tensor.lengths:
        if length.count in values:
            array = array.take(np.arange(int(values[length.count].reshape(-1)[0])), length.axis)
    return array


def with_padding(tensor: Tensor, ours: Array, theirs: Array) -> Array:
    """A tensor of another runtime, which pads nothing, with our padding behind it; more than the bound is left out.

    As it is where its shape differs otherwise.
    """
    axes = {length.axis for length in tensor.lengths}
    if not axes or ours.ndim != theirs.ndim or ours.dtype != theirs.dtype:
        return theirs
    fixed = [axis for axis in range(ours.ndim) if axis not in axes]
    if any(ours.shape[axis] != theirs.shape[axis] for axis in fixed):
        return theirs
    box = tuple(slice(0, min(a, b)) for a, b in zip(ours.shape, theirs.shape, strict=True))
    padded = ours.copy()
    padded[box] = theirs[box]
    return padded


def counts_of(tensors: Iterable[tuple[str, Tensor]], values: Mapping[str, Array]) -> dict[str, Array]:
    """The counts that follow from the lengths of values that are not padded; `tensors` are those they stand for.

    No loop of another runtime has ended at a bound.
    """
    count_of: dict[str, Array] = {}
    for name, tensor in tensors:
        if tensor.tells_end:
            count_of[name] = np.zeros(tensor.shape, tensor.dtype.numpy)
        if name in values and values[name].ndim == len(tensor.shape):
            for length in tensor.lengths:
                count = min(values[name].shape[length.axis], tensor.shape[length.axis])
                count_of.setdefault(length.count, np.array([count], np.int64))
    return count_of


def outputs_of(plan: ExecutionPlan) -> tuple[tuple[str, Tensor], ...]:
    """The outputs of a plan by name."""
    tensors = [plan.slots[slot].tensor for slot in plan.output_slots]
    return tuple(zip(plan.output_names, tensors, strict=True))


def counting(plan: ExecutionPlan) -> frozenset[str]:
    """The outputs that say how long others are, or that a loop ended at its bound; no file has them."""
    outputs = outputs_of(plan)
    ends = frozenset(name for name, tensor in outputs if tensor.tells_end)
    return ends | frozenset(length.count for _, tensor in outputs for length in tensor.lengths)


def cut_loops(plan: ExecutionPlan, calls: Iterable[Sequence[bytes]]) -> tuple[str, ...]:
    """The outputs that say in one of the calls that data asks for more turns of a loop than its bound."""
    ends = [at for at, (_, tensor) in enumerate(outputs_of(plan)) if tensor.tells_end]
    return tuple(plan.output_names[at] for at in ends if any(any(outputs[at]) for outputs in calls))


def shortened(tensor: Tensor, value: Array) -> Tensor:
    """The tensor with the lengths of a value that is not padded, where data decides of them."""
    shape = list(tensor.shape)
    if value.ndim == len(shape):
        for length in tensor.lengths:
            shape[length.axis] = value.shape[length.axis]
    return replace(tensor, shape=tuple(shape))
