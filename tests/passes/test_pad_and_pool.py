"""Pads go into the nodes that read them, and reductions over the whole image are global pools."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from graphs import Dimensions, node, onnx_model, ops, rewritten

I64 = np.int64
IMAGE: Dimensions = [1, 2, 6, 7]
LOWEST = np.finfo(np.float32).min
CONSTANTS = {
    "w": np.random.default_rng(2).standard_normal((3, 2, 3, 3)).astype(np.float32),
    "p": np.array([0, 0, 1, 1, 0, 0, 1, 0], I64),
    "channels": np.array([0, 1, 1, 1, 0, 0, 1, 1], I64),
    "crop": np.array([0, 0, -1, 1, 0, 0, 1, 1], I64),
    "wide": np.array([0, 0, 3, 3, 0, 0, 3, 3], I64),
    "two": np.array([1, 2, 1, 0], I64),
    "axes": np.array([2, -1], I64),
    "zero": np.float32(0),
    "one": np.float32(1),
    "lowest": np.float32(LOWEST),
    "infinite": np.float32(-np.inf),
}


@pytest.mark.parametrize(
    ("pad", "reader", "pads"),
    [
        ("x p", node("Conv", "a w", "y"), (1, 1, 1, 0)),
        ("x p zero", node("Conv", "a w", "y", pads=[0, 1, 0, 1]), (1, 2, 1, 1)),
        ("x two zero axes", node("Conv", "a w", "y"), (1, 2, 1, 0)),
        ("x p lowest", node("MaxPool", "a", "y", kernel_shape=[3, 3]), (1, 1, 1, 0)),
        ("x p infinite", node("MaxPool", "a", "y", kernel_shape=[2, 2], strides=[2, 2]), (1, 1, 1, 0)),
        ("x p zero", node("AveragePool", "a", "y", kernel_shape=[3, 3]), (1, 1, 1, 0)),
        (
            "x p",
            node("AveragePool", "a", "y", kernel_shape=[3, 3], pads=[1, 0, 0, 0], count_include_pad=1),
            (2, 1, 1, 0),
        ),
    ],
)
def test_pads_with_the_same_meaning_are_taken_in(pad: str, reader: onnx.NodeProto, pads: tuple[int, ...]) -> None:
    model = rewritten(onnx_model([node("Pad", pad, "a"), reader], {"x": IMAGE}, ["y"], CONSTANTS, 18))
    assert ops(model) == [reader.op_type]
    assert model.nodes[0].attributes["pads"] == pads


def test_zeros_around_what_is_never_negative_do_not_change_a_maximum() -> None:
    nodes = [node("Relu", "x", "r"), node("Pad", "r p", "a"), node("MaxPool", "a", "y", kernel_shape=[3, 3])]
    assert ops(rewritten(onnx_model(nodes, {"x": IMAGE}, ["y"], CONSTANTS))) == ["Relu", "MaxPool"]


@pytest.mark.parametrize(
    ("pad", "reader"),
    [
        ("x p one", node("Conv", "a w", "y")),
        ("x p zero", node("MaxPool", "a", "y", kernel_shape=[3, 3])),
        ("x crop zero", node("Conv", "a w", "y")),
        ("x wide lowest", node("MaxPool", "a", "y", kernel_shape=[3, 3])),
        ("x p one", node("AveragePool", "a", "y", kernel_shape=[3, 3])),
        ("x p", node("AveragePool", "a", "y", kernel_shape=[3, 3], pads=[1, 0, 0, 0])),
        ("x channels", node("MaxPool", "a", "y", kernel_shape=[3, 3])),
    ],
)
def test_pads_that_mean_something_else_stay(pad: str, reader: onnx.NodeProto) -> None:
    assert ops(rewritten(onnx_model([node("Pad", pad, "a"), reader], {"x": IMAGE}, ["y"], CONSTANTS))) == [
        "Pad",
        reader.op_type,
    ]


def test_a_reflected_pad_stays() -> None:
    nodes = [node("Pad", "x p", "a", mode="reflect"), node("Conv", "a w", "y")]
    assert ops(rewritten(onnx_model(nodes, {"x": IMAGE}, ["y"], CONSTANTS))) == ["Pad", "Conv"]


def test_a_pad_that_two_nodes_read_stays() -> None:
    nodes = [node("Pad", "x p", "a"), node("Conv", "a w", "y"), node("Neg", "a", "z")]
    assert ops(rewritten(onnx_model(nodes, {"x": IMAGE}, ["y", "z"], CONSTANTS))) == ["Pad", "Conv", "Neg"]


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (node("ReduceMean", "x", "y", axes=[2, 3]), ["GlobalAveragePool"]),
        (node("ReduceMean", "x", "y", axes=[-1, -2], keepdims=0), ["GlobalAveragePool", "Reshape"]),
        (node("ReduceMax", "x", "y", axes=[2, 3]), ["GlobalMaxPool"]),
        (node("AveragePool", "x", "y", kernel_shape=[6, 7]), ["GlobalAveragePool"]),
        (node("MaxPool", "x", "y", kernel_shape=[6, 7], strides=[2, 2]), ["GlobalMaxPool"]),
        (node("ReduceMean", "x", "y", axes=[3]), ["ReduceMean"]),
        (node("ReduceMean", "x", "y", axes=[1, 2]), ["ReduceMean"]),
        (node("AveragePool", "x", "y", kernel_shape=[6, 6]), ["AveragePool"]),
        (node("AveragePool", "x", "y", kernel_shape=[6, 7], pads=[1, 1, 1, 1], strides=[9, 9]), ["AveragePool"]),
    ],
)
def test_the_whole_image_is_a_global_pool(made: onnx.NodeProto, expected: list[str]) -> None:
    assert ops(rewritten(onnx_model([made], {"x": IMAGE}, ["y"]))) == expected
