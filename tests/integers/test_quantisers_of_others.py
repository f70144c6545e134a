"""Networks in the forms that training-aware quantisers export, each drawn here as its exporter writes it.

Brevitas (export_onnx_qcdq): weights as int8 constants behind a Clip, activations of fewer bits as a Clip between
QuantizeLinear and DequantizeLinear. PyTorch's pt2e: weights in floats behind QuantizeLinear, biases in floats, uint8
activations, linear weights transposed behind their DequantizeLinear. ModelOpt: symmetric int8 throughout. AIMET and
Quark: int8 or uint8 with scales that are powers of two. Brevitas' QONNX: one Quant node in the place of a pair.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tilewright.cli import main
from tilewright.model import Array

CHANNELS, CLASSES = 8, 5
QONNX = "qonnx.custom_op.general"


@dataclass(frozen=True)
class Style:
    """How an exporter writes: bits and type of activations and weights, and what stands around them."""

    activations: str = "int8"
    activation_limits: tuple[int, int] | None = None
    weight_limits: tuple[int, int] = (-127, 127)
    weights_in_floats: bool = False
    clipped_weights: bool = False
    coded_biases: bool = False
    transposed_linear: bool = False
    powers_of_two: bool = False
    quant_bits: int = 0  # Quant nodes of so many bits in the place of pairs


STYLES = {
    "brevitas of eight bits": Style(clipped_weights=True, coded_biases=True, activation_limits=(-127, 127)),
    "brevitas of four bits": Style("uint8", (0, 15), (-7, 7), clipped_weights=True, coded_biases=True),
    "brevitas with weights that are quantised in the file": Style(
        weight_limits=(-3, 3), weights_in_floats=True, clipped_weights=True, activation_limits=(-8, 7)
    ),
    "pt2e": Style("uint8", weights_in_floats=True, transposed_linear=True),
    "modelopt": Style(weights_in_floats=True),
    "aimet": Style("uint8", coded_biases=True, powers_of_two=True),
    "brevitas as QONNX": Style(quant_bits=4),
    "quark": Style(weight_limits=(-128, 127), coded_biases=True, powers_of_two=True),
}


@dataclass
class Graph:
    """The nodes so far."""

    style: Style
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(4))
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)

    def constant(self, value: Array) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        name = f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name, **attributes))
        return name

    def scale(self, size: float | Array) -> Array:
        scale = np.asarray(size, np.float32)
        return np.exp2(np.ceil(np.log2(scale))).astype(np.float32) if self.style.powers_of_two else scale

    def limited(self, codes: str, kind: str, limits: tuple[int, int] | None) -> str:
        if limits is None:
            return codes
        return self.op("Clip", codes, *(self.constant(np.asarray(limit, kind)) for limit in limits))

    def activation(self, real: str, size: float, positive: bool) -> tuple[str, float]:
        """The tensor between its codes; also the scale."""
        style = self.style
        if style.quant_bits:
            scale = np.asarray(size / ((1 << style.quant_bits - 1) - 1 << int(positive)), np.float32)
            return self.quant(real, scale, signed=int(not positive)), float(scale)
        kind, limits = np.dtype(style.activations), style.activation_limits
        low, high = limits or (int(np.iinfo(kind).min), int(np.iinfo(kind).max))
        if kind == np.uint8 and limits is not None and not positive:  # Brevitas codes signed numbers in int8
            kind, low, high, limits = np.dtype("int8"), -8, 7, (-8, 7)
        zero = (low + high + 1) // 2 if kind == np.uint8 and not positive else 0
        scale = self.scale(size / (high - zero))
        pair = (self.constant(scale), self.constant(np.asarray(zero, kind)))
        codes = self.limited(self.op("QuantizeLinear", real, *pair), kind.name, limits)
        return self.op("DequantizeLinear", codes, *pair), float(scale)

    def quant(self, real: str, scale: Array, signed: int) -> str:
        rest = [self.constant(np.asarray(value, np.float32)) for value in (0, self.style.quant_bits)]
        return self.op("Quant", real, self.constant(scale), *rest, domain=QONNX, signed=signed, narrow=signed,
                       rounding_mode="ROUND")  # fmt: skip

    def weights(self, shape: tuple[int, ...], source: float) -> tuple[str, str]:
        """Weights with a scale for each channel and their bias."""
        style, (low, high) = self.style, self.style.weight_limits
        real = self.random.normal(size=shape).astype(np.float32) * 0.4
        rest = tuple(range(1, len(shape)))
        scales = self.scale(np.abs(real).max(axis=rest) / max(high, -low))
        zeros = self.constant(np.zeros(shape[0], np.int8))
        pair = (self.constant(scales), zeros)
        spread = scales.reshape(-1, *[1] * len(rest))
        bias = self.random.normal(size=shape[0]).astype(np.float32) * 0.2
        if style.quant_bits:
            scales = np.abs(real).max(axis=rest) / np.float32((1 << style.quant_bits - 1) - 1)
            return self.quant(self.constant(real), scales.reshape(-1, *[1] * len(rest)), 1), self.constant(bias)
        if style.weights_in_floats:
            codes = self.op("QuantizeLinear", self.constant(real), *pair, axis=0)
        else:
            codes = self.constant(np.clip(np.rint(real / spread), low, high).astype(np.int8))
        codes = self.limited(codes, "int8", (low, high) if style.clipped_weights else None)
        weights = self.op("DequantizeLinear", codes, *pair, axis=0)
        if not style.coded_biases:
            return weights, self.constant(bias)
        units = (np.float32(source) * scales).astype(np.float32)
        codes = self.constant(np.rint(bias / units).astype(np.int32))
        return weights, self.op("DequantizeLinear", codes, self.constant(units), axis=0)


def network(style: Style) -> onnx.ModelProto:
    """A convolution, another beside it, their sum, a mean and a linear layer."""
    graph = Graph(style)
    x, size = graph.activation("x", 3.0, positive=False)
    first = graph.op("Conv", x, *graph.weights((CHANNELS, 3, 3, 3), size), pads=[1, 1, 1, 1])
    a, size = graph.activation(graph.op("Relu", first), 4.0, positive=True)
    second = graph.op("Conv", a, *graph.weights((CHANNELS, CHANNELS, 1, 1), size))
    b, _ = graph.activation(second, 4.0, positive=False)
    total, size = graph.activation(graph.op("Relu", graph.op("Add", a, b)), 6.0, positive=True)
    mean, size = graph.activation(graph.op("GlobalAveragePool", total), 4.0, positive=True)
    flat = graph.op("Flatten", mean)
    weights, bias = graph.weights((CLASSES, CHANNELS), size)
    if style.transposed_linear:
        weights = graph.op("Transpose", weights, perm=[1, 0])
    y = graph.op("Gemm", flat, weights, bias, transB=int(not style.transposed_linear))
    result, _ = graph.activation(y, 6.0, positive=False)
    graph.nodes.append(helper.make_node("Identity", [result], ["y"], "last"))
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, 3, 6, 6))
    made = helper.make_graph(
        graph.nodes, "others", [given], [helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, CLASSES))],
        graph.constants,
    )  # fmt: skip
    opsets = [helper.make_opsetid(domain, version) for domain, version in (("", 17), (QONNX, 1))]
    return helper.make_model(made, opset_imports=opsets, ir_version=8)


@pytest.mark.parametrize("style", STYLES)
def test_a_file_of_another_quantiser_is_taken_as_it_is(
    style: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    onnx.save(network(STYLES[style]), tmp_path / "net.onnx")
    code = main(["run", str(tmp_path / "net.onnx"), "-t", "host", "--integer-only"])
    told = capsys.readouterr()
    assert code == 0, told.err
    assert "outputs match" in told.out
