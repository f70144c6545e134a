"""Functions of one or two codes as TensorFlow Lite Micro's reference kernels compute them; see `twice.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tilewright.model import Array, Clamp, DType, Quantisation, Tensor
from tilewright.ops.activation import clip_limits
from tilewright.ops.operator import Call
from tilewright.ops.quantised.curve_twice import RESULT_SCALE, curved
from tilewright.ops.quantised.function_twice import absolute, elu
from tilewright.ops.quantised.hard_swish_twice import hard_swish, is_known
from tilewright.ops.quantised.quotient_twice import MOST_SHIFT, Quotient, shifts
from tilewright.ops.quantised.real import code_limits, the_quantisation
from tilewright.ops.quantised.twice import Addition, Distance, Twice, limits_of, logistic, tanh
from tilewright.ops.requantize import Integers

FIXED: Mapping[str, tuple[float, int]] = {"Sigmoid": (1 / 256, -128), "Tanh": (1 / 128, 0)}
"""Scale and zero point of results that are computed in fixed point, of signed codes."""
PAIRS = {"Add": 1, "Sub": -1, "Mul": 0, "SquaredDifference": 0}
EXTREMES = ("Max", "Min")
SIGNED: Mapping[str, tuple[DType, ...]] = {
    "Relu": (DType.I8, DType.I16), "Clip": (DType.I8, DType.I16), "Abs": (DType.I8, DType.I16), "Elu": (DType.I8,),
}  # fmt: skip
"""Types of codes of functions whose result has its operand's."""
WIDE = frozenset({"LeakyRelu", "Relu", "Clip", "Abs", "Softmax", *FIXED})
"""Functions of one tensor that are known for codes of sixteen bits too."""
ROUNDED_TWICE = frozenset({*PAIRS, "LeakyRelu"})
"""Operators on codes of eight bits or sixteen."""
Rules = Addition | Distance | Quotient | tuple[Twice, Twice] | Twice
"""What a function rounds by: three rules, one above and one below zero, or one."""


def requantised_twice(codes: Array, source: Quantisation, target: Quantisation, dtype: DType) -> Array:
    """QUANTIZE of codes."""
    steps = Twice.of(source.scale[0] / target.scale[0]).apply(codes.astype(np.int64) - source.zero_point[0])
    return np.clip(steps + target.zero_point[0], *dtype.range).astype(dtype.numpy)


def unknown(call: Call) -> str | None:
    """None for a node whose integers are known, or why not; operands and result are codes."""
    tensors = [tensor for tensor in call.inputs if tensor is not None]
    source, target = tensors[0], call.outputs[0]
    if call.node.op in PAIRS and len(tensors) == 2:
        return _unknown_pair(call, tensors)
    if call.node.op == "Div":
        return _unknown_quotient(call, tensors)
    if call.node.op in FIXED:
        return _unknown_curve(call.node.op, source, target)
    if call.node.op == "HardSwish":
        return _unknown_hard_swish(source, target)
    if call.node.op in EXTREMES and len(tensors) == 2:
        alike = len({(tensor.quantisation, tensor.dtype) for tensor in (*tensors, target)}) == 1
        return None if alike else "its operands and its result have scales of their own"
    if call.node.op in SIGNED and (source.dtype is not target.dtype or source.dtype not in SIGNED[call.node.op]):
        return "its operand and its result are not both " + " or both ".join(t.numpy.name for t in SIGNED[call.node.op])
    if call.node.op == "Clip":
        alike = source.quantisation == target.quantisation and clip_limits(call) is not None
        return None if alike else "its operand and its result have scales of their own"
    if call.node.op == "Elu":
        return None
    if call.node.op == "PRelu":
        return _unknown_slopes(call, tensors)
    if call.node.op in ("LeakyRelu", "QuantizeLinear", "Relu", "Abs"):
        if max(source.dtype.bits, target.dtype.bits) > 8 and not _known_wide(call.node.op, source.dtype, target.dtype):
            return f"the kernels make no codes of {target.dtype.bits} bits of those of {source.dtype.bits}"
        if source.dtype is DType.I32:
            return "its products leave 32 bits" if Twice.of(_ratio(call)).shift > 0 else None
        return _beyond_words(element_rules(call), [source])
    return "how the kernels compute it is not known here"


def _unknown_curve(op: str, source: Tensor, target: Tensor) -> str | None:
    meaning = the_quantisation(target)
    form = (RESULT_SCALE, 0) if target.dtype is DType.I16 else FIXED[op]
    if (meaning.scale[0], meaning.zero_point[0]) != form or target.dtype not in (DType.I8, DType.I16):
        return "its result is not in the one form that the kernels give"
    if source.dtype is not target.dtype:
        return f"its operand is not {target.dtype.numpy.name}"
    centred = target.dtype is DType.I8 or not the_quantisation(source).zero_point[0]
    return None if centred else "its operand has a zero point"


def _known_wide(op: str, source: DType, target: DType) -> bool:
    if op != "QuantizeLinear":
        return source is target is DType.I16
    signed = all(dtype in (DType.I8, DType.I16, DType.I32) for dtype in (source, target))
    return signed and not source is target is DType.I32


def _ratio(call: Call) -> float:
    return the_quantisation(call.tensor(0)).scale[0] / the_quantisation(call.outputs[0]).scale[0]


def _unknown_pair(call: Call, tensors: Sequence[Tensor]) -> str | None:
    every = (*tensors, call.outputs[0])
    if not all(tensor.quantisation for tensor in every):
        return "an operand is no tensor of codes"
    wide = any(tensor.dtype.bits > 8 for tensor in every)
    gate = call.node.op == "Mul" and every[-1].dtype is DType.I8  # of an LSTM, from 16 bits to 8
    if wide and not all(tensor.dtype is DType.I16 for tensor in (tensors if gate else every)):
        return "its codes are not all of eight bits, nor all of sixteen"
    centred = tensors if gate else every
    if (
        wide
        and call.node.op not in ("Add", "Sub")
        and any(the_quantisation(tensor).zero_point[0] for tensor in centred)
    ):
        return "its codes of sixteen bits have a zero point"
    return _beyond_words(element_rules(call), tensors)


def _unknown_quotient(call: Call, tensors: Sequence[Tensor]) -> str | None:
    """Div of bytes alone, whose shifts are those that numbers of 32 bits have."""
    if any(tensor.quantisation is None or tensor.dtype is not DType.I8 for tensor in (*tensors, call.outputs[0])):
        return "its operands and its result are not all int8"
    rules = element_rules(call)
    assert isinstance(rules, Quotient), call.node.op
    least, most = shifts(rules, *(the_quantisation(tensor) for tensor in tensors))
    if least < 0 or most > MOST_SHIFT:
        return "the kernels shift some of its quotients by less than no bit or more than 31, which C leaves open"
    return None


def _unknown_slopes(call: Call, tensors: Sequence[Tensor]) -> str | None:
    """PRelu of bytes by slopes that are codes as well."""
    if any(tensor.quantisation is None or tensor.dtype is not DType.I8 for tensor in (*tensors, call.outputs[0])):
        return "its operands and its result are not all int8"
    rules = element_rules(call)
    assert isinstance(rules, tuple), call.node.op
    return _beyond_words(rules[0], tensors[:1]) or _beyond_words(rules[1], tensors)


def _beyond_words(rules: Rules, tensors: Sequence[Tensor]) -> str | None:
    """Why the reference leaves 32 bits; None where it does not."""
    if isinstance(rules, Addition):
        steep = rules.total.shift > 0
        return "its result has less than the smallest scale that the kernels take" if steep else None
    if isinstance(rules, Quotient):
        return None
    if isinstance(rules, Distance):
        return "its squares leave 32 bits" if rules.total.shift > 0 else None
    reach = 1
    for tensor in tensors:
        zero = the_quantisation(tensor).zero_point[0]
        reach *= max(abs(limit - zero) for limit in tensor.dtype.range)
    used = rules if isinstance(rules, tuple) else (rules,)
    if any(reach << max(rule.shift, 0) >= 1 << 31 for rule in used):
        return "its products leave 32 bits"
    return None


def _unknown_hard_swish(source: Tensor, target: Tensor) -> str | None:
    if source.dtype is not DType.I8 or target.dtype is not DType.I8:
        return "its operand and its result are not both int8"
    known = is_known(the_quantisation(source).scale[0], the_quantisation(target).scale[0])
    return None if known else "the scale of its result is a 128th of its operand's or less"


def element_rules(call: Call) -> Rules:
    """The rules of an Add, Sub, Mul, Div, SquaredDifference, LeakyRelu, PRelu, Relu, Abs or QuantizeLinear of codes."""
    target = the_quantisation(call.outputs[0]).scale[0]
    first = the_quantisation(call.tensor(0)).scale[0]
    match call.node.op:
        case "Add" | "Sub":
            scales = (first, the_quantisation(call.tensor(1)).scale[0], target)
            return Addition.of(scales, call.outputs[0].dtype.bits, PAIRS[call.node.op])
        case "SquaredDifference":
            scales = (first, the_quantisation(call.tensor(1)).scale[0], target)
            return Distance.of(scales, call.outputs[0].dtype.bits)
        case "Div":
            return Quotient.of(first, the_quantisation(call.tensor(1)).scale[0], target)
        case "Mul":
            return Twice.of(first * the_quantisation(call.tensor(1)).scale[0] / target)
        case "LeakyRelu":
            alpha = float(np.float32(call.real("alpha", 0.01)))
            return Twice.of(first / target), Twice.of(first * alpha / target)
        case "PRelu":
            alpha = the_quantisation(call.tensor(1)).scale[0]
            return Twice.of(first / target), Twice.of(first * alpha / target)
    return Twice.of(_ratio(call))


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
    source = the_quantisation(call.tensor(0)).scale[0]
    if call.node.op == "HardSwish":
        return hard_swish(operands[0], source, meaning.scale[0])
    if call.node.op in FIXED and call.outputs[0].dtype is DType.I16:
        return curved(operands[0], source, call.node.op == "Tanh")
    if call.node.op in FIXED:
        function = logistic if call.node.op == "Sigmoid" else tanh
        return function(operands[0], source) - meaning.zero_point[0]
    if call.node.op in EXTREMES:
        return np.maximum(*operands) if call.node.op == "Max" else np.minimum(*operands)
    if call.node.op == "Elu":
        return elu(operands[0], source, meaning, call.outputs[0].dtype) - meaning.zero_point[0]
    if call.node.op == "Abs":
        return absolute(operands[0], source, meaning.scale[0])
    if call.node.op == "Clip":
        low, high = clip_steps(call)
        return np.clip(operands[0], low, high)
    match element_rules(call):
        case Addition() | Distance() | Quotient() as rules:
            return rules.apply(operands[0], operands[1])
        case (rise, fall):
            below = operands[0] * operands[1] if len(operands) > 1 else operands[0]
            return np.where(operands[0] >= 0, rise.apply(operands[0]), fall.apply(below)).astype(np.int64)
        case rule:
            steps = rule.apply(operands[0] * operands[1] if len(operands) > 1 else operands[0])
            return np.maximum(steps, 0) if call.node.op == "Relu" else steps


def clip_steps(call: Call) -> tuple[int, int]:
    """The limits of a Clip as codes less the zero point."""
    target, limits = call.outputs[0], clip_limits(call)
    assert limits is not None, call.node.name
    zero = the_quantisation(target).zero_point[0]
    low, high = limits_of(Clamp(*limits), the_quantisation(target), target.dtype.range)
    return low - zero, high - zero
