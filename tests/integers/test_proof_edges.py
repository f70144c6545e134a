"""Requantisations at the edges: the last sum of the bounds, words of 32 bits, products beyond 64."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from tilewright.ops.quantised.proof import Bounds, prove
from tilewright.ops.requantize import Requantisation

LARGEST = (1 << 31) - 1


def bounds(lowest: int, highest: int) -> Bounds:
    return Bounds(np.asarray([lowest]), np.asarray([highest]))


@pytest.mark.parametrize("lowest", [-5, -4, 0, 1, 2])
def test_the_first_and_the_last_sum_count(lowest: int) -> None:
    """With ties at every second sum a form serves only some ends."""
    exact = Requantisation((Fraction(1, 2),), 0, -128, 127)
    forms = 0
    for highest in range(lowest, lowest + 12):
        fixed = prove(exact, bounds(lowest, highest)).fixed
        if fixed is not None:
            forms += 1
            sums = np.arange(lowest, highest + 1)
            np.testing.assert_array_equal(fixed.apply(sums), exact.apply(sums))
    assert forms


@pytest.mark.parametrize("exponent", [20, 23, 26, 30])
@pytest.mark.parametrize("reach", [LARGEST, 1 << 20])
def test_the_word_of_a_form_has_32_bits(exponent: int, reach: int) -> None:
    exact = Requantisation((Fraction(8388607, 1 << (23 + exponent)),), 11, -128, 127)
    fixed = prove(exact, bounds(-reach, reach)).fixed
    assert fixed is not None
    sums = np.asarray([-reach, reach])
    assert int(np.abs(sums << fixed.pre_shift).max()) <= LARGEST
    words = (((sums << fixed.pre_shift) * int(fixed.multiplier[0])) >> 32) + int(fixed.addend[0])
    assert int(np.abs(words).max()) <= LARGEST
    np.testing.assert_array_equal(fixed.apply(sums), exact.apply(sums))


def test_sums_beyond_32_bits_have_no_form() -> None:
    exact = Requantisation((Fraction(8388607, 1 << 53),), 0, -128, 127)
    proof = prove(exact, bounds(-LARGEST - 1, LARGEST - 1))
    assert (proof.fixed, proof.why) == (None, "the accumulator needs more than 32 bits")
    assert prove(exact, bounds(-LARGEST, LARGEST)).fixed is not None


@pytest.mark.parametrize("bits", range(14, 24))
def test_products_beyond_64_bits_stay_exact(bits: int) -> None:
    """NumPy's integers have 64: Python's own take over in time."""
    exact = Requantisation((Fraction((1 << bits) - 1, 1 << 34),), 0, -32768, 32767, (5,))
    sums = [LARGEST, LARGEST - 1, -LARGEST, 1 << 30, 3]
    real = [(Fraction(value) + Fraction(5, 1 << 16)) * exact.multipliers[0] for value in sums]
    wanted = [min(max(round(value), -32768), 32767) for value in real]
    assert exact.apply(np.asarray(sums)).tolist() == wanted
