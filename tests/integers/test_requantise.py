"""The exact requantisation against rational arithmetic, and the proof of the 32-bit form against brute force."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tilewright.model import DType, Quantisation
from tilewright.ops.quantised.proof import Bounds, prove, thresholds
from tilewright.ops.requantize import (
    Requantisation,
    code_of,
    dequantise,
    divide_half_even,
    float32_multipliers,
    quantise,
    requantise,
)


def rational(acc: int, form: Requantisation, channel: int = 0) -> int:
    """The definition, in Python's own rational numbers."""
    multiplier = form.multipliers[channel % len(form.multipliers)]
    residue = Fraction(form.residues[channel], 1 << 16) if form.residues else Fraction(0)
    return min(max(form.zero_point + round((acc + residue) * multiplier), form.low), form.high)


def bounds(lowest: int, highest: int, channels: int = 1) -> Bounds:
    return Bounds(np.full(channels, lowest, np.int64), np.full(channels, highest, np.int64))


float32s = st.floats(width=32, min_value=2.0**-24, max_value=2.0, allow_nan=False).map(Fraction)
# Few mantissa bits make ties frequent.
coarse = st.builds(lambda n, e: Fraction(n, 1 << e), st.integers(1, 31), st.integers(0, 12))


@given(st.integers(-(2**31), 2**31 - 1), st.one_of(float32s, coarse), st.integers(-128, 127))
def test_every_code_is_the_rational_one(acc: int, multiplier: Fraction, zero_point: int) -> None:
    form = Requantisation((multiplier,), zero_point, -128, 127)
    assert form.apply(np.array([acc]))[0] == rational(acc, form)
    assert requantise(np.array([acc]), multiplier, zero_point, -128, 127)[0] == rational(acc, form)


@given(
    st.integers(-(2**31), 2**31 - 1), st.floats(width=32, min_value=2.0**-140, max_value=2.0**120).map(Fraction),
    st.integers(1, 4096), st.integers(-(2**15), 2**15),
)  # fmt: skip
def test_extreme_multipliers_divisors_and_residues_stay_exact(
    acc: int, multiplier: Fraction, divisor: int, residue: int
) -> None:
    form = Requantisation((multiplier / divisor,), 3, -128, 127, (residue,))
    assert form.apply(np.array([acc]))[0] == rational(acc, form)


def test_a_half_goes_to_the_even_code() -> None:
    codes = requantise(np.array([-5, -3, -1, 1, 3, 5]), 0.5, 0, -128, 127)
    assert codes.tolist() == [-2, -2, 0, 0, 2, 2]


def test_channels_use_their_own_multiplier_along_their_axis() -> None:
    form = Requantisation((Fraction(1, 2), Fraction(1, 4)), 0, -128, 127)
    acc = np.array([[8, 8, 8], [8, 8, 8]])
    assert form.apply(acc, axis=0).tolist() == [[4, 4, 4], [2, 2, 2]]


def test_the_multiplier_is_rounded_to_float32_after_each_operation() -> None:
    sx, sw, sy = np.float32(0.1), np.float32(0.3), np.float32(0.7)
    assert float32_multipliers(0.1, (0.3,), 0.7) == (Fraction(float(sx * sw / sy)),)
    assert float32_multipliers(0.1, (0.3,), 0.7)[0] != Fraction(float(sx)) * Fraction(float(sw)) / Fraction(float(sy))


def test_quantise_rounds_ties_to_even_and_saturates() -> None:
    form = Quantisation((0.5,), (10,))
    real = np.array([0.25, 0.75, -0.25, 1e9, -np.inf, np.inf, 1e30], np.float32)
    assert quantise(real, form, DType.I8).tolist() == [10, 12, 10, 127, -128, 127, 127]
    assert code_of(float("inf"), 0.5, 10, DType.U8) == 255
    assert code_of(-1.0, 0.5, 10, DType.U8) == 8


def test_dequantise_per_channel_follows_the_axis() -> None:
    form = Quantisation((0.5, 2.0), (0, 1), axis=1)
    assert dequantise(np.array([[4, 4]], np.int8), form).tolist() == [[2.0, 6.0]]


def test_divide_half_even_on_both_signs() -> None:
    assert divide_half_even(np.array([-6, -2, 2, 6, 10, 7]), 4).tolist() == [-2, 0, 0, 2, 2, 2]


@given(st.one_of(float32s, coarse), st.integers(-128, 127), st.integers(-(2**15), 2**15))
def test_thresholds_are_where_the_code_steps(multiplier: Fraction, zero_point: int, residue: int) -> None:
    form = Requantisation((multiplier,), zero_point, -128, 127, (residue,))
    for k, acc in enumerate(thresholds(form)[0].tolist()):
        assert rational(acc, form) >= form.low + 1 + k
        assert rational(acc - 1, form) < form.low + 1 + k


@settings(max_examples=150)
@given(
    st.one_of(float32s, coarse), st.integers(-128, 127), st.integers(-3000, 0), st.integers(0, 3000),
    st.sampled_from([(-128, 127), (0, 127), (-128, 4)]), st.one_of(st.just(()), st.tuples(st.integers(-32768, 32767))),
)  # fmt: skip
def test_a_proved_form_equals_the_exact_one_on_every_accumulator(
    multiplier: Fraction, zero_point: int, lowest: int, highest: int, limits: tuple[int, int], residues: tuple[int, ...]
) -> None:
    form = Requantisation((multiplier,), zero_point, *limits, residues)
    proof = prove(form, bounds(lowest, highest))
    if proof.fixed is None:
        assert proof.status == "exact_sequence"
        assert proof.why
        return
    acc = np.arange(lowest, highest + 1)
    assert np.array_equal(proof.fixed.apply(acc), form.apply(acc))
    word = ((acc << proof.fixed.pre_shift) * int(proof.fixed.multiplier[0]) >> 32) + int(proof.fixed.addend[0])
    assert np.abs(word).max() < 2**31


@settings(max_examples=60)
@given(st.lists(float32s.filter(lambda m: m < 1), min_size=1, max_size=8), st.integers(2**10, 2**24))
def test_one_shift_serves_all_channels_and_large_accumulators(multipliers: list[Fraction], reach: int) -> None:
    form = Requantisation(tuple(multipliers), -128, -128, 127)
    proof = prove(form, bounds(-reach, reach, len(multipliers)))
    if proof.fixed is None:
        return
    for channel in range(len(multipliers)):
        edges = thresholds(form)[min(channel, form.channels - 1)].astype(np.int64)
        acc = np.clip(np.concatenate([edges, edges - 1, [0, -reach, reach]]), -reach, reach)
        got = proof.fixed.apply(np.repeat(acc[:, None], len(multipliers), axis=1))[:, channel]
        assert np.array_equal(got, Requantisation((multipliers[channel],), -128, -128, 127).apply(acc))


def test_ties_on_both_sides_take_the_exact_sequence_and_say_why() -> None:
    proof = prove(Requantisation((Fraction(1, 2),), 0, -128, 127), bounds(-100, 100))
    assert proof.status == "exact_sequence"
    assert "ties" in proof.why
    # Bounds that reach no second tie leave a 32-bit form.
    assert prove(Requantisation((Fraction(1, 2),), 0, -128, 127), bounds(0, 2)).status == "proved"


@pytest.mark.parametrize("part", ["multiplier", "addend"])
def test_a_planted_fault_is_seen_at_the_thresholds(part: str) -> None:
    form = Requantisation((Fraction(float(np.float32(0.0123))),), -5, -128, 127)
    reach = bounds(-20000, 20000)
    fixed = prove(form, reach).fixed
    assert fixed is not None
    value = getattr(fixed, part)
    wrong = replace(fixed, **{part: value + (value >> 8)})
    acc = np.arange(-20000, 20001)
    assert np.array_equal(fixed.apply(acc), form.apply(acc))
    assert not np.array_equal(wrong.apply(acc), form.apply(acc))


@settings(max_examples=100)
@given(
    st.lists(float32s.filter(lambda m: 2**-22 < m < 2), min_size=1, max_size=12), st.integers(-32768, 32767),
    st.integers(2**8, 2**31 - 1), st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_codes_of_sixteen_bits_equal_the_exact_ones(
    multipliers: list[Fraction], zero_point: int, reach: int, seed: int
) -> None:
    """At random sums, at those near a half, and at the ends."""
    form = Requantisation(tuple(multipliers), zero_point, -32768, 32767)
    proof = prove(form, bounds(-reach, reach, len(multipliers)))
    assert (proof.fixed is None) == bool(proof.why)
    if proof.fixed is None:
        return
    codes = np.random.default_rng(seed).integers(-32768, 32768, 400)
    for channel, multiplier in enumerate(multipliers):
        halves = [int((int(code) - zero_point + Fraction(1, 2)) / multiplier) for code in codes]
        near = np.asarray(halves)[:, None] + np.arange(-2, 3)
        acc = np.clip(np.concatenate([near.reshape(-1), [-reach, 0, reach]]), -reach, reach)
        got = proof.fixed.apply(np.repeat(acc[:, None], len(multipliers), axis=1))[:, channel]
        assert np.array_equal(got, Requantisation((multiplier,), zero_point, -32768, 32767).apply(acc))
        word = (acc * int(proof.fixed.multiplier[channel]) >> 32) + int(proof.fixed.addend[channel])
        assert np.abs(word).max() < 2**31


def test_sixteen_bit_codes_have_one_shift_where_scales_are_near() -> None:
    generator = np.random.default_rng(3)
    multipliers = tuple(Fraction(float(m)) for m in (generator.uniform(1, 60, 40) * 2**-16).astype(np.float32))
    fixed = prove(Requantisation(multipliers, -32768, -32768, 32767), bounds(-(2**29), 2**29, 40)).fixed
    assert fixed is not None
    assert fixed.common_shift
    assert fixed.common_addend


def test_sixteen_bit_codes_whose_sums_meet_halves_stay_exact() -> None:
    """A multiplier that is a power of two, and a mean: the first has ties at both sides, the second none."""
    halves = Requantisation((Fraction(1, 1024),) * 9, 0, -32768, 32767)
    assert prove(halves, bounds(-511, 511)).fixed is not None
    assert "codes" in prove(halves, bounds(-512, 512)).why
    mean = Requantisation((Fraction(float(np.float32(1.013))) / 49,), 5, -32768, 32767)
    reach = 49 * 32768
    fixed = prove(mean, bounds(-reach, reach)).fixed
    assert fixed is not None
    acc = np.arange(-reach, reach)
    assert np.array_equal(fixed.apply(acc), mean.apply(acc))


def test_a_dead_channel_of_sixteen_bits_takes_the_shift_of_the_others() -> None:
    dead, alive = Fraction(float(np.float32(1e-17))), Fraction(float(np.float32(3e-4)))
    fixed = prove(Requantisation((dead, alive), 7, -32768, 32767), bounds(-(2**27), 2**27, 2)).fixed
    assert fixed is not None
    assert fixed.common_shift


def test_wide_accumulators_and_multipliers_of_zero_have_no_form() -> None:
    assert "32 bits" in prove(Requantisation((Fraction(1, 3),), 0, -128, 127), bounds(-(2**40), 9)).why
    assert "zero" in prove(Requantisation((Fraction(0),), 0, -128, 127), bounds(-9, 9)).why
