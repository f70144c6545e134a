"""Operators in fixed point against real arithmetic: within their declared errors, for all inputs where they are few."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest
from tilewright.conformance.draws_fixed import in_fixed_point
from tilewright.conformance.families import sketch_of
from tilewright.conformance.trials import Trial, trial
from tilewright.model import Array, DType, Node, Tensor
from tilewright.ops.fixed.errors import ERRORS, codes_next_to_ties, fixed_error
from tilewright.ops.fixed.meaning import FIXED
from tilewright.ops.fixed.tensors import bits_for, codes_of_reals, in_fixed, is_fixed, reals_of
from tilewright.ops.fixed.whole import high, inverse_root, mantissa, moved, reciprocal
from tilewright.ops.operator import Call
from tilewright.ops.registry import call_of, find


def test_reciprocals_at_the_ends_of_every_first_guess() -> None:
    buckets = np.arange(1 << 15, 1 << 16, dtype=np.int64) << 15
    for offset in (0, 1, 1 << 14, (1 << 15) - 1):
        value = buckets + offset
        found = reciprocal(value)
        assert np.abs(found * value.astype(np.float64) / 2.0**60 - 1).max() < 2**-28
        assert found.max() <= 1 << 30


def test_inverse_roots_at_the_ends_of_every_first_guess_and_between() -> None:
    ends = np.arange(8, 33, dtype=np.int64) << 27
    drawn = np.random.default_rng(1).integers(1 << 30, 1 << 32, 1 << 20)
    value = np.concatenate([ends[:-1], ends[1:] - 1, drawn])
    found = inverse_root(value)
    assert np.abs(found * np.sqrt(value.astype(np.float64)) / 2.0**45 - 1).max() < 2**-28
    assert found.max() <= 1 << 30


@pytest.mark.parametrize("value", [1.0, -0.3, 2.0**-40, 3e38, 1 - 2.0**-40, 0.0])
def test_a_mantissa_has_31_bits(value: float) -> None:
    whole, exponent = mantissa(value)
    assert whole * 2.0**exponent == pytest.approx(value, rel=2**-31)
    assert value == 0 or 1 << 30 <= abs(whole) < 1 << 31


def test_upper_halves_and_moves_round_down() -> None:
    assert high(np.array(-1), 1).item() == -1
    assert [moved(np.array(-5), bits).item() for bits in (1, 0, -1, -40)] == [-10, -5, -3, -1]


def _real(made: Trial) -> Array:
    """What the operator gives in floats of 64 bits for the numbers that the operands stand for."""
    call, arrays = made.call, list(made.arrays)
    reals = []
    for tensor, array in zip(call.inputs, arrays, strict=True):
        assert tensor is not None
        assert array is not None
        reals.append(reals_of(array, tensor) if is_fixed(tensor) else array)
    return _in_doubles(call, reals)


def _in_doubles(call: Call, reals: list[Array]) -> Array:
    """The operators written out once more."""
    x = reals[0].astype(np.float64)
    match call.node.op:
        case "Add" | "Sub" | "Mul":
            return np.asarray({"Add": np.add, "Sub": np.subtract, "Mul": np.multiply}[call.node.op](x, reals[1]))
        case "Sigmoid":
            return 0.5 + 0.5 * np.tanh(x / 2)
        case "Tanh":
            return np.tanh(x)
        case "LayerNormalization" | "RMSNormalization":
            axes = tuple(range(call.integer("axis", -1) % x.ndim, x.ndim))
            x = x - x.mean(axes, keepdims=True) if call.node.op[0] == "L" else x
            x = x / np.sqrt((x * x).mean(axes, keepdims=True) + np.float32(call.real("epsilon", 1e-5)))
            return np.asarray(x * reals[1] + (reals[2] if len(reals) > 2 else 0.0))
        case "MatMul":
            return np.asarray(x @ reals[1].astype(np.float64))
        case "CodeProduct":
            spread = np.repeat(reals[3], call.integer("block", 0) or x.shape[-1], axis=1)[:, : x.shape[-1]]
            unit = np.float32(call.real("unit"))
            return np.asarray(x @ (reals[2].astype(np.float64) * spread).T * reals[1] * unit)
        case "CodeRows":
            spread = np.repeat(reals[1], call.integer("block", 0) or x.shape[-1], axis=1)[:, : x.shape[-1]]
            return np.asarray(((x * spread) * float(np.float32(call.real("unit"))))[reals[2]])
        case "RotaryEmbedding":
            return _turned(call, reals)
        case "CodedAttention":
            return _attended(call, reals)
    raise AssertionError(call.node.op)


def _turned(call: Call, reals: list[Array]) -> Array:
    x, cosine, sine = reals[:3]
    if len(reals) > 3:
        cosine, sine = cosine[reals[3]], sine[reals[3]]
    x, straight = np.split(x, [call.integer("rotary_embedding_dim", 0) or x.shape[-1]], -1)
    pairs = x.reshape(*x.shape[:-1], -1, 2) if call.integer("interleaved", 0) else np.stack(np.split(x, 2, -1), -1)
    turned = (
        pairs @ np.eye(2) * cosine[:, None, ..., None]
        + np.stack([-pairs[..., 1], pairs[..., 0]], -1) * sine[:, None, ..., None]
    )
    turned = turned if call.integer("interleaved", 0) else turned.swapaxes(-1, -2)
    return np.concatenate([turned.reshape(x.shape), straight], -1)


def _attended(call: Call, reals: list[Array]) -> Array:
    q, k, k_most, v, v_most, length = reals
    count = int(np.clip(length[0], 0, k.shape[2]))
    halves = [np.concatenate([c << 4, c & 240], -1).view(np.int8) if c.dtype == np.uint8 else c for c in (k, v)]
    keys, values = (
        codes[:, :, :count] * most[:, :, :count] * call.real(unit)
        for codes, most, unit in zip(halves, (k_most, v_most), ("k_unit", "v_unit"), strict=True)
    )
    if not count:
        return np.zeros(call.outputs[0].shape)
    scores = q @ keys.swapaxes(2, 3) * call.real("scale")
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    return np.asarray(shares / shares.sum(-1, keepdims=True) @ values)


def _trials(domain: str, name: str, count: int) -> Iterator[Trial]:
    operator = find(name, domain)
    assert operator is not None
    r = random.Random(f"fixed {name}")
    while count:
        made = in_fixed_point(trial(sketch_of(operator, r), "f32", r), r)
        if name == "MatMul" and (1 not in made.call.constants or len(made.call.shape(1)) != 2):
            continue  # a product of two tensors
        if made.call.node.clamp is None and made.call.outputs[0].elements:
            count -= 1
            yield made


@pytest.mark.parametrize(("domain", "name"), [key for key in FIXED if key[1] != "RowCodes"])
def test_results_are_within_the_declared_error(domain: str, name: str) -> None:
    assert (domain, name) in ERRORS
    for made in _trials(domain, name, 60):
        call = made.call
        assert call.operator is not None
        (result,) = call.operator.evaluate(call, list(made.arrays))
        away = np.abs(reals_of(result, call.outputs[0]) - _real(made)).max()
        assert away <= fixed_error(call, list(made.arrays)), call


def _unary(name: str, x: Array, bits: int) -> tuple[Call, Array]:
    """A call on codes with so many bits of fraction, and its result."""
    operand = in_fixed(Tensor("x", DType.F32, x.shape), bits)
    result = in_fixed(Tensor("y", DType.F32, x.shape), bits_for(1.0))
    call = call_of(Node("it", name, ("x",), ("y",)), (operand,), (result,))
    assert call.operator is not None
    return call, call.operator.evaluate(call, [x])[0]


@pytest.mark.parametrize("name", ["Sigmoid", "Tanh"])
def test_functions_of_all_numbers_of_few_bits(name: str) -> None:
    x = np.arange(-23 << 15, (23 << 15) + 1, dtype=np.int32)
    call, result = _unary(name, x, 15)
    away = np.abs(reals_of(result, call.outputs[0]) - _in_doubles(call, [x / 2.0**15]))
    assert away.max() <= fixed_error(call, [x])


@pytest.mark.parametrize("name", ["Sigmoid", "Tanh"])
@pytest.mark.parametrize("bits", [-3, 4, 20, 25, 26, 29, 34, 60])
def test_functions_at_the_ends_of_every_step(name: str, bits: int) -> None:
    ends = [sign * ((1 << size) + by) for size in range(31) for by in (-1, 0, 1) for sign in (1, -1)]
    x = np.array([one for one in ends if abs(one) < 1 << 30], np.int32)
    call, result = _unary(name, x, bits)
    away = np.abs(reals_of(result, call.outputs[0]) - _in_doubles(call, [x * 2.0**-bits]))
    assert away.max() <= fixed_error(call, [x])


@pytest.mark.parametrize("highest", [127, 7])
def test_codes_of_rows_are_the_nearest(highest: int) -> None:
    draw = np.random.default_rng(3)
    for size in (1, 3, 30, 1 << 12, (1 << 30) - 1):
        x = draw.integers(-size, size + 1, (200, 17)).astype(np.int32)
        call = _row_codes(x, highest)
        assert call.operator is not None
        codes, most = call.operator.evaluate(call, [x])
        exact = x.astype(np.float64) * highest / np.maximum(np.abs(x.astype(np.int64)).max(1, keepdims=True), 1)
        assert np.abs(codes - exact).max() <= 0.5 + 2**-18
        assert np.array_equal(most, np.maximum(np.abs(x).max(1, keepdims=True), 1))
        assert np.abs(codes).max() <= highest


def _row_codes(x: Array, highest: int) -> Call:
    operand = in_fixed(Tensor("x", DType.F32, x.shape), 20)
    results = Tensor("codes", DType.I8, x.shape), in_fixed(Tensor("most", DType.F32, (len(x), 1)), 20)
    node = Node("it", "RowCodes", ("x",), ("codes", "most"), {"least": 1e-30, "highest": highest}, "tilewright")
    return call_of(node, (operand,), results)


def test_a_code_next_to_a_tie_may_be_either() -> None:
    x = np.array([[254 << 8, 3 << 8, (3 << 8) + 16]], np.int32)  # 127, a tie of 1 and 2, and no tie
    call = _row_codes(x, 127)
    ours = np.array([[127, 2, 2]], np.int8)
    assert codes_next_to_ties(call, [x], ours, np.array([[127, 1, 2]], np.int8)) == 1
    assert codes_next_to_ties(call, [x], ours, np.array([[126, 2, 2]], np.int8)) == 0
    assert codes_next_to_ties(call, [x], ours, np.array([[127, 2, 1]], np.int8)) == 0


@pytest.mark.parametrize("name", ["LayerNormalization", "RMSNormalization"])
@pytest.mark.parametrize("length", [1, 2, 63, 64, 1000])
def test_norms_of_rows_of_every_size(name: str, length: int) -> None:
    """Rows of a few codes, of one peak, of the largest numbers, and whose mean is far from zero beside their spread."""
    draw, rows = np.random.default_rng(length), list[Array]()
    for size in (1, 2, 100, 1 << 20, (1 << 30) - 1):
        rows += [draw.integers(-size, size + 1, length), np.eye(1, length)[0] * size, np.full(length, size)]
        rows.append(np.clip((1 << 29) + draw.integers(-size, size + 1, length), 0, (1 << 30) - 1))
    x = np.stack(rows).astype(np.int32)
    for bits in (4, 16, 28, 40):
        call = _norm(name, x, bits, draw)
        assert call.operator is not None
        arrays = [x, *call.constants.values()]
        (result,) = call.operator.evaluate(call, arrays)
        for row, codes, found in zip(rows, x, result, strict=True):
            one = [codes[None], *call.constants.values()]
            expected = _in_doubles(call, [codes[None] * 2.0**-bits, *call.constants.values()])
            away = np.abs(reals_of(found, call.outputs[0]) - expected).max()
            assert away <= fixed_error(call, one), (row, bits, away)


def _norm(name: str, x: Array, bits: int, draw: np.random.Generator) -> Call:
    length = x.shape[1]
    scale, bias = draw.normal(0, 1, (2, length)).astype(np.float32)
    bound = length**0.5 * float(np.abs(scale).max()) + float(np.abs(bias).max())
    centred = name[0] == "L"
    constants = {1: scale, 2: bias} if centred else {1: scale}
    operands = [in_fixed(Tensor("x", DType.F32, x.shape), bits)]
    operands += [Tensor(f"c{i}", DType.F32, (length,)) for i in constants]
    result = in_fixed(Tensor("y", DType.F32, x.shape), bits_for(bound))
    node = Node("it", name, ("x", *(f"c{i}" for i in constants)), ("y",), {"epsilon": 1e-5})
    return call_of(node, operands, (result,), constants)


def test_constants_are_the_nearest_codes() -> None:
    assert codes_of_reals(np.array([0.49, -0.51, 1.0]), 0).tolist() == [0, -1, 1]
    assert bits_for(0.99) == 30
    assert bits_for(1.0) == 29
