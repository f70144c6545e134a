"""The real side of a call on quantised tensors: the same call on real tensors, and limits as codes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tilewright.model import Array, DType, Quantisation, Tensor
from tilewright.ops.operator import Call
from tilewright.ops.quantised.twice import limits_of
from tilewright.ops.requantize import code_of


def the_quantisation(tensor: Tensor) -> Quantisation:
    """The quantisation of a tensor that must have one."""
    assert tensor.quantisation is not None, f"tensor '{tensor.name}' is not quantised"
    return tensor.quantisation


def real_tensor(tensor: Tensor, dtype: DType) -> Tensor:
    """The tensor of real numbers that a quantised one stands for; others as they are, floats in `dtype`."""
    if tensor.quantisation is None and not tensor.dtype.is_float:
        return tensor
    return replace(tensor, dtype=dtype, quantisation=None)


def real_call(call: Call, dtype: DType, constants: Mapping[int, Array] | None = None, operands: int = 0) -> Call:
    """The call on real numbers of type `dtype`, without its clamp; with only the first `operands` where given."""
    count = operands or len(call.inputs)
    inputs = tuple(None if t is None else real_tensor(t, dtype) for t in call.inputs[:count])
    outputs = tuple(real_tensor(t, dtype) for t in call.outputs)
    node = replace(call.node, clamp=None, inputs=call.node.inputs[:count])
    return replace(call, node=node, inputs=inputs, outputs=outputs, constants=constants or {})


def rounds_twice(call: Call) -> bool:
    """True where the result's codes are those of TensorFlow Lite Micro."""
    meaning = call.outputs[0].quantisation
    return meaning is not None and meaning.numerics == "tflm"


def code_limits(call: Call, tensor: Tensor) -> tuple[int, int]:
    """Smallest and largest code of a result: its type's range, narrowed by the node's clamp."""
    clamp = call.node.clamp
    if clamp is None:
        return tensor.dtype.range
    meaning = the_quantisation(tensor)
    if meaning.numerics == "tflm":
        return limits_of(clamp, meaning, tensor.dtype.range)
    low, high = (
        code_of(limit, meaning.scale[0], meaning.zero_point[0], tensor.dtype) for limit in (clamp.low, clamp.high)
    )
    return low, max(low, high)
