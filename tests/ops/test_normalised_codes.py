"""Normalisations on codes: within the declared error of exact arithmetic, of extremes too; and what stays float."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import isqrt
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tilewright.conformance.subject import load_and_pass
from tilewright.model import Array, DType, Node, Quantisation, Tensor
from tilewright.ops.fixed import whole
from tilewright.ops.operator import Call
from tilewright.ops.quantised import normalised
from tilewright.ops.quantised.normalised import has_normalised_form, normalised_form
from tilewright.ops.registry import call_of, find

DIGITS = 1 << 200
NAMES = ("LayerNormalization", "RMSNormalization")
GROUPED = {"InstanceNormalization": {}, "GroupNormalization": {"num_groups": 2}}


def _call(op: str, length: int, dtype: DType, seed: int, epsilon: float) -> tuple[Call, list[Array | None]]:
    draw = np.random.default_rng(seed)
    low, high = dtype.range
    codes = draw.integers(low, high, (9, length), endpoint=True).astype(dtype.numpy)
    codes[0], codes[1], codes[2] = low, high, draw.integers(-1, 2, length)
    codes[3] = high
    codes[3, 0] = high - 1
    codes[4] = np.where(draw.random(length) < 0.5, low, high)
    scale = (1 + 0.3 * draw.normal(size=length)).astype(np.float32)
    bias = draw.normal(size=length).astype(np.float32)
    x = Tensor("x", dtype, codes.shape, Quantisation((float(np.float32(draw.uniform(0.001, 0.1))),), (3,)))
    y = Tensor("y", DType.I8, codes.shape, Quantisation((float(np.float32(draw.uniform(0.01, 0.1))),), (-5,)))
    parameters = (scale, bias) if op == NAMES[0] else (scale,)
    names = ("x", "scale", "bias")[: 1 + len(parameters)]
    tensors = (x, *(Tensor(name, DType.F32, one.shape) for name, one in zip(names[1:], parameters, strict=True)))
    node = Node("it", op, names, ("y",), {"axis": -1, "epsilon": epsilon})
    constants: dict[int, Array] = dict(enumerate(parameters, 1))
    return call_of(node, tensors, (y,), constants, 23), [codes, *parameters]


def _exact(call: Call, arrays: list[Array | None]) -> list[list[Fraction]]:
    """Results in steps, by fractions and roots of 200 bits."""
    x, y = (tensor.quantisation for tensor in (call.tensor(0), call.outputs[0]))
    assert x is not None
    assert y is not None
    assert arrays[0] is not None
    assert arrays[1] is not None
    unit, step, rows = Fraction(x.scale[0]), Fraction(y.scale[0]), []
    bias = arrays[2] if len(arrays) > 2 else np.zeros(call.shape(0)[1])
    assert bias is not None
    for row in arrays[0].astype(int).tolist():
        reals = [unit * (code - x.zero_point[0]) for code in row]
        mean = sum(reals) / len(row) if call.node.op == NAMES[0] else Fraction(0)
        variance = sum((one - mean) ** 2 for one in reals) / len(row) + Fraction(
            float(np.float32(call.real("epsilon")))
        )
        root = Fraction(isqrt(int(variance * DIGITS**2)), DIGITS) if variance else Fraction(1)
        parts = zip(reals, arrays[1].tolist(), bias.tolist(), strict=True)
        rows.append([((one - mean) / root * Fraction(g) + Fraction(b)) / step for one, g, b in parts])
    return rows


def _farthest(op: str, length: int, dtype: DType, epsilon: float) -> float:
    """By the declared error: how much farther than half a step a code lies from the exact result at most."""
    farthest = 0.0
    for seed in range(2):
        call, arrays = _call(op, length, dtype, seed, epsilon)
        operator, form = find(op), normalised_form(call)
        assert operator is not None
        found = operator.evaluate(call, arrays)[0]
        for row, exact in zip(found.astype(int).tolist(), _exact(call, arrays), strict=True):
            for code, one in zip(row, exact, strict=True):
                wanted = min(max(one - 5, form.low), form.high)
                farthest = max(farthest, (float(abs(code - wanted)) - 0.5) / form.error)
        assert form.error < (2**-6 if dtype is DType.I8 else 2**-2)
    return farthest


@pytest.mark.parametrize("op", NAMES)
@pytest.mark.parametrize(("length", "dtype", "epsilon"), [
    (1, DType.I8, 1e-5), (8, DType.I8, 0.0), (33, DType.I8, 1e-5), (64, DType.I16, 1e-6), (100, DType.I8, 1e-3),
])  # fmt: skip
def test_codes_lie_within_the_declared_error(op: str, length: int, dtype: DType, epsilon: float) -> None:
    assert _farthest(op, length, dtype, epsilon) <= 1


@pytest.mark.parametrize("op", GROUPED)
def test_channels_are_rows_that_share_a_factor(op: str) -> None:
    """Results are those of a LayerNormalization of the same rows, whose elements have the factors of their channels."""
    draw = np.random.default_rng(7)
    codes = draw.integers(-128, 128, (3, 6, 4, 5)).astype(np.int8)
    scale, bias = draw.normal(1, 0.3, (2, 6)).astype(np.float32)
    steps = Quantisation((0.03,), (3,)), Quantisation((0.02,), (-5,))
    x, y = (Tensor(n, DType.I8, codes.shape, step) for n, step in zip("xy", steps, strict=True))
    parameters = tuple(Tensor(n, DType.F32, (6,)) for n in ("scale", "bias"))
    node = Node("it", op, ("x", "scale", "bias"), ("y",), {"epsilon": 1e-5, **GROUPED[op]})
    call = call_of(node, (x, *parameters), (y,), {1: scale, 2: bias})
    assert call.operator is not None
    (found,) = call.operator.evaluate(call, [codes, scale, bias])
    each = 6 if op == "InstanceNormalization" else 2
    rows = codes.reshape(3 * each, -1)
    for row, one in enumerate(rows):
        channels = np.repeat(np.arange(6).reshape(each, -1)[row % each], 20)
        alone = Node("it", NAMES[0], ("x", "scale", "bias"), ("y",), {"epsilon": 1e-5})
        shape = (1, one.size)
        tensors = (replace(x, shape=shape), *(replace(p, shape=shape[1:]) for p in parameters))
        given = {1: scale[channels], 2: bias[channels]}
        layer = call_of(alone, tensors, (replace(y, shape=shape),), given)
        assert layer.operator is not None
        (wanted,) = layer.operator.evaluate(layer, [one[None], *given.values()])
        assert np.abs(found.reshape(rows.shape)[row].astype(int) - wanted[0]).max() <= 0
        assert np.abs(np.array(_exact(layer, [one[None], *given.values()])[0], float) - 5 - wanted[0])[
            np.abs(wanted[0]) < 127
        ].max() <= 0.5 + normalised_form(layer).error  # fmt: skip


def test_a_root_of_few_bits_is_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    root = whole.inverse_root
    monkeypatch.setattr(normalised, "inverse_root", lambda values: root(values) >> 18 << 18)
    assert _farthest(NAMES[0], 33, DType.I8, 1e-5) > 1


def test_what_integers_do_not_hold_is_left() -> None:
    call, _ = _call(NAMES[0], 16, DType.I8, 0, 1e-5)
    assert has_normalised_form(call)
    assert not has_normalised_form(replace(call, constants={1: call.constants[1]}))
    huge = {**call.constants, 1: np.full(16, 1e9, np.float32)}
    assert not has_normalised_form(replace(call, constants=huge))
    assert not has_normalised_form(replace(call, constants={**huge, 1: np.full(16, np.inf, np.float32)}))
    tiny = replace(call.tensor(0), quantisation=Quantisation((1e-30,), (0,)))
    assert not has_normalised_form(replace(call, inputs=(tiny, *call.inputs[1:])))
    long = replace(call.tensor(0), shape=(1, 1 << 24))
    one = {place: np.ones(1, np.float32) for place in (1, 2)}
    assert has_normalised_form(replace(call, constants=one))
    assert not has_normalised_form(replace(call, inputs=(long, *call.inputs[1:]), constants=one))


@pytest.mark.parametrize("coded", [True, False])
def test_scales_in_codes_are_read_and_scales_of_the_run_time_stay_float(tmp_path: Path, coded: bool) -> None:
    def constant(name: str, values: Array) -> onnx.TensorProto:
        return numpy_helper.from_array(values, name)

    given = [
        constant("step", np.array(0.05, np.float32)), constant("zero", np.array(2, np.int8)),
        constant("codes", np.arange(-4, 4).astype(np.int8)), constant("bias", np.ones(8, np.float32)),
    ]  # fmt: skip
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "step", "zero"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "step", "zero"], ["d"]),
        helper.make_node("DequantizeLinear", ["codes" if coded else "s", "step", "zero"], ["scale"]),
        helper.make_node("LayerNormalization", ["d", "scale", "bias"], ["n"], "norm", axis=-1),
        helper.make_node("QuantizeLinear", ["n", "step", "zero"], ["e"]),
        helper.make_node("DequantizeLinear", ["e", "step", "zero"], ["y"]),
    ]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 8])]
    inputs += [] if coded else [helper.make_tensor_value_info("s", TensorProto.INT8, [8])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 8])]
    graph = helper.make_graph(nodes, "g", inputs, outputs, given)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "g.onnx")
    model = load_and_pass(onnx.load(tmp_path / "g.onnx"), "g")
    (norm,) = [node for node in model.nodes if node.op == "LayerNormalization"]
    assert (model.tensors[norm.outputs[0]].quantisation is not None) == coded
