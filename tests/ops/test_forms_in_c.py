"""Limits, fills and indices that are known at run time only, and ONNX Runtime's own operators, in C."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from graphs import node, onnx_model
from in_c import Trial, hold
from tilewright.conformance.subject import load_and_pass, place
from tilewright.errors import ModelError
from tilewright.frontend.load import load
from tilewright.model import Array
from tilewright.plugins import find_platforms

RANDOM = np.random.default_rng(11)
TYPES = {np.dtype(name): number for number, name in ((1, "f4"), (2, "u1"), (3, "i1"), (6, "i4"), (7, "i8"), (11, "f8"))}


def drawn(shape: tuple[int, ...], dtype: Any, low: int = -6, high: int = 6) -> Array:
    """Values with many ties."""
    least = max(low, 0) if np.dtype(dtype).kind == "u" else low
    return RANDOM.integers(least, high, shape).astype(dtype)


def trial(made: onnx.NodeProto, feeds: dict[str, Array], **types: int) -> Trial:
    """One node over inputs that are all known at run time only."""
    kinds = {name: TYPES[array.dtype] for name, array in feeds.items()}
    shapes = {name: array.shape for name, array in feeds.items()}
    kinds.update(dict.fromkeys(made.output, kinds["x"]) | types)
    return Trial(onnx_model([made], shapes, list(made.output), opset=18, types=kinds), feeds)


def pads(value: Any, dtype: Any, amounts: tuple[int, ...], shape: tuple[int, ...]) -> Trial:
    feeds = {"x": drawn(shape, dtype), "v": np.asarray(value, dtype)}
    kinds = {"x": TYPES[np.dtype(dtype)], "v": TYPES[np.dtype(dtype)], "y": TYPES[np.dtype(dtype)]}
    nodes = [node("Pad", "x p v", "y")]
    proto = onnx_model(nodes, {"x": shape, "v": feeds["v"].shape}, ["y"], {"p": np.asarray(amounts)}, 18, types=kinds)
    return Trial(proto, feeds)


def test_one_limit_of_a_clip_at_run_time_and_none_on_the_other_side(tmp_path: Path) -> None:
    x = np.array([-3, -0.0, 0.5, 2, np.nan], np.float32)
    trials = []
    for limit in (-1.0, 1.0):
        feeds = {"x": x, "limit": np.array(limit, np.float32)}
        trials += [trial(node("Clip", "x limit", "y"), feeds), trial(node("Clip", "x - limit", "y"), feeds)]
    for dtype in ("i1", "u1", "i4", "i8", "f8"):
        feeds = {"x": drawn((3, 5), dtype), "limit": np.asarray(2, dtype)}
        trials += [trial(node("Clip", "x limit", "y"), feeds), trial(node("Clip", "x - limit", "y"), feeds)]
    hold(trials, tmp_path)


def test_the_value_of_a_padding_at_run_time(tmp_path: Path) -> None:
    trials = [
        pads(1.25, "f4", (1, 0, 0, 2), (3, 4)),
        pads([7], "f4", (0, 2, 1, 0), (3, 4)),
        pads(np.nan, "f4", (2,) * 6, (1, 2, 3)),
        pads(-5, "i4", (-1, 2, 1, -2), (3, 4)),
        pads(9, "i8", (1, 1), (4,)),
        pads(3.5, "f8", (0, 0, 0, 0), (2, 3)),
    ]
    hold(trials, tmp_path)


def test_a_padding_takes_one_value() -> None:
    proto = pads([1, 2], "f4", (1, 1), (4,)).proto
    with pytest.raises(ModelError, match=r"node 'Pad_0' \(Pad\) is invalid: the pad value 'v' has 2 elements, it must"):
        load(proto)


def test_codes_are_padded_with_the_code_0_where_no_value_is_given(tmp_path: Path) -> None:
    constants = {"s": np.float32(0.05), "z": np.uint8(100), "p": np.array([0, 0, 1, 1, 0, 0, 1, 2])}
    nodes = [node("QuantizeLinear", "x s z", "q"), node("Pad", "q p", "r"), node("DequantizeLinear", "r s z", "y")]
    x = {"x": RANDOM.standard_normal((1, 2, 4, 4)).astype(np.float32)}
    late = [nodes[0], node("Pad", "q p v", "r"), nodes[2]]
    kinds = {"v": onnx.TensorProto.UINT8}
    hold(
        [
            Trial(onnx_model(nodes, {"x": [1, 2, 4, 4]}, ["y"], constants), x),
            Trial(
                onnx_model(late, {"x": [1, 2, 4, 4], "v": []}, ["y"], constants, types=kinds),
                {**x, "v": np.array(7, np.uint8)},
            ),
        ],
        tmp_path,
    )


POOLS: tuple[tuple[tuple[int, ...], dict[str, Any]], ...] = (
    ((2, 3, 7), {"kernel_shape": [3], "strides": [2], "pads": [1, 1]}),
    ((2, 3, 7, 6), {"kernel_shape": [3, 2], "strides": [2, 1], "dilations": [1, 2], "pads": [1, 0, 1, 1],
                    "ceil_mode": 1}),
    ((1, 2, 5, 5), {"kernel_shape": [2, 2], "strides": [2, 2]}),
    ((1, 2, 5, 4, 6), {"kernel_shape": [2, 3, 2], "strides": [1, 2, 2], "pads": [0, 1, 1, 1, 1, 0]}),
    ((1, 1, 8, 5), {"kernel_shape": [3, 3], "strides": [3, 2], "auto_pad": "SAME_UPPER"}),
)  # fmt: skip


@pytest.mark.parametrize("order", [0, 1])
def test_a_pool_tells_where_its_maxima_lie(order: int, tmp_path: Path) -> None:
    trials = []
    for dtype, (shape, attributes) in (*product(("f4",), POOLS), *product(("i1", "u1", "f8"), POOLS[1:2])):
        made = node("MaxPool", "x", "y i", storage_order=order, **attributes)
        trials.append(trial(made, {"x": drawn(shape, dtype, 0, 4)}, i=onnx.TensorProto.INT64))
    trials.append(trial(made, trials[-1].feeds, i=onnx.TensorProto.INT64))
    del trials[-1].proto.graph.output[0]  # the indices alone
    hold(trials, tmp_path)


def test_a_pool_of_codes_tells_where_its_maxima_lie(tmp_path: Path) -> None:
    constants = {"s": np.float32(0.05), "z": np.uint8(100)}
    quantised, real = node("QuantizeLinear", "x s z", "q"), node("DequantizeLinear", "q s z", "d")
    back = node("DequantizeLinear", "r s z", "y")
    types = {"i": onnx.TensorProto.INT64}
    attributes: dict[str, Any] = {"kernel_shape": [2, 2], "storage_order": 1}
    networks = [
        [quantised, node("MaxPool", "q", "r i", **attributes), back],
        [quantised, real, node("MaxPool", "d", "m i", **attributes), node("QuantizeLinear", "m s z", "r"), back],
    ]
    x = {"x": RANDOM.standard_normal((1, 2, 4, 5)).astype(np.float32)}
    hold([Trial(onnx_model(n, {"x": [1, 2, 4, 5]}, ["y", "i"], constants, types=types), x) for n in networks], tmp_path)


@pytest.mark.parametrize("kind", [np.int16, np.uint16])
def test_a_relu_on_codes_of_sixteen_bits_that_nothing_takes_in(kind: Any, tmp_path: Path) -> None:
    constants = {"s": np.float32(1e-4), "z": kind(500), "t": np.float32(5e-5), "u": kind(600)}
    first = [node("QuantizeLinear", "x s z", "q"), node("DequantizeLinear", "q s z", "d"), node("Relu", "d", "r")]
    networks = [
        [*first, node("Transpose", "r", "y")],
        [*first, node("QuantizeLinear", "r s z", "p"), node("DequantizeLinear", "p s z", "y")],
        [*first, node("QuantizeLinear", "r t u", "p"), node("DequantizeLinear", "p t u", "y")],
        [*first, node("Add", "r r", "a"), node("QuantizeLinear", "a t u", "p"), node("DequantizeLinear", "p t u", "y")],
    ]
    x = {"x": (RANDOM.standard_normal((2, 3, 40)) * 2).astype(np.float32)}
    hold([Trial(onnx_model(n, {"x": [2, 3, 40]}, ["y"], constants, 21), x) for n in networks], tmp_path, rtol=0, atol=0)


def beside(made: onnx.NodeProto, opset: int = 17, **constants: Array) -> Trial:
    proto = onnx_model([made], {"x": [2, 3, 8]}, list(made.output), constants, opset)
    proto.opset_import.add(domain="com.microsoft", version=1)
    return Trial(proto, {"x": RANDOM.standard_normal((2, 3, 8)).astype(np.float32)})


def test_operators_that_onnx_runtime_has_beside_the_standard(tmp_path: Path) -> None:
    scale, bias = (RANDOM.standard_normal(8).astype(np.float32) for _ in range(2))
    trials = [
        beside(node("LayerNormalization", "x s b", outputs, axis=-1, epsilon=1e-4), opset, s=scale, b=bias)
        for opset in (6, 11, 12, 16)
        for outputs in ("y", "y m v")
    ]
    trials.append(beside(node("LayerNormalization", "x s", "y"), 13, s=scale))
    trials.append(beside(node("SimplifiedLayerNormalization", "x s", "y", axis=-1, epsilon=1e-4), 13, s=scale))
    trials.append(beside(node("Gelu", "x", "y", domain="com.microsoft"), 12))
    hold(trials, tmp_path)


def test_a_layer_normalisation_inside_a_function_of_an_old_opset(tmp_path: Path) -> None:
    old = [onnx.helper.make_opsetid("", 13)]
    inner = onnx.helper.make_function("own", "Norm", ["x", "s"], ["y"], [node("LayerNormalization", "x s", "y")], old)
    proto = onnx_model(
        [node("Norm", "x s", "y", domain="own")],
        {"x": [2, 3, 8]},
        ["y"],
        {"s": RANDOM.standard_normal(8).astype(np.float32)},
        18,
        functions=[inner],
    )
    x = RANDOM.standard_normal((2, 3, 8)).astype(np.float32)
    (scale,) = (onnx.numpy_helper.to_array(tensor) for tensor in proto.graph.initializer)
    centred = x - x.mean(-1, keepdims=True)
    expected = centred / np.sqrt(np.square(centred).mean(-1, keepdims=True) + 1e-5) * scale
    hold([Trial(proto, {"x": x}, {"y": expected})], tmp_path)


def test_a_function_of_the_model_named_like_an_operator_of_onnx_runtime_is_the_model_s_own(tmp_path: Path) -> None:
    imports = [onnx.helper.make_opsetid("", 17)]
    own = onnx.helper.make_function("com.microsoft", "Gelu", ["x"], ["y"], [node("Neg", "x", "y")], imports)
    proto = onnx_model([node("Gelu", "x", "y", domain="com.microsoft")], {"x": [2, 3]}, ["y"], functions=[own])
    x = RANDOM.standard_normal((2, 3)).astype(np.float32)
    hold([Trial(proto, {"x": x}, {"y": -x})], tmp_path)


@pytest.mark.parametrize("name", sorted(find_platforms()))
def test_every_platform_has_kernels_for_these_forms(name: str) -> None:
    if not find_platforms()[name].own_kernels():
        return
    clip = trial(node("Clip", "x - limit", "y"), {"x": drawn((3, 5), "f4"), "limit": np.array(2, np.float32)})
    pool = trial(
        node("MaxPool", "x", "y i", storage_order=1, **POOLS[1][1]),
        {"x": drawn(POOLS[1][0], "f4")},
        i=onnx.TensorProto.INT64,
    )
    for index, each in enumerate((clip, pool, pads(1.25, "f4", (1, 0, 0, 2), (3, 4)))):
        assert place(load_and_pass(each.proto, f"n{index}"), find_platforms()[name]).plan.instructions
