"""Terms, linear forms and rules against plain integers, on drawn values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest
from tilewright.ops.requantize import Requantisation
from tilewright.prove import terms
from tilewright.prove.book import Book
from tilewright.prove.compare import Undecided
from tilewright.prove.expected import Expected, Largest, Requantised
from tilewright.prove.function import Byte
from tilewright.prove.linear import Collector
from tilewright.prove.solver import solve
from tilewright.prove.terms import Value

BITS = [terms.bit_and, terms.bit_or, terms.bit_xor, terms.add, terms.subtract, terms.multiply]
SHIFTS = [terms.shift_left, terms.shift_right, terms.shift_signed]
FOLDED = [*terms.FOLDS]
Operation = Callable[[Value, Value], Value]


def operations(draw: np.random.Generator) -> Operation:
    """One operation on words of four bytes whose result is one."""
    kind = int(draw.integers(6))
    if kind == 0:
        chosen = BITS[int(draw.integers(len(BITS)))]
        return lambda a, b: chosen(a, b, 4)
    if kind == 1:
        shift, bits = SHIFTS[int(draw.integers(3))], int(draw.integers(1, 32))
        return lambda a, b: shift(a, bits, 4)
    if kind == 2:
        op = FOLDED[int(draw.integers(len(FOLDED)))]
        if op in ("band", "bor", "bxor"):
            return lambda a, b: terms.add(a, b, 4)
        size = 4 if op.endswith(("div", "rem")) else 1
        if size == 4:
            return lambda a, b: terms.folded(op, a, terms.bit_or(b, 1, 4), 4, 4)
        return lambda a, b: terms.choose(terms.folded(op, a, b, 4, 1), a, b, 4)
    if kind == 3:
        start, size = int(draw.integers(3)), int(draw.integers(1, 3))
        extended = terms.extend if draw.integers(2) else terms.extend_signed
        return lambda a, b: extended(terms.cut(a, start, size), size, 4)
    if kind == 4:
        constant = int(draw.choice([0xFF, 0xFF00, 0x00FF00FF, 0x80, 0x10000, 3, 0xFFFFFFFF]))
        chosen = BITS[int(draw.integers(len(BITS)))]
        return lambda a, b: chosen(a, constant, 4)
    return lambda a, b: terms.saturated(terms.join([(terms.cut(a, 0, 2), 2), (terms.cut(b, 2, 2), 2)]), 4, -300, 300)


def computed(made: Sequence[tuple[Operation, int, int]], start: Sequence[Value]) -> Value:
    values = list(start)
    for operation, a, b in made:
        values.append(operation(values[a], values[b]))
    return values[-1]


@pytest.mark.parametrize("seed", range(4))
def test_terms_are_what_numbers_give(seed: int) -> None:
    draw = np.random.default_rng(seed)
    for _ in range(60):
        book = Book()
        codes = [book.fresh() for _ in range(3)]
        made = [(operations(draw), int(draw.integers(3 + i)), int(draw.integers(3 + i))) for i in range(6)]
        words = [terms.extend_signed(terms.variable(code), 1, 4) for code in codes]
        result = computed(made, words)
        drawn = draw.integers(-128, 127, (3, 5), endpoint=True)
        plain = [computed(made, [int(value) & 0xFFFFFFFF for value in drawn[:, i]]) for i in range(5)]
        if isinstance(result, int):
            assert plain == [result] * 5
            continue
        function = book.shapes.word(result, book.codes)
        sums = [sum((factor * drawn[code] for code, factor in leaf), np.zeros(5, np.int64)) for leaf in function.leaves]
        found = np.broadcast_to(book.shapes.values(function.shape, sums), 5)
        assert found.tolist() == plain


@pytest.mark.parametrize(("start", "size"), [(0, 2), (1, 2), (2, 2), (0, 3), (1, 3)])
@pytest.mark.parametrize("constant", [0, 83, 83 << 16, 0xFFFF0000])
def test_halves_of_packed_codes_are_linear_where_nothing_is_carried(constant: int, start: int, size: int) -> None:
    """Two codes, or a code and a constant, in the halves of a word; and a code that is added to the lower one."""
    book = Book()
    first, second = (terms.extend_signed(terms.variable(book.fresh()), 1, 4) for _ in range(2))
    low, high = terms.bit_and(first, 0xFFFF, 4), terms.shift_left(second, 16, 4)
    codes = np.asarray([(a, b) for a in (-128, -1, 0, 127) for b in (-128, -1, 0, 127)])
    for alone, word, drawn in (
        (0, terms.add(low, constant, 4), codes[:, 0] % 65536 + constant),
        (1, terms.add(high, constant, 4), codes[:, 1] * 65536 + constant),
        (2, terms.add(terms.add(high, first, 4), constant, 4), codes[:, 1] * 65536 + codes[:, 0] + constant),
    ):
        half = terms.extend_signed(terms.cut(word, start, size), size, 4)
        unit = 1 << 8 * size
        wanted = ((((drawn >> 8 * start) + unit // 2) % unit) - unit // 2) % (1 << 32)
        if isinstance(half, int):
            assert (wanted == half).all()
            continue
        function = book.shapes.word(half, book.codes)
        sums = [
            sum((factor * codes[:, code] for code, factor in leaf), np.zeros(16, np.int64)) for leaf in function.leaves
        ]
        assert (np.broadcast_to(book.shapes.values(function.shape, sums), 16) == wanted).all()
        if size == 2 and start == 2 * alone:
            assert all(isinstance(atom, int) for atom in Collector(book.codes).linear(half).factors)


@pytest.mark.parametrize("shift", [terms.shift_right, terms.shift_signed])
def test_a_bit_of_the_upper_half_forgets_the_lower(shift: Callable[[Value, Value, int], Value]) -> None:
    """A mean's halves are rounded so; what is added to the lower half with a sign does reach the upper one."""
    book = Book()
    first, second = (terms.extend_signed(terms.variable(book.fresh()), 1, 4) for _ in range(2))
    low, high = terms.bit_and(first, 0xFFFF, 4), terms.shift_left(second, 16, 4)
    codes = np.asarray([(a, b) for a in (-128, -1, 0, 127) for b in (-128, -64, -1, 0, 64, 127)])
    for lower, plain in ((low, codes[:, 0] % 65536), (first, codes[:, 0])):
        bit = shift(terms.shift_left(terms.add(lower, high, 4), 9, 4), 31, 4)
        assert isinstance(bit, terms.Term)
        function = book.shapes.word(bit, book.codes)
        words = np.asarray((plain + codes[:, 1] * 65536) % (1 << 32) << 9, np.uint64).astype(np.uint32)
        wanted = words >> 31 if shift is terms.shift_right else words.view(np.int32) >> 31
        sums = [sum((factor * codes[:, c] for c, factor in leaf), np.zeros(24, np.int64)) for leaf in function.leaves]
        stored = np.broadcast_to(book.shapes.values(function.shape, sums), 24)
        assert (stored == wanted.astype(np.int64) % (1 << 32)).all()
        assert ({c for leaf in function.leaves for c, _ in leaf} == {1}) == (lower is low)


@pytest.mark.parametrize(
    "ratio", [Fraction(float(np.float32(0.0371))), Fraction(1, 64), Fraction(3, 8), Fraction(5, 7)]
)
def test_exact_rounding_is_that_of_the_semantics(ratio: Fraction) -> None:
    sums = np.arange(-3000, 3000, dtype=np.int64)
    rule = Requantised(1, 1, ratio, -5, -128, 127, constant=17)
    assert np.array_equal(rule.codes([sums]), Requantisation((ratio,), -5, -128, 127).apply(sums + 17))


def test_the_solver_tells_a_largest_code_from_one_that_is_not() -> None:
    book = Book()
    codes = [book.fresh() for _ in range(3)]
    words = [terms.extend_signed(terms.variable(code), 1, 4) for code in codes]

    def largest(of: Sequence[Value], op: str) -> Byte:
        result = of[0]
        for word in of[1:]:
            result = terms.choose(terms.folded(op, result, word, 4, 1), word, result, 4)
        return book.byte(terms.cut(result, 0, 1))

    expected = Expected(tuple(((code, 1),) for code in codes), Largest(3, -128, 127))
    assert solve(book, largest(words, "slt"), expected) is None
    wrong = solve(book, largest(words, "ult"), expected)
    assert not isinstance(wrong, Undecided | None)
    assert wrong.stored != wrong.meant
    assert isinstance(solve(book, largest(words, "sle"), expected, rlimit=1), Undecided)
