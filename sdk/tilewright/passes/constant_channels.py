"""Channels that hold one code for all inputs are not computed: what they add to later sums goes into biases.

Trained networks have many: a filter whose Relu never opens, and in deep layers most of them. Ranges of codes
(`channel_ranges`) find them from the actual weights. A channel goes where every reader can do without it: a sum that is
not padded takes any code into its bias, a padded one only the zero point, of which nothing comes; what computes each
channel from itself alone loses it on both sides. Every other code stays what it was, bit for bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tilewright.model import Array, DType, Model, Node, Quantisation, Tensor
from tilewright.ops.operator import Call
from tilewright.ops.quantised.linear import sums_fit
from tilewright.ops.quantised.real import the_quantisation
from tilewright.ops.requantize import RESIDUE_BITS
from tilewright.passes.channel_ranges import (
    AXIS,
    ChannelRange,
    channel_ranges,
    channelwise,
    columns_of_channel,
    constant_axis,
    counts_channels,
    is_padded,
    joins_channels,
    sums_of,
    weights_by_channel,
)
from tilewright.passes.edit import Edit

name = "constant_channels"

MULTIPLE = 4
"""Kernels take so many channels at once: where a tensor has a multiple, a multiple is left."""
Live = dict[str, Array]
"""For each tensor with channels, which of them are live: bool [channels]."""


def apply(model: Model) -> Model:
    """The network without the channels that need not be computed; as it is where there are none."""
    if not any(tensor.quantisation is not None for tensor in model.tensors.values()):
        return model
    edit = Edit(model)
    ranges = channel_ranges(edit)
    if not any(each.constant.any() for each in ranges.values()):
        return model
    live = _live(edit, ranges)
    gone = {tensor for tensor, channels in live.items() if not channels.all()}
    if not gone or not _biases_fit(edit, live, ranges):
        return model
    for node in list(edit.nodes()):
        if gone.intersection((*node.inputs, *node.outputs)):
            _shrink(edit, node, live, ranges)
    for tensor in gone:
        edit.tensors[tensor] = _narrowed(edit.tensors[tensor], live[tensor])
    rewritten = edit.result()
    return rewritten if _all_fit(rewritten, gone) else model


def _live(edit: Edit, ranges: Mapping[str, ChannelRange]) -> Live:
    """The channels that stay, the fewest that all nodes allow, in multiples."""
    uses = [_Use(node, call, _ties(edit, node, call)) for node in edit.nodes() for call in [sums_of(edit, node)]]
    needed = _needed(edit, ranges, uses)
    live: Live = {tensor: needed[tensor] & ~each.constant for tensor, each in ranges.items()}
    for use in uses:
        for tensor, channels in _demands(use, ranges):
            live[tensor] |= channels
    for tensor in live:
        if edit.is_output(tensor):
            live[tensor][:] = True
    ties = [use.ties for use in uses if use.ties and all(tensor in live for tensor, _ in use.ties)]
    _settle(live, ties)
    while _fill_up(live):
        _settle(live, ties)
    return live


Ties = tuple[tuple[str, Array], ...]
"""Tensors with the number of the common channel that each of their channels belongs to, the result last."""


@dataclass(frozen=True)
class _Use:
    """A node, its call where it is a sum of products, and which channels it keeps or loses together."""

    node: Node
    sums: Call | None
    ties: Ties

    @property
    def tensors(self) -> tuple[str, ...]:
        """Operands and results."""
        return (*self.node.inputs, *self.node.outputs)

    @property
    def joins_all(self) -> bool:
        """Whether every result sums over all channels of the operand."""
        return self.sums is not None and not _in_groups(self.sums)


def _needed(edit: Edit, ranges: Mapping[str, ChannelRange], uses: Sequence[_Use]) -> Live:
    """Which channels are read where their code matters: not where the result is one code whatever they hold."""
    needed: Live = {tensor: np.full(each.low.size, edit.is_output(tensor)) for tensor, each in ranges.items()}
    for use in reversed(uses):
        if not use.ties:
            for tensor in use.node.inputs:
                if tensor in needed:
                    needed[tensor][:] = True
            continue
        *operands, (result, each) = use.ties
        common = np.zeros(int(each.max(initial=-1)) + 1, bool)
        common[each[needed[result] & ~ranges[result].constant]] = True
        for tensor, own in operands:
            if tensor in needed:
                needed[tensor] |= common[own]
    return needed


def _demands(use: _Use, ranges: Mapping[str, ChannelRange]) -> Iterator[tuple[str, Array]]:
    """Channels that a node's operands and results have to keep whatever else does without them."""
    if use.joins_all:
        assert use.sums is not None, "a sum has its call"
        operand = use.sums.tensor(0)
        if operand.name in ranges and is_padded(use.sums):
            yield operand.name, ranges[operand.name].low != the_quantisation(operand).zero_point[0]
    elif not use.ties or not all(tensor in ranges for tensor, _ in use.ties):
        yield from ((tensor, np.ones(ranges[tensor].low.size, bool)) for tensor in use.tensors if tensor in ranges)


def _in_groups(call: Call) -> bool:
    return call.node.op == "Conv" and call.integer("group", 1) > 1


def _ties(edit: Edit, node: Node, call: Call | None) -> Ties:
    """The channels of operands and results that stay or go together; empty where the node needs them all."""
    if call is not None:
        if not _in_groups(call):
            return ()
        groups, results = call.shape(0)[AXIS], call.outputs[0].shape[AXIS]
        if call.integer("group", 1) != groups:
            return ()
        each = np.arange(groups)
        return ((call.tensor(0).name, each), (call.outputs[0].name, np.repeat(each, results // groups)))
    result = edit.tensors[node.outputs[0]] if node.outputs and node.outputs[0] else None
    if result is None or not counts_channels(result):
        return ()
    each = np.arange(result.shape[AXIS])
    if channelwise(edit, node):
        return tuple((tensor, each) for tensor in (*node.inputs, *node.outputs) if tensor not in edit.constants)
    if node.op == "Concat" and not node.domain and node.clamp is None and joins_channels(edit, node):
        ends = np.cumsum([edit.tensors[tensor].shape[AXIS] for tensor in node.inputs])
        parts = np.split(each, ends[:-1])
        return (*zip(node.inputs, parts, strict=True), (result.name, each))
    if (repeat := columns_of_channel(edit, node)) is not None:
        channels = np.arange(edit.tensors[node.inputs[0]].shape[AXIS])
        return ((node.inputs[0], channels), (result.name, np.repeat(channels, repeat)))
    return ()


def _settle(live: Live, ties: Sequence[Ties]) -> None:
    """Keep all of what is tied where one of it is live, until nothing changes."""
    changed = True
    while changed:
        changed = False
        for tied in (*ties, *reversed(ties)):
            common = np.zeros(max(int(each.max(initial=-1)) for _, each in tied) + 1, bool)
            for tensor, each in tied:
                common[each[live[tensor]]] = True
            for tensor, each in tied:
                if (common[each] != live[tensor]).any():
                    live[tensor], changed = common[each], True


def _fill_up(live: Live) -> bool:
    """Keep more channels of the first tensor whose number is no multiple; False where there is none."""
    for channels in live.values():
        multiple = MULTIPLE if channels.size % MULTIPLE == 0 else 1
        missing = max(multiple - int(channels.sum()), -int(channels.sum()) % multiple)
        if missing > 0:
            channels[np.flatnonzero(~channels)[:missing]] = True
            return True
    return False


def _shrink(edit: Edit, node: Node, live: Live, ranges: Mapping[str, ChannelRange]) -> None:
    """Put a node in the place of another that has the live channels alone."""
    call = sums_of(edit, node)
    if call is not None:
        edit.replace(node, _narrow_sums(edit, call, live, ranges))
    elif columns_of_channel(edit, node) is not None:
        edit.replace(node, replace(node, op="Flatten", inputs=node.inputs[:1], attributes={"axis": 1}))
    elif any(tensor in edit.constants for tensor in node.inputs):
        result = edit.tensors[node.outputs[0]]
        operands = tuple(_narrow_constant(edit, tensor, result, live[result.name]) for tensor in node.inputs)
        edit.replace(node, replace(node, inputs=operands))


def _narrow_constant(edit: Edit, operand: str, result: Tensor, channels: Array) -> str:
    """A constant operand of an element-wise node, one number for each live channel."""
    tensor = edit.tensors[operand]
    axis = constant_axis(tensor, result) if operand in edit.constants and tensor.elements > 1 else None
    if axis is None or tensor.shape[axis] == 1:
        return operand
    made = edit.add_constant(f"{operand}/kept", np.compress(channels, edit.constants[operand], axis), tensor.dtype)
    edit.tensors[made] = replace(edit.tensors[made], quantisation=_meaning(tensor, axis, channels))
    return made


def _narrow_sums(edit: Edit, call: Call, live: Live, ranges: Mapping[str, ChannelRange]) -> Node:
    """The sum of the live products; what the others always add stands in the bias."""
    node, x, w, y = call.node, call.tensor(0), call.tensor(1), call.outputs[0]
    ins = live.get(x.name, np.ones(x.shape[AXIS], bool))
    outs = live[y.name] if y.name in live else np.ones(y.shape[AXIS], bool)
    columns = node.op == "MatMul" or (node.op == "Gemm" and not call.integer("transB", 0))
    of_results = 1 if columns else 0
    weights = np.compress(outs, call.constants[1], of_results)
    attributes = dict(node.attributes)
    bias = _bias(call, ins, ranges.get(x.name))
    if _in_groups(call):
        attributes["group"] = int(ins.sum())
    else:
        weights = np.compress(ins, weights, 1 - of_results)
    name = edit.add_constant(f"{w.name}/kept", weights, w.dtype)
    edit.tensors[name] = replace(edit.tensors[name], quantisation=_meaning(w, of_results, outs))
    inputs = [x.name, name]
    if bias is not None:
        dtype = _bias_type(call)
        inputs.append(edit.add_constant(f"{node.name}/bias", bias[outs].astype(dtype.numpy), dtype))
    op = "Gemm" if node.op == "MatMul" and bias is not None else node.op
    return replace(node, op=op, inputs=tuple(inputs), attributes=attributes)


def _bias(call: Call, ins: Array, operand: ChannelRange | None) -> Array | None:
    """The bias of all results with what left operands add, int64; None where there is none and nothing is added."""
    tensor = call.optional(2)
    results = call.outputs[0].shape[AXIS]
    given = np.zeros(1, np.int64) if tensor is None else call.constant(2, "the bias").astype(np.int64).reshape(-1)
    added = np.zeros(results, np.int64)
    if operand is not None and not _in_groups(call):
        gone = np.where(ins, 0, operand.low - the_quantisation(call.tensor(0)).zero_point[0])
        added = (weights_by_channel(call).sum(axis=2) * gone).sum(axis=1)
    if tensor is None and not added.any():
        return None
    unit = 1 << RESIDUE_BITS if _bias_type(call) is DType.I64 else 1
    return np.asarray(np.broadcast_to(given, (results,)) + added * unit)


def _bias_type(call: Call) -> DType:
    tensor = call.optional(2)
    return DType.I32 if tensor is None else tensor.dtype


def _biases_fit(edit: Edit, live: Live, ranges: Mapping[str, ChannelRange]) -> bool:
    """Whether every bias that takes what left operands add can be written."""
    for node in edit.nodes():
        call = sums_of(edit, node)
        if call is not None and (operand := call.tensor(0).name) in live:
            low, high = _bias_type(call).range
            bias = _bias(call, live[operand], ranges[operand])
            if bias is not None and not (low <= bias.min() and bias.max() <= high):
                return False
    return True


def _meaning(tensor: Tensor, axis: int, channels: Array) -> Quantisation | None:
    """The quantisation of a constant of which some indices of an axis stay."""
    meaning = tensor.quantisation
    if meaning is None or meaning.axis is None or meaning.axis % len(tensor.shape) != axis:
        return meaning
    scale, zero = (tuple(np.compress(channels, part).tolist()) for part in (meaning.scale, meaning.zero_point))
    return replace(meaning, scale=scale, zero_point=zero)


def _narrowed(tensor: Tensor, channels: Array) -> Tensor:
    """A tensor of the live channels, which says where they lie in the file's."""
    places = np.asarray(tensor.kept or range(channels.size))[channels]
    shape = (*tensor.shape[:AXIS], int(channels.sum()), *tensor.shape[AXIS + 1 :])
    return replace(tensor, shape=shape, kept=tuple(places.tolist()))


def _all_fit(model: Model, gone: set[str]) -> bool:
    """Whether no bias has grown beyond what sums can hold."""
    edit = Edit(model)
    calls = (sums_of(edit, node) for node in edit.nodes() if gone.intersection((*node.inputs, *node.outputs)))
    return all(sums_fit(call) for call in calls if call is not None)
