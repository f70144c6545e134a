"""Attributes and shapes that contradict each other are refused with the node's name and the reason."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from ops.building import call, evaluated, operands, operator
from tilewright.errors import ModelError, UnsupportedNode
from tilewright.model import Clamp, DType, Node, Tensor
from tilewright.ops import registry

Arguments = tuple[tuple[Any, ...], dict[str, Any]]


def use(*args: Any, **attributes: Any) -> Arguments:
    return args, attributes


X = (1, 4, 8, 8)

INVALID: dict[str, Arguments] = {
    r"the weights have 3 axes and the input has 4": use("Conv", X, (4, 4, 3)),
    r"operand 't0' has 2 axes, it must have at least 3": use("Conv", (4, 4), (4, 4)),
    r"2 groups do not fit 4 input channels and weights of shape \[4, 4, 3, 3\]": use("Conv", X, (4, 4, 3, 3), group=2),
    r"0 groups do not fit": use("Conv", X, (4, 4, 3, 3), group=0),
    r"attribute 'kernel_shape' contradicts": use("Conv", X, (4, 4, 3, 3), kernel_shape=(5, 5)),
    r"attribute 'strides' has 1 entries, it must have 2": use("Conv", X, (4, 4, 3, 3), strides=(1,)),
    r"attribute 'strides' is \[0, 1\], every entry must be at least 1": use("Conv", X, (4, 4, 3, 3), strides=(0, 1)),
    r"attribute 'pads' is \[-1, 0, 0, 0\], every entry must": use("Conv", X, (4, 4, 3, 3), pads=(-1, 0, 0, 0)),
    r"attribute 'auto_pad' is 'SAME', it must be one of": use("Conv", X, (4, 4, 3, 3), auto_pad="SAME"),
    r"attribute 'strides' has the wrong type str": use("Conv", X, (4, 4, 3, 3), strides="1"),
    r"a window of 9 does not fit into 8 elements": use("Conv", X, (4, 4, 9, 3)),
    r"bias 't2' has shape \[3\], it must be \[4\]": use("Conv", X, (4, 4, 3, 3), (3,)),
    r"operand 't0' has type i32, which Conv does not take": use("Conv", X, (4, 4, 3, 3), dtype=DType.I32),
    r"'t0' \(f32\) and 't1' \(f64\) must have the same type": use("Conv", X, np.zeros((4, 4, 3, 3))),
    r"the result would have sizes \[-1, 5\]": use("ConvTranspose", (1, 1, 2, 2), (1, 1, 2, 2), pads=(2, 0, 2, 0),
                                                 strides=(1, 3)),
    r"1 groups do not fit 4 input channels and weights of shape \[3": use("ConvTranspose", X, (3, 4, 3, 3)),
    r"attribute 'output_shape' has 1 entries": use("ConvTranspose", X, (4, 4, 3, 3), output_shape=(9,)),
    r"attribute 'kernel_shape' is missing": use("MaxPool", X),
    r"attribute 'kernel_shape' is \[3\], it needs 2 positive entries": use("MaxPool", X, kernel_shape=(3,)),
    r"padding is as large as the window": use("AveragePool", X, kernel_shape=(2, 2), pads=(2, 0, 0, 0)),
    r"attribute 'storage_order' is 2": use("MaxPool", X, kernel_shape=(2, 2), storage_order=2, outputs=2),
    r"attribute 'p' is 0, it must be at least 1": use("LpPool", X, kernel_shape=(2, 2), p=0),
    r"the inner lengths 3 and 4 of \[2, 3\] and \[4, 5\] differ": use("Gemm", (2, 3), (4, 5)),
    r"C of shape \[1, 2, 5\] cannot be broadcast to \[2, 5\]": use("Gemm", (2, 3), (3, 5), (1, 2, 5)),
    r"operand 't0' has 3 axes, it must have 2": use("Gemm", (1, 2, 3), (3, 5)),
    r"the inner lengths 3 and 4": use("MatMul", (2, 3), (4, 5)),
    r"shapes \[2\] and \[3\] cannot be broadcast together": use("MatMul", (2, 2, 3), (3, 3, 5)),
    r"operand 't0' has 0 axes": use("MatMul", (), (3,)),
    r"a zero point of shape \[2\] does not fit": use("MatMulInteger", (3, 3), (3, 3), np.zeros(2, np.int8),
                                                    dtype=DType.I8),
    r"shapes \[2, 3\] and \[4\] cannot be broadcast together": use("Add", (2, 3), (4,)),
    r"it has 1 operands, it must have 2": use("Add", (2, 3)),
    r"it has 0 operands, it must have at least 1": use("Max"),
    r"operand 't0' has type bool, which Add does not take": use("Add", (2,), (2,), dtype=DType.BOOL),
    r"attribute 'fmod' is 2": use("Mod", (2,), (2,), fmod=2),
    r"attribute 'direction' is 'UP'": use("BitShift", (2,), (2,), dtype=DType.U8, direction="UP"),
    r"slope of shape \[2, 3\] cannot be broadcast to \[3\]": use("PRelu", (3,), (2, 3)),
    r"limit 't1' has 2 elements, it must be a scalar": use("Clip", (3,), (2,)),
    r"attribute 'approximate' is 'best'": use("Gelu", (3,), approximate="best"),
    r"attribute 'alpha' must not be 0": use("Celu", (3,), alpha=0.0),
    r"axis 2 is outside of a tensor with 2 axes": use("Softmax", (2, 3), axis=2),
    r"scale 't1' has shape \[3\], it must be \[4\]": use("BatchNormalization", X, (3,), (4,), (4,), (4,)),
    r"'t1' of shape \[2, 2, 2\] does not fit \[2, 2\]": use("RMSNormalization", (2, 2), (2, 2, 2)),
    r"4 channels cannot be divided into 3 groups": use("GroupNormalization", X, (4,), (4,), num_groups=3),
    r"attribute 'p' is 3, it must be 1 or 2": use("LpNormalization", (2, 3), p=3),
    r"attribute 'axes' is \[0, 0\]": use("MeanVarianceNormalization", (2, 3), axes=(0, 0)),
    r"attribute 'size' is 0, it must be at least 1": use("LRN", X, size=0),
    r"a scale of shape \[3\] does not fit axis 1": use("QuantizeLinear", X, np.ones(3, np.float32)),
    r"scale has shape \[4\] and zero point \[2\]": use("QuantizeLinear", X, np.ones(4, np.float32),
                                                      np.ones(2, np.int8)),
    r"codes have type i8 and the zero point u8": use("DequantizeLinear", X, np.ones((), np.float32),
                                                     np.zeros((), np.uint8), dtype=DType.I8),
    r"does not fit blocks of 3": use("DequantizeLinear", (2, 6), np.ones((2, 3), np.float32), dtype=DType.I8,
                                     axis=1, block_size=3),
}  # fmt: skip


@pytest.mark.parametrize("why", INVALID)
def test_contradictions_name_the_node_and_the_reason(why: str) -> None:
    (op, *shapes), attributes = INVALID[why]
    with pytest.raises(ModelError, match=why) as caught:
        call(op, *shapes, **attributes)
    assert str(caught.value).startswith(f"node 'it' ({op}) is invalid: ")
    assert caught.value.where.node == "it"
    assert caught.value.code == 3


def test_training_is_unsupported_not_invalid() -> None:
    with pytest.raises(UnsupportedNode, match="attribute 'training_mode' is 1; export the model in inference mode"):
        call("BatchNormalization", X, (4,), (4,), (4,), (4,), training_mode=1)


def test_a_missing_operand_is_named_by_its_index() -> None:
    node = Node("it", "Conv", ("x",), ("y",))
    with pytest.raises(ModelError, match="operand 1 is missing"):
        operator("Conv").infer(registry.call_of(node, (Tensor("x", DType.F32, X),)))


def test_absurd_sizes_are_only_numbers_to_a_shape_rule() -> None:
    huge = 1 << 40
    made = call("Conv", (1, 4, huge, 8), (4, 4, 3, 3))
    assert made.outputs[0].shape == (1, 4, huge - 2, 6)
    assert call("Add", (huge, 1), (1, huge)).outputs[0].shape == (huge, huge)


def test_operators_are_found_by_name_and_domain() -> None:
    found = registry.find("Conv")
    assert found is not None
    assert registry.find("Conv", "ai.onnx") is found
    assert registry.find("Conv", "com.example") is None
    assert registry.find("Convolve") is None
    names = [(one.domain, one.name) for one in registry.all_operators()]
    assert names == sorted(names)
    assert ("", "Softmax") in names


CLAMPED = {
    "Conv": use("Conv", (1, 2, 4, 4), (2, 2, 3, 3)),
    "ConvTranspose": use("ConvTranspose", (1, 2, 4, 4), (2, 2, 3, 3)),
    "Gemm": use("Gemm", (2, 3), (3, 4), (4,)),
    "MatMul": use("MatMul", (2, 3), (3, 4)),
    "Add": use("Add", (2, 3), (3,)),
    "BatchNormalization": use("BatchNormalization", (1, 2, 3), (2,), (2,), (2,), np.ones(2, np.float32)),
    "AveragePool": use("AveragePool", (1, 1, 4, 4), kernel_shape=(2, 2)),
    "MaxPool": use("MaxPool", (1, 1, 4, 4), kernel_shape=(2, 2)),
    "LayerNormalization": use("LayerNormalization", (2, 6), (6,), (6,)),
}


@pytest.mark.parametrize("op", CLAMPED)
def test_a_fused_activation_limits_what_the_operator_computes(op: str) -> None:
    (_, *shapes), attributes = CLAMPED[op]
    made = call(op, *shapes, **attributes)
    arrays = operands(made, 5)
    plain = evaluated(made, arrays)["y"]
    node = Node("it", op, made.node.inputs, made.node.outputs, made.node.attributes, clamp=Clamp(-1.0, 2.5))
    limited = evaluated(replace(made, node=node), arrays)["y"]
    assert np.array_equal(limited, np.clip(plain, -1.0, 2.5))
    assert not np.array_equal(limited, plain)
