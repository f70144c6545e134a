"""C's view of element types and constant arrays."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from tilewright.codegen.digits import bits_text, real_text, small_integer_text
from tilewright.model import Array, DType

C_TYPES = {
    DType.F16: "tilewright_f16", DType.BF16: "tilewright_bf16", DType.F32: "float", DType.F64: "double",
    DType.I4: "uint8_t", DType.U4: "uint8_t", DType.I8: "int8_t", DType.U8: "uint8_t", DType.I16: "int16_t",
    DType.U16: "uint16_t", DType.I32: "int32_t", DType.U32: "uint32_t", DType.I64: "int64_t", DType.U64: "uint64_t",
    DType.BOOL: "uint8_t",
}  # fmt: skip
"""Types of elements in memory. The model's header defines the two that C99 lacks: see `loaded` and `stored`."""

_HALVES = {DType.F16: "f16", DType.BF16: "bf16"}
_LINES_AT_ONCE = 4096
FLOAT_MOST = float(np.finfo(np.float32).max)


def is_half(dtype: DType) -> bool:
    """True for the floats of sixteen bits, whose elements `loaded` and `stored` convert."""
    return dtype in _HALVES


def constant_type(dtype: DType) -> str:
    """The type of the elements of a constant array: floats of sixteen bits are written as their bits."""
    return "uint16_t" if dtype in _HALVES else C_TYPES[dtype]


def constant_address(dtype: DType, array: str) -> str:
    """C expression for the first element of a constant array that was declared with `constant_type`."""
    return f"(const {C_TYPES[dtype]} *)(const void *){array}" if dtype in _HALVES else array


def loaded(dtype: DType, element: str) -> str:
    """C expression for the value of an element: those of sixteen bits as float, all others as they are."""
    return f"tilewright_{_HALVES[dtype]}_to_float({element})" if dtype in _HALVES else element


def stored(dtype: DType, value: str, source: DType | None = None) -> str:
    """C expression for the element that holds a value, which has the C type of `source` where that is no float.

    A double is rounded once to a half, and by way of float to bfloat16. A value of the element's own type is not cast.
    """
    if dtype is source and dtype in (DType.F32, DType.F64):
        return value
    if dtype not in _HALVES:
        return f"({C_TYPES[dtype]})({value})"
    if source is DType.F64 and dtype is DType.F16:
        return f"tilewright_f16_of_double({value})"
    return f"tilewright_{_HALVES[dtype]}_of_float({value if source in (None, DType.F32) else f'(float)({value})'})"


def packed(dtype: DType, values: Array) -> Array:
    """The elements as they lie in memory: four-bit types two to a byte, low nibble first; others as they are."""
    if dtype not in (DType.I4, DType.U4):
        return values.astype(dtype.numpy, copy=False)
    nibbles = values.astype(np.int16).reshape(-1) & 15
    if nibbles.size % 2:
        nibbles = np.append(nibbles, 0)
    return (nibbles[0::2] | (nibbles[1::2] << 4)).astype(np.uint8)


def raw_bytes(dtype: DType, values: Array) -> bytes:
    """The elements' bytes as they lie in the memory of a little-endian core."""
    elements = packed(dtype, values)
    return elements.astype(elements.dtype.newbyteorder("<"), copy=False).tobytes()


def literal(dtype: DType, value: float | int) -> str:
    """One value as a C constant expression of its type."""
    if dtype.is_float:
        return _float(float(value), dtype)
    number = int(value)
    if dtype is DType.I64:
        return "(-9223372036854775807LL - 1)" if number == -(1 << 63) else f"{number}LL"
    if dtype is DType.U64:
        return f"{number}ULL"
    if dtype is DType.I32 and number == -(1 << 31):
        return "(-2147483647 - 1)"
    return f"{number}u" if dtype is DType.U32 else str(number)


def _float(value: float, dtype: DType) -> str:
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    if dtype is DType.F64:
        return f"{value:.17e}"
    text = f"{value:.9g}"
    if abs(value) < FLOAT_MOST and np.float32(float(text)) != np.float32(value):
        text = f"{float(np.float32(value)):.9g}"  # nine digits of a double may be nearer to another float than it is
    if "e" not in text and "." not in text:
        text += ".0"
    return text + "f"


def initialiser(dtype: DType, values: Array, per_line: int = 12) -> str:
    """The elements of a constant array as C text, `per_line` to a line."""
    return "".join(initialiser_pieces(dtype, values, per_line))


def initialiser_pieces(dtype: DType, values: Array, per_line: int = 12) -> Iterator[str]:
    """The text of `initialiser` piece by piece: weights of a gigabyte are never one string."""
    flat = packed(dtype, values).reshape(-1)
    flat = flat.view(np.uint16) if is_half(dtype) else flat
    kind = DType.U8 if dtype in (DType.I4, DType.U4) else dtype
    piece = per_line * _LINES_AT_ONCE
    alike = flat.size > per_line and bool((flat == flat[0]).all())
    repeated = _text(kind, flat[:piece], per_line) if alike else ""  # one text serves all, e.g. weights yet to be set
    for start in range(0, flat.size, piece):
        part = flat[start : start + piece]
        yield (",\n    " if start else "")
        yield repeated if alike and part.size == piece else _text(kind, part, per_line)


def _text(kind: DType, flat: Array, per_line: int) -> str:
    """The elements of a part of an array."""
    if kind in (DType.I8, DType.U8, DType.I16, DType.U16, DType.BOOL):
        return small_integer_text(flat, per_line)
    if kind in _HALVES:
        return bits_text(flat, per_line)
    finite = np.isfinite(flat) if kind.is_float else np.zeros(0)
    if kind is DType.F32 and bool(finite.all()):
        return real_text(flat, "f", per_line)
    if kind is DType.F64 and bool(finite.all()):
        words = [f"{value:.17e}" for value in flat.tolist()]
    else:
        words = [literal(kind, value) for value in flat.tolist()]
    return ",\n    ".join(", ".join(words[i : i + per_line]) for i in range(0, len(words), per_line))
