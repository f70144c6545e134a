"""Models of one quantised node each, in both spellings, for tests of what decides between two runtimes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MICROSOFT = "com.microsoft"
IN, OUT = 0.0625, 0.0546875  # a ratio of scales that is no power of two
SIGNED: dict[np.dtype[Any], int] = {np.dtype(np.int8): TensorProto.INT8, np.dtype(np.uint8): TensorProto.UINT8}


class Drawn:
    """Constants by name, drawn by seed."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.constants: dict[str, np.ndarray[Any, Any]] = {}

    def add(self, name: str, values: object, dtype: type) -> str:
        """A constant's name."""
        self.constants[name] = np.asarray(values, dtype)
        return name

    def scales(self, name: str, count: int = 0) -> str:
        """One scale, or so many."""
        values = self.random.uniform(0.01, 0.03, count or 1).astype(np.float32)
        return self.add(name, values if count else values[0], np.float32)

    def weights(self, name: str, *shape: int) -> str:
        """Codes of eight bits with a sign."""
        return self.add(name, self.random.integers(-90, 90, shape), np.int8)


def written(
    folder: Path, name: str, nodes: list[onnx.NodeProto], drawn: Drawn, inputs: dict[str, list[int]],
    dtype: type = np.int8,
) -> Path:  # fmt: skip
    """The file of a model whose inputs are codes and whose output is `y`."""
    element = SIGNED[np.dtype(dtype)]
    graph = helper.make_graph(
        nodes, name, [helper.make_tensor_value_info(each, element, shape) for each, shape in inputs.items()],
        [helper.make_tensor_value_info("y", element, None)],
        [numpy_helper.from_array(values, each) for each, values in drawn.constants.items()],
    )  # fmt: skip
    imports = [helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)]
    path = folder / f"{name}.onnx"
    onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=10), path)
    return path


def convolution(folder: Path, seed: int = 0, **attributes: Any) -> Path:
    """QLinearConv of four channels in two groups to six, a scale per channel, with a bias."""
    drawn = Drawn(seed)
    operands = [
        "x", drawn.add("xs", IN, np.float32), drawn.add("xz", 3, np.int8), drawn.weights("w", 6, 2, 3, 3),
        drawn.scales("ws", 6), drawn.add("wz", np.zeros(6), np.int8), drawn.add("ys", 1.3, np.float32),
        drawn.add("yz", -7, np.int8), drawn.add("b", drawn.random.integers(-900, 900, 6), np.int32),
    ]  # fmt: skip
    node = helper.make_node("QLinearConv", operands, ["y"], "conv", group=2, **attributes)
    return written(folder, "convolution", [node], drawn, {"x": [1, 4, 9, 8]})


def product(folder: Path, seed: int = 0) -> Path:
    """QLinearMatMul of two batches with a scale per column."""
    drawn = Drawn(seed)
    operands = [
        "x", drawn.add("xs", IN, np.float32), drawn.add("xz", 3, np.int8), drawn.weights("w", 12, 5),
        drawn.scales("ws", 5), drawn.add("wz", np.zeros(5), np.int8), drawn.add("ys", 0.9, np.float32),
        drawn.add("yz", 4, np.int8),
    ]  # fmt: skip
    node = helper.make_node("QLinearMatMul", operands, ["y"], "product")
    return written(folder, "product", [node], drawn, {"x": [2, 3, 12]})


def general(folder: Path, seed: int = 0) -> Path:
    """QGemm with transposed weights, a scale per row of them, and a bias."""
    drawn = Drawn(seed)
    operands = [
        "x", drawn.add("xs", IN, np.float32), drawn.add("xz", 3, np.int8), drawn.weights("w", 5, 12),
        drawn.scales("ws", 5), drawn.add("wz", np.zeros(5), np.int8),
        drawn.add("b", drawn.random.integers(-900, 900, 5), np.int32), drawn.add("ys", 0.9, np.float32),
        drawn.add("yz", 4, np.int8),
    ]  # fmt: skip
    node = helper.make_node("QGemm", operands, ["y"], "general", domain=MICROSOFT, transB=1)
    return written(folder, "general", [node], drawn, {"x": [3, 12]})


def pair(folder: Path, op: str) -> Path:
    """QLinearAdd or QLinearMul, the second operand broadcast."""
    drawn = Drawn(0)
    operands = [
        "x", drawn.add("xs", IN, np.float32), drawn.add("xz", 3, np.int8), "x2", drawn.add("ws", 0.041, np.float32),
        drawn.add("wz", -9, np.int8), drawn.add("ys", 0.083 if op == "QLinearAdd" else 0.21, np.float32),
        drawn.add("yz", 4, np.int8),
    ]  # fmt: skip
    node = helper.make_node(op, operands, ["y"], "pair", domain=MICROSOFT)
    return written(folder, "pair", [node], drawn, {"x": [1, 4, 9, 8], "x2": [1, 4, 1, 8]})


def one_operand(folder: Path, op: str, scale: float = OUT, **attributes: Any) -> Path:
    """A QOperator of ONNX Runtime's own with one operand."""
    drawn = Drawn(0)
    operands = [
        "x", drawn.add("xs", IN, np.float32), drawn.add("xz", 3, np.uint8), drawn.add("ys", scale, np.float32),
        drawn.add("yz", 5, np.uint8),
    ]  # fmt: skip
    node = helper.make_node(op, operands, ["y"], "one", domain=MICROSOFT, **attributes)
    return written(folder, op, [node], drawn, {"x": [1, 4, 9, 8]}, np.uint8)


def between_borders(folder: Path, nodes: list[onnx.NodeProto], drawn: Drawn, shape: list[int], scale: float) -> Path:
    """DequantizeLinear of `x` to `real`, the nodes, QuantizeLinear of `sum` to `y`."""
    scales = [drawn.add("xs", IN, np.float32), drawn.add("xz", 3, np.int8)]
    target = [drawn.add("ys", scale, np.float32), drawn.add("yz", -6, np.int8)]
    whole = [
        helper.make_node("DequantizeLinear", ["x", *scales], ["real"], "read"), *nodes,
        helper.make_node("QuantizeLinear", ["sum", *target], ["y"], "write"),
    ]  # fmt: skip
    return written(folder, "borders", whole, drawn, {"x": shape})


def dense_between_borders(folder: Path) -> Path:
    """Flatten, Gemm with a bias, Clip, every operand dequantised."""
    drawn = Drawn(3)
    drawn.weights("w", 24, 19)
    drawn.scales("ws", 19)
    drawn.add("zeros", np.zeros(19), np.int8)
    drawn.add("b", drawn.random.integers(-900, 900, 19), np.int32)
    drawn.add("bs", np.float32(IN) * drawn.constants["ws"], np.float32)
    nodes = [
        helper.make_node("DequantizeLinear", ["w", "ws", "zeros"], ["weights"], "weights", axis=1),
        helper.make_node("DequantizeLinear", ["b", "bs"], ["bias"], "bias", axis=0),
        helper.make_node("Flatten", ["real"], ["flat"], "flat"),
        helper.make_node("Gemm", ["flat", "weights", "bias"], ["dense"], "dense"),
        helper.make_node("Clip", ["dense", drawn.add("low", 0, np.float32), drawn.add("high", 30, np.float32)], ["sum"],
                         "clip"),
    ]  # fmt: skip
    return between_borders(folder, nodes, drawn, [1, 4, 6], 0.25)


def function_between_borders(folder: Path, op: str, scale: float = 0.0078125, **attributes: Any) -> Path:
    """A function of one operand."""
    node = helper.make_node(op, ["real"], ["sum"], "function", **attributes)
    return between_borders(folder, [node], Drawn(0), [1, 4, 9, 8], scale)


def convolution_and_move(folder: Path, move: str, **attributes: Any) -> Path:
    """A convolution many of whose sums lie on ties, and an operator that moves them before they become codes."""
    drawn = Drawn(0)
    drawn.weights("w", 4, 4, 3, 3)
    nodes = [
        helper.make_node("DequantizeLinear", ["w", drawn.add("ws", 0.016, np.float32)], ["weights"], "weights"),
        helper.make_node("Conv", ["real", "weights"], ["conv"], "conv"),
        helper.make_node(move, ["conv"], ["sum"], "move", **attributes),
    ]
    return between_borders(folder, nodes, drawn, [1, 4, 19, 18], 0.08)
