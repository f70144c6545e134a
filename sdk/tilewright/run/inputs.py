"""The values that a run is fed and compared with: .npz files by name, or seeded random ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tilewright.arrays import UNNAMED, read_arrays
from tilewright.errors import UsageError
from tilewright.model import Array, DType, Tensor
from tilewright.plan.execute import check_memory
from tilewright.plan.plan import ExecutionPlan
from tilewright.run.lengths import counting, counts_of, outputs_of, shortened
from tilewright.run.limits import Limit, check_limits, input_limits

DRAWN_AT_ONCE = 1 << 20


def input_arrays(plan: ExecutionPlan, file: Path | None, seed: int) -> list[Array]:
    """One array per input, from the file or drawn at random; UsageError names what is missing or of the wrong form.

    UnsupportedError where the plan's tensors are more than can be executed here. Indices, lengths and divisors are
    drawn inside of what the nodes that read them take, and checked in a file.
    """
    check_memory(plan)
    tensors, limits = [plan.slots[slot].tensor for slot in plan.input_slots], input_limits(plan)
    if file is None:
        generator = np.random.default_rng(seed)
        drawn = zip(plan.input_slots, tensors, strict=True)
        return [random_values(tensor, generator, limits.get(slot)) for slot, tensor in drawn]
    arrays = _by_name(read_arrays(file), [tensor.name for tensor in tensors], "input", file)
    values = [_fitting(tensor.name, tensor, value, file) for tensor, value in _named(tensors, arrays, file)]
    for slot, tensor, value in zip(plan.input_slots, tensors, values, strict=True):
        if slot in limits:
            check_limits(tensor.name, value, limits[slot], str(file))
    return values


def drawn_sentences(plan: ExecutionPlan) -> tuple[str, ...]:
    """Of every input that is drawn within limits of the network's, what these are."""
    return tuple(
        f"'{plan.slots[slot].tensor.name}' is drawn from {limit.low} to {limit.high}: {limit.why}"
        for slot, limit in input_limits(plan).items()
    )


def expected_outputs(plan: ExecutionPlan, file: Path) -> list[Array]:
    """One array per output, from the file; where data decides of a length it may stand there without padding."""
    outputs = outputs_of(plan)
    values = _by_name(
        read_arrays(file), [name for name in plan.output_names if name not in counting(plan)], "output", file
    )
    values = {**counts_of(outputs, values), **values}
    arrays = []
    for name, tensor in outputs:
        if name not in values:
            raise _missing("output", name, values, file)
        arrays.append(_fitting(name, shortened(tensor, values[name]), values[name], file))
    return arrays


def random_values(tensor: Tensor, generator: np.random.Generator, limit: Limit | None = None) -> Array:
    """Normal floats, or integers over the whole range of a narrow type and over a byte for a wide one.

    With a limit they are whole numbers inside of it, as far as the type holds them.
    """
    if limit is not None and tensor.dtype is not DType.BOOL:
        least, most = (-(2**24), 2**24) if tensor.dtype.is_float else tensor.dtype.range
        low, high = max(limit.low, least), min(limit.high, most)
        return generator.integers(low, max(low, high), tensor.shape, endpoint=True).astype(tensor.dtype.numpy)
    if tensor.dtype.is_float:
        flat = np.empty(tensor.elements, tensor.dtype.numpy)
        for start in range(0, tensor.elements, DRAWN_AT_ONCE):  # drawn as doubles, which would take twice the memory
            part = flat[start : start + DRAWN_AT_ONCE]
            part[...] = generator.standard_normal(part.size)
        return flat.reshape(tensor.shape)
    if tensor.dtype is DType.BOOL:
        return generator.integers(0, 2, tensor.shape).astype(bool)
    low, high = tensor.dtype.range
    low, high = max(low, -128), min(high, 127 if low < 0 else 255)
    return generator.integers(low, high + 1, tensor.shape).astype(tensor.dtype.numpy)


def _named(tensors: list[Tensor], values: dict[str, Array], file: Path) -> list[tuple[Tensor, Array]]:
    for tensor in tensors:
        if tensor.name not in values:
            raise _missing("input", tensor.name, values, file)
    return [(tensor, values[tensor.name]) for tensor in tensors]


def _by_name(values: dict[str, Array], names: Sequence[str], word: str, file: Path) -> dict[str, Array]:
    """An array without a name is that of the model's only input or output."""
    if UNNAMED not in values or UNNAMED in names:
        return values
    if len(names) == 1:
        return {names[0]: values[UNNAMED]}
    raise UsageError(
        f"{file} holds one array without a name",
        why=f"the model has {len(names)} {word}s",
        fix=f"pass a .npz file whose keys are their names: {', '.join(names)}",
        file=str(file),
    )


def _missing(word: str, name: str, values: dict[str, Array], file: Path) -> UsageError:
    return UsageError(
        f"{file} holds no array for the {word} '{name}'",
        why=f"it holds {', '.join(sorted(values)) or 'nothing'}",
        fix=f"the keys of the file are the names of the model's {word}s",
        tensor=name,
        file=str(file),
    )


def as_typed(tensor: Tensor, value: Array) -> Array:
    """The value in the tensor's own type where that is bfloat16 and every number is one; else as it is."""
    return _narrowed(value) if tensor.dtype is DType.BF16 else value


def _fitting(name: str, tensor: Tensor, value: Array, file: Path) -> Array:
    value = as_typed(tensor, value)
    if value.shape != tensor.shape or value.dtype != tensor.dtype.numpy:
        raise UsageError(
            f"'{name}' in {file} is {value.dtype}{list(value.shape)}",
            why=f"the model has {tensor.dtype.numpy}{list(tensor.shape)}",
            fix="pass values of the model's type and shape",
            tensor=name,
            file=str(file),
        )
    return np.ascontiguousarray(value).reshape(tensor.shape)  # a scalar comes back as one axis


def _narrowed(value: Array) -> Array:
    """float32 as bfloat16 where every number is one: who writes the file may lack the type."""
    if value.dtype != np.float32:
        return value
    with np.errstate(over="ignore"):
        narrow: Array = value.astype(DType.BF16.numpy)
    return narrow if np.array_equal(narrow.astype(np.float32), value, equal_nan=True) else value
