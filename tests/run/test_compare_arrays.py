"""What counts as equal: integers exactly, floats within bounds, with the place of the first difference."""

from __future__ import annotations

import numpy as np
from tilewright.run.compare import Comparison, compare


def test_integers_are_compared_exactly() -> None:
    expected = np.array([[1, -128], [127, 4]], np.int8)
    assert compare(expected.copy(), expected) == Comparison(True, 0.0, 0, 0, 4)
    actual = np.array([[1, 127], [127, 5]], np.int8)
    assert compare(actual, expected) == Comparison(False, 255.0, 255, 2, 4, (0, 1))


def test_wide_integers_do_not_overflow() -> None:
    result = compare(np.array([2**63 - 1]), np.array([-(2**63)]))
    assert result.max_lsb_error == 2**64 - 1


def test_floats_have_bounds() -> None:
    expected = np.array([1.0, 100.0, 0.0], np.float32)
    assert compare(expected + np.float32(5e-5), expected).match
    assert compare(np.array([1.0, 100.009, 0.0], np.float32), expected).match
    result = compare(np.array([1.0, 100.0, 1e-3], np.float32), expected)
    assert (result.match, result.mismatches, result.first, result.max_lsb_error) == (False, 1, (2,), None)
    assert not compare(expected + np.float32(1e-6), expected, exact=True).match


def test_what_is_no_number_equals_only_itself() -> None:
    strange = np.array([np.nan, np.inf, -np.inf], np.float32)
    assert compare(strange, strange).match
    result = compare(np.array([0.0, -np.inf, np.nan], np.float32), strange)
    assert (result.mismatches, result.max_abs_error) == (3, np.inf)
    assert not compare(strange, np.zeros(3, np.float32)).match


def test_other_shapes_and_types_do_not_match() -> None:
    zeros = np.zeros((2, 3), np.float32)
    assert compare(np.zeros(6, np.float32), zeros).mismatches == 6
    assert not compare(np.zeros((2, 3), np.int32), zeros).match
    assert compare(np.zeros((0,), np.float32), np.zeros((0,), np.float32)).match


def test_half_floats_may_be_four_of_their_steps_apart() -> None:
    expected = np.array([0.25, 100.0, 0.0], np.float16)
    step = np.spacing(expected)
    assert compare(expected + 4 * step, expected, atol=0, rtol=0).match
    assert compare(expected + 5 * step, expected, atol=0, rtol=0).mismatches == 3
    assert compare(expected + 4 * step, expected, atol=0, rtol=0, exact=True).mismatches == 3
