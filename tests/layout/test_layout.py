"""Layouts against NumPy: packing, views, strides, canonical form."""

from __future__ import annotations

from itertools import permutations
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tilewright.layout import Layout

SHAPES = st.lists(st.integers(1, 5), min_size=1, max_size=4).map(tuple)


@st.composite
def shape_and_order(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, ...]]:
    shape = draw(SHAPES)
    return shape, tuple(draw(st.permutations(range(len(shape)))))


@given(shape_and_order())
@settings(max_examples=200)
def test_pack_stores_the_axes_in_order_and_unpack_brings_them_back(
    case: tuple[tuple[int, ...], tuple[int, ...]],
) -> None:
    shape, order = case
    array = np.arange(prod(shape)).reshape(shape)
    layout = Layout.of_axes(shape, order)
    packed = layout.pack(array)
    assert packed.tolist() == array.transpose(order).reshape(-1).tolist()
    assert (layout.unpack(packed, shape) == array).all()


@given(shape_and_order())
@settings(max_examples=200)
def test_axis_strides_address_every_element(case: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    shape, order = case
    array = np.arange(prod(shape)).reshape(shape)
    layout = Layout.of_axes(shape, order)
    strides = layout.axis_strides(shape)
    assert strides is not None
    packed = layout.pack(array)
    for index in np.ndindex(*shape):
        assert packed[sum(i * s for i, s in zip(index, strides, strict=True))] == array[index]


@given(shape_and_order(), st.randoms(use_true_random=False))
@settings(max_examples=200)
def test_a_transpose_is_the_same_bytes_under_another_layout(
    case: tuple[tuple[int, ...], tuple[int, ...]], random: np.random.Generator
) -> None:
    shape, order = case
    perm = list(range(len(shape)))
    random.shuffle(perm)
    array = np.arange(prod(shape)).reshape(shape)
    layout = Layout.of_axes(shape, order)
    view = layout.transpose(shape, tuple(perm))
    assert view is not None
    turned = array.transpose(perm)
    assert view.pack(turned).tolist() == layout.pack(array).tolist()


@pytest.mark.parametrize("perm", list(permutations(range(3))))
def test_equal_memory_orders_are_equal_values(perm: tuple[int, ...]) -> None:
    shape = (4, 1, 6)
    kept = [axis for axis in perm if shape[axis] > 1]
    same = kept == sorted(kept)
    assert (Layout.of_axes(shape, perm) == Layout.default(shape)) is same


def test_a_reshape_keeps_the_layout_because_only_the_flat_index_counts() -> None:
    layout = Layout.channels_last((1, 3, 4, 5))
    array = np.arange(60).reshape(1, 3, 4, 5)
    assert layout.pack(array.reshape(3, 20)).tolist() == layout.pack(array).tolist()


def test_an_axis_that_cuts_a_digit_has_no_stride() -> None:
    layout = Layout.channels_last((1, 4, 3, 1))
    assert layout.axis_strides((6, 2)) is None


def test_vectors_and_scalars_are_row_major() -> None:
    assert Layout.channels_last((7,)).is_default
    assert Layout.default(()).elements == 1
    assert str(Layout.channels_last((1, 2, 3, 3))) == "2x9 stored 1,0"
