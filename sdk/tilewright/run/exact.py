"""Which code is right where ONNX Runtime and we disagree: what the file's own node gives in exact arithmetic.

The node, its scales and attributes are read from the file, the operands are ONNX Runtime's: nothing that our lowering
or our NumPy semantics made is asked. Known are QOperator nodes, and QuantizeLinear of an operator whose operands
DequantizeLinear gives; `None` stands for everything else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.frontend.read import read
from tilewright.model import Array, DType, Shape, Tensor
from tilewright.run.exact_values import Codes, Result, exact_values, half_even

if TYPE_CHECKING:
    import onnx

SAME_ELEMENTS = frozenset({"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"})
OPERANDS = {
    "QLinearConv": ("Conv", (0, 3), 6, 8), "QLinearMatMul": ("MatMul", (0, 3), 6, -1),
    "QGemm": ("Gemm", (0, 3), 7, 6), "QLinearAdd": ("Add", (0, 3), 6, -1), "QLinearMul": ("Mul", (0, 3), 6, -1),
    "QLinearAveragePool": ("AveragePool", (0,), 3, -1),
    "QLinearGlobalAveragePool": ("GlobalAveragePool", (0,), 3, -1), "QLinearSoftmax": ("Softmax", (0,), 3, -1),
    "QLinearSigmoid": ("Sigmoid", (0,), 3, -1), "QLinearLeakyRelu": ("LeakyRelu", (0,), 3, -1),
}  # fmt: skip
"""Per QOperator: the operator it stands for, where its operands lie, its output scale, its bias (-1: it has none)."""
OFFSET = 128
"""What signed codes are less than the unsigned ones of a file."""
CHANNELS = {"Conv": 0, "MatMul": -1, "Gemm": 1}
"""The axis along which a QOperator's weights have scales where they have several."""


@dataclass(frozen=True)
class Border:
    """How real numbers become codes: scale, zero point, and the lowest and highest code."""

    scale: np.float32
    zero: int
    low: int
    high: int

    def code(self, steps: Fraction) -> int:
        """The code of a value in steps."""
        return min(max(half_even(steps) + self.zero, self.low), self.high)


class ExactCodes:
    """Exact codes of the tensors of one file; `values` gives ONNX Runtime's values of tensors by name."""

    def __init__(self, source: Path, values: Callable[[Sequence[str]], dict[str, Array]]) -> None:
        graph = read(source).proto.graph
        self.opset = max((o.version for o in read(source).proto.opset_import if o.domain in ("", "ai.onnx")), default=1)
        self.makers: dict[str, onnx.NodeProto] = {name: node for node in graph.node for name in node.output if name}
        self.initialisers = {tensor.name: tensor for tensor in graph.initializer}
        self.ask = values
        self.known: dict[str, Array] = {}

    def of(self, tensor: Tensor, places: Sequence[int]) -> list[tuple[int, int]] | None:
        """Lowest and highest right code at each flat place of a tensor; None where its node is not known."""
        try:
            exact = self._result(tensor)
            if exact is None:
                return None
            result, border = exact
            values = exact_values(result, places)
        except _UnknownForm:
            return None
        if values is None:
            return None
        return [(border.code(value - error), border.code(value + error)) for value, error in values]

    def _result(self, tensor: Tensor) -> tuple[Result, Border] | None:
        node = self._maker(tensor.name)
        if node.op_type in OPERANDS:
            return self._whole_operator(node, tensor)
        if node.op_type == "QuantizeLinear":
            border = self._border(node, 1, tensor)
            return None if border is None else self._real(node.input[0], tensor.shape, border)
        low, high = tensor.dtype.range
        meaning = tensor.quantisation
        if meaning is None or len(meaning.scale) != 1:
            return None
        return self._real(
            tensor.name, tensor.shape, Border(np.float32(meaning.scale[0]), meaning.zero_point[0], low, high)
        )

    def _whole_operator(self, node: onnx.NodeProto, tensor: Tensor) -> tuple[Result, Border] | None:
        plain, places, output, bias = OPERANDS[node.op_type]
        channels = 0 if _attributes(node).get("transB", 0) else CHANNELS.get(plain, 0)
        operands = tuple(self._codes(node, at, channels if number else 0) for number, at in enumerate(places))
        if _name(node, output) == "":
            return None
        border = self._border(node, output, tensor)
        if border is None:
            return None
        added = self.value(node.input[bias]).astype(np.int64) if bias >= 0 and _name(node, bias) else None
        return Result(plain, operands, tensor.shape, border.scale, _attributes(node), added, self.opset), border

    def _border(self, node: onnx.NodeProto, place: int, tensor: Tensor) -> Border | None:
        """How a node's results become codes as we hold them: unsigned ones may be signed here. None for many scales."""
        scale, zero, _ = self._meaning(node, place)
        if scale.size != 1:
            return None
        code = self._static(node.input[place + 1]).dtype if _name(node, place + 1) else np.dtype(np.uint8)
        unsigned = code == np.uint8 and "output_dtype" not in _attributes(node)
        offset = OFFSET if unsigned and tensor.dtype is DType.I8 else 0
        return Border(scale[0], int(zero[0]) - offset, *tensor.dtype.range)

    def _real(self, name: str, shape: Shape, border: Border) -> tuple[Result, Border] | None:
        """The operator behind a real tensor, limits between them drawn into the border."""
        node = self._maker(name)
        while node.op_type in SAME_ELEMENTS or node.op_type in ("Relu", "Clip"):
            if node.op_type == "Relu" and self._maker(node.input[0]).op_type == "DequantizeLinear":
                break
            if node.op_type in SAME_ELEMENTS:
                shape = self.value(node.input[0]).shape
            else:
                border = self._limited(node, border)
            node = self._maker(node.input[0])
        if node.domain not in ("", "ai.onnx"):
            return None
        linear = node.op_type in CHANNELS
        operands = tuple(self._dequantised(operand) for operand in node.input[: 2 if linear else None] if operand)
        bias = self._bias(node, operands) if linear else None
        return Result(node.op_type, operands, shape, border.scale, _attributes(node), bias, self.opset), border

    def _limited(self, node: onnx.NodeProto, border: Border) -> Border:
        """The border with its codes kept within those of a Relu's or Clip's limits."""
        limits: list[float | None] = [0.0, None]
        if node.op_type == "Clip":
            given = _attributes(node)
            limits = [given.get("min"), given.get("max")]
            for place in (1, 2):
                if _name(node, place):
                    limits[place - 1] = float(self._static(node.input[place]).reshape(()))
        low, high = border.low, border.high
        steps = [None if limit is None else Fraction(float(np.float32(limit) / border.scale)) for limit in limits]
        if steps[0] is not None:
            low = border.code(steps[0])
        if steps[1] is not None:
            high = border.code(steps[1])
        return Border(border.scale, border.zero, low, max(low, high))

    def _dequantised(self, name: str) -> Codes:
        """The codes whose real numbers a tensor holds."""
        shape, node = None, self._maker(name)
        while node.op_type in SAME_ELEMENTS:
            shape = self.value(name).shape if shape is None else shape
            node = self._maker(node.input[0])
        if node.op_type != "DequantizeLinear":
            raise _UnknownForm
        scale, zero, axis = self._meaning(node, 1)
        values = self.value(node.input[0]).astype(np.int64)
        if shape is not None and scale.size > 1:
            raise _UnknownForm
        return Codes(values if shape is None else values.reshape(shape), scale, zero, axis)

    def _bias(self, node: onnx.NodeProto, operands: tuple[Codes, ...]) -> Array | None:
        """The bias of a sum of products, whose codes count in the product of the scales."""
        if not _name(node, 2):
            return None
        bias = self._dequantised(node.input[2])
        unit = operands[0].scale.reshape(-1)[0] * operands[1].scale.reshape(-1)
        if not np.array_equal(np.broadcast_to(bias.scale.reshape(-1), unit.shape), unit) or bias.zero.any():
            raise _UnknownForm
        if bias.values.ndim > 1 and bias.values.size != bias.values.shape[-1]:
            raise _UnknownForm
        return bias.values.reshape(-1)

    def _codes(self, node: onnx.NodeProto, place: int, axis: int) -> Codes:
        scale, zero, _ = self._meaning(node, place + 1)
        return Codes(self.value(node.input[place]).astype(np.int64), scale, zero, axis)

    def _meaning(self, node: onnx.NodeProto, place: int) -> tuple[Array, Array, int]:
        """Scale, zero point and axis that a node's operands from `place` on give."""
        scale = self._static(node.input[place]).astype(np.float32)
        zero = self._static(node.input[place + 1]) if _name(node, place + 1) else np.zeros(1, np.int64)
        if scale.ndim > 1 or "block_size" in _attributes(node):
            raise _UnknownForm
        zeros = np.broadcast_to(zero.astype(np.int64).reshape(-1), scale.reshape(-1).shape)
        return scale.reshape(-1), zeros, int(_attributes(node).get("axis", 1))

    def _maker(self, name: str) -> onnx.NodeProto:
        if name not in self.makers:
            raise _UnknownForm
        return self.makers[name]

    def _static(self, name: str) -> Array:
        """A value that stands in the file."""
        from onnx import numpy_helper

        if name in self.initialisers:
            return np.asarray(numpy_helper.to_array(self.initialisers[name]))
        node = self.makers.get(name)
        if node is None or node.op_type != "Constant" or node.attribute[0].name != "value":
            raise _UnknownForm
        return np.asarray(numpy_helper.to_array(node.attribute[0].t))

    def value(self, name: str) -> Array:
        """A tensor's value: from the file, or ONNX Runtime's."""
        if name not in self.known:
            try:
                self.known[name] = self._static(name)
            except _UnknownForm:
                self.known.update(self.ask([name]))
                if name not in self.known:
                    raise
        return self.known[name]


class _UnknownForm(Exception):
    """The file says this in a way that is not known here."""


def _name(node: onnx.NodeProto, place: int) -> str:
    """The name of an operand, empty where it is omitted."""
    return node.input[place] if place < len(node.input) else ""


def _attributes(node: onnx.NodeProto) -> dict[str, Any]:
    from onnx import helper

    attributes = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
    return {name: value.decode() if isinstance(value, bytes) else value for name, value in attributes.items()}
