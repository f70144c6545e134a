"""What operations of p-code compute: expressions of Python, in place for numbers and by `terms.py` for terms."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from tilewright.prove.machine.gave_up import GaveUp
from tilewright.prove.terms import Value, mask, saturated

Expression = Callable[[Sequence[str], Sequence[int], int], str]
"""Texts and sizes of the operands and the size of the result; the text that computes it."""


def _both(texts: Sequence[str], fast: str, slow: str) -> str:
    checks = " and ".join(f"{text}.__class__ is int" for text in texts if not text.isdigit())
    return f"({fast}) if {checks} else {slow}" if checks else fast


def _arithmetic(symbol: str, name: str) -> Expression:
    def made(texts: Sequence[str], sizes: Sequence[int], size: int) -> str:
        a, b = texts
        return _both(texts, f"{a} {symbol} {b} & {mask(size)}", f"{name}({a}, {b}, {size})")

    return made


def _bits(symbol: str, name: str) -> Expression:
    def made(texts: Sequence[str], sizes: Sequence[int], size: int) -> str:
        return _both(texts, f"{texts[0]} {symbol} {texts[1]}", f"{name}({texts[0]}, {texts[1]}, {size})")

    return made


def _extend_signed(texts: Sequence[str], sizes: Sequence[int], size: int) -> str:
    half = 1 << 8 * sizes[0] - 1
    slow = f"extend_signed({texts[0]}, {sizes[0]}, {size})"
    return _both(texts, f"({texts[0]} ^ {half}) - {half} & {mask(size)}", slow)


def _cut(texts: Sequence[str], sizes: Sequence[int], size: int) -> str:
    slow = f"cut({texts[0]}, {texts[1]}, {size})"
    return _both(texts[:1], f"{texts[0]} >> {8 * int(texts[1])} & {mask(size)}", slow)


def _call(name: str) -> Expression:
    return lambda texts, sizes, size: f"{name}({', '.join(texts)}, {size})"


def _fold(op: str) -> Expression:
    return lambda texts, sizes, size: f"folded({op!r}, {texts[0]}, {texts[1]}, {sizes[0]}, {size})"


def _compare(symbol: str, op: str) -> Expression:
    def made(texts: Sequence[str], sizes: Sequence[int], size: int) -> str:
        slow = f"folded({op!r}, {texts[0]}, {texts[1]}, {sizes[0]}, {size})"
        return _both(texts, f"1 if {texts[0]} {symbol} {texts[1]} else 0", slow)

    return made


def _compare_signed(symbol: str, op: str) -> Expression:
    def made(texts: Sequence[str], sizes: Sequence[int], size: int) -> str:
        half = 1 << 8 * sizes[0] - 1
        slow = f"folded({op!r}, {texts[0]}, {texts[1]}, {sizes[0]}, {size})"
        return _both(texts, f"1 if {texts[0]} ^ {half} {symbol} {texts[1]} ^ {half} else 0", slow)

    return made


def _float(op: str) -> Expression:
    return lambda texts, sizes, size: f"user({op!r}, ({', '.join(texts)},), {sizes[0] << 8 | size})"


EXPRESSIONS: Mapping[str, Expression] = {
    "COPY": lambda texts, sizes, size: texts[0],
    "INT_ADD": _arithmetic("+", "add"), "INT_SUB": _arithmetic("-", "subtract"),
    "INT_MULT": _arithmetic("*", "multiply"),
    "INT_AND": _bits("&", "bit_and"), "INT_OR": _bits("|", "bit_or"), "INT_XOR": _bits("^", "bit_xor"),
    "INT_LEFT": _call("shift_left"), "INT_RIGHT": _call("shift_right"), "INT_SRIGHT": _call("shift_signed"),
    "INT_2COMP": _call("negate"), "INT_NEGATE": _call("invert"),
    "INT_ZEXT": lambda texts, sizes, size: _both(texts, texts[0], f"extend({texts[0]}, {sizes[0]}, {size})"),
    "INT_SEXT": _extend_signed, "SUBPIECE": _cut,
    "PIECE": lambda texts, sizes, size: f"join([({texts[1]}, {sizes[1]}), ({texts[0]}, {sizes[0]})])",
    "INT_EQUAL": _compare("==", "eq"), "INT_NOTEQUAL": _compare("!=", "ne"),
    "INT_LESS": _compare("<", "ult"), "INT_LESSEQUAL": _compare("<=", "ule"),
    "INT_SLESS": _compare_signed("<", "slt"), "INT_SLESSEQUAL": _compare_signed("<=", "sle"),
    "INT_CARRY": _fold("carry"), "INT_SCARRY": _fold("scarry"), "INT_SBORROW": _fold("sborrow"),
    "BOOL_AND": _fold("band"), "BOOL_OR": _fold("bor"), "BOOL_XOR": _fold("bxor"),
    "BOOL_NEGATE": lambda texts, sizes, size: f"condition_not({texts[0]})",
    "INT_DIV": _fold("udiv"), "INT_SDIV": _fold("sdiv"), "INT_REM": _fold("urem"), "INT_SREM": _fold("srem"),
    **{name: _float(name) for name in (
        "FLOAT_ADD", "FLOAT_SUB", "FLOAT_MULT", "FLOAT_DIV", "FLOAT_LESS", "FLOAT_LESSEQUAL", "FLOAT_EQUAL",
        "FLOAT_NOTEQUAL", "FLOAT_NAN", "FLOAT_NEG", "FLOAT_ABS", "FLOAT_SQRT", "FLOAT_INT2FLOAT", "FLOAT_FLOAT2FLOAT",
        "FLOAT_TRUNC", "FLOAT_FLOOR", "FLOAT_CEIL", "FLOAT_ROUND", "LZCOUNT", "POPCOUNT",
    )},
}  # fmt: skip
"""By the name of the operation."""


def _real(bits: int, size: int) -> float:
    real: float = struct.unpack("<f" if size == 4 else "<d", bits.to_bytes(size, "little"))[0]
    return real


def _pattern(real: float, size: int) -> int:
    with np.errstate(all="ignore"):
        packed = np.float32(real).tobytes() if size == 4 else np.float64(real).tobytes()
    return int.from_bytes(packed, "little")


_ARITHMETIC: Mapping[str, Callable[[float, float], float]] = {
    "FLOAT_ADD": lambda a, b: a + b, "FLOAT_SUB": lambda a, b: a - b, "FLOAT_MULT": lambda a, b: a * b,
}  # fmt: skip
_TRUTHS: Mapping[str, Callable[[float, float], bool]] = {
    "FLOAT_LESS": lambda a, b: a < b, "FLOAT_LESSEQUAL": lambda a, b: a <= b, "FLOAT_EQUAL": lambda a, b: a == b,
    "FLOAT_NOTEQUAL": lambda a, b: a != b, "FLOAT_NAN": lambda a, b: a != a,
}  # fmt: skip


def _on_reals(name: str, inputs: tuple[Value, ...], sizes: int) -> Value:
    """Float arithmetic on numbers, each result rounded once; nothing is known of it on unknown values."""
    narrow, size = sizes >> 8, sizes & 0xFF
    numbers = [value for value in inputs if isinstance(value, int)]
    if len(numbers) < len(inputs):
        raise GaveUp("float arithmetic on a value that depends on the inputs")
    if name == "LZCOUNT":
        return 8 * narrow - numbers[0].bit_length()
    if name == "POPCOUNT":
        return numbers[0].bit_count()
    if name == "FLOAT_INT2FLOAT":
        return _pattern(numbers[0] - (1 << 8 * narrow) if numbers[0] >> 8 * narrow - 1 else numbers[0], size)
    reals = [_real(number, narrow) for number in numbers]
    second = reals[-1]
    if name in _TRUTHS:
        return int(_TRUTHS[name](reals[0], second))
    if name in _ARITHMETIC:
        return _pattern(_ARITHMETIC[name](reals[0], second), size)
    with np.errstate(all="ignore"):
        if name == "FLOAT_DIV":
            return _pattern(float(np.float64(reals[0]) / np.float64(second)), size)
        if name == "FLOAT_TRUNC":
            return int(np.clip(np.nan_to_num(np.trunc(second)), -(2.0**31), 2.0**31 - 1)) & mask(size)
        plain = {"FLOAT_NEG": -second, "FLOAT_ABS": abs(second), "FLOAT_FLOAT2FLOAT": second,
                 "FLOAT_SQRT": float(np.sqrt(second)), "FLOAT_FLOOR": float(np.floor(second)),
                 "FLOAT_CEIL": float(np.ceil(second)), "FLOAT_ROUND": float(np.rint(second))}  # fmt: skip
        return _pattern(plain[name], size)


def _saturate(with_sign: bool) -> Callable[[tuple[Value, ...], int], Value]:
    def made(inputs: tuple[Value, ...], size: int) -> Value:
        bits = inputs[1]
        if not isinstance(bits, int):
            raise GaveUp("a saturation to a width that depends on the inputs")
        # the instruction holds the width of a signed result less 1, that of an unsigned one as it is
        low, high = (-(1 << bits), (1 << bits) - 1) if with_sign else (0, (1 << bits) - 1)
        return saturated(inputs[0], size, low, high)

    return made


UserOperation = Callable[[tuple[Value, ...], int], Value]


def _of_reals(name: str) -> UserOperation:
    return lambda inputs, sizes: _on_reals(name, inputs, sizes)


USER_OPERATIONS: Mapping[str, UserOperation] = {
    "SignedSaturate": _saturate(True), "UnsignedSaturate": _saturate(False),
    **{name: _of_reals(name) for name in EXPRESSIONS if name.startswith("FLOAT") or name in ("LZCOUNT", "POPCOUNT")},
}  # fmt: skip
"""Operations that the description of instructions names without saying what they compute, and those on floats."""
