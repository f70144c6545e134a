"""Integers that a file keeps in floats, as QuantLib writes them: to integers, back, and shifts that round down."""

from __future__ import annotations

import numpy as np

from tilewright.frontend.splits.parts import Parts
from tilewright.model import Array, DType

PACT = "PACTOps"
"""The domain of QuantLib's operators; its exporter also writes them without a domain."""

_ONNX = {DType.I32: 6, DType.I64: 7, DType.F32: 1, DType.F64: 11}
LIMIT = 1 << 31


class Integers:
    """Arithmetic on integers of one type, of constants and of tensors by name."""

    def __init__(self, parts: Parts, dtype: DType = DType.I32) -> None:
        self.parts, self.dtype = parts, dtype

    def of(self, name: str) -> str:
        """A tensor that holds whole numbers as integers."""
        return self.parts.op("Cast", name, to=_ONNX[self.dtype])

    def number(self, value: int | Array) -> str:
        """A constant."""
        return self.parts.constant(value, self.dtype)

    def operand(self, index: int) -> str:
        """An operand as integers; a constant is converted now."""
        value = self.parts.value(index)
        return self.of(self.parts.input(index)) if value is None else self.number(np.rint(value.astype(np.float64)))

    def by(self, op: str, name: str, value: int | str) -> str:
        """An operation with a number or another tensor."""
        return self.parts.op(op, name, self.number(value) if isinstance(value, int) else value)

    def shifted(self, name: str, bits: int) -> str:
        """The largest integers that are not above the quotients by 2 ** bits."""
        if not bits:
            return name
        rest = self.by("BitwiseAnd", name, (1 << bits) - 1)
        return self.by("Div", self.parts.op("Sub", name, rest), 1 << bits)

    def clipped(self, name: str, low: int, high: int) -> str:
        """The integers limited to a range."""
        return self.parts.op("Clip", name, self.number(low), self.number(high))

    def back(self, name: str) -> None:
        """The result, in the type of the first operand."""
        number = {**_ONNX, DType.I8: 3, DType.U8: 2, DType.I16: 5, DType.F16: 10}[self.parts.tensor(0).dtype]
        self.parts.op("Cast", name, into=self.parts.output(0), to=number)


def attribute(parts: Parts, name: str, default: int | None = None) -> int:
    """An attribute that is one integer; QuantLib writes them as tensors of one float."""
    value = parts.stored(name)
    if value is None:
        if default is None:
            raise parts.invalid(f"attribute '{name}' is missing")
        return default
    flat = np.asarray(value).reshape(-1)
    if flat.size != 1 or flat.dtype.kind not in "iuf" or float(flat[0]) != round(float(flat[0])):
        raise parts.invalid(f"attribute '{name}' must be one whole number")
    return int(flat[0])


def shift(parts: Parts, name: str) -> int:
    """How many bits the attribute, a power of two, stands for."""
    value = attribute(parts, name)
    if value < 1 or value & (value - 1):
        raise parts.invalid(f"attribute '{name}' is {value}, it must be a power of two")
    return value.bit_length() - 1


def limits(parts: Parts) -> tuple[int, int]:
    """The least and the greatest code of the result."""
    levels = attribute(parts, "n_levels_out", attribute(parts, "n_levels", 256))
    return (-(levels // 2), levels // 2 - 1) if attribute(parts, "signed", 1) else (0, levels - 1)
