"""Depthwise convolutions of codes that read neighbouring channels of one image become one, with taps of zero.

Networks that mix kernel sizes split the channels, cut each part to its own rows and join the results. One convolution
over the whole image copies no part of it; taps that a channel lacks have the weight zero, which changes no sum.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import prod

import numpy as np

from tilewright.model import Array, Model, Node, Quantisation, Tensor
from tilewright.ops.slice import ranges
from tilewright.passes.edit import Edit
from tilewright.passes.stretch import concat_axis

name = "depthwise"

MOST_WORK = 1.5
"""How many times the products of the parts the one convolution may have."""
Numbers = tuple[int, ...]


@dataclass(frozen=True)
class _Place:
    """A tensor of which a convolution reads a box: axis `axes[i]` from `lows[i]` on is axis i of its operand."""

    tensor: str
    axes: Numbers
    lows: Numbers


@dataclass(frozen=True)
class _Part:
    """One convolution, its place in the common image, and its weights."""

    node: Node
    place: _Place
    weights: Array


def apply(model: Model) -> Model:
    """Join what can be joined; a network without such convolutions stays as it is."""
    edit = Edit(model)
    for node in edit.nodes():
        if node.op == "Concat" and not node.domain and node.clamp is None and concat_axis(edit, node) == 1:
            _join(edit, node)
    return edit.result()


def _join(edit: Edit, node: Node) -> None:
    parts = _parts(edit, node)
    if parts is None:
        return
    source, place = edit.tensors[parts[0].place.tensor], parts[0].place
    image = tuple(source.shape[axis] for axis in place.axes)
    strides = _listed(parts[0].node, "strides", (1,) * (len(image) - 2))
    kernel = tuple(
        max(one.place.lows[axis] + one.weights.shape[axis] for one in parts) for axis in range(2, len(image))
    )
    results = edit.tensors[node.outputs[0]].shape[2:]
    reach = tuple((count - 1) * stride + taps for count, stride, taps in zip(results, strides, kernel, strict=True))
    channels = [one.weights.shape[0] for one in parts]
    firsts = [one.place.lows[1] for one in parts]
    work = sum(one.weights.size for one in parts)
    whole = reach == image[2:] and sum(channels) == image[1] and firsts == [0, *accumulate(channels)][:-1]
    if not whole or prod(kernel) * sum(channels) > MOST_WORK * work:
        return
    constants = _constants(edit, node, parts, kernel)
    if constants is None:
        return
    operand, made = source.name, list[Node]()
    if place.axes != tuple(range(len(image))):
        operand = edit.add_tensor(f"{node.name}/image", replace(source, shape=image))
        given = {"perm": place.axes}
        made.append(Node(edit.node_name(f"{node.name}/image"), "Transpose", (source.name,), (operand,), given))
    attributes = {**parts[0].node.attributes, "group": sum(channels), "kernel_shape": kernel}
    conv = replace(parts[0].node, name=node.name, inputs=(operand, *constants), outputs=node.outputs)
    edit.replace(node, *made, replace(conv, attributes=attributes))


def _parts(edit: Edit, node: Node) -> list[_Part] | None:
    """The convolutions that a Concat joins, with their places in one image; None where they are none or unlike."""
    convs = [edit.writer(operand) for operand in node.inputs]
    depthwise = [conv for conv in convs if conv is not None and _is_depthwise(edit, conv)]
    if len(depthwise) < 2 or len(depthwise) < len(convs):
        return None
    result, first = edit.tensors[node.outputs[0]], depthwise[0]
    for conv in depthwise:
        own = edit.tensors[conv.outputs[0]]
        alike = (own.quantisation, own.dtype, conv.clamp) == (result.quantisation, result.dtype, first.clamp)
        if not alike or not edit.sole_reader(own.name, node) or _common(conv) != _common(first):
            return None
    paths = [list(_places(edit, conv)) for conv in depthwise]
    for place in paths[0]:
        same = [next((p for p in path if (p.tensor, p.axes) == (place.tensor, place.axes)), None) for path in paths]
        places = [one for one in same if one is not None]
        if len(places) == len(paths):
            weights = (edit.constants[conv.inputs[1]] for conv in depthwise)
            return [_Part(*part) for part in zip(depthwise, places, weights, strict=True)]
    return None


def _is_depthwise(edit: Edit, node: Node) -> bool:
    """True for a convolution of codes, one filter a channel, without padding and dilation, of constant weights."""
    if node.op != "Conv" or node.domain or "auto_pad" in node.attributes or node.inputs[1] not in edit.constants:
        return False
    image, weights = edit.tensors[node.inputs[0]], edit.tensors[node.inputs[1]]
    meaning = weights.quantisation
    coded = image.quantisation is not None and image.quantisation.axis is None and meaning is not None
    plain = not any(_listed(node, "pads", ())) and set(_listed(node, "dilations", ())) <= {1}
    return (
        coded and plain and meaning is not None and not any(meaning.zero_point)
        and node.attributes.get("group", 1) == image.shape[1] == weights.shape[0]
    )  # fmt: skip


def _common(node: Node) -> tuple[Numbers, int]:
    return _listed(node, "strides", ()), len(node.inputs)


def _places(edit: Edit, conv: Node) -> Iterator[_Place]:
    """The operand of a convolution, and whatever it is a box of."""
    tensor = conv.inputs[0]
    rank = len(edit.tensors[tensor].shape)
    place = _Place(tensor, tuple(range(rank)), (0,) * rank)
    while True:
        yield place
        node = edit.writer(place.tensor)
        if node is None or node.domain or node.clamp is not None:
            return
        before = _before(edit, node, place)
        if before is None or edit.tensors[before.tensor].quantisation != edit.tensors[tensor].quantisation:
            return
        place = before


def _before(edit: Edit, node: Node, place: _Place) -> _Place | None:
    """The place in the operand of a node that moves codes; None for any other node."""
    shape = edit.tensors[node.inputs[0]].shape if node.inputs else ()
    if node.op == "Transpose":
        order = _listed(node, "perm", tuple(reversed(range(len(shape)))))
        return _Place(node.inputs[0], tuple(order[axis] for axis in place.axes), place.lows)
    if node.op == "Slice" and all(name in edit.constants for name in node.inputs[1:] if name):
        taken = ranges(edit.call(node))
        if any(one.step != 1 for one in taken):
            return None
        lows = (low + taken[axis].start for low, axis in zip(place.lows, place.axes, strict=True))
        return _Place(node.inputs[0], place.axes, tuple(lows))
    if node.op == "Split":
        axis = node.attributes.get("axis", 0)
        assert isinstance(axis, int), "axis is an integer"
        axis %= len(shape)
        earlier = node.outputs[: node.outputs.index(place.tensor)]
        if not all(earlier):
            return None
        offset = sum(edit.tensors[name].shape[axis] for name in earlier)
        lows = (low + offset * (own == axis) for low, own in zip(place.lows, place.axes, strict=True))
        return _Place(node.inputs[0], place.axes, tuple(lows))
    return None


def _constants(edit: Edit, node: Node, parts: Sequence[_Part], kernel: Numbers) -> list[str] | None:
    """The joined weights, zero where a part has no tap, and the joined biases; None where they are of unlike types."""
    padded = [
        np.pad(one.weights, [(0, 0), (0, 0), *(
            (low, size - low - own)
            for low, size, own in zip(one.place.lows[2:], kernel, one.weights.shape[2:], strict=True)
        )])
        for one in parts
    ]  # fmt: skip
    names = [_joined(edit, f"{node.name}/weights", [edit.tensors[one.node.inputs[1]] for one in parts], padded)]
    if len(parts[0].node.inputs) > 2:
        biases = [one.node.inputs[2] for one in parts]
        if any(bias not in edit.constants for bias in biases):
            return None
        tensors, values = [edit.tensors[bias] for bias in biases], [edit.constants[bias] for bias in biases]
        names.append(_joined(edit, f"{node.name}/bias", tensors, values))
    made = [one for one in names if one is not None]
    return made if len(made) == len(names) else None


def _joined(edit: Edit, hint: str, tensors: Sequence[Tensor], values: Sequence[Array]) -> str | None:
    """One constant of several, one after the other along their channels; None where they are of unlike types."""
    meanings = [tensor.quantisation for tensor in tensors]
    known = [meaning for meaning in meanings if meaning is not None]
    if len({tensor.dtype for tensor in tensors}) > 1 or (known and len(known) < len(meanings)):
        return None
    made = edit.add_constant(hint, np.concatenate(values), tensors[0].dtype)
    if known:
        spread = [
            (np.broadcast_to(one.scale, size).tolist(), np.broadcast_to(one.zero_point, size).tolist())
            for one, size in zip(known, (len(value) for value in values), strict=True)
        ]
        scale, zeros = (tuple(number for part in parts for number in part) for parts in zip(*spread, strict=True))
        meaning = Quantisation(scale, tuple(map(int, zeros)), 0, known[0].numerics)
        edit.tensors[made] = replace(edit.tensors[made], quantisation=meaning)
    return made


def _listed(node: Node, attribute: str, default: Numbers) -> Numbers:
    numbers = node.attributes.get(attribute, default)
    assert isinstance(numbers, tuple), "it is a list of integers"
    return tuple(int(one) for one in numbers)
