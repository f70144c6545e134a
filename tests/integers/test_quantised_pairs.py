"""Add, Sub and Mul in integers against float32 on every pair of codes; Softmax against rational arithmetic."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import exp, inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tilewright.errors import UnsupportedNode
from tilewright.model import Array, Clamp, DType, Node, Quantisation, Tensor
from tilewright.ops.operator import Call, Operator
from tilewright.ops.quantised.add import PairForm, pair_form, pair_width
from tilewright.ops.quantised.near import near_form
from tilewright.ops.quantised.settled import settled_form
from tilewright.ops.quantised.softmax import softmax_form
from tilewright.ops.registry import call_of, find


def operator(name: str) -> Operator:
    found = find(name)
    assert found is not None
    return found


def tensor(name: str, scale: float, zero: int, shape: tuple[int, ...], dtype: DType = DType.I8) -> Tensor:
    return Tensor(name, dtype, shape, Quantisation((float(np.float32(scale)),), (zero,)))


def pair_call(op: str, scales: tuple[float, float, float], zeros: tuple[int, int, int], clamp: Clamp | None) -> Call:
    a, b, y = (tensor(n, s, z, shape) for n, s, z, shape in zip("aby", scales, zeros, SHAPES, strict=True))
    return call_of(Node("pair", op, ("a", "b"), ("y",), {}, "", clamp), (a, b), (y,))


SHAPES = ((256, 1), (1, 256), (256, 256))
CODES = np.arange(-128, 128).astype(np.int8)


def float32_codes(call: Call) -> Array:
    """The ONNX arithmetic written out once more, operation by operation."""
    (a, b), y = call.inputs, call.outputs[0]
    assert a is not None and b is not None and a.quantisation and b.quantisation and y.quantisation  # noqa: PT018
    left, right = (
        (CODES.astype(np.float32) - np.float32(m.zero_point[0])) * np.float32(m.scale[0])
        for m in (a.quantisation, b.quantisation)
    )
    joined = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply}[call.node.op](left[:, None], right[None, :])
    if call.node.clamp is not None:
        joined = np.clip(joined, np.float32(call.node.clamp.low), np.float32(call.node.clamp.high))
    steps = np.rint(joined / np.float32(y.quantisation.scale[0])) + y.quantisation.zero_point[0]
    return np.asarray(np.clip(steps, -128, 127))


def test_codes_of_products_beyond_float32_have_no_form() -> None:
    """A product of two codes may be infinite in float32: no factors give its codes, and the search for them ends."""
    call = pair_call("Mul", (3.629973317672239e18, 1.4360476729045156e18, 5.93108299452254e36), (19, 114, -110), None)
    with np.errstate(over="ignore"):
        expected = float32_codes(call)
    assert np.array_equal(operator("Mul").evaluate(call, [CODES[:, None], CODES[None, :]])[0], expected)
    assert pair_form(operator("Mul"), call) is None


scales = st.floats(0.002, 0.5)
zeros = st.integers(-128, 127)


@settings(max_examples=40)
@given(
    st.sampled_from(["Add", "Sub", "Mul"]), scales, scales, st.floats(0.3, 3), st.tuples(zeros, zeros, zeros),
    st.sampled_from([None, Clamp(0, inf), Clamp(-1, 1)]),
)  # fmt: skip
def test_every_pair_of_codes(
    op: str, left: float, right: float, ratio: float, zero_points: tuple[int, int, int], clamp: Clamp | None
) -> None:
    target = ratio * (left * right * 100 if op == "Mul" else max(left, right))
    call = pair_call(op, (left, right, target), zero_points, clamp)
    meaning = operator(op).evaluate(call, [CODES[:, None], CODES[None, :]])[0]
    assert np.array_equal(meaning, float32_codes(call))
    near = near_form(operator(op), call)
    if near is not None:
        assert np.array_equal(near.apply(CODES[:, None], CODES[None, :]), meaning)
        assert near.form.bits == 64 or _widest_word(near.form) < 2**31
    form = pair_form(operator(op), call)
    if form is None:
        assert pair_width(form) is DType.F32
        return
    assert np.array_equal(form.apply(CODES[:, None], CODES[None, :]), meaning)
    if form.bits == 32:
        assert _widest_word(form) < 2**31


def _widest_word(form: PairForm) -> int:
    """The largest intermediate of the C expression, in whichever order it is summed."""
    if form.product:
        spans = [max(abs(-128 - z), abs(127 - z)) for z in form.zero_points]
        return spans[0] * spans[1] * abs(form.left) + abs(form.addend)
    return 128 * (abs(form.left) + abs(form.right)) + abs(form.addend)


def test_scales_with_ties_everywhere_settle_them_by_the_codes() -> None:
    call = pair_call("Add", (0.031, 0.047, 0.06), (0, 0, 0), None)
    assert pair_form(operator("Add"), call) is None
    assert settled_form(call) is not None


@pytest.mark.parametrize("zero", [4, -7])
@pytest.mark.parametrize(("op", "target"), [("Add", 1.0), ("Sub", 2.0), ("Mul", 1.0)])
def test_ties_of_powers_of_two_go_to_the_even_result(op: str, target: float, zero: int) -> None:
    call = pair_call(op, (0.25, 0.5, target), (3, -2, zero), None)
    form = pair_form(operator(op), call)
    assert form is not None
    assert form.ties == ("odd" if zero % 2 else "even")
    assert _widest_word(form) + (2 << form.shift) < 2**31
    meaning = operator(op).evaluate(call, [CODES[:, None], CODES[None, :]])[0]
    assert np.array_equal(form.apply(CODES[:, None], CODES[None, :]), meaning)
    assert np.array_equal(meaning, float32_codes(call))
    other = replace(form, ties="even" if zero % 2 else "odd")
    assert not np.array_equal(other.apply(CODES[:, None], CODES[None, :]), meaning)


def test_codes_of_sixteen_bits_have_a_form_while_floats_hold_their_sums() -> None:
    def wide(scales: tuple[float, float, float]) -> Call:
        call = pair_call("Add", scales, (0, 0, 0), None)
        a, b, y = (replace(t, dtype=DType.I16) for t in (call.tensor(0), call.tensor(1), call.outputs[0]))
        return replace(call, inputs=(a, b), outputs=(y,))

    assert pair_form(operator("Add"), wide((0.25, 0.5, 1.0))) is not None
    assert pair_form(operator("Add"), wide((2.0**-11, 1.0, 2.0))) is None
    assert pair_form(operator("Add"), wide((0.3, 0.6, 1.2))) is None


def test_a_wrong_factor_is_seen_by_the_comparison_of_all_pairs() -> None:
    call = pair_call("Add", (0.0312345, 0.0471234, 0.0612345), (3, -7, 11), None)
    form = pair_form(operator("Add"), call)
    assert form is not None
    meaning = operator("Add").evaluate(call, [CODES[:, None], CODES[None, :]])[0]
    for wrong in (replace(form, left=form.left + (form.left >> 9)), replace(form, addend=form.addend + (1 << 14))):
        assert not np.array_equal(wrong.apply(CODES[:, None], CODES[None, :]), meaning)


def softmax_call(length: int, scale: float, target: float, zero: int = -128, dtype: DType = DType.I8) -> Call:
    x, y = tensor("x", scale, 5, (3, length), dtype), tensor("y", target, zero, (3, length))
    return call_of(Node("softmax", "Softmax", ("x",), ("y",), {"axis": -1}), (x,), (y,))


@settings(max_examples=60)
@given(
    st.lists(st.integers(-128, 127), min_size=1, max_size=40), st.floats(0.001, 1),
    st.sampled_from([2.0**-8, 1 / 255, 1 / 127, 0.01]),
)  # fmt: skip
def test_softmax_is_the_real_quotient_but_next_to_ties(codes: list[int], scale: float, target: float) -> None:
    call = softmax_call(len(codes), scale, target)
    rows = np.tile(np.asarray(codes, np.int8), (3, 1))
    found = operator("Softmax").evaluate(call, [rows])[0][0]
    step = Fraction(float(np.float32(target)))
    powers = [Fraction(exp((code - max(codes)) * float(np.float32(scale)))) for code in codes]
    for code, power in zip(found.tolist(), powers, strict=True):
        exact = power / sum(powers) / step - 128
        rounded = min(max(round(exact), -128), 127)
        tie = abs(exact - Fraction(int(exact // 1)) - Fraction(1, 2))
        assert code == rounded or (abs(code - rounded) == 1 and tie < Fraction(1, 1 << 16))


@pytest.mark.parametrize("length", [1, 2, 1000, 60000])
def test_softmax_fits_into_64_bits(length: int) -> None:
    form = softmax_form(softmax_call(length, 0.1, 2.0**-8))
    largest = int(form.exponentials.max())
    assert largest * form.factor < 2**63
    assert (length * largest) << form.fraction_bits < 2**62
    assert form.exponentials[0] == 2**30


def test_softmax_refuses_sixteen_bits_and_says_what_to_do() -> None:
    with pytest.raises(UnsupportedNode, match="table of 65536 exponentials; quantise its input to 8 bits"):
        softmax_form(softmax_call(4, 0.1, 2.0**-8, dtype=DType.I16))
