"""Products of codes with a float result: MatMulIntegerToFloat, DynamicQuantizeMatMul."""

from __future__ import annotations

from tilewright.frontend.splits.parts import Parts
from tilewright.frontend.splits.spelling import MICROSOFT


def scaled_product(parts: Parts, operands: tuple[str, str, str, str], scale: str) -> str:
    """The integer product of codes `a` and `b` with zero points, which are "" where they are 0, times a scale."""
    total = parts.op("MatMulInteger", *operands)
    return parts.op("Mul", parts.op("Cast", total, to=1), scale)


def _biased(parts: Parts, product: str, index: int) -> None:
    if parts.input(index):
        parts.op("Add", product, parts.input(index), into=parts.output(0))
    else:
        parts.op("Identity", product, into=parts.output(0))


def _to_float(parts: Parts) -> None:
    scale = parts.op("Mul", parts.input(2), parts.input(3))
    names = (parts.input(0), parts.input(1), parts.input(4), parts.input(5))
    _biased(parts, scaled_product(parts, names, scale), 6)


def _dynamic(parts: Parts) -> None:
    codes, scale, zero = parts.several("DynamicQuantizeLinear", (parts.input(0),), 3)
    names = (codes, parts.input(1), zero, parts.input(3))
    _biased(parts, scaled_product(parts, names, parts.op("Mul", scale, parts.input(2))), 4)


SPLITS = {(MICROSOFT, "MatMulIntegerToFloat"): _to_float, (MICROSOFT, "DynamicQuantizeMatMul"): _dynamic}
