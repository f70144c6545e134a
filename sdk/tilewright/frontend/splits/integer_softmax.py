"""Softmax in integers: iSoftmax by a polynomial, ITAMax and ITAPartialMax by powers of two.

Sources: Kim et al., "I-BERT: Integer-only BERT Quantization", 2021; Islamoglu et al., "ITA: An Energy-Efficient
Attention and Softmax Accelerator for Quantized Transformers", 2023.
"""

from __future__ import annotations

from tilewright.frontend.splits.parts import Parts
from tilewright.frontend.splits.whole_numbers import LIMIT, PACT, Integers, attribute
from tilewright.model import DType

_MOST_SHIFTS = 31


def _largest(parts: Parts, name: str) -> str:
    return parts.op("ReduceMax", name, parts.constant([-1]), keepdims=1)


def _total(parts: Parts, name: str) -> str:
    return parts.op("ReduceSum", name, parts.constant([-1]), keepdims=1)


def _polynomial(parts: Parts) -> None:
    """`exp(x)` as `(a * (p + b) ** 2 + c) >> z` with `x = p - z * log2`."""
    a, b, c, log2, levels = (attribute(parts, name) for name in ("coeffA", "coeffB", "coeffC", "log2", "n_levels"))
    if log2 < 1:
        raise parts.invalid(f"attribute 'log2' is {log2}, it must be at least 1")
    most = abs(a) * max(abs(b), abs(b - log2)) ** 2 + abs(c)
    integers = Integers(parts, DType.I32 if most * levels * parts.shape(0)[-1] < LIMIT else DType.I64)
    x = integers.of(parts.input(0))
    below = parts.op("Sub", x, _largest(parts, x))  # at most 0
    shifts = integers.by("Div", parts.op("Neg", below), log2)
    shifts = integers.clipped(shifts, 0, _MOST_SHIFTS)
    rest = integers.by("Add", parts.op("Add", below, integers.by("Mul", shifts, log2)), b)
    value = integers.by("Add", integers.by("Mul", parts.op("Mul", rest, rest), a), c)
    value = parts.op("Div", value, _powers(parts, integers, shifts))
    scaled = integers.by("Mul", value, levels - 1)
    integers.back(parts.op("Div", scaled, _total(parts, value)))


def _powers(parts: Parts, integers: Integers, shifts: str) -> str:
    """Two to the power of integers from 0 to 31, from a table; the last may be the largest of its type."""
    import numpy as np

    table = np.minimum(2 ** np.arange(_MOST_SHIFTS + 1, dtype=np.int64), LIMIT - 1)
    return parts.op("Gather", integers.number(table), shifts, axis=0)


def _steps(parts: Parts, integers: Integers, largest: str, x: str) -> str:
    """By how many halvings each element lies below the largest: 32 codes are one, rounded."""
    return integers.shifted(integers.by("Add", parts.op("Sub", largest, x), 16), 5)


def _halved(parts: Parts, integers: Integers, value: int | str, steps: str) -> str:
    start = integers.number(value) if isinstance(value, int) else value
    return parts.op("Div", start, _powers(parts, integers, steps))


def _ita(parts: Parts) -> None:
    levels, integers = attribute(parts, "n_levels", 256), Integers(parts)
    x = integers.of(parts.input(0))
    steps = _steps(parts, integers, _largest(parts, x), x)
    total = _total(parts, _halved(parts, integers, 256, steps))
    inverse = parts.op("Div", integers.number((levels - 1) * 256), total)
    integers.back(_halved(parts, integers, inverse, steps))


def _partial(parts: Parts) -> None:
    """The largest so far and the sum are kept from group to group, as the accelerator sees them."""
    levels, width, integers = attribute(parts, "n_levels", 256), attribute(parts, "group_width"), Integers(parts)
    length = parts.shape(0)[-1]
    if width < 1 or length % width:
        raise parts.invalid(f"its groups of {width} do not fill rows of {length}")
    x = integers.of(parts.input(0))
    largest, total = integers.number(-128), ""
    for first in range(0, length, width):
        group = parts.slice(x, -1, first, first + width)
        new = parts.op("Max", largest, _largest(parts, group))
        added = _total(parts, _halved(parts, integers, 256, _steps(parts, integers, new, group)))
        if total:
            grown = parts.op("Sub", new, largest)
            steps = integers.shifted(integers.by("Add", grown, 16), 5)
            added = parts.op("Add", _halved(parts, integers, total, steps), added)
        largest, total = new, added
    inverse = parts.op("Div", integers.number((levels // 2 - 1) * 256), total)
    integers.back(_halved(parts, integers, inverse, _steps(parts, integers, largest, x)))


SPLITS = {(PACT, "iSoftmax"): _polynomial, (PACT, "ITAMax"): _ita, (PACT, "ITAPartialMax"): _partial}
