"""Functions of one or two codes as TensorFlow Lite Micro's reference kernels compute them; see `twice.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tilewright.model import Array, DType, Quantisation, Tensor
from tilewright.ops.operator import Call
from tilewright.ops.quantised.hard_swish_twice import hard_swish, is_known
from tilewright.ops.quantised.real import code_limits, the_quantisation
from tilewright.ops.quantised.twice import Twice, added, logistic, tanh
from tilewright.ops.requantize import Integers

FIXED: Mapping[str, tuple[float, int]] = {"Sigmoid": (1 / 256, -128), "Tanh": (1 / 128, 0)}
"""Scale and zero point of results that are computed in fixed point, of signed codes."""
PAIRS = {"Add": 1, "Sub": -1, "Mul": 0}


def requantised_twice(codes: Array, source: Quantisation, target: Quantisation, dtype: DType) -> Array:
    """QUANTIZE of codes."""
    steps = Twice.of(source.scale[0] / target.scale[0]).apply(codes.astype(np.int64) - source.zero_point[0])
    return np.clip(steps + target.zero_point[0], *dtype.range).astype(dtype.numpy)


def unknown(call: Call) -> str | None:
    """None for a node whose integers are known, or why not; operands and result are codes."""
    tensors = [tensor for tensor in call.inputs if tensor is not None]
    target = call.outputs[0]
    if call.node.op in PAIRS and len(tensors) == 2 and all(t.quantisation and t.dtype.bits == 8 for t in tensors):
        return None
    if call.node.op in FIXED:
        meaning = the_quantisation(target)
        if (meaning.scale[0], meaning.zero_point[0], target.dtype) != (*FIXED[call.node.op], DType.I8):
            return "its result is not in the one form that the kernels give"
        return None if tensors[0].dtype is DType.I8 else "its operand is not int8"
    if call.node.op == "HardSwish":
        return _unknown_hard_swish(tensors[0], target)
    return None if call.node.op == "LeakyRelu" else "how the kernels compute it is not known here"


def _unknown_hard_swish(source: Tensor, target: Tensor) -> str | None:
    if source.dtype is not DType.I8 or target.dtype is not DType.I8:
        return "its operand and its result are not both int8"
    known = is_known(the_quantisation(source).scale[0], the_quantisation(target).scale[0])
    return None if known else "the scale of its result is a 128th of its operand's or less"


def element_twice(call: Call, arrays: Sequence[Array | None]) -> Array:
    """Codes of the result; UnsupportedNode for operators whose integers are not known here."""
    if (why := unknown(call)) is not None:
        raise call.unsupported(f"--numerics tflm: {why}", "use --numerics exact")
    target = call.outputs[0]
    meaning, limits = the_quantisation(target), code_limits(call, target)
    operands: list[Integers] = []
    for tensor, array in zip(call.inputs, arrays, strict=False):
        if tensor is not None and tensor.quantisation is not None and array is not None:
            operands.append(array.astype(np.int64) - tensor.quantisation.zero_point[0])
    steps = _steps(call, operands, meaning)
    return np.clip(steps + meaning.zero_point[0], *limits).astype(target.dtype.numpy)


def _steps(call: Call, operands: list[Integers], meaning: Quantisation) -> Integers:
    """The result less its zero point."""
    scales = [the_quantisation(call.tensor(index)).scale[0] for index in range(len(operands))]
    match call.node.op:
        case "Add" | "Sub":
            return added(operands[0], operands[1], (scales[0], scales[1], meaning.scale[0]), PAIRS[call.node.op])
        case "Mul":
            return Twice.of(scales[0] * scales[1] / meaning.scale[0]).apply(operands[0] * operands[1])
        case "HardSwish":
            return hard_swish(operands[0], scales[0], meaning.scale[0])
        case "LeakyRelu":
            alpha = float(np.float32(call.real("alpha", 0.01)))
            rise, fall = (Twice.of(scales[0] * factor / meaning.scale[0]) for factor in (1.0, alpha))
            return np.where(operands[0] >= 0, rise.apply(operands[0]), fall.apply(operands[0])).astype(np.int64)
    function = logistic if call.node.op == "Sigmoid" else tanh
    return function(operands[0], scales[0]) - meaning.zero_point[0]
