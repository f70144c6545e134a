"""Compare what a target computed with what it should have computed: whole outputs, or the tensors of one layer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tilewright.model import Array, DType
from tilewright.report.build import LayerReport, RunReport

_HALF_STEPS = 4


@dataclass(frozen=True)
class Comparison:
    """Two arrays compared. `max_lsb_error` counts integer steps and is None for floats; `first` is an index or None."""

    match: bool
    max_abs_error: float
    max_lsb_error: int | None
    mismatches: int
    elements: int
    first: tuple[int, ...] | None = None


def compare(
    actual: Array, expected: Array, *, atol: float = 1e-4, rtol: float = 1e-4, exact: bool = False, leeway: float = 0.0
) -> Comparison:
    """Compare element by element: integers exactly, floats within `atol + rtol * |expected|`, or exactly if asked.

    What is compared exactly may be `leeway` apart: steps of integers, a real number for floats.

    Floats of sixteen bits may always be four of their own steps apart; one of these is up to a thousandth of a float16
    and up to 1/128 of a bfloat16.
    Not-a-number equals only not-a-number and infinities only themselves. Arrays of different shape or type do not
    match in any element.
    """
    if actual.shape != expected.shape or actual.dtype.kind != expected.dtype.kind:
        return Comparison(False, float("inf"), None, expected.size, expected.size, (0,) * expected.ndim)
    if expected.size == 0:
        return Comparison(True, 0.0, None, 0, 0)
    if expected.dtype.kind in "iub":
        return _integers(actual, expected, int(leeway))
    left, right = actual.astype(np.float64), expected.astype(np.float64)
    same = (left == right) | (np.isnan(left) & np.isnan(right))
    with np.errstate(invalid="ignore"):
        error = np.where(same, 0.0, np.abs(left - right))
        error = np.where(np.isnan(error), np.inf, error)
        bound = np.full((), leeway) if exact else atol + rtol * np.abs(right)
        if expected.dtype in (DType.F16.numpy, DType.BF16.numpy) and not exact:
            bound = np.maximum(bound, _HALF_STEPS * np.spacing(np.abs(expected)).astype(np.float64))
        wrong = ~same & ~((error <= bound) & np.isfinite(left) & np.isfinite(right))
    return Comparison(not wrong.any(), float(error.max()), None, int(wrong.sum()), expected.size, _first(wrong))


def _integers(actual: Array, expected: Array, leeway: int) -> Comparison:
    """Integers and truth values: every difference of more than `leeway` counts; the error is in steps."""
    wrong = actual != expected
    if leeway:
        wrong = np.abs(actual.astype(np.int64) - expected.astype(np.int64)) > leeway
    if expected.dtype.itemsize == 8 and wrong.any():
        steps = max(abs(int(a) - int(b)) for a, b in zip(actual[wrong].flat, expected[wrong].flat, strict=True))
    else:
        steps = int(np.abs(actual.astype(np.int64) - expected.astype(np.int64)).max())
    return Comparison(not wrong.any(), float(steps), steps, int(wrong.sum()), expected.size, _first(wrong))


def _first(wrong: Array) -> tuple[int, ...] | None:
    """Index of the first true element in row-major order."""
    flat = np.flatnonzero(wrong)
    return tuple(int(i) for i in np.unravel_index(int(flat[0]), wrong.shape)) if flat.size else None


def outcome(results: Sequence[Comparison], layers: Iterable[Comparison]) -> RunReport:
    """What the outputs' comparisons amount to; layers that differ spoil the match too."""
    steps = [result.max_lsb_error for result in results if result.max_lsb_error is not None]
    return RunReport(
        match=all(result.match for result in (*results, *layers)),
        max_abs_error=max((result.max_abs_error for result in results), default=0.0),
        max_lsb_error=max(steps) if steps else None,
        mismatches=sum(result.mismatches for result in results),
        elements=sum(result.elements for result in results),
    )


def compared(row: LayerReport, result: Comparison | None) -> LayerReport:
    """A layer's row with its comparison, where there was one."""
    if result is None:
        return row
    return replace(
        row, max_abs_error=result.max_abs_error, max_lsb_error=result.max_lsb_error, mismatches=result.mismatches
    )
