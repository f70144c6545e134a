"""A whole set of samples through one plan: the accuracy of the very bits that will be flashed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tilewright.model import Array
from tilewright.run.cuda_executor import CUDAGraphExecutor

AT_ONCE = 64


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
