"""Operators that carry their scales as operands: QOperator nodes of ONNX and ONNX Runtime, QONNX's Quant.

`passes/quantise/forms.py` turns them into the operators that they stand for on quantised tensors; here are their shape
rules, and their meaning for the case that all operands are constant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tilewright.model import Array, DType, Node, Quantisation, Tensor
from tilewright.ops.operator import Call, Operator, ShapeRule, TensorType
from tilewright.ops.quantize import OPERATORS as BORDER
from tilewright.ops.registry import call_of, find
from tilewright.ops.requantize import float32_multipliers

QONNX_DOMAINS = ("qonnx.custom_op.general", "finn.custom_op.general", "onnx.brevitas")
MICROSOFT = "com.microsoft"


@dataclass(frozen=True)
class Spelling:
    """Where a QOperator node keeps its operands: indices of codes, each followed by scale and zero point.

    `axes` says which axis of an operand its scales count; `bias` and `output` are indices, -1 where there is none.
    """

    name: str
    plain: str
    data: tuple[int, ...]
    output: int
    bias: int = -1
    axes: tuple[int, ...] = (0, 0)
    domains: tuple[str, ...] = (MICROSOFT,)
    dropped: tuple[str, ...] = ("channels_last", "opset")

    def pairs(self, call: Call) -> tuple[int, ...]:
        """Indices of the data operands of a call; Concat has any number of them."""
        return self.data or tuple(range(2, len(call.node.inputs), 3))


SPELLINGS = (
    Spelling("QLinearConv", "Conv", (0, 3), 6, 8, domains=("", MICROSOFT)),
    Spelling("QLinearMatMul", "MatMul", (0, 3), 6, axes=(-2, -1), domains=("",)),
    Spelling("QGemm", "Gemm", (0, 3), 7, 6, axes=(0, 1)),
    Spelling("QLinearAdd", "Add", (0, 3), 6),
    Spelling("QLinearMul", "Mul", (0, 3), 6),
    Spelling("QLinearSigmoid", "Sigmoid", (0,), 3),
    Spelling("QLinearLeakyRelu", "LeakyRelu", (0,), 3),
    Spelling("QLinearAveragePool", "AveragePool", (0,), 3),
    Spelling("QLinearGlobalAveragePool", "GlobalAveragePool", (0,), 3),
    Spelling("QLinearSoftmax", "Softmax", (0,), 3),
    Spelling("QLinearConcat", "Concat", (), 0),
)


def _scales(call: Call, index: int) -> Array:
    return call.constant(index, "a scale").astype(np.float32).reshape(-1)


def _meaning(call: Call, tensor: Tensor, scale: int, axis: int) -> Quantisation:
    scales = _scales(call, scale)
    zero = call.optional(scale + 1)
    zeros = call.constant(scale + 1, "a zero point").reshape(-1) if zero is not None else np.zeros(1, np.int64)
    zeros = np.broadcast_to(zeros, scales.shape)
    where = axis % max(len(tensor.shape), 1) if scales.size > 1 else None
    return Quantisation(tuple(scales.tolist()), tuple(int(z) for z in zeros), where)


def _code_type(call: Call, spelling: Spelling) -> DType | None:
    """The type of the result's codes; None for a QGemm without output scale, whose result is float."""
    if call.optional(spelling.output) is None:
        return None
    zero = call.optional(spelling.output + 1)
    return zero.dtype if zero is not None else DType.U8


def _plain_call(call: Call, spelling: Spelling, output: Tensor | None) -> Call:
    """The call of the plain operator; on real tensors where `output` is None, else on quantised ones."""
    inputs: list[Tensor | None] = []
    constants: dict[int, Array] = {}
    for place, index in enumerate(spelling.pairs(call)):
        tensor = call.tensor(index)
        if len(call.tensor(index + 1).shape) > 1:
            raise call.unsupported(
                f"its scale '{call.tensor(index + 1).name}' has {len(call.tensor(index + 1).shape)} axes",
                "use one scale, or one per channel",
            )
        axis = spelling.axes[min(place, 1)]
        if spelling.plain == "Gemm" and place == 1 and call.integer("transB", 0):
            axis = 0
        meaning = None if output is None else _meaning(call, tensor, index + 1, axis)
        inputs.append(replace(tensor, dtype=DType.F32 if output is None else tensor.dtype, quantisation=meaning))
        if index in call.constants and output is not None:
            constants[place] = call.constants[index]
    bias = call.optional(spelling.bias) if spelling.bias >= 0 else None
    if bias is not None:
        inputs.append(replace(bias, dtype=DType.F32) if output is None else bias)
        if spelling.bias in call.constants and output is not None:
            constants[len(inputs) - 1] = call.constants[spelling.bias]
    attributes = {name: value for name, value in call.node.attributes.items() if name not in spelling.dropped}
    node = Node(call.node.name, spelling.plain, tuple(t.name for t in inputs if t), call.node.outputs, attributes)
    return call_of(node, inputs, () if output is None else (output,), constants, call.opset)


def _infer(spelling: Spelling) -> ShapeRule:
    def infer(call: Call) -> tuple[TensorType, ...]:
        plain = find(spelling.plain)
        assert plain is not None, spelling.plain
        for index in spelling.pairs(call):
            if call.tensor(index).dtype.is_float:
                raise call.invalid(f"operand '{call.tensor(index).name}' is not integer")
        (kind,) = plain.infer(_plain_call(call, spelling, None))[:1]
        return (TensorType(_code_type(call, spelling) or DType.F32, kind.shape),)

    return infer


def _operators(spelling: Spelling) -> tuple[Operator, ...]:
    def evaluate(call: Call, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
        plain = find(spelling.plain)
        assert plain is not None, spelling.plain
        if _code_type(call, spelling) is None:
            return (_real_gemm(call, spelling, arrays),)
        output = replace(call.outputs[0], quantisation=_meaning(call, call.outputs[0], spelling.output, 0))
        chosen = [arrays[index] for index in spelling.pairs(call)]
        if spelling.bias >= 0 and call.optional(spelling.bias) is not None:
            chosen.append(arrays[spelling.bias])
        return plain.evaluate(_plain_call(call, spelling, output), chosen)

    names = tuple(f"x{index}" for index in range(10))
    if not spelling.data:
        names = ("scale", "zero_point", "x...")
    return tuple(
        Operator(spelling.name, _infer(spelling), evaluate, names, domain=domain) for domain in spelling.domains
    )


def _real_gemm(call: Call, spelling: Spelling, arrays: Sequence[Array | None]) -> Array:
    """QGemm without an output scale: the exact sum times the product of the scales, in float32."""
    left, right = (
        arrays[index].astype(np.int64)  # type: ignore[union-attr]
        - call.constant(index + 2, "a zero point").astype(np.int64)
        for index in spelling.data
    )
    left = left.T if call.integer("transA", 0) else left
    right = right.T if call.integer("transB", 0) else right
    total = left @ right
    if call.optional(spelling.bias) is not None:
        total = total + call.constant(spelling.bias, "the bias").astype(np.int64)
    scale = [float(m) for m in float32_multipliers(float(_scales(call, 1)[0]), _scales(call, 4).tolist(), 1.0)]
    return np.asarray(total.astype(np.float32) * np.asarray(scale, np.float32))


def _infer_quant(call: Call) -> tuple[TensorType, ...]:
    if call.tensor(0).dtype is not DType.F32:
        raise call.invalid(f"operand '{call.tensor(0).name}' has type {call.tensor(0).dtype.value}, it must be f32")
    return (TensorType(DType.F32, call.shape(0)),)


def quant_range(call: Call, bits: float) -> tuple[int, int]:
    """Smallest and largest code of a Quant of so many bits."""
    signed, narrow = bool(call.integer("signed", 1)), bool(call.integer("narrow", 0))
    if bits != int(bits) or not 1 <= bits <= 32:
        raise call.unsupported(f"{bits:g} bits are not supported", "quantise to 8 bits")
    lowest = (-(1 << int(bits) - 1) if signed else 0) + int(signed and narrow)
    return lowest, (1 << int(bits) - 1) - 1 if signed else (1 << int(bits)) - 1 - int(narrow)


def _evaluate_quant(call: Call, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
    x, scale, zero, bits = arrays[:4]
    assert x is not None, "operand 0 is missing"
    assert scale is not None, "operand 1 is missing"
    assert zero is not None, "operand 2 is missing"
    assert bits is not None, "operand 3 is missing"
    low, high = quant_range(call, float(bits.reshape(-1)[0]))
    codes = np.clip(np.rint(x / scale.astype(np.float32)) + zero.astype(np.float32), low, high)
    return (np.asarray((codes - zero) * scale, np.float32),)


QUANT = ("x", "scale", "zero_point", "bit_width")
OPERATORS = (
    *(operator for spelling in SPELLINGS for operator in _operators(spelling)),
    *(
        Operator(name, _infer_quant, _evaluate_quant, QUANT, domain=domain, folds=False)
        for domain in QONNX_DOMAINS
        for name in ("Quant", "IntQuant")
    ),
    # ONNX Runtime's own spelling, which had 4 and 16 bits before the standard.
    *(replace(each, domain=MICROSOFT) for each in BORDER if each.name in ("QuantizeLinear", "DequantizeLinear")),
)
