"""Writes QDQ models for tests, as exporters do."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from graphs import node, onnx_model
from onnx import TensorProto
from tilewright.model import Model

Constants = dict[str, npt.ArrayLike]
RNG = np.random.default_rng(11)
I8, U8, I16 = TensorProto.INT8, TensorProto.UINT8, TensorProto.INT16
BORDER = ("QuantizeLinear", "DequantizeLinear")


class Writer:
    """Collects nodes and constants of a QDQ model."""

    def __init__(self, opset: int = 17) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: Constants = {}
        self.opset = opset

    def add(self, op: str, inputs: str, output: str, **attributes: Any) -> str:
        self.nodes.append(node(op, inputs, output, f"n_{output.split()[0]}", **attributes))
        return output

    def parameters(self, name: str, scale: npt.ArrayLike, zero: npt.ArrayLike, dtype: type = np.int8) -> str:
        self.constants[f"{name}_s"] = np.asarray(scale, np.float32)
        self.constants[f"{name}_z"] = np.broadcast_to(np.asarray(zero, dtype), np.shape(scale)).astype(dtype)
        return f"{name}_s {name}_z"

    def pair(self, real: str, scale: float = 0.05, zero: int = 3, dtype: type = np.int8) -> str:
        """QuantizeLinear and DequantizeLinear behind a tensor; returns the name of the real result."""
        parameters = self.parameters(f"{real}_q", scale, zero, dtype)
        self.add("QuantizeLinear", f"{real} {parameters}", f"{real}_q")
        return self.add("DequantizeLinear", f"{real}_q {parameters}", f"{real}_d")

    def weights(self, name: str, value: npt.NDArray[Any], scale: npt.ArrayLike, axis: int = 0) -> str:
        parameters = self.parameters(name, scale, 0, value.dtype.type)
        self.constants[name] = value
        return self.add("DequantizeLinear", f"{name} {parameters}", f"{name}_d", axis=axis)

    def model(self, inputs: dict[str, tuple[int, ...]], types: dict[str, int] | None = None) -> onnx.ModelProto:
        return onnx_model(self.nodes, inputs, ["y"], self.constants, opset=self.opset, types=types)


def weight(*shape: int) -> npt.NDArray[np.int8]:
    return RNG.integers(-127, 128, shape).astype(np.int8)


def ops(model: Model) -> list[str]:
    return [each.op for each in model.nodes]


def inner(model: Model) -> list[str]:
    return [op for op in ops(model) if op not in BORDER]


def conv(write: Writer, source: str, name: str, outputs: int = 4, inputs: int = 3, bias: str = "") -> str:
    weights = write.weights(f"{name}_w", weight(outputs, inputs, 3, 3), RNG.uniform(0.002, 0.01, outputs))
    return write.add("Conv", f"{source} {weights} {bias}".strip(), name, pads=[1, 1, 1, 1])
