"""A ConvTranspose that no kernel computes in blocks becomes one Conv for each phase, and nothing of it changes."""

from __future__ import annotations

import random
from math import prod
from typing import Any

import numpy as np
import onnx
import pytest
from graphs import execute, node, onnx_model, ops, random_feeds
from tilewright.frontend.load import load
from tilewright.model import Model
from tilewright.ops.operator import Call
from tilewright.passes.driver import passes_for, run
from tilewright.passes.quantise.lower import lower

DRAWN = 24


def drawn(seed: int, coded: bool) -> onnx.ModelProto:
    """One layer of one or two axes: strides above and below the kernel, dilations, groups, results that are cut."""
    r, numbers = random.Random(seed), np.random.default_rng(seed)
    while True:
        rank, group = r.choice([1, 2, 2]), r.choice([1, 1, 2, 4])
        inputs, outputs = group * r.choice([1, 2]), r.choice([1, 2, 3])
        sizes, kernel, strides, dilations = (
            [r.randint(low, high) for _ in range(rank)] for low, high in ((1, 6), (1, 5), (1, 3), (1, 2))
        )
        pads = [r.randint(0, 2) for _ in range(2 * rank)]
        extra = [r.randint(0, stride - 1) for stride in strides]
        outs = [
            (size - 1) * s + (k - 1) * d + 1 + e - pads[at] - pads[at + rank]
            for at, (size, s, k, d, e) in enumerate(zip(sizes, strides, kernel, dilations, extra, strict=True))
        ]
        if min(outs) > 0:
            break
    attributes: dict[str, Any] = {
        "group": group, "strides": strides, "dilations": dilations, "pads": pads, "output_padding": extra,
    }  # fmt: skip
    weights, shape = (inputs, outputs, *kernel), (1, inputs, *sizes)
    constants: dict[str, Any]
    if not coded:
        constants = {"w": numbers.standard_normal(weights).astype(np.float32)}
        constants["b"] = numbers.standard_normal(group * outputs).astype(np.float32)
        return onnx_model([node("ConvTranspose", "x w b", "y", **attributes)], {"x": shape}, ["y"], constants)
    scale = numbers.uniform(0.01, 0.02, outputs).astype(np.float32) if group == 1 else np.float32(0.01)
    zero = np.zeros(np.shape(scale), np.int8)
    constants = {
        "w": numbers.integers(-127, 128, weights).astype(np.int8), "ws": scale, "wz": zero,
        "s": np.float32(0.03), "z": np.int8(-7), "ys": np.float32(0.04 * prod(kernel) ** 0.5), "yz": np.int8(5),
    }  # fmt: skip
    nodes = [
        node("QuantizeLinear", "x s z", "q"), node("DequantizeLinear", "q s z", "xr"),
        node("DequantizeLinear", "w ws wz", "wr", axis=1),
        node("ConvTranspose", "xr wr", "c", "up", **attributes),
        node("QuantizeLinear", "c ys yz", "cq"), node("DequantizeLinear", "cq ys yz", "y"),
    ]  # fmt: skip
    return onnx_model(nodes, {"x": shape}, ["y"], constants, opset=17)


def nothing(call: Call) -> bool:
    """No kernel computes it in blocks."""
    return False


def taken_apart(model: Model) -> Model:
    """After all passes for a target without such a kernel."""
    return run(model, passes=passes_for(nothing))[0]


@pytest.mark.parametrize("coded", [False, True], ids=["floats", "codes"])
def test_phases_give_what_the_layer_gives(coded: bool) -> None:
    apart = 0
    for seed in range(DRAWN):
        plain = lower(load(drawn(seed, coded)))
        model = taken_apart(plain)
        apart += "ConvTranspose" not in ops(model)
        feeds = random_feeds(plain, seed)
        got, wanted = execute(model, feeds)["y"], execute(plain, feeds)["y"]
        if coded:
            np.testing.assert_array_equal(got, wanted, err_msg=str(seed))
        else:
            np.testing.assert_allclose(got, wanted, 1e-5, 1e-5, err_msg=str(seed))
    assert apart >= DRAWN / 2


def test_one_convolution_for_each_phase() -> None:
    weights = np.ones((4, 3, 4, 4), np.float32)
    layer = node("ConvTranspose", "x w", "y", "up", strides=[2, 2], pads=[1, 1, 1, 1])
    model = taken_apart(load(onnx_model([layer], {"x": [1, 4, 5, 6]}, ["y"], {"w": weights})))
    assert ops(model) == ["Conv"] * 4 + ["Interleave"]
    assert all(each.attributes["kernel_shape"] == (2, 2) for each in model.nodes[:4])
    stays = run(load(onnx_model([layer], {"x": [1, 4, 5, 6]}, ["y"], {"w": weights})))[0]
    assert ops(stays) == ["ConvTranspose"]


def test_weights_of_the_run_time_stay() -> None:
    layer = node("ConvTranspose", "x w", "y", strides=[2, 2])
    model = taken_apart(load(onnx_model([layer], {"x": [1, 4, 5, 6], "w": [4, 3, 2, 2]}, ["y"])))
    assert ops(model) == ["ConvTranspose"]
