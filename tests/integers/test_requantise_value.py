"""A requantisation as a value: what its NumPy computes is the definition, and its C is one expression of it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tilewright.model import DType
from tilewright.numerics import (
    Bounds,
    Channelwise,
    MultiplyHigh,
    Requantisation,
    Requantiser,
    RoundedDivision,
    prove,
    requantise,
    split_multiply,
)

CLAMPED = Requantisation((Fraction(1, 1000), Fraction(1, 3000)), 5, -100, 127)
TIES = Requantisation((Fraction(1, 2), Fraction(3, 8)), 0, -128, 127, (0, 12345))
SIXTHS = Requantisation((Fraction(5, 6),), -3, -32768, 32767)


def value(exact: Requantisation, reach: int = 1000) -> Requantiser:
    ends = np.full(exact.channels, reach)
    return requantise(prove(exact, Bounds(-ends, ends)))


def numbers(*each: tuple[int, ...]) -> MultiplyHigh:
    """Multiplier, addend and shift of one or several channels."""
    names = (("multiplier", DType.I32), ("addend", DType.I32), ("shift", DType.I8))
    parts = [Channelwise(*name, values) for name, values in zip(names, each, strict=True)]
    return MultiplyHigh(-128, 127, 2, *parts)


@settings(max_examples=60)
@given(
    st.lists(st.fractions(Fraction(1, 5000), Fraction(1), max_denominator=1 << 24), min_size=1, max_size=4),
    st.integers(-128, 127),
    st.sampled_from([(-128, 127), (0, 127), (-32768, 32767)]),
)  # fmt: skip
def test_either_form_computes_the_definition(
    multipliers: list[Fraction], zero_point: int, limits: tuple[int, int]
) -> None:
    exact = Requantisation(tuple(multipliers), zero_point, *limits)
    sums = np.tile(np.arange(-1000, 1001)[:, None], (1, len(multipliers)))
    assert np.array_equal(value(exact).apply(sums), exact.apply(sums))
    assert np.array_equal(value(exact).apply(sums.T, axis=0), exact.apply(sums.T, axis=0))


@settings(max_examples=60)
@given(
    st.lists(st.fractions(Fraction(1, 5000), Fraction(1, 3), max_denominator=1 << 24), min_size=1, max_size=4),
    st.integers(-128, 127),
    st.integers(1, 4000),
)
def test_two_short_products_compute_the_definition_within_32_bits(
    multipliers: list[Fraction], zero_point: int, reach: int
) -> None:
    exact = Requantisation(tuple(multipliers), zero_point, -128, 127)
    ends = np.full(exact.channels, reach)
    form = split_multiply(prove(exact, Bounds(-ends, ends)))
    sums = np.tile(np.arange(-reach, reach + 1)[:, None], (1, len(multipliers)))
    if form is not None:
        assert np.array_equal(form.apply(sums), exact.apply(sums))
        parts = (sums * form.below.spread(exact.channels), sums * form.above.spread(exact.channels))
        words = (parts[0] >> form.bits) + parts[1]
        for held in (*parts, words, words + form.addend.spread(exact.channels)):
            assert -(1 << 31) <= int(held.min()) <= int(held.max()) < 1 << 31


def test_a_channel_whose_code_never_changes_limits_no_other() -> None:
    exact = Requantisation((Fraction(1, 1001), Fraction(1, 3001)), 5, -128, 127)
    bounds = Bounds(np.asarray([-60000, 1 << 30]), np.asarray([60000, (1 << 30) + 900]))
    form = split_multiply(prove(exact, bounds))
    assert form is not None
    sums = np.stack([np.arange(-60000, 60001), np.linspace(1 << 30, (1 << 30) + 900, 120001).astype(np.int64)], axis=1)
    assert np.array_equal(form.apply(sums), exact.apply(sums))
    assert form.c("acc", "o").startswith("tilewright_floor(tilewright_floor(acc * below[o], ")
    assert split_multiply(prove(TIES, Bounds(np.asarray([-1000]), np.asarray([1000])))) is None


def test_the_form_says_what_was_proved() -> None:
    assert isinstance(value(CLAMPED), MultiplyHigh)
    exact = value(TIES)
    assert isinstance(exact, RoundedDivision)
    assert exact.by_shift
    sixths = value(SIXTHS)
    assert isinstance(sixths, RoundedDivision)
    assert not sixths.by_shift
    assert (value(CLAMPED).low, value(CLAMPED).high) == (-100, 127)


def test_equal_channels_are_one_literal_and_others_an_array() -> None:
    form = numbers((7,), (1, -2), (3,))
    assert form.c("acc", "o") == "tilewright_floor(tilewright_upper((int64_t)(acc * 4) * 7) + addend[o], 3u)"
    assert [(c.name, c.dtype, c.values.tolist()) for c in form.constants] == [("addend", DType.I32, [1, -2])]
    assert form.parameters == "const int32_t *addend, "
    assert form.arguments("first") == "addend + first, "


def test_a_kernel_may_hold_the_numbers_elsewhere() -> None:
    form = numbers((7,), (1, -2), (3,))
    held = {"multiplier": "w[n]", "addend": "addend"}
    assert form.c("acc", held=held) == "tilewright_floor(tilewright_upper((int64_t)(acc * 4) * w[n]) + addend, 3u)"
    shared = held | {"shift": "shifts[n]"}
    assert form.c("acc", held=shared) == "(tilewright_upper((int64_t)(acc * 4) * w[n]) + addend) >> shifts[n]"


def test_the_exact_sequence_prints_its_quotient() -> None:
    assert value(TIES).c("sum[o]", "o") == (
        "tilewright_divide_half_even(((int64_t)(sum[o]) * 65536 + residue[o]) * numerator[o], exponent[o])"
    )
    assert value(SIXTHS).c("sum") == "tilewright_quotient_half_even((int64_t)(sum) * INT64_C(5), INT64_C(6)) - 3"
    assert [c.name for c in value(TIES).constants] == ["numerator", "exponent", "residue"]


def test_a_number_spreads_over_the_channels() -> None:
    assert Channelwise("shift", DType.I8, (3,)).spread(4).tolist() == [3, 3, 3, 3]
    assert Channelwise("shift", DType.I8, (3, 4)).spread(2).tolist() == [3, 4]
