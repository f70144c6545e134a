"""What every element of a layer's result should be: a function of sums over the codes of its operands.

Written over arrays of code numbers, from the operator's definition: where its windows lie, which weights meet which
codes, and one exact rounding. No kernel, no proof of the compiler and no order of memory is asked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod

import numpy as np
import numpy.typing as npt

from tilewright.model import Array, DType, Quantisation, Tensor
from tilewright.ops.codes import AsIntegers, Mean, Moves, Pairwise, Products, Table
from tilewright.ops.operator import Call
from tilewright.ops.quantised.lookup import lookup_table
from tilewright.ops.quantised.meaning import requantised
from tilewright.ops.quantised.meaning import table as table_of
from tilewright.ops.quantised.real import code_limits, real_call, the_quantisation
from tilewright.ops.relayout import DOMAIN as RELAYOUT
from tilewright.prove.expected import Expected, Largest, OfPair, Requantised, Selected, one_code, summed
from tilewright.prove.windows import Windows, windows_of

Numbers = npt.NDArray[np.int64]
"""Numbers of codes, in the logical shape of a tensor."""
WINDOW = ("strides", "pads", "dilations", "auto_pad")
"""Attributes that say where windows lie, of pools as of convolutions."""


@dataclass(frozen=True)
class NotAttempted(Exception):
    """Why nothing is said of a layer."""

    why: str


def expectations(call: Call, operands: list[Numbers | None]) -> list[list[Expected]]:
    """For each result its elements in logical order; `operands` are the codes' numbers, None for a constant.

    NotAttempted names what has no exact meaning in sums of codes, or none that is written down here.
    """
    tensors = [tensor for tensor in (*call.inputs[:2], *call.outputs) if tensor is not None]
    if any(t.quantisation is not None and t.quantisation.numerics == "tflm" for t in tensors):
        raise NotAttempted("it rounds twice, as TensorFlow Lite Micro does")
    codes = call.codes
    if isinstance(codes, Products):
        return [_products(call, operands)]
    if isinstance(codes, Mean):
        return [_mean(call, operands)]
    if isinstance(codes, Moves) and codes.compares and _pools(call):
        return [_largest(call, operands)]
    if isinstance(codes, Moves) and not codes.compares and not call.node.domain:
        return _moved(call, operands)  # what happens to numbers of codes is what happens to codes
    if call.node.domain == RELAYOUT and call.shape() == call.outputs[0].shape:
        return [[one_code(int(number), _rule(call, 0)) for number in _codes_of(operands, 0).reshape(-1)]]
    if isinstance(codes, Pairwise) and len(call.inputs) == 2:
        return [_pairs(call, operands)]
    return [_tables(call, operands)]


def eight_bits(tensor: Tensor | None) -> bool:
    """True for codes of eight bits."""
    return tensor is not None and tensor.dtype in (DType.I8, DType.U8)


def _codes_of(operands: list[Numbers | None], index: int) -> Numbers:
    numbers = operands[index] if index < len(operands) else None
    if numbers is None:
        raise NotAttempted("its first operand is a constant")
    return numbers


def _ratio(x: Quantisation, w: float, y: Quantisation) -> Fraction:
    """Input scale times weight scale over output scale, each step in float32 as QLinearConv has it."""
    return Fraction(float(np.float32(np.float32(np.float32(x.scale[0]) * np.float32(w)) / np.float32(y.scale[0]))))


def _products(call: Call, operands: list[Numbers | None]) -> list[Expected]:
    numbers = _codes_of(operands, 0)
    if 1 not in call.constants:
        raise NotAttempted("both of its operands are computed at run time")
    x, w, y = (the_quantisation(t) for t in (call.tensor(0), call.tensor(1), call.outputs[0]))
    weights = _less_zero(call.constants[1], w)
    windows = windows_of(call, numbers, weights)
    if windows is None:
        raise NotAttempted(f"this form of {call.node.op} has no meaning here")
    channels = windows.weights.shape[0]
    scales = w.scale if len(w.scale) == channels else w.scale * (channels // len(w.scale))
    whole, fine = _bias(call, channels)
    low, high = code_limits(call, call.outputs[0])
    rules = [
        Requantised(1, fine, _ratio(x, scale, y) / fine, y.zero_point[0], low, high) for scale in scales
    ]  # fmt: skip
    return _sums(windows, rules, [int(b) for b in whole], x.zero_point[0])


def _less_zero(codes: Array, meaning: Quantisation) -> Numbers:
    zero = np.asarray(meaning.zero_point, np.int64)
    if meaning.axis is not None and zero.size > 1:
        shape = [1] * codes.ndim
        shape[meaning.axis] = zero.size
        zero = zero.reshape(shape)
    return np.asarray(codes.astype(np.int64) - zero)


def _bias(call: Call, channels: int) -> tuple[Numbers, int]:
    """What the sums start from, and how many of its units are one of the sums."""
    tensor = call.optional(2)
    if tensor is None:
        return np.zeros(channels, np.int64), 1
    values = np.broadcast_to(call.constant(2, "the bias").astype(np.int64).reshape(-1), (channels,))
    return values, 1 << 16 if tensor.dtype is DType.I64 else 1


def _sums(windows: Windows, rules: list[Requantised], bias: list[int], zero: int) -> list[Expected]:
    """One element for each place and channel, in the order that `windows` says."""
    result: list[Expected] = [None] * windows.elements  # type: ignore[list-item]
    for place, (row, numbers) in enumerate(windows.rows()):
        order = np.argsort(numbers, kind="stable")
        inside = order[numbers[order] >= 0]
        sorted_numbers = numbers[inside]
        for channel, element in windows.at(place):
            factors = windows.weights[channel][inside]
            rule = rules[channel]
            constant = bias[channel] - rule.units * zero * int(factors.sum())
            result[element] = summed(sorted_numbers, factors, replace(rule, constant=constant))
        del row
    return result


def _mean(call: Call, operands: list[Numbers | None]) -> list[Expected]:
    numbers = _codes_of(operands, 0)
    x, y = the_quantisation(call.tensor(0)), the_quantisation(call.outputs[0])
    fact = call.codes
    assert isinstance(fact, Mean), call.node.op
    ratio, limits = _ratio(x, 1.0, y), code_limits(call, call.outputs[0])
    groups = _pooled(call, numbers) if fact.windows else _reduced(call, numbers)
    result = []
    for group in groups:
        inside = np.sort(group[group >= 0])
        count = inside.size if fact.divides else 1
        constant = -x.zero_point[0] * inside.size
        rule = Requantised(1, 1, ratio / count, y.zero_point[0], *limits, constant=constant)
        result.append(summed(inside, np.ones(inside.size, np.int64), rule))
    return result


def _reduced(call: Call, numbers: Numbers) -> Numbers:
    """[result, what it sums over] of a reduction over axes."""
    size = max(call.outputs[0].elements, 1)
    if call.node.op == "GlobalAveragePool":
        return numbers.reshape(size, -1)
    everything = tuple(range(numbers.ndim))
    axes = call.constants[1].reshape(-1).tolist() if 1 in call.constants else call.integers("axes", everything)
    summed_over = sorted(int(axis) % numbers.ndim for axis in axes)
    others = [axis for axis in range(numbers.ndim) if axis not in summed_over]
    return np.transpose(numbers, (*others, *summed_over)).reshape(size, -1)


def _pooled(call: Call, numbers: Numbers) -> Numbers:
    """[result, what its window holds] of a pool, -1 outside of the operand."""
    if call.node.op.startswith("Global"):
        return numbers.reshape(max(call.outputs[0].elements, 1), -1)
    if call.integer("ceil_mode", 0) or call.integer("count_include_pad", 0):
        raise NotAttempted("its windows count what lies outside of the operand")
    kernel = call.integers("kernel_shape")
    flat = numbers.reshape(prod(numbers.shape[:2]), 1, *numbers.shape[2:])
    shared = {name: call.node.attributes[name] for name in WINDOW if name in call.node.attributes}
    as_convolution = replace(call, node=replace(call.node, op="Conv", attributes=shared))
    windows = windows_of(as_convolution, flat, np.ones((1, 1, *kernel), np.int64))
    if windows is None:
        raise NotAttempted("its windows have no meaning here")
    groups = np.stack([row for _, row in windows.rows()])
    if groups.shape[0] != call.outputs[0].elements:
        raise NotAttempted("its windows have no meaning here")
    return groups


def _pools(call: Call) -> bool:
    """True for windows over an image, and for one that is the whole of it."""
    return call.operator is not None and (call.operator.window is not None or call.node.op == "GlobalMaxPool")


def _largest(call: Call, operands: list[Numbers | None]) -> list[Expected]:
    if len(call.outputs) > 1 or call.node.clamp is not None or _rescaled(call):
        raise NotAttempted("it does more than take the largest code")
    groups = _pooled(call, _codes_of(operands, 0))
    limits = call.tensor(0).dtype.range
    result = []
    for group in groups:
        numbers = sorted({int(number) for number in group if number >= 0})
        result.append(Expected(tuple(((number, 1),) for number in numbers), Largest(len(numbers), *limits)))
    return result


def _rescaled(call: Call) -> bool:
    """True where results have another scale than the first operand."""
    return (
        call.tensor(0).quantisation != call.outputs[0].quantisation or call.tensor(0).dtype is not call.outputs[0].dtype
    )


def _moved(call: Call, operands: list[Numbers | None]) -> list[list[Expected]]:
    """Each element is that of an operand, brought to the result's scale."""
    assert isinstance(call.codes, Moves), call.node.op
    assert call.operator is not None, call.node.op
    data = [i for i in call.codes.data_of(call.node) if i < len(operands)]
    offset, arrays = 1, list[Array | None]()
    sources: list[tuple[int, int]] = []
    for index in range(len(call.inputs)):
        numbers = operands[index] if index < len(operands) else None
        if index in data and numbers is not None:
            arrays.append(np.arange(offset, offset + numbers.size, dtype=np.int64).reshape(numbers.shape))
            sources += [(index, int(number)) for number in numbers.reshape(-1)]
            offset += numbers.size
        elif index in data:
            raise NotAttempted("an operand is a constant")
        else:
            arrays.append(call.constants.get(index))
    plain = real_call(call, DType.I64, {i: v for i, v in call.constants.items() if i not in data})
    inputs = tuple(replace(t, dtype=DType.I64) if i in data and t else t for i, t in enumerate(plain.inputs))
    outputs = tuple(replace(t, dtype=DType.I64) for t in plain.outputs)
    if call.node.op == "Pad":
        arrays = [*arrays[:2], np.zeros((), np.int64), *arrays[3:]] if len(arrays) > 2 else arrays
    moved = call.operator.evaluate(replace(plain, inputs=inputs, outputs=outputs), arrays)
    rules = {index: _rule(call, index) for index in data}
    results = []
    for array in moved:
        elements = [_element(call, int(place), sources, rules) for place in array.reshape(-1)]
        results.append(elements)
    return results


def _element(call: Call, place: int, sources: list[tuple[int, int]], rules: dict[int, Selected]) -> Expected:
    if place == 0:
        value = call.constants.get(2)
        zero = the_quantisation(call.outputs[0]).zero_point[0] if call.outputs[0].quantisation else 0
        return Expected((), Selected((int(value.reshape(-1)[0]) if value is not None else zero,), 0))
    index, number = sources[place - 1]
    return one_code(number, rules[index])


def _rule(call: Call, index: int) -> Selected:
    """From codes of an operand to codes of the results."""
    tensor, target = call.tensor(index), call.outputs[0]
    low, high = tensor.dtype.range
    codes = np.arange(low, high + 1).astype(tensor.dtype.numpy)
    given, wanted = tensor.quantisation, target.quantisation
    if given is not None and wanted is not None and (given != wanted or tensor.dtype is not target.dtype):
        codes = requantised(codes, given, wanted, target.dtype)
    if wanted is not None:
        codes = np.clip(codes, *code_limits(call, target))
    return Selected(tuple(int(code) for code in codes), low)


def _tables(call: Call, operands: list[Numbers | None]) -> list[Expected]:
    """A function of one code, element by element."""
    numbers = _codes_of(operands, 0)
    varying = [i for i, each in enumerate(operands) if each is not None]
    if call.operator is None or varying != [0] or numbers.size != call.outputs[0].elements:
        raise NotAttempted(f"{call.node.op} on codes has no meaning here")
    if call.node.op == "Lookup":
        values = lookup_table(call)
    elif call.node.op == "QuantizeLinear" and call.tensor(0).quantisation is not None:
        return [one_code(int(number), _rule(call, 0)) for number in numbers.reshape(-1)]
    elif isinstance(call.codes, Table | AsIntegers) and call.tensor(0).quantisation is not None:
        values = table_of(call.operator, call)
    else:
        raise NotAttempted(f"{call.node.op} on codes has no meaning here")
    rule = Selected(tuple(int(value) for value in values), call.tensor(0).dtype.range[0])
    return [one_code(int(number), rule) for number in numbers.reshape(-1)]


def _pairs(call: Call, operands: list[Numbers | None]) -> list[Expected]:
    """A function of two codes, in float32 as ONNX says."""
    if call.operator is None or operands[0] is None or operands[1] is None:
        raise NotAttempted("an operand is a constant")
    every = [np.arange(t.dtype.range[0], t.dtype.range[1] + 1) for t in (call.tensor(0), call.tensor(1))]
    arrays = [codes.astype(call.tensor(i).dtype.numpy) for i, codes in enumerate(every)]
    shapes = ((every[0].size, 1), (1, every[1].size))
    inputs = tuple(replace(call.tensor(i), shape=shapes[i]) for i in (0, 1))
    output = replace(call.outputs[0], shape=(every[0].size, every[1].size))
    square = replace(call, inputs=inputs, outputs=(output,), constants={})
    codes = call.operator.evaluate(square, [a.reshape(s) for a, s in zip(arrays, shapes, strict=True)])[0]
    rule = OfPair(codes.astype(np.int64).tobytes(), int(every[0][0]), int(every[1][0]), int(every[1].size))
    left, right = np.broadcast_arrays(operands[0], operands[1])
    return [
        Expected((((int(a), 1),), ((int(b), 1),)), rule) if a != b else Expected((((int(a), 1),),), rule)
        for a, b in zip(left.reshape(-1), right.reshape(-1), strict=True)
    ]
