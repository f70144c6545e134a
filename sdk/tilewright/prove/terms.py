"""Values of the symbolic machine: whole numbers, or terms over unknown bytes.

A value of `size` bytes is an `int` from 0 to 2^(8 size) - 1, or a `Term` that stands for such a number under every
assignment of its variables. The constructors fold what they can see at once: moved, cut and joined bytes become the
bytes themselves, so that packed arithmetic (SXTB16, PKHBT, words of four codes) leaves no trace. Sums and products by
constants stay as they are until `linear.py` collects them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


class Term:
    """An operation on values. `args` are its operands, or what it is (a variable's number, a byte offset)."""

    __slots__ = ("args", "op", "size")

    def __init__(self, op: str, args: tuple[Any, ...], size: int) -> None:
        self.op = op
        self.args = args
        self.size = size

    def __repr__(self) -> str:
        return f"{self.op}{self.size}{self.args!r}"


Value = int | Term
Piece = tuple[Value, int]
"""A value and its bytes."""

BYTE_MASK = 0xFF


def mask(size: int) -> int:
    """The largest number of `size` bytes."""
    return (1 << 8 * size) - 1


def signed(value: int, size: int) -> int:
    """A number of `size` bytes in two's complement."""
    return value - (1 << 8 * size) if value >> (8 * size - 1) else value


def variable(number: int) -> Term:
    """An unknown byte."""
    return Term("var", (number,), 1)


def pieces_of(value: Value, size: int) -> tuple[Piece, ...]:
    """The parts of a value, the lowest first."""
    if isinstance(value, Term) and value.op == "cat":
        return value.args
    return ((value, size),)


def join(pieces: tuple[Piece, ...] | list[Piece]) -> Value:
    """The value of these parts, the lowest first."""
    flat: list[Piece] = []
    for value, size in pieces:
        for part, width in pieces_of(value, size):
            _append(flat, part, width)
    if len(flat) == 1:
        return flat[0][0]
    return Term("cat", tuple(flat), sum(width for _, width in flat))


def _append(flat: list[Piece], part: Value, width: int) -> None:
    """Add a part; constants side by side become one, and so do neighbouring bytes of one term."""
    if flat:
        last, below = flat[-1]
        if isinstance(part, int) and isinstance(last, int):
            flat[-1] = (last | part << 8 * below, below + width)
            return
        if isinstance(part, Term) and isinstance(last, Term) and part.op == "sub":
            whole, start = part.args
            if last.op == "sub" and last.args[0] is whole and last.args[1] + below == start:
                first = last.args[1]
                full = first == 0 and below + width == whole.size
                flat[-1] = (whole if full else Term("sub", (whole, first), below + width), below + width)
                return
            if whole.op == "sext" and start == below and _same(last, whole.args[0]):
                flat[-1] = (Term("sext", whole.args, below + width), below + width)
                return
    flat.append((part, width))


def _same(low: Term, inner: Term) -> bool:
    """True where `low` is `inner`, or that with some bytes of its sign."""
    if low.op == "sext":
        low = low.args[0]
    return low is inner or (low.op == "var" and inner.op == "var" and low.args == inner.args)


def cut(value: Value, start: int, size: int) -> Value:
    """`size` bytes of a value from byte `start` on."""
    if isinstance(value, int):
        return value >> 8 * start & mask(size)
    if start == 0 and size == value.size:
        return value
    op = value.op
    if op == "cat":
        return _cut_pieces(value.args, start, size)
    if op == "sub":
        return cut(value.args[0], value.args[1] + start, size)
    if op == "sext":
        inner = value.args[0]
        if start + size <= inner.size:
            return cut(inner, start, size)
        if start == 0:
            return Term("sext", (inner,), size)
    if op == "ite":
        condition, first, second = value.args
        return choose(condition, cut(first, start, size), cut(second, start, size), size)
    return Term("sub", (value, start), size)


def _cut_pieces(parts: tuple[Piece, ...], start: int, size: int) -> Value:
    taken: list[Piece] = []
    at, end = 0, start + size
    for part, width in parts:
        low, high = max(at, start), min(at + width, end)
        if low < high:
            taken.append((cut(part, low - at, high - low), high - low))
        at += width
    return join(taken)


def choose(condition: Value, first: Value, second: Value, size: int) -> Value:
    """`first` where the condition holds, else `second`."""
    if isinstance(condition, int):
        return first if condition else second
    if first is second or (isinstance(first, int) and isinstance(second, int) and first == second):
        return first
    return Term("ite", (condition, first, second), size)


def add(a: Value, b: Value, size: int) -> Value:
    """The sum, without carry out."""
    if isinstance(a, int):
        if isinstance(b, int):
            return (a + b) & mask(size)
        a, b = b, a
    if isinstance(b, int):
        return Term("+", (a, b), size) if b else a
    if a.op == "cat" and b.op == "cat":
        joined = _disjoint(a, b)
        if joined is not None:
            return joined
    return Term("+", (a, b), size)


def _disjoint(a: Term, b: Term) -> Value | None:
    """The bytes of both where no byte of one meets a byte of the other; None where they do."""
    taken: list[Piece] = []
    for place in range(a.size):
        left, right = cut(a, place, 1), cut(b, place, 1)
        if isinstance(left, int) and left == 0:
            taken.append((right, 1))
        elif isinstance(right, int) and right == 0:
            taken.append((left, 1))
        else:
            return None
    return join(taken)


def subtract(a: Value, b: Value, size: int) -> Value:
    """The difference."""
    if isinstance(b, int):
        return add(a, -b & mask(size), size)
    return add(a, Term("*", (mask(size), b), size), size)


def multiply(a: Value, b: Value, size: int) -> Value:
    """The product's low bytes."""
    if isinstance(a, int):
        if isinstance(b, int):
            return a * b & mask(size)
        a, b = b, a
    if isinstance(b, int):
        if b == 0:
            return 0
        return a if b == 1 else Term("*", (b, a), size)
    return Term("mul", (a, b), size)


def negate(a: Value, size: int) -> Value:
    """Two's complement."""
    return multiply(a, mask(size), size)


def invert(a: Value, size: int) -> Value:
    """Every bit the other way: -a - 1."""
    if isinstance(a, int):
        return a ^ mask(size)
    return add(multiply(a, mask(size), size), mask(size), size)


def _whole_bytes(bits: int, size: int) -> bool:
    return all((bits >> 8 * place & BYTE_MASK) in (0, BYTE_MASK) for place in range(size))


def bit_and(a: Value, b: Value, size: int) -> Value:
    """The bits of both."""
    if isinstance(a, int):
        if isinstance(b, int):
            return a & b
        a, b = b, a
    if isinstance(b, int):
        if _whole_bytes(b, size):
            return join([(cut(a, at, 1) if b >> 8 * at & BYTE_MASK else 0, 1) for at in range(size)])
        if a.op == "cat":
            return _by_pieces(a, b, bit_and)
    return Term("and", (a, b), size)


def _by_pieces(a: Term, bits: int, operation: Callable[[Value, Value, int], Value]) -> Value:
    taken: list[Piece] = []
    at = 0
    for part, width in a.args:
        taken.append((operation(part, bits >> 8 * at & mask(width), width), width))
        at += width
    return join(taken)


def bit_or(a: Value, b: Value, size: int) -> Value:
    """The bits of either."""
    if isinstance(a, int):
        if isinstance(b, int):
            return a | b
        a, b = b, a
    if isinstance(b, int):
        if b == 0:
            return a
        if a.op == "cat":
            return _by_pieces(a, b, bit_or)
    elif a.op == "cat" and b.op == "cat":
        joined = _disjoint(a, b)
        if joined is not None:
            return joined
    return Term("or", (a, b), size)


def bit_xor(a: Value, b: Value, size: int) -> Value:
    """The bits of one alone."""
    if isinstance(a, int):
        if isinstance(b, int):
            return a ^ b
        a, b = b, a
    if isinstance(b, int):
        if b == 0:
            return a
        if b == mask(size):
            return invert(a, size)
        if a.op == "cat":
            return _by_pieces(a, b, bit_xor)
    return Term("xor", (a, b), size)


def shift_left(a: Value, b: Value, size: int) -> Value:
    """The value times 2^b."""
    if isinstance(b, int):
        if isinstance(a, int):
            return a << b & mask(size) if b < 8 * size else 0
        if b >= 8 * size:
            return 0
        if b % 8 == 0:
            return join([(0, b // 8), (cut(a, 0, size - b // 8), size - b // 8)]) if b else a
        return Term("*", (1 << b, a), size)
    return Term("shl", (a, b), size)


def shift_right(a: Value, b: Value, size: int) -> Value:
    """The unsigned value divided by 2^b."""
    if isinstance(b, int):
        if isinstance(a, int):
            return a >> b
        if b >= 8 * size:
            return 0
        if b % 8 == 0:
            return join([(cut(a, b // 8, size - b // 8), size - b // 8), (0, b // 8)]) if b else a
    return Term("shr", (a, b), size)


def shift_signed(a: Value, b: Value, size: int) -> Value:
    """The signed value divided by 2^b, rounded down."""
    if isinstance(b, int):
        b = min(b, 8 * size - 1)
        if isinstance(a, int):
            return signed(a, size) >> b & mask(size)
        if b == 0:
            return a
        if b % 8 == 0:
            return extend_signed(cut(a, b // 8, size - b // 8), size - b // 8, size)
    return Term("sar", (a, b), size)


def extend(a: Value, narrow: int, size: int) -> Value:
    """The unsigned value in `size` bytes."""
    if isinstance(a, int):
        return a
    return join([(a, narrow), (0, size - narrow)])


def extend_signed(a: Value, narrow: int, size: int) -> Value:
    """The signed value in `size` bytes."""
    if isinstance(a, int):
        return signed(a, narrow) & mask(size)
    if a.op == "sext":
        return Term("sext", a.args, size)
    if a.op == "cat" and isinstance(a.args[-1][0], int) and not a.args[-1][0] >> (8 * a.args[-1][1] - 1):
        return extend(a, narrow, size)
    return Term("sext", (a,), size)


def condition_not(a: Value) -> Value:
    """The other truth value."""
    if isinstance(a, int):
        return 0 if a else 1
    return a.args[0] if a.op == "not" else Term("not", (a,), 1)


def saturated(a: Value, size: int, low: int, high: int) -> Value:
    """A signed value within limits (SSAT and USAT)."""
    if isinstance(a, int):
        return min(max(signed(a, size), low), high) & mask(size)
    return Term("sat", (a, low, high), size)


Fold = Callable[[int, int, int], int]
"""Two numbers of so many bytes, and what comes of them."""


def _divided(a: int, b: int, size: int) -> int:
    x, y = signed(a, size), signed(b, size)
    if y == 0:
        return mask(size)
    quotient = abs(x) // abs(y)
    return (quotient if (x < 0) == (y < 0) else -quotient) & mask(size)


FOLDS: Mapping[str, Fold] = {
    "eq": lambda a, b, n: int(a == b), "ne": lambda a, b, n: int(a != b),
    "ult": lambda a, b, n: int(a < b), "ule": lambda a, b, n: int(a <= b),
    "slt": lambda a, b, n: int(signed(a, n) < signed(b, n)), "sle": lambda a, b, n: int(signed(a, n) <= signed(b, n)),
    "carry": lambda a, b, n: int(a + b > mask(n)),
    "scarry": lambda a, b, n: int(not -(1 << 8 * n - 1) <= signed(a, n) + signed(b, n) < 1 << 8 * n - 1),
    "sborrow": lambda a, b, n: int(not -(1 << 8 * n - 1) <= signed(a, n) - signed(b, n) < 1 << 8 * n - 1),
    "band": lambda a, b, n: a & b, "bor": lambda a, b, n: a | b, "bxor": lambda a, b, n: a ^ b,
    "udiv": lambda a, b, n: a // b if b else mask(n), "urem": lambda a, b, n: a % b if b else a,
    "sdiv": _divided,
    "srem": lambda a, b, n: (signed(a, n) - signed(_divided(a, b, n), n) * signed(b, n)) & mask(n) if b else a,
}  # fmt: skip
"""Operations that are folded on numbers and else stay as they are; `n` is the size of the operands."""


def folded(op: str, a: Value, b: Value, narrow: int, size: int) -> Value:
    """One of `FOLDS` on operands of `narrow` bytes, its result in `size` bytes."""
    if isinstance(a, int) and isinstance(b, int):
        return FOLDS[op](a, b, narrow)
    if op in ("band", "bor") and (isinstance(a, int) or isinstance(b, int)):
        number, other = (a, b) if isinstance(a, int) else (b, a)
        neutral = 1 if op == "band" else 0
        return other if number == neutral else 1 - neutral
    return Term(op, (a, b, narrow), size)
