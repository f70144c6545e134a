"""What a training is fed: samples of a file, or drawn ones, as the inputs of every step."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tilewright.arrays import read_arrays
from tilewright.errors import UsageError
from tilewright.frontend.names import nearest, quoted
from tilewright.model import Array, Tensor
from tilewright.plan.plan import ExecutionPlan
from tilewright.run.frames import Frames


def frames_of(tensors: Sequence[Tensor], file: Path, steps: int | None) -> Frames:
    """The inputs of each step, which takes these tensors, from an .npz with samples of each along a first axis.

    As many samples as the network takes at a time make a step; `steps` of them begin again at the first where there
    are fewer. UsageError names what is missing or does not fit.
    """
    arrays = read_arrays(file)
    columns = [_column(tensor, arrays, file) for tensor in tensors]
    fewest = min(len(column) for column in columns)
    if any(len(column) != fewest for column in columns):
        told = ", ".join(f"{quoted(t.name)} {len(c)}" for t, c in zip(tensors, columns, strict=True))
        raise UsageError(f"--data {file}: the inputs are for different numbers of steps", why=told, file=str(file))
    return tuple(tuple(column[at % fewest] for column in columns) for at in range(steps or fewest))


def _column(tensor: Tensor, arrays: dict[str, Array], file: Path) -> Array:
    """The values of one input for all steps."""
    if tensor.name not in arrays:
        raise UsageError(
            f"--data {file}: {quoted(tensor.name)} is missing", fix=nearest(tensor.name, arrays), file=str(file)
        )
    array, kind = arrays[tensor.name], tensor.dtype.numpy
    integers = array.dtype.kind in "iu" and kind.kind in "iu"
    if array.dtype != kind and not integers:
        raise UsageError(
            f"--data {file}: {quoted(tensor.name)} is {array.dtype}", why=f"the network takes {kind}", file=str(file)
        )
    count, rest = divmod(array.size, tensor.elements)
    if not count or rest:
        raise UsageError(
            f"--data {file}: {quoted(tensor.name)} is {list(array.shape)}",
            why=f"a step takes {list(tensor.shape)}, and it does not divide into such", file=str(file),
        )  # fmt: skip
    return np.ascontiguousarray(array.astype(kind)).reshape(count, *tensor.shape)


def drawn(plan: ExecutionPlan, target: str, classes: int, steps: int, seed: int) -> Frames:
    """Inputs of so many steps between 0 and 1; where the target is a class, one of `classes`."""
    draw = np.random.default_rng(seed)

    def value(tensor: Tensor) -> Array:
        if tensor.dtype.is_float:
            return np.asarray(draw.random(tensor.shape), tensor.dtype.numpy)
        high = classes if tensor.name == target and classes else 2
        return np.asarray(draw.integers(0, high, tensor.shape), tensor.dtype.numpy)

    tensors = [plan.slots[slot].tensor for slot in plan.input_slots]
    return tuple(tuple(value(tensor) for tensor in tensors) for _ in range(steps))
