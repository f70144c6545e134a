"""Optional values where it is known whether there is one: a tensor is there, an omitted operand is not."""

from __future__ import annotations

from tilewright.frontend.splits.parts import Parts
from tilewright.model import DType


def _has(parts: Parts) -> None:
    given = parts.constant(bool(parts.input(0)), DType.BOOL)
    parts.op("Identity", given, into=parts.output(0))


def _get(parts: Parts) -> None:
    if not parts.input(0):
        raise parts.invalid("it takes the value of an optional that is empty")
    parts.op("Identity", parts.input(0), into=parts.output(0))


SPLITS = {("", "OptionalHasElement"): _has, ("", "OptionalGetElement"): _get}
