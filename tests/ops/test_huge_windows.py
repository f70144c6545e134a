"""Windows that reach far beyond the tensor: ONNX Runtime's values, memory as the tensors need it, C without fault."""

from __future__ import annotations

import random
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graphs import node, onnx_model, reference
from on_host import kernels_here, run_on_host
from ops.building import call, evaluated, operands
from ops.runtime import run as in_onnx_runtime
from tilewright.conformance.subject import load_and_pass, place
from tilewright.model import Array
from tilewright.ops import conv
from tilewright.plan.execute import run
from tilewright.plugins import platform

HUGE = 1 << 62
FAR = 20_000
SMALL_BYTES = 1 << 20


def peak_bytes(work: Any) -> int:
    tracemalloc.start()
    work()
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


@pytest.mark.parametrize("op", ["MaxPool", "AveragePool", "LpPool"])
def test_a_pool_takes_the_memory_of_its_tensors(op: str) -> None:
    made = call(op, (1, 2, 8, 8), kernel_shape=(FAR, FAR), pads=(FAR // 2,) * 4)
    arrays = operands(made, 1)
    assert peak_bytes(lambda: evaluated(made, arrays)) < SMALL_BYTES


def test_a_mean_counts_the_padding_that_it_declares() -> None:
    made = call("AveragePool", (1, 1, 8, 8), kernel_shape=(FAR, FAR), pads=(FAR // 2,) * 4, count_include_pad=1)
    (x,) = operands(made, 1)
    assert x is not None
    assert peak_bytes(lambda: evaluated(made, [x])) < SMALL_BYTES
    corner = evaluated(made, [x])["y"][0, 0, 0, 0]  # its window ends before the last row and column
    np.testing.assert_allclose(corner, x[0, 0].sum(dtype=np.float64) / FAR**2, rtol=1e-5)


@pytest.mark.parametrize("op", ["MaxPool", "AveragePool"])
def test_windows_larger_than_the_input(op: str) -> None:
    """Taps that see padding only are left out; what is left is what ONNX Runtime computes."""
    r, compared = random.Random(op), 0
    for _ in range(60):
        kernel = (r.randint(2, 9), r.randint(2, 9))
        pads = tuple(r.randint(0, k - 1) for k in (*kernel, *kernel))
        shape = (1, 2, r.randint(1, 4), r.randint(1, 4))
        if any(n + b + e < k for n, b, e, k in zip(shape[2:], pads[:2], pads[2:], kernel, strict=True)):
            continue
        more: dict[str, Any] = {"ceil_mode": r.randint(0, 1), "strides": (r.randint(1, 3), r.randint(1, 3))}
        if op == "AveragePool":
            more["count_include_pad"] = r.randint(0, 1)
        elif r.random() < 0.5:
            more["outputs"] = 2
        made = call(op, shape, kernel_shape=kernel, pads=pads, **more)
        arrays = operands(made, compared)
        expected, got = in_onnx_runtime(made, arrays), evaluated(made, arrays)
        for name, wanted in zip(("y", "indices"), expected, strict=False):
            np.testing.assert_allclose(got[name], wanted, rtol=2e-5, atol=2e-5, err_msg=str(made.node))
        compared += 1
    assert compared > 20


def test_a_large_convolution_is_computed_rows_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    made = call("Conv", (1, 8, 64, 64), (4, 8, 7, 7), pads=(3, 3, 3, 3))
    arrays = operands(made, 1)
    whole = evaluated(made, arrays)["y"]
    assert peak_bytes(lambda: evaluated(made, arrays)) > 4 * 64 * 64 * 8 * 49
    monkeypatch.setattr(conv, "COLUMN_BYTES", 1 << 17)
    assert peak_bytes(lambda: evaluated(made, arrays)) < 1 << 20
    np.testing.assert_array_equal(evaluated(made, arrays)["y"], whole)  # operands are small whole numbers


def networks() -> dict[str, Any]:
    ones = np.ones((2, 2, 3, 3), np.float32)
    shape, pads = (1, 2, 8, 8), [FAR // 2] * 4
    steps: dict[str, Any] = {
        "stride": node("Conv", "x w", "y", strides=[HUGE, HUGE]),
        "dilation": node("Conv", "x one", "y", dilations=[HUGE, HUGE]),
        "transposed": node("ConvTranspose", "x w", "y", strides=[HUGE, HUGE]),
        "response": node("LRN", "x", "y", size=HUGE),
        "even_response": node("LRN", "x", "y", size=4, alpha=0.5),
        "maximum": node("MaxPool", "x", "y", kernel_shape=[FAR, FAR], pads=pads),
        "mean": node("AveragePool", "x", "y", kernel_shape=[FAR, FAR], pads=pads),
        "narrow": node("MaxPool", "x", "y", kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[9, 9]),
    }  # fmt: skip
    constants = {"w": ones, "one": ones[:, :, :1, :1]}
    return {
        name: onnx_model(
            [step],
            {"x": (1, 2, 1, 1) if name == "transposed" else shape},
            ["y"],
            {key: value for key, value in constants.items() if key in step.input},
        )
        for name, step in steps.items()
    }


def expected(name: str, model: Any, x: Array) -> Array:
    if name == "response":  # ONNX Runtime refuses the size: all channels, and hardly any weight
        return x
    if name == "even_response":  # nor does it take even sizes: one channel before and two behind are both there are
        return np.asarray(x / (1 + 0.5 / 4 * np.square(x).sum(axis=1, keepdims=True)) ** 0.75)
    return np.asarray(reference(model, {"x": x})["y"])


@pytest.mark.parametrize("name", ["generic", "pulp"])
def test_they_are_right_in_c(name: str, tmp_path: Path) -> None:
    """Under all warnings, of which one is a comparison that can never be true."""
    made = networks()
    x = np.random.default_rng(2).normal(0, 1, (1, 2, 8, 8)).astype(np.float32)
    drawn = [x[:, :, :1, :1] if key == "transposed" else x for key in made]
    plans = [
        place(load_and_pass(model.SerializeToString(), key), platform(name), kernels_here(name))
        for key, model in made.items()
    ]
    results = run_on_host(plans, [[[given]] for given in drawn], tmp_path)
    for (key, model), plan, given, [(got,)] in zip(made.items(), plans, drawn, results, strict=True):
        wanted = expected(key, model, given)
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5, err_msg=key)
        np.testing.assert_allclose(run(plan.plan, [given])[0], wanted, rtol=1e-4, atol=1e-5, err_msg=key)
