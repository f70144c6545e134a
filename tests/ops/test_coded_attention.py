"""Attention in whole numbers: near exact arithmetic as it declares, on tails that shares are too short for as well."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from tilewright.model import Array, DType, Node, Tensor
from tilewright.ops import coded_attention
from tilewright.ops.operator import Call
from tilewright.ops.registry import find
from tilewright.ops.relayout import DOMAIN

Draw = Callable[[np.random.Generator, tuple[int, ...]], Array]
HEADS, QUERIES, ROWS, DEPTH = 2, 2, 200, 8


def _normal(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    return rng.normal(size=shape)


def _small(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    return rng.normal(size=shape) * 1e-9


def _peaks(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    return np.where(rng.random(shape) < 0.05, 40, 0.02) * rng.normal(size=shape)


def _tail(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """One key far above the others, whose shares are less than half of the least one."""
    return 4.05 + 0.1 * rng.random(shape)


def _call(rng: np.random.Generator, draw: Draw) -> tuple[Call, tuple[Array, ...]]:
    keys = rng.integers(-127, 128, (1, HEADS, ROWS, DEPTH)).astype(np.int8)
    if draw is _tail:
        keys[:] = 0
        keys[:, :, 100] = 127
    values = rng.integers(-127, 128, keys.shape).astype(np.int8)
    if draw is _tail:
        values = np.where(keys > 126, 1, 127).astype(np.int8)
    most = [np.abs(rng.normal(1, 0.3, (1, 1, ROWS, 1))).astype(np.float32) for _ in range(2)]
    q = draw(rng, (1, HEADS, QUERIES, DEPTH)).astype(np.float32)
    arrays: tuple[Array, ...] = (q, keys, most[0], values, most[1], np.array([ROWS - 3]))
    tensors = tuple(Tensor(f"t{i}", DType.of(one.dtype), one.shape) for i, one in enumerate(arrays))
    attributes = {"scale": 0.35, "k_unit": 1 / 127, "v_unit": 1 / 127}
    operator = find("CodedAttention", DOMAIN)
    assert operator is not None
    node = Node("it", "CodedAttention", tuple(t.name for t in tensors), ("y",), attributes, domain=DOMAIN)
    return Call(node, tensors, (Tensor("y", DType.F32, q.shape),), {}, 24, operator=operator), arrays


def _exact(call: Call, arrays: tuple[Array, ...]) -> Array:
    q, k, k_most, v, v_most, length = (one.astype(np.float64) for one in arrays)
    count = int(length[0])
    keys, values = (codes[:, :, :count] * most[:, :, :count] / 127 for codes, most in ((k, k_most), (v, v_most)))
    scores = q @ keys.swapaxes(2, 3) * call.real("scale")
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return np.asarray(powers / powers.sum(-1, keepdims=True) @ values)


def _parts(draw: Draw) -> tuple[float, float]:
    """The largest error as a part of the bound, and the bound as a part of the largest value, of thirty draws."""
    part, wide = 0.0, 0.0
    for seed in range(30):
        call, arrays = _call(np.random.default_rng(seed), draw)
        operator = call.operator
        assert operator is not None
        assert operator.error is not None
        bound = operator.error(call, arrays)
        error = np.abs(operator.evaluate(call, arrays)[0] - _exact(call, arrays)).max()
        part, wide = max(part, float(error) / bound), max(wide, bound / float(arrays[4].max()))
    return part, wide


@pytest.mark.parametrize("draw", [_normal, _small, _peaks, _tail])
def test_results_lie_within_the_declared_error(draw: Draw) -> None:
    part, wide = _parts(draw)
    assert part <= 1
    assert wide < (0.3 if draw is _peaks else 0.01)


def test_codes_of_four_bits_count_sixteen_times() -> None:
    call, arrays = _call(np.random.default_rng(3), _normal)
    four = [(codes >> 4).astype(np.int8) for codes in (arrays[1], arrays[3])]
    packed = [(codes[..., : DEPTH // 2] & 15 | codes[..., DEPTH // 2 :] << 4).astype(np.uint8) for codes in four]
    assert call.operator is not None
    wide = call.operator.evaluate(call, (arrays[0], four[0] * 16, arrays[2], four[1] * 16, *arrays[4:]))[0]
    held = (arrays[0], packed[0], arrays[2], packed[1], *arrays[4:])
    tensors = tuple(Tensor(f"t{i}", DType.of(one.dtype), one.shape) for i, one in enumerate(held))
    found = call.operator.evaluate(replace(call, inputs=tensors), held)[0]
    np.testing.assert_array_equal(found, wide)
    assert call.operator.infer(replace(call, inputs=tensors))[0].shape == found.shape


def test_a_table_of_one_power_is_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    coarse, fine = coded_attention.power_tables()
    monkeypatch.setattr(coded_attention, "power_tables", lambda: (coarse * 0 + coarse[0], fine))
    assert _parts(_normal)[0] > 1
