"""Normalisations in integers: iRMSNorm, iLayerNorm, iNoNorm; and RMSNorm, the float one of the same exporter."""

from __future__ import annotations

from typing import Any

import numpy as np

from tilewright.frontend.splits.parts import Parts
from tilewright.frontend.splits.whole_numbers import LIMIT, PACT, Integers, attribute, limits, shift
from tilewright.model import DType

_CODES = 511  # no difference of two codes of 8 bits is larger


def _chosen(parts: Parts) -> Integers:
    """32 bits where the products with the weights fit, else 64."""
    weights = parts.value(1)
    most = float(np.abs(weights).max(initial=0)) if weights is not None else float("inf")
    return Integers(parts, DType.I32 if most * _CODES < LIMIT else DType.I64)


def _deviation(parts: Parts, integers: Integers, x: str) -> str:
    """The root of the mean of the squares along the last axis, each rounded down, of one more than that mean."""
    squares = parts.op("ReduceSum", parts.op("Mul", x, x), parts.constant([-1]), keepdims=1)
    mean = integers.by("Add", integers.by("Div", squares, parts.shape(0)[-1]), 1)
    # The mean is below 2 ** 18, so that its rounded root is no integer that the exact one does not reach.
    return integers.of(parts.op("Floor", parts.op("Sqrt", parts.op("Cast", mean, to=1))))


def _rms(parts: Parts) -> None:
    integers = _chosen(parts)
    x = integers.of(parts.input(0))
    scaled = parts.op("Div", integers.by("Mul", x, integers.operand(1)), _deviation(parts, integers, x))
    low, high = limits(parts)
    integers.back(integers.clipped(integers.shifted(scaled, shift(parts, "D")), low, high))


def _layer(parts: Parts) -> None:
    integers = _chosen(parts)
    x = integers.of(parts.input(0))
    total = parts.op("ReduceSum", x, parts.constant([-1]), keepdims=1)
    centred = parts.op("Sub", x, integers.by("Div", total, parts.shape(0)[-1]))
    scaled = integers.by("Mul", centred, integers.operand(1))
    scaled = parts.op("Div", scaled, _deviation(parts, integers, centred))
    scaled = integers.by("Add", scaled, integers.operand(2))
    low, high = limits(parts)
    integers.back(integers.clipped(integers.shifted(scaled, shift(parts, "D")), low, high))


def _none(parts: Parts) -> None:
    """Weights and a bias, then one factor and a shift."""
    integers = Integers(parts, DType.I64)
    x = integers.by("Mul", integers.of(parts.input(0)), integers.operand(1))
    x = integers.by("Mul", integers.by("Add", x, integers.operand(2)), attribute(parts, "mul"))
    low, high = limits(parts)
    integers.back(integers.clipped(integers.shifted(x, shift(parts, "D")), low, high))


def _real_rms(parts: Parts) -> None:
    epsilon = parts.number("eps", parts.number("epsilon", 1e-5))
    known: dict[str, Any] = {"axis": parts.whole("axis", -1), "epsilon": float(epsilon)}
    parts.op("RMSNormalization", parts.input(0), parts.input(1), into=parts.output(0), **known)


SPLITS = {
    (PACT, "iRMSNorm"): _rms,
    (PACT, "iLayerNorm"): _layer,
    (PACT, "iNoNorm"): _none,
    (PACT, "RMSNorm"): _real_rms,
}
