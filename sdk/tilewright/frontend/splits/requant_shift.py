"""RequantShift of QuantLib: a factor, a summand, a shift to the right that rounds to nearest, a range."""

from __future__ import annotations

from math import prod

from tilewright.frontend.splits.parts import Parts
from tilewright.frontend.splits.whole_numbers import PACT, Integers, attribute, limits, shift
from tilewright.model import DType


def _requantise(parts: Parts) -> None:
    """`clip((x * mul + add + div / 2) >> log2(div))`; a zero point of the result may be counted in `add`."""
    integers, bits = Integers(parts), shift(parts, "div")
    total = integers.by("Mul", integers.of(parts.input(0)), _laid(parts, 1, integers.operand(1)))
    add = parts.value(2)
    half = (1 << bits) >> 1
    if add is not None and abs(float(add.max())) + half < 1 << 31:
        total = integers.by("Add", total, _laid(parts, 2, parts.constant(add.round() + half, DType.I32)))
    else:
        total = integers.by("Add", integers.by("Add", total, _laid(parts, 2, integers.operand(2))), half)
    low, high = limits(parts)
    if offset := attribute(parts, "output_offset", 0):
        low, high = low - offset, high - offset
    integers.back(integers.clipped(integers.shifted(total, bits), low, high))


def _laid(parts: Parts, index: int, name: str) -> str:
    """Factors or summands along the second axis where they do not fit the last axes as they are, one per channel."""
    x, shape = parts.shape(0), parts.shape(index)
    aligned = (1,) * (len(x) - len(shape)) + shape
    if len(aligned) == len(x) and all(size in (1, extent) for size, extent in zip(aligned, x, strict=True)):
        return name
    if prod(shape) == 1 or (len(x) > 1 and prod(shape) == x[1]):
        return parts.reshape(name, (1, prod(shape), *[1] * (len(x) - 2)) if prod(shape) > 1 else ())
    raise parts.invalid(f"operand {index} of shape {list(shape)} has no number for each channel of {list(x)}")


SPLITS = {(PACT, "RequantShift"): _requantise}
