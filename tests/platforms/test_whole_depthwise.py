"""Depthwise convolutions of floats where there is no float unit: drawn windows, rows of every size, no numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tilewright.conformance.program import STRICT, run_batch
from tilewright.conformance.subject import load_and_pass, place, subject
from tilewright.model import Array
from tilewright.plugins import kernels_of, platform

Window = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...]]
WINDOWS: list[Window] = [
    ((7, 9), (3, 3), (1, 1), (1, 1), (1, 1, 1, 1)),
    ((8, 5), (3, 3), (2, 2), (1, 1), (0, 1, 1, 0)),
    ((11, 7), (2, 3), (1, 2), (3, 2), (3, 2, 0, 4)),
    ((6, 6), (5, 5), (1, 1), (1, 1), (2, 2, 2, 2)),
    ((9, 4), (2, 2), (5, 1), (1, 1), (0, 0, 1, 1)),
    ((23,), (3,), (1,), (4,), (8, 0)),
    ((17,), (12,), (3,), (1,), (5, 6)),
    ((5, 75), (3, 3), (1, 1), (1, 1), (1, 1, 1, 1)),
    ((4, 90), (3, 5), (1, 2), (1, 3), (1, 9, 1, 2)),
    ((230,), (3,), (1,), (100,), (100, 100)),
    ((13, 12), (6, 7), (1, 1), (1, 1), (3, 3, 2, 3)),
]
"""Sizes, windows, strides, dilations and padding."""
CHANNELS = 3


def _model(window: Window, weights: Array, bias: Array) -> onnx.ModelProto:
    sizes, kernel, strides, dilations, pads = window
    ports = [helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, CHANNELS, *sizes))]
    axes = zip(sizes, kernel, strides, dilations, pads[: len(sizes)], pads[len(sizes) :], strict=True)
    out = [(size + low + high - (k - 1) * d - 1) // s + 1 for size, k, s, d, low, high in axes]
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, CHANNELS, *out))
    made = [numpy_helper.from_array(weights, "w"), numpy_helper.from_array(bias, "b")]
    node = helper.make_node(
        "Conv", ["x", "w", "b"], ["y"], "Conv", group=CHANNELS, kernel_shape=kernel, strides=strides,
        dilations=dilations, pads=pads,
    )  # fmt: skip
    graph = helper.make_graph([node], "g", ports, [result], made)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def _sums(x: Array, weights: Array, bias: Array, window: Window) -> Array:
    """In doubles; sums of sizes where all are given as sizes."""
    sizes, kernel, strides, dilations, pads = window
    ends = pads[len(sizes) :]
    wide = np.pad(x.astype(np.float64), ((0, 0), (0, 0), *zip(pads[: len(sizes)], ends, strict=True)))
    places = [
        [np.arange((size + low + high - (k - 1) * d - 1) // s + 1) * s + at * d for at in range(k)]
        for size, k, s, d, low, high in zip(sizes, kernel, strides, dilations, pads[: len(sizes)], ends, strict=True)
    ]
    total = bias.astype(np.float64).reshape(1, -1, *[1] * len(sizes))
    for at in np.ndindex(*kernel):
        taken = wide[np.ix_([0], range(CHANNELS), *(axis[i] for axis, i in zip(places, at, strict=True)))]
        total = total + taken * weights[(slice(None), 0, *at)].astype(np.float64).reshape(1, -1, *[1] * len(sizes))
    return np.asarray(total)


def _inputs(sizes: tuple[int, ...], draw: np.random.Generator) -> list[Array]:
    """Drawn ones; rows of sizes far apart, many zeros; tiny and huge ones; no number and an infinite one."""
    shape = (1, CHANNELS, *sizes)
    plain = draw.normal(0, 1, shape)
    mixed = plain * 10.0 ** draw.integers(-12, 3, (1, CHANNELS, sizes[0], *[1] * (len(sizes) - 1)))
    rare = np.maximum(plain - 1, 0)
    broken = plain.copy()
    broken[0, 0, 1], broken[0, 2, -1] = np.nan, np.inf
    runs = [plain, mixed, rare, rare * 1e14, plain * 1e-36, plain * 1e18, np.zeros(shape), broken]
    return [one.astype(np.float32) for one in runs]


@pytest.mark.parametrize("window", WINDOWS)
def test_drawn_windows_are_near_their_sums(window: Window, tmp_path: Path) -> None:
    draw, generic = np.random.default_rng(11), platform("generic")
    weights = draw.normal(0, 0.4, (CHANNELS, 1, *window[1])).astype(np.float32)
    weights[1] *= np.float32(1e-3)
    bias = np.array([0.5, 0, -1e-4], np.float32)
    runs = _inputs(window[0], draw)
    names = [("WholeDepthwise", "Conv"), ("Relayout", "Relayout")]
    named = [one for one in kernels_of(generic) if (one.name, one.op) in names]
    placed = place(load_and_pass(_model(window, weights, bias), "g"), generic, named)
    assert "WholeDepthwise" in [instruction.kernel.name for instruction in placed.plan.instructions]
    (outcome,) = run_batch([subject(placed, generic, [[x] for x in runs])], tmp_path, flags=("-O2", *STRICT))
    assert outcome.failure == ""
    near = 2.0**-20 + weights[0].size * 2.0**-23
    for x, (found,) in zip(runs, outcome.runs, strict=True):
        with np.errstate(invalid="ignore"):
            right = _sums(x, weights, bias, window)
            sizes = _sums(np.abs(x), np.abs(weights), np.abs(bias), window)
        real = np.isfinite(right)
        assert np.array_equal(np.isnan(found), np.isnan(right))
        assert np.array_equal(found[~real & ~np.isnan(right)], right[~real & ~np.isnan(right)].astype(np.float32))
        away = np.abs(found[real] - right[real])
        assert (away <= near * sizes[real] + 1e-37).all()
