"""IntegerDiv, TrueIntegerDiv and IntegerMean of QuantLib: quotients of integers.

IntegerDiv and IntegerMean round to nearest, halves away from zero; TrueIntegerDiv rounds down.
"""

from __future__ import annotations

from math import prod

from tilewright.frontend.splits.parts import Parts
from tilewright.frontend.splits.whole_numbers import PACT, Integers, attribute
from tilewright.model import DType


def _rounded(parts: Parts, integers: Integers, value: str, divisor: str) -> str:
    half = parts.op("Mul", parts.op("Sign", value), integers.shifted(divisor, 1))
    return parts.op("Div", parts.op("Add", value, half), divisor)


def _divide(parts: Parts) -> None:
    """`(Delta * eta * a) / (eta * b + eps)`."""
    delta, eps, eta = (attribute(parts, name) for name in ("Delta", "eps", "eta"))
    integers = Integers(parts, DType.I64)
    value = integers.by("Mul", integers.of(parts.input(0)), delta * eta)
    divisor = integers.by("Add", integers.by("Mul", integers.operand(1), eta), eps)
    integers.back(_rounded(parts, integers, value, divisor))


def _divide_by_number(parts: Parts) -> None:
    """The same with the attribute `y` in the place of the second operand."""
    delta, eps, eta, y = (attribute(parts, name) for name in ("Delta", "eps", "eta", "y"))
    integers, divisor = Integers(parts, DType.I64), eta * y + eps
    if divisor < 1:
        raise parts.invalid(f"its divisor eta * y + eps is {divisor}, it must be at least 1")
    value = integers.by("Mul", integers.of(parts.input(0)), delta * eta)
    rest = integers.by("Mod", value, divisor)  # never negative
    integers.back(integers.by("Div", parts.op("Sub", value, rest), divisor))


def _mean(parts: Parts) -> None:
    shape, axes = parts.shape(0), parts.node.attributes.get("axes")
    chosen = (axes,) if isinstance(axes, int) else tuple(int(axis) for axis in parts.numbers("axes", range(len(shape))))
    keep, integers = parts.whole("keepdims", 1), Integers(parts)
    count = prod(shape[axis] for axis in chosen)
    total = parts.op("ReduceSum", integers.of(parts.input(0)), parts.constant(chosen), keepdims=keep)
    if not keep and count & (count - 1) == 0:
        result = integers.shifted(integers.by("Add", total, count >> 1), count.bit_length() - 1)
    else:
        result = _rounded(parts, integers, total, integers.number(count))
    integers.back(result)


SPLITS = {(PACT, "IntegerDiv"): _divide, (PACT, "TrueIntegerDiv"): _divide_by_number, (PACT, "IntegerMean"): _mean}
