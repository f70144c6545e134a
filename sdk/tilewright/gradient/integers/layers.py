"""Layers on codes that are taken back in integers: what their weights and biases move by, and their operand's gradient.

A step of SGD in units of codes: `w -= rate * slope / scale`, where the scale is that of each result's weights. So a
weight moves as its real number does, whatever its scale (Lin et al., On-Device Training Under 256KB Memory, NeurIPS
2022, call that quantisation-aware scaling).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import frexp, log2

import numpy as np

from tilewright.errors import UnsupportedNode
from tilewright.frontend.names import quoted
from tilewright.gradient.integers.codes import Codes, write
from tilewright.gradient.network import Network
from tilewright.model import Array, Attribute, Quantisation
from tilewright.ops.code_descent import FRACTION, LONGEST, SPARE_BITS, longest_sum, most_meetings
from tilewright.ops.descent import DescentTerm, product_term
from tilewright.ops.facts import DescentWindow
from tilewright.ops.gradient_codes import HIGHEST, SHARE_BITS
from tilewright.ops.operator import Call
from tilewright.ops.quantised.linear import bias_limit
from tilewright.ops.quantised.real import the_quantisation

COUNT = "integers/count"
"""The state that counts steps, of which drawn numbers begin."""
TYPICAL = 30.0
"""The usual size of a gradient's codes, where the largest is 127: a guess for the first step."""
_LARGEST = (1 << 31) - 1
_LARGEST_BACK = (1 << 30) - 1


@dataclass(frozen=True)
class Learnt:
    """What learns of a layer: the names of its weights and of its bias, "" for those that stay."""

    weights: str = ""
    bias: str = ""


@dataclass(frozen=True)
class Layer:
    """A sum of products on codes, whose operands are tensors of the network."""

    call: Call
    window: DescentWindow
    weights: str

    @property
    def term(self) -> DescentTerm:
        """Its sizes."""
        term = product_term(self.call)
        assert term is not None, "it has a window"
        return term

    @property
    def scales(self) -> Array:
        """The scale of the weights of each result."""
        axis = 1 if self.window.turned else 0
        return np.broadcast_to(np.asarray(self.quantisation.scale, np.float64), (self.call.shape(1)[axis],))

    @property
    def quantisation(self) -> Quantisation:
        """What the weights' codes mean."""
        return the_quantisation(self.call.tensor(1))


def layer_of(network: Network, call: Call) -> Layer:
    """UnsupportedNode where integers do not take a layer back."""
    rule = None if call.operator is None else call.operator.descent
    window = rule(call) if rule is not None else None
    if window is None or len(call.shape(1)) < 2:
        raise _refused(call, "its products have no gradient in integers")
    layer = Layer(call, window, call.tensor(1).name)
    x = call.tensor(0)
    farthest = max(abs(limit - the_quantisation(x).zero_point[0]) for limit in x.dtype.range)
    if most_meetings(layer.term) * HIGHEST * farthest > _LARGEST or longest_sum(layer.term) << 14 > _LARGEST_BACK:
        raise _refused(call, "32 bits do not hold the sums of its gradients")
    return layer


def _refused(call: Call, why: str) -> UnsupportedNode:
    return UnsupportedNode(
        f"node {quoted(call.node.name)} ({call.node.op}) is not taken back in integers", why=why,
        fix="update only parameters behind it with --update, or train the float network", node=call.node.name,
    )  # fmt: skip


def take_back(
    network: Network, layer: Layer, gradient: Codes, learnt: Learnt, rate: float, back: tuple[int, int] | None
) -> Codes | None:
    """The step of what learns, and the gradient of the operand between the limits `back`; None where there are none."""
    if learnt.bias:
        _step_bias(network, layer, gradient, learnt.bias, rate)
    if not learnt.weights and back is None:
        return None
    attributes: dict[str, Attribute] = {
        "window": layer.window.numbers, "turned": int(layer.window.turned), "own": 2 * len(network.nodes)
    }  # fmt: skip
    inputs = [layer.call.tensor(0).name, gradient.codes, gradient.exponent, layer.weights, COUNT, "", "", "", ""]
    factor = 0.0
    if back is not None:
        more, factor = _backwards(network, layer, gradient, inputs)
        attributes |= {**more, "low": back[0], "high": back[1]}
    if learnt.weights:
        attributes |= _moving(network, layer, gradient, learnt.weights, rate, inputs)
    results = (back is not None,) * 3 + (bool(learnt.weights),) * 2
    made = write(network, "CodeDescent", inputs, attributes, results)
    if learnt.weights:
        for state, result in ((learnt.weights, made[3]), (f"{learnt.weights}/rest", made[4])):
            network.like_state(state, result)
            network.follow_state(state, result)
    if back is None:
        return None
    network.follow_state(inputs[5], made[2])
    return Codes(made[0], made[1], factor)


def _backwards(
    network: Network, layer: Layer, gradient: Codes, inputs: list[str]
) -> tuple[Mapping[str, Attribute], float]:
    """How the gradient of the operand is made, and its factor: weights of results with a smaller scale count less."""
    scales, term = layer.scales, layer.term
    widest, bits = float(scales.max()), 0
    first = network.initial(layer.weights).astype(np.float64)
    if (scales != widest).any():
        bits = min(7, int(log2(_LARGEST_BACK / (longest_sum(term) * HIGHEST * 128))))
        shares = np.rint(scales / widest * (1 << SHARE_BITS)).astype(np.int16)
        inputs[6] = network.constant(shares)
        spread = [1] * first.ndim
        spread[1 if layer.window.turned else 0] = -1
        first = first * (scales / widest * (1 << bits)).reshape(spread)
    deviation = float(np.sqrt((first**2).sum() / max(term.groups * term.channels, 1))) * TYPICAL
    shift = min(max(round(log2(max(3 * deviation, 1.0))) - SPARE_BITS, 0), LONGEST)
    inputs[5] = network.fresh(f"{layer.call.node.name}/shift")
    network.become_state(inputs[5], np.full(1, shift, np.int32))
    return {"share_bits": bits}, gradient.factor * widest / (1 << bits)


def _moving(
    network: Network, layer: Layer, gradient: Codes, weights: str, rate: float, inputs: list[str]
) -> Mapping[str, Attribute]:
    """How weights move: the rate of each result as 31 bits, and by how many places the product is to be shifted."""
    x, term = layer.call.tensor(0), layer.term
    meaning = the_quantisation(x)
    farthest = max(abs(limit - meaning.zero_point[0]) for limit in x.dtype.range)
    before = 31 - (most_meetings(term) * HIGHEST * farthest).bit_length()
    real = FRACTION * rate * gradient.factor * meaning.scale[0] / layer.scales
    rates, places = whole_rates(real)
    inputs[7] = network.fresh(f"{weights}/rest")
    network.become_state(inputs[7], np.zeros(layer.call.shape(1), np.int8))
    inputs[8] = network.constant(rates)
    return {"before": before, "places": places + before - 32}


def whole_rates(real: Array) -> tuple[Array, int]:
    """Real factors as int32 of up to 31 bits, which times `2^-places` are these."""
    places = 31 - frexp(float(np.abs(real).max(initial=0.0)))[1]
    rates = np.rint(np.ldexp(real, places))
    return np.clip(rates, -_LARGEST, _LARGEST).astype(np.int32), places


def _step_bias(network: Network, layer: Layer, gradient: Codes, bias: str, rate: float) -> None:
    """A bias counts the product of both scales."""
    scale = the_quantisation(layer.call.tensor(0)).scale[0]
    scales = np.broadcast_to(np.asarray(layer.quantisation.scale, np.float64), network.tensor(bias).shape)
    rates, places = whole_rates(rate * gradient.factor / (scale * scales))
    rank = len(layer.call.outputs[0].shape)
    attributes: dict[str, Attribute] = {
        "axis": rank - 1 if layer.term.matrix else 1, "places": places, "limit": bias_limit(layer.call)
    }  # fmt: skip
    inputs = (gradient.codes, gradient.exponent, bias, network.constant(rates))
    (following,) = write(network, "BiasDescent", inputs, attributes)
    network.follow_state(bias, following)
