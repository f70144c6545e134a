"""The least and the largest code that each channel can hold, whatever the inputs are: forward from the actual weights.

Channels are counted by axis 1. What nothing is known of has all codes of its type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from tilewright.model import Array, Node, Tensor
from tilewright.ops.codes import Mean, Moves, Pairwise, Products, Table
from tilewright.ops.conv import conv_window
from tilewright.ops.operator import Call, Kind
from tilewright.ops.quantised.linear import centred, requantisation, split_bias
from tilewright.ops.quantised.real import the_quantisation
from tilewright.ops.registry import find
from tilewright.ops.requantize import Integers
from tilewright.passes.edit import Edit

AXIS = 1


@dataclass(frozen=True)
class ChannelRange:
    """The least and the largest code of every channel, int64 [channels]."""

    low: Integers
    high: Integers

    @property
    def constant(self) -> Array:
        """True for channels that hold one code."""
        return np.asarray(self.low == self.high)


def counts_channels(tensor: Tensor) -> bool:
    """Whether a tensor holds codes of one meaning, in channels."""
    meaning = tensor.quantisation
    return meaning is not None and meaning.axis is None and len(tensor.shape) > AXIS and tensor.elements > 0


def channel_ranges(edit: Edit) -> dict[str, ChannelRange]:
    """The range of every tensor of codes that a node writes, constants and inputs too."""
    ranges: dict[str, ChannelRange] = {}
    for node in edit.nodes():
        for name in filter(None, node.outputs):
            tensor = edit.tensors[name]
            if counts_channels(tensor):
                ranges[name] = _range_of(edit, node, ranges) or whole(tensor)
    return ranges


def whole(tensor: Tensor) -> ChannelRange:
    """All codes of the type in each channel."""
    low, high = tensor.dtype.range
    channels = tensor.shape[AXIS]
    return ChannelRange(np.full(channels, low, np.int64), np.full(channels, high, np.int64))


def sums_of(edit: Edit, node: Node) -> Call | None:
    """The call of a node that sums products of channels by constant weights, at ranks that count them by axis 1."""
    operator = find(node.op, node.domain)
    if operator is None or not isinstance(operator.codes_of(node), Products):
        return None
    if node.domain or len(node.outputs) != 1:
        return None
    x, w, y = (edit.tensors[name] for name in (*node.inputs[:2], node.outputs[0]))
    if (
        not (counts_channels(x) and counts_channels(y))
        or w.quantisation is None
        or node.inputs[1] not in edit.constants
    ):
        return None
    if len(node.inputs) > 2 and node.inputs[2] and node.inputs[2] not in edit.constants:
        return None
    if operator.window is None and (len(x.shape), len(w.shape), len(y.shape)) != (2, 2, 2):
        return None
    call = edit.call(node)
    assert isinstance(call.codes, Products), "asked before"
    scaled = any(call.real(factor, 1.0) != 1.0 for factor in call.codes.factors or ())
    return None if scaled or call.integer("transA", 0) else call


def is_padded(call: Call) -> bool:
    """Whether a window reads past the input somewhere, where zero points stand for what is not there."""
    if call.operator is None or call.operator.window is None:
        return False
    window = conv_window(call)
    axes = zip(
        call.shape(0)[2:], window.kernel, window.strides, window.dilations, window.begins, window.outs, strict=True
    )
    return any(begin or (out - 1) * stride + (kernel - 1) * dilation + 1 > size
               for size, kernel, stride, dilation, begin, out in axes)  # fmt: skip


def weights_by_channel(call: Call) -> Array:
    """Centred weights [results, operands of one group, taps], int64."""
    fact = call.codes
    assert isinstance(fact, Products), "asked of a sum of products"
    weights = fact.by_channel(call.node, centred(call.tensor(1), call.constants[1]))
    assert weights is not None, "the weights are one matrix"
    groups = call.integer("group", 1) if call.node.op == "Conv" else 1
    return weights.reshape(weights.shape[0], call.shape(0)[AXIS] // groups, -1)


def _range_of(edit: Edit, node: Node, ranges: Mapping[str, ChannelRange]) -> ChannelRange | None:
    """The range of a node's first result; None where nothing is known of it."""
    if (call := sums_of(edit, node)) is not None:
        x = call.tensor(0)
        return _of_sums(call, ranges.get(x.name) or whole(x))
    if channelwise(edit, node):
        return _of_values(edit, node, ranges)
    if node.op == "Concat" and not node.domain and node.clamp is None and joins_channels(edit, node):
        parts = [_known(edit, name, ranges) for name in node.inputs]
        return ChannelRange(*(np.concatenate(each) for each in zip(*((p.low, p.high) for p in parts), strict=True)))
    if (repeat := columns_of_channel(edit, node)) is not None:
        part = _known(edit, node.inputs[0], ranges)
        return ChannelRange(np.repeat(part.low, repeat), np.repeat(part.high, repeat))
    return None


def _of_sums(call: Call, operand: ChannelRange) -> ChannelRange:
    """By interval arithmetic with each weight; a requantisation rises with its sum."""
    zero = the_quantisation(call.tensor(0)).zero_point[0]
    low, high = operand.low - zero, operand.high - zero
    if is_padded(call):
        low, high = np.minimum(low, 0), np.maximum(high, 0)
    weights = weights_by_channel(call)
    results, depth, _ = weights.shape
    groups = low.size // depth
    of_result = np.repeat(np.arange(groups), results // groups)
    low, high = low.reshape(groups, depth)[of_result], high.reshape(groups, depth)[of_result]
    positive, negative = np.maximum(weights, 0).sum(axis=2), np.minimum(weights, 0).sum(axis=2)
    bias, _ = split_bias(call)
    lowest = bias + (positive * low + negative * high).sum(axis=1)
    highest = bias + (positive * high + negative * low).sum(axis=1)
    form = requantisation(call)
    return ChannelRange(form.apply(lowest), form.apply(highest))


def channelwise(edit: Edit, node: Node) -> bool:
    """Whether every channel of the result follows from the same channel of the operands alone."""
    names = [*node.inputs, *node.outputs]
    if node.domain or len(node.outputs) != 1 or not node.inputs or not all(names):
        return False
    x, y = edit.tensors[node.inputs[0]], edit.tensors[node.outputs[0]]
    if not counts_channels(y):
        return False
    operator = find(node.op, node.domain)
    codes = None if operator is None else operator.codes_of(node)
    if isinstance(codes, Table) or (operator is not None and operator.channelwise):
        return counts_channels(x) and all(name in edit.constants for name in node.inputs[1:])
    if isinstance(codes, Mean):
        return node.op == "ReduceMean" and counts_channels(x) and _over_space(edit, node)
    return isinstance(codes, Pairwise) and all(_by_channel(edit, name, y) for name in node.inputs)


def _over_space(edit: Edit, node: Node) -> bool:
    call = edit.call(node)
    rank = len(call.shape(0))
    axes = call.constants.get(1)
    if axes is None or not call.integer("keepdims", 1):
        return False
    return {int(axis) % rank for axis in np.asarray(axes).reshape(-1)} <= set(range(2, rank))


def _by_channel(edit: Edit, name: str, result: Tensor) -> bool:
    """Whether an operand has a channel for each of the result's, or is a constant that is one number for each."""
    operand = edit.tensors[name]
    if name in edit.constants:
        return operand.elements == 1 or constant_axis(operand, result) is not None
    same_rank = len(operand.shape) == len(result.shape)
    return counts_channels(operand) and same_rank and operand.shape[AXIS] == result.shape[AXIS]


def constant_axis(operand: Tensor, result: Tensor) -> int | None:
    """The axis of a broadcast constant that counts the result's channels; None where it has none."""
    axis = len(operand.shape) - len(result.shape) + AXIS
    return axis if axis >= 0 and operand.shape[axis] == result.shape[AXIS] else None


def joins_channels(edit: Edit, node: Node) -> bool:
    """Whether a Concat puts channels of codes of one meaning one after the other."""
    tensors = [edit.tensors[name] for name in (*node.inputs, *node.outputs)]
    axis = node.attributes.get("axis", 0)
    same = len({(tensor.dtype, tensor.quantisation) for tensor in tensors}) == 1
    plain = same and all(map(counts_channels, tensors)) and not any(name in edit.constants for name in node.inputs)
    return plain and isinstance(axis, int) and axis % len(tensors[-1].shape) == AXIS


def columns_of_channel(edit: Edit, node: Node) -> int | None:
    """How many columns of a flattened result belong to one channel; None for any node that flattens nothing."""
    operator = find(node.op, node.domain)
    if operator is None or operator.kind is not Kind.VIEW or not isinstance(operator.codes, Moves):
        return None
    if node.domain or node.clamp is not None:
        return None
    x, y = edit.tensors[node.inputs[0]], edit.tensors[node.outputs[0]]
    flat = len(y.shape) == 2 and len(x.shape) > 2 and x.shape[0] == y.shape[0]
    if not flat or not (counts_channels(x) and counts_channels(y)) or x.quantisation != y.quantisation:
        return None
    return y.shape[1] // x.shape[AXIS]


def _known(edit: Edit, name: str, ranges: Mapping[str, ChannelRange]) -> ChannelRange:
    return ranges.get(name) or whole(edit.tensors[name])


def _of_values(edit: Edit, node: Node, ranges: Mapping[str, ChannelRange]) -> ChannelRange:
    """Codes of channels whose operands hold one code each, or a factor of 0; over space, what the ends give."""
    tensor = edit.tensors[node.outputs[0]]
    result = whole(tensor)
    operands = {name: _known(edit, name, ranges) for name in node.inputs if name not in edit.constants}
    known = np.logical_and.reduce([each.constant for each in operands.values()])
    operator = find(node.op, node.domain)
    if operator is not None and operator.rising:
        known = np.ones_like(known)
    elif node.op == "Mul":
        known = np.logical_or.reduce([known, *(_zero(edit.tensors[name], each) for name, each in operands.items())])
    if not known.any():
        return result
    low, _ = _evaluated(edit, node, lambda name: operands[name].low)
    _, high = _evaluated(edit, node, lambda name: operands[name].high)
    return ChannelRange(np.where(known, low, result.low), np.where(known, high, result.high))


def _zero(tensor: Tensor, held: ChannelRange) -> Array:
    """True for channels that hold the number 0 alone."""
    zero = the_quantisation(tensor).zero_point[0]
    return np.asarray((held.low == zero) & (held.high == zero))


def _evaluated(edit: Edit, node: Node, codes_of: Callable[[str], Integers]) -> tuple[Integers, Integers]:
    """The least and largest code of each channel of the result where each channel of the operands is one code."""
    call = edit.call(node)
    arrays: list[Array | None] = []
    for name in node.inputs:
        tensor = edit.tensors[name]
        if name in edit.constants:
            arrays.append(edit.constants[name])
        else:
            column = codes_of(name).reshape(-1, *(1,) * (len(tensor.shape) - 2)).astype(tensor.dtype.numpy)
            arrays.append(np.broadcast_to(column, tensor.shape).copy())
    assert call.operator is not None, "the operator is known"
    codes = np.asarray(call.operator.evaluate(call, arrays)[0], np.int64).reshape(edit.tensors[node.outputs[0]].shape)
    others = tuple(axis for axis in range(codes.ndim) if axis != AXIS)
    return codes.min(axis=others), codes.max(axis=others)
