"""Products of codes, also with a float result: MatMulInteger by column, MatMulIntegerToFloat, DynamicQuantizeMatMul."""

from __future__ import annotations

import numpy as np

from tilewright.frontend.splits.parts import Parts
from tilewright.frontend.splits.spelling import MICROSOFT
from tilewright.model import DType


def scaled_product(parts: Parts, a: tuple[str, str], b: tuple[int, int], scale: str) -> str:
    """The integer product of codes times a scale; `a` and `b` are as `product` takes them."""
    return parts.op("Mul", parts.op("Cast", product(parts, a, b), to=1), scale)


def product(parts: Parts, a: tuple[str, str], b: tuple[int, int], into: str = "") -> str:
    """The integer product of codes and their zero points, `a` by name, `b` by operand of the node; "" or none is 0.

    Kernels take one zero point for each operand. Where `b` has one for each column, constant codes are written without
    it if eight bits hold them; else the row's sum, times what the zero points are beside one, is taken away.
    """
    codes, zeros = b
    name, zero = parts.input(codes), parts.input(zeros)
    if not zero or parts.tensor(zeros).elements == 1:
        return parts.op("MatMulInteger", a[0], name, a[1], zero, into=into)
    known = parts.value(codes), parts.value(zeros)
    if known[0] is not None and known[1] is not None:
        centred = known[0].astype(np.int64) - known[1].astype(np.int64)
        if -128 <= centred.min(initial=0) and centred.max(initial=0) <= 127:
            return parts.op("MatMulInteger", a[0], parts.constant(centred, DType.I8), a[1], into=into)
    middle = 128 if parts.tensor(codes).dtype is DType.U8 else 0
    total = parts.op("MatMulInteger", a[0], name, a[1], parts.like(codes, middle))
    ones = parts.constant(np.ones((parts.shape(codes)[-2], 1)), DType.I8)
    sums = parts.op("MatMulInteger", a[0], ones, a[1])
    away = parts.op("Sub", parts.op("Cast", zero, to=6), parts.constant(middle, DType.I32))
    return parts.op("Sub", total, parts.op("Mul", sums, away), into=into)


def _by_column(parts: Parts) -> None:
    if len(parts.shape(1)) > 1 and parts.input(3) and parts.tensor(3).shape == parts.shape(1)[-1:] != (1,):
        product(parts, (parts.input(0), parts.input(2)), (1, 3), into=parts.output(0))


def _biased(parts: Parts, scaled: str, index: int) -> None:
    if parts.input(index):
        parts.op("Add", scaled, parts.input(index), into=parts.output(0))
    else:
        parts.op("Identity", scaled, into=parts.output(0))


def _to_float(parts: Parts) -> None:
    scale = parts.op("Mul", parts.input(2), parts.input(3))
    _biased(parts, scaled_product(parts, (parts.input(0), parts.input(4)), (1, 5), scale), 6)


def _dynamic(parts: Parts) -> None:
    codes, scale, zero = parts.several("DynamicQuantizeLinear", (parts.input(0),), 3)
    _biased(parts, scaled_product(parts, (codes, zero), (1, 3), parts.op("Mul", scale, parts.input(2))), 4)


SPLITS = {
    ("", "MatMulInteger"): _by_column,
    (MICROSOFT, "MatMulIntegerToFloat"): _to_float,
    (MICROSOFT, "DynamicQuantizeMatMul"): _dynamic,
}
