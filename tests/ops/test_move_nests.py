"""Operators that move data, reduce or resize: their index maps mean what they compute, over random calls."""

from __future__ import annotations

import random

import numpy as np
import pytest
from ops.building import Build, call, evaluated, named, nests, operands
from ops.moving import REAL, WHOLE, ints
from tilewright.model import DType
from tilewright.ops.index.reference import evaluate_chain


def check(build: Build, seed: int, tolerance: float) -> int:
    made = build(random.Random(seed))
    arrays = operands(made, seed, 0 if made.node.op == "Cast" else -8)
    expected = evaluated(made, arrays)
    chain = nests(made)
    if chain:
        got = evaluate_chain(chain, named(made, arrays))
        for name, value in expected.items():
            assert got[name].shape == value.shape, str(chain)
            np.testing.assert_allclose(got[name], value, rtol=tolerance, atol=tolerance, err_msg=str(chain[-1]))
    return len(chain)


@pytest.mark.parametrize("family", WHOLE)
def test_index_maps_mean_exactly_what_is_computed(family: str) -> None:
    assert sum(check(WHOLE[family], seed, 0.0) for seed in range(25)) > 15


@pytest.mark.parametrize("family", REAL)
def test_index_maps_of_real_sums_are_close_to_what_is_computed(family: str) -> None:
    assert sum(check(REAL[family], seed, 2e-5) for seed in range(20)) > 10


def test_a_reflected_pad_prints_its_table() -> None:
    (nest,) = nests(call("Pad", (2, 3), ints((0, 1, 0, 1)), mode="reflect"))
    assert str(nest) == "y[i0, i1] = x[i0, source1[i1]]"


def test_a_cropping_pad_needs_no_table() -> None:
    (nest,) = nests(call("Pad", (4, 3), ints((-1, 2, -1, 0))))
    assert str(nest) == "y[i0, i1] = x[i0 + 1, i1 - 2]; y = pad_value(y, 0)"


def test_a_linear_resize_is_one_nest_per_axis() -> None:
    chain = nests(call("Resize", (1, 1, 4, 6), None, None, ints((1, 1, 8, 3)), mode="linear"))
    assert [str(nest) for nest in chain] == [
        "resized2[i0, i1, i2, i3] += x[i0, i1, first2[i2] + k, i3] * weight2[i2, k]",
        "y[i0, i1, i2, i3] += resized2[i0, i1, i2, first3[i3] + k] * weight3[i3, k]",
    ]


def test_indices_of_the_run_time_have_no_index_map() -> None:
    assert nests(call("Gather", (3, 4), (2,), dtype=DType.I64)) == ()


def test_extrapolation_has_no_index_map() -> None:
    roi = np.asarray([0, 0, -0.5, 0, 1, 1, 1.5, 1], np.float32)
    made = call(
        "Resize", (1, 1, 4, 4), roi, None, ints((1, 1, 8, 8)), coordinate_transformation_mode="tf_crop_and_resize"
    )
    assert nests(made) == ()
