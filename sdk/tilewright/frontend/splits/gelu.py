"""Gelu and what is built of it: behind a bias, by tanh, by a sigmoid."""

from __future__ import annotations

from tilewright.frontend.splits.parts import Parts
from tilewright.frontend.splits.spelling import MICROSOFT


def _shifted(parts: Parts) -> str:
    """The operand with its bias, where it has one."""
    return parts.op("Add", parts.input(0), parts.input(1)) if parts.input(1) else parts.input(0)


def _gelu(parts: Parts) -> None:
    parts.op("Gelu", _shifted(parts), into=parts.output(0))


def _fast(parts: Parts) -> None:
    parts.op("Gelu", _shifted(parts), into=parts.output(0), approximate="tanh")


def _quick(parts: Parts) -> None:
    x = parts.input(0)
    steep = parts.op("Mul", x, parts.like(0, parts.number("alpha", 1.702)))
    parts.op("Mul", x, parts.op("Sigmoid", steep), into=parts.output(0))


SPLITS = {
    (MICROSOFT, "Gelu"): _gelu,
    (MICROSOFT, "BiasGelu"): _gelu,
    (MICROSOFT, "FastGelu"): _fast,
    (MICROSOFT, "QuickGelu"): _quick,
}
