"""What happens to codes where an operator moves values between tensors that are quantised in different ways."""

from __future__ import annotations

from collections.abc import Callable

from tilewright.model import Array, Quantisation, Tensor
from tilewright.ops.operands import Arrays
from tilewright.ops.operator import Call, Evaluate
from tilewright.ops.requantize import code_of, float32_multipliers, requantise


def code_limits(call: Call, output: int = 0) -> tuple[int, int]:
    """Smallest and largest code of a quantised output, its fused activation included."""
    tensor = call.outputs[output]
    low, high = tensor.dtype.range
    clamp, scale, zero = call.node.clamp, *_only(call, tensor)
    if clamp is None:
        return low, high
    return code_of(clamp.low, scale, zero, tensor.dtype), code_of(clamp.high, scale, zero, tensor.dtype)


def _only(call: Call, tensor: Tensor) -> tuple[float, int]:
    """Scale and zero point of a tensor that has one pair for all channels."""
    found = tensor.quantisation
    if found is None:
        raise call.unsupported(f"'{tensor.name}' is not quantised, other operands are", "quantise all or none of them")
    if len(found.scale) != 1:
        raise call.unsupported(f"'{tensor.name}' has a scale per channel", "quantise it with one scale")
    return found.scale[0], found.zero_point[0]


def rescaled_sum(call: Call, codes: Array, total: Callable[[Array], Array], count: int) -> Array:
    """Codes of `total(codes - zero point) / count`: a sum or a mean of quantised values, exact."""
    (scale, zero), (new_scale, new_zero) = _only(call, call.tensor(0)), _only(call, call.outputs[0])
    multiplier = float32_multipliers(scale, (1.0,), new_scale)[0] / count
    low, high = code_limits(call)
    acc = total(codes.astype("int64") - zero)
    return requantise(acc, multiplier, new_zero, low, high).astype(call.outputs[0].dtype.numpy)


def recoded(call: Call, codes: Array, index: int = 0, output: int = 0) -> Array:
    """Codes of operand `index` as codes of an output: the same ones where both mean the same, else requantised."""
    source, target = call.tensor(index), call.outputs[output]
    if source.quantisation == target.quantisation:
        return codes
    (scale, zero), (new_scale, new_zero) = _only(call, source), _only(call, target)
    multiplier = float32_multipliers(scale, (1.0,), new_scale)[0]
    low, high = code_limits(call, output)
    return requantise(codes.astype("int64") - zero, multiplier, new_zero, low, high).astype(target.dtype.numpy)


def shared_quantisation(call: Call) -> Quantisation | None:
    """The quantisation that all outputs have."""
    found = {tensor.quantisation for tensor in call.outputs}
    if len(found) > 1:
        raise call.unsupported("its outputs are quantised in different ways", "give all outputs one scale")
    return found.pop() if found else None


def moves_codes(evaluate: Evaluate, operands: tuple[int, ...] | None = (0,)) -> Evaluate:
    """The evaluation of an operator that only moves values, with operands recoded first; None means all operands."""

    def recoding(call: Call, arrays: Arrays) -> tuple[Array, ...]:
        shared = shared_quantisation(call)
        moved = range(len(call.inputs)) if operands is None else operands
        found = list(arrays)
        for index in moved:
            array, tensor = found[index], call.optional(index)
            if array is not None and tensor is not None and (tensor.quantisation != shared):
                found[index] = recoded(call, array, index)
        return evaluate(call, found)

    return recoding
