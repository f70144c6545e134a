"""Activations in integers: iGELU by a polynomial of the second degree, iHardswish."""

from __future__ import annotations

from tilewright.frontend.splits.parts import Parts
from tilewright.frontend.splits.whole_numbers import PACT, Integers, attribute


def _gelu(parts: Parts) -> None:
    """`x * ((one + sign(x) * (one - (min(|x|, -b) + b) ** 2)) >> 1)`."""
    b, one, integers = attribute(parts, "b"), attribute(parts, "one"), Integers(parts)
    x = integers.of(parts.input(0))
    near = integers.by("Add", integers.by("Min", parts.op("Abs", x), -b), b)
    curve = parts.op("Sub", integers.number(one), parts.op("Mul", near, near))
    curve = parts.op("Mul", parts.op("Sign", x), curve)
    integers.back(parts.op("Mul", x, integers.shifted(integers.by("Add", curve, one), 1)))


def _hard_swish(parts: Parts) -> None:
    """`x * clip(x + three, 0, six) * one_over_six`."""
    sixth, three, six = (attribute(parts, name) for name in ("one_over_six", "three", "six"))
    integers = Integers(parts)
    x = integers.of(parts.input(0))
    gate = integers.by("Mul", integers.clipped(integers.by("Add", x, three), 0, six), sixth)
    integers.back(parts.op("Mul", x, gate))


SPLITS = {(PACT, "iGELU"): _gelu, (PACT, "iHardswish"): _hard_swish}
