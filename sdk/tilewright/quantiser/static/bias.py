"""Bias correction: what coding moves in the mean of each channel is taken from its bias.

Layer after layer in the network's order, as Nagel et al. do ("Data-Free Quantization Through Weight Equalization and
Bias Correction", 2019), with means that are measured on samples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tilewright.model import Array, Model
from tilewright.quantiser.static.points import Points, Weighted
from tilewright.quantiser.static.samples import Samples
from tilewright.quantiser.static.trial import Reals, session_of
from tilewright.quantiser.static.write import Choice, written
from tilewright.run.onnx_session import Session


def corrected(model: Model, points: Points, choice: Choice, samples: Samples) -> Model:
    """The float network with biases that make up for what its codes will move."""
    layers = [one for one in points.weighted if _only(model, one)]
    if not layers:
        return model
    base = written(model, points, choice, float_bias=True)
    names = {one.node: base.floats.get(one.result, one.result) for one in layers}
    wanted = _means(session_of(model, [one.result for one in layers]), layers, samples, {}, {})
    biases = {_bias(one): model.constants[_bias(one)] for one in layers}
    session = session_of(base.model, list(names.values()), list(biases))
    for one in layers:
        moved = _means(session, [one], samples, biases, names)[one.node] - wanted[one.node]
        name = _bias(one)
        biases[name] = np.asarray(biases[name] - moved.reshape(biases[name].shape), np.float32)
    return model.replace(constants={**model.constants, **biases})


def _bias(one: Weighted) -> str:
    return one.bias or one.addend


def _only(model: Model, one: Weighted) -> bool:
    """True for a layer with a bias of its own, one number per channel."""
    name = _bias(one)
    if not name or sum(node.inputs.count(name) for node in model.nodes) != 1:
        return False
    return model.tensors[name].elements == model.tensors[one.result].shape[one.channel]


def _means(
    session: Session,
    layers: Sequence[Weighted],
    samples: Samples,
    biases: Mapping[str, Array],
    names: Mapping[str, str],
) -> dict[str, Reals]:
    """The mean of every channel of these layers' results over all samples."""
    sums: dict[str, Reals] = {}
    for values in session.over(samples, biases):
        for one in layers:
            result = values[names.get(one.node, one.result)].astype(np.float64)
            axes = tuple(axis for axis in range(result.ndim) if axis != one.channel % result.ndim)
            sums[one.node] = sums.get(one.node, 0.0) + result.mean(axis=axes)
    return {node: total / samples.count for node, total in sums.items()}
