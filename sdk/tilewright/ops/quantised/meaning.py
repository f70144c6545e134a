"""What every operator means on quantised tensors; the registry puts this in front of each operator's own meaning.

Sums of products, means, softmax and normalisations have integer arithmetic of their own. Operators that move values
move codes, after operands of another scale were brought to the scale of the result. Every other operator follows ONNX
literally: DequantizeLinear, the operator in float32, QuantizeLinear; over codes of few bits that is a table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from tilewright.model import Array, DType, Quantisation, Tensor
from tilewright.ops.codes import AsIntegers, Converts, Exponentials, Interpolates, Mean, Moves, Normalises, Products
from tilewright.ops.fixed.meaning import evaluate_fixed, fixed_meaning, moved_operands
from tilewright.ops.fixed.tensors import is_fixed
from tilewright.ops.operator import Call, Operator
from tilewright.ops.quantised.linear import evaluate_linear
from tilewright.ops.quantised.mean import evaluate_mean
from tilewright.ops.quantised.normalised import evaluate_normalised
from tilewright.ops.quantised.real import code_limits, real_call, rounds_twice, the_quantisation
from tilewright.ops.quantised.resize import evaluate_resize, resize_form
from tilewright.ops.quantised.softmax import evaluate_softmax
from tilewright.ops.quantised.softmax_twice import evaluate_softmax_twice
from tilewright.ops.quantised.twice_elements import element_twice, requantised_twice
from tilewright.ops.requantize import dequantise, quantise

Arrays = Sequence[Array | None]
Meaning = Callable[[Operator, Call, Arrays], Array]

_INTEGER: Mapping[type, Meaning] = {
    Products: evaluate_linear,
    Mean: evaluate_mean,
    Exponentials: evaluate_softmax,
    Normalises: evaluate_normalised,
}


def with_codes(operator: Operator) -> Operator:
    """The operator with its meaning on quantised tensors added."""

    def evaluate(call: Call, arrays: Arrays) -> tuple[Array, ...]:
        first, fixed = call.optional(0), fixed_meaning(call)
        if fixed is not None:
            return evaluate_fixed(fixed, call, arrays)
        if is_fixed(first) and moved_operands(call) is not None and not isinstance(call.codes, Moves):
            return operator.evaluate(call, arrays)
        if operator.name == "QuantizeLinear" and first is not None and first.quantisation is not None:
            return evaluate_requantise(call, arrays)
        if operator.name == "QuantizeLinear" and rounds_twice(call) and arrays[0] is not None:
            return (quantise(arrays[0], the_quantisation(call.outputs[0]), call.outputs[0].dtype),)
        if _is_quantised(call) and not _is_own(operator, call):
            return evaluate_codes(operator, call, arrays)
        return operator.evaluate(call, arrays)

    return replace(operator, evaluate=evaluate)


def _is_own(operator: Operator, call: Call) -> bool:
    """True for operators whose own meaning is one of codes."""
    return isinstance(operator.codes_of(call.node), AsIntegers | Converts)


def evaluate_requantise(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    """QuantizeLinear of a tensor that is codes already: the codes of its real values under the result's scale."""
    codes, target = arrays[0], call.outputs[0]
    assert codes is not None, "operand 0 is missing"
    return (requantised(codes, the_quantisation(call.tensor(0)), the_quantisation(target), target.dtype),)


def _is_quantised(call: Call) -> bool:
    return any(tensor is not None and tensor.quantisation is not None for tensor in (*call.inputs, *call.outputs))


def evaluate_codes(operator: Operator, call: Call, arrays: Arrays) -> tuple[Array, ...]:
    """Codes of the results of a call with at least one quantised tensor."""
    codes = operator.codes_of(call.node)
    if isinstance(codes, Exponentials) and rounds_twice(call):
        return (evaluate_softmax_twice(call, arrays),)
    if type(codes) in _INTEGER and _all_quantised(call):
        return (_INTEGER[type(codes)](operator, call, arrays),)
    if isinstance(codes, Interpolates) and _all_quantised(call) and resize_form(call) is not None:
        return (evaluate_resize(operator, call, arrays),)
    if isinstance(codes, Moves):
        plain = replace(call, node=replace(call.node, clamp=None))
        moved = operator.evaluate(plain, _brought_to_one_scale(call, arrays))
        return tuple(_limited(call, tensor, code) for tensor, code in zip(call.outputs, moved, strict=False))
    return evaluate_by_element(operator, call, arrays)


def evaluate_by_element(operator: Operator, call: Call, arrays: Arrays) -> tuple[Array, ...]:
    """Codes of a function of one or two codes, under the contract of its result."""
    if rounds_twice(call):
        return (element_twice(call, arrays),)
    return evaluate_literally(operator, call, arrays)


def _all_quantised(call: Call) -> bool:
    return call.tensor(0).quantisation is not None and call.outputs[0].quantisation is not None


def _brought_to_one_scale(call: Call, arrays: Arrays) -> list[Array | None]:
    """The operands, those of another scale than the result's requantised to it."""
    target = call.outputs[0]
    brought: list[Array | None] = []
    for index, array in enumerate(arrays):
        tensor = call.optional(index)
        meaning = tensor.quantisation if tensor is not None else None
        if tensor is None or array is None or meaning is None or target.quantisation is None:
            brought.append(array)
        elif meaning == target.quantisation and tensor.dtype is target.dtype:
            brought.append(array)
        else:
            brought.append(requantised(array, meaning, target.quantisation, target.dtype))
    return brought


def evaluate_literally(operator: Operator, call: Call, arrays: Arrays) -> tuple[Array, ...]:
    """DequantizeLinear on quantised operands, the operator in float32, QuantizeLinear on quantised results."""
    reals = [_real(tensor, array) for tensor, array in zip(call.inputs, arrays, strict=False)]
    constants = {index: _value(call.tensor(index), value) for index, value in call.constants.items()}
    with np.errstate(all="ignore"):
        results = operator.evaluate(real_call(call, DType.F32, constants), reals)
    return tuple(_code(call, tensor, array) for tensor, array in zip(call.outputs, results, strict=False))


def _real(tensor: Tensor | None, array: Array | None) -> Array | None:
    return None if tensor is None or array is None else _value(tensor, array)


def _value(tensor: Tensor, array: Array) -> Array:
    return array if tensor.quantisation is None else dequantise(array, tensor.quantisation)


def _code(call: Call, tensor: Tensor, array: Array) -> Array:
    if tensor.quantisation is None:
        return array
    return _limited(call, tensor, quantise(array, tensor.quantisation, tensor.dtype))


def _limited(call: Call, tensor: Tensor, codes: Array) -> Array:
    """Codes within the node's clamp; indices and other integers as they are."""
    if tensor.quantisation is None:
        return codes
    return np.clip(codes, *code_limits(call, tensor)).astype(tensor.dtype.numpy)


def table(operator: Operator, call: Call) -> Array:
    """The codes of the result for every code of operand 0, from the lowest: what a kernel looks up.

    The other operands must be constants of one element; the call has one result.
    """
    tensor = call.tensor(0)
    low, high = tensor.dtype.range
    codes = np.arange(low, high + 1).astype(tensor.dtype.numpy)
    assert tensor.dtype.bits <= 8, "tables are for codes of at most eight bits"
    flat = replace(tensor, shape=codes.shape)
    inputs = (flat, *(t and replace(t, shape=()) for t in call.inputs[1:]))  # of whatever rank, they are one element
    output = replace(call.outputs[0], shape=codes.shape)
    constants = {index: value.reshape(()) for index, value in call.constants.items()}
    single = replace(call, inputs=inputs, outputs=(output,), constants=constants)
    operands = [codes, *(constants.get(index) for index in range(1, len(inputs)))]
    if _is_own(operator, call):
        return operator.evaluate(single, operands)[0]
    return evaluate_codes(operator, single, operands)[0]


def same_meaning(first: Tensor, second: Tensor) -> bool:
    """True where codes of the two tensors stand for the same numbers."""
    return first.quantisation == second.quantisation and first.dtype is second.dtype


def requantisation_table(source: Tensor, target: Tensor) -> Array:
    """The code of `target` for every code of `source`, from the lowest: QuantizeLinear of DequantizeLinear."""
    low, high = source.dtype.range
    codes = np.arange(low, high + 1).astype(source.dtype.numpy)
    meaning: Quantisation = the_quantisation(source)
    return requantised(codes, meaning, the_quantisation(target), target.dtype)


def requantised(codes: Array, source: Quantisation, target: Quantisation, dtype: DType) -> Array:
    """The codes of the same numbers under another scale."""
    if target.numerics == "tflm":
        return requantised_twice(codes, source, target, dtype)
    return quantise(dequantise(codes, source), target, dtype)
