"""Cross-layer equalisation: channels between two layers get ranges of one size, which one scale suits.

Between two linear layers with nothing but positively homogeneous functions between them, a channel may be divided by a
positive factor in the first layer and multiplied by it in the second; the network stays the same (Nagel et al.,
"Data-Free Quantization Through Weight Equalization and Bias Correction", 2019). Factors come from the ranges that the
channels take over the samples, and from the weights that read them where these share a scale over channels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from tilewright.model import Array, Model, Node
from tilewright.ops.codes import Mean, Products
from tilewright.ops.registry import codes_of
from tilewright.quantiser.static.points import Points, Weighted
from tilewright.quantiser.static.samples import Samples
from tilewright.quantiser.static.trial import session_of

LEAST = 1 / 256
"""No channel is made larger than this many times."""
STRENGTHS = (0.5, 1.0)


@dataclass(frozen=True)
class Pair:
    """Two layers; `tensor` is what holds the channels along `channel` behind the first one's limits, and `axis` counts
    them in the second one's weights. `apart` where each has weights and a scale of its own there: a depthwise layer."""

    first: Weighted
    second: Weighted
    tensor: str
    channel: int
    axis: int
    apart: bool


def pairs_of(model: Model, points: Points) -> tuple[Pair, ...]:
    """Every pair of layers whose constants nobody else reads."""
    layers = {one.node: one for one in points.weighted}
    readers = model.consumers()
    uses = [name for node in model.nodes for name in node.inputs]
    alone = {name for name in model.constants if uses.count(name) == 1}
    return tuple(pair for one in points.weighted if (pair := _pair(model, readers, layers, alone, one)) is not None)


def equalised(model: Model, pairs: tuple[Pair, ...], samples: Samples) -> Iterator[Model]:
    """The network with channels brought near to one size, and all the way."""
    if not pairs:
        return
    largest = _largest(model, pairs, samples)
    for strength in STRENGTHS:
        constants = dict(model.constants)
        for pair in pairs:
            _apply(constants, pair, _factors(constants, pair, largest[pair.tensor]) ** strength)
        yield model.replace(constants=constants)


def _pair(
    model: Model, readers: Mapping[str, list[Node]], layers: Mapping[str, Weighted], alone: set[str], first: Weighted
) -> Pair | None:
    biases = [name for name in (first.bias, first.addend) if name]
    name = tensor = first.result
    channel = first.channel % len(model.tensors[name].shape)
    channels = model.tensors[name].shape[channel]
    if first.axis is None or not alone.issuperset((first.weights, *biases)):
        return None
    if any(model.tensors[bias].elements != channels for bias in biases):
        return None
    while name not in model.outputs and len(readers[name]) == 1:
        (node,) = readers[name]
        second = layers.get(node.name)
        if second is not None and node.inputs[0] == name and second.weights in alone:
            along = _along(model, node, second, channel)
            return None if along is None else Pair(first, second, tensor, channel, *along)
        pools = _pools(node)
        if (node.op != "Relu" and not pools) or (pools and channel != 1) or len(node.outputs) != 1:
            return None
        name = node.outputs[0]
        tensor = tensor if pools else name
    return None


def _pools(node: Node) -> bool:
    """True for a mean or a maximum over space, which does to every channel the same."""
    fact = codes_of(node)
    return (isinstance(fact, Mean) and fact.windows) or node.op == "MaxPool"


def _along(model: Model, node: Node, second: Weighted, channel: int) -> tuple[int, bool] | None:
    """The axis of the second one's weights that counts the channels it reads; whether each has its own scale there."""
    shape, given = model.tensors[second.weights].shape, model.tensors[node.inputs[0]].shape
    fact = codes_of(node)
    if not isinstance(fact, Products) or len(shape) < 2:
        return None
    if node.op == "Conv" and channel == 1:
        group = node.attributes.get("group", 1)
        if group == 1:
            return 1, False
        return (0, True) if group == shape[0] == given[1] else None
    last = channel == len(given) - 1 and len(shape) == 2 and second.axis is not None
    matrix = node.op != "Conv" and not fact.in_groups
    if matrix and last and not node.attributes.get("transA", 0):
        return 1 - (second.axis or 0), False
    return None


def _largest(model: Model, pairs: tuple[Pair, ...], samples: Samples) -> dict[str, Array]:
    """The largest magnitude of every channel over all samples."""
    largest = dict[str, Array]()
    for values in session_of(model, [pair.tensor for pair in pairs]).over(samples):
        for pair in pairs:
            value = np.abs(values[pair.tensor]).astype(np.float64)
            size = value.max(axis=tuple(axis for axis in range(value.ndim) if axis != pair.channel))
            largest[pair.tensor] = np.maximum(largest.get(pair.tensor, 0.0), size)
    return largest


def _factors(constants: Mapping[str, Array], pair: Pair, largest: Array) -> Array:
    """What each channel is divided by, 1 for the largest; 1 for channels that are always 0."""
    weights = np.abs(constants[pair.second.weights]).astype(np.float64)
    read = weights.max(axis=tuple(axis for axis in range(weights.ndim) if axis != pair.axis))
    useful = (largest > 0) & (read > 0)
    ratio = largest if pair.apart else np.sqrt(largest / np.where(useful, read, 1.0))
    highest = float(ratio[useful].max(initial=0.0))
    return np.asarray(np.where(useful, np.clip(ratio / (highest or 1.0), LEAST, 1.0), 1.0))


def _apply(constants: dict[str, Array], pair: Pair, factors: Array) -> None:
    first, second = pair.first, pair.second
    assert first.axis is not None
    constants[first.weights] = _scaled(constants[first.weights], 1 / factors, first.axis)
    for name in (first.bias, first.addend):
        if name:
            constants[name] = np.asarray(constants[name] / factors.reshape(constants[name].shape), np.float32)
    constants[second.weights] = _scaled(constants[second.weights], factors, pair.axis)


def _scaled(weights: Array, factors: Array, axis: int) -> Array:
    shape = [1] * weights.ndim
    shape[axis] = factors.size
    return np.asarray(weights * factors.reshape(shape), np.float32)
