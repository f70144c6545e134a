"""Gradients in codes through what moves elements, takes the largest of them, or their mean."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log2, prod

import numpy as np

from tilewright.gradient.derived import derived
from tilewright.gradient.integers.codes import OPEN, Codes, masked, write
from tilewright.gradient.network import Network
from tilewright.model import Attribute, Node, Shape
from tilewright.ops.codes import Mean, Moves
from tilewright.ops.operator import Adjoint, Call
from tilewright.ops.quantised.mean import window_counts
from tilewright.ops.reduce import reduced_axes
from tilewright.ops.registry import codes_of


def moved(network: Network, call: Call, codes: str, index: int, place: int) -> str | None:
    """The codes where the elements of an operand went, "" where none did; None where more than moves is needed."""
    before, operator = len(network.nodes), call.operator
    assert operator is not None
    adjoint = Adjoint(call, codes, network)
    own = operator.gradient if place == 0 else None
    made = own(adjoint, index) if own is not None else derived(adjoint, index, place)
    return made if all(map(_keeps_codes, network.nodes[before:])) else None


def _keeps_codes(node: Node) -> bool:
    """True where results are elements of the operand, or these below zero instead of above: they fit eight bits."""
    fact = codes_of(node)
    return node.op == "Neg" or (isinstance(fact, Moves) and not fact.compares)


@dataclass(frozen=True)
class Spread:
    """The gradient of what a mean was taken of, and whether it is masked already."""

    gradient: Codes
    masked: bool = False


def spread_mean(network: Network, call: Call, gradient: Codes, source: tuple[str, tuple[int, int]]) -> Spread | None:
    """What every element of a mean gets; `source` has the limits of the operand that are taken in where they can be."""
    fact, shape = call.codes, call.shape()
    assert isinstance(fact, Mean)
    window = None if call.operator is None or call.operator.window is None else call.operator.window(call)
    if window is not None and (any((*window.begins, *window.ends)) or prod(window.outs) > 1):
        counts = [int(count) for count in window_counts(call)]
        if len(counts) > 1:
            return None
        bits = window_bits(window.kernel, window.strides, window.dilations)
        attributes: dict[str, Attribute] = {
            "kernel": window.kernel, "strides": window.strides, "dilations": window.dilations,
            "begins": window.begins, "sizes": shape[2:], "bits": bits,
        }  # fmt: skip
        (codes,) = write(network, "GradientMeanPool", (gradient.codes,), attributes)
        return Spread(Codes(codes, gradient.exponent, gradient.factor / counts[0] * (1 << bits)))
    axes = reduced_axes(call) if not fact.windows else tuple(range(2, len(shape)))
    narrow = tuple(1 if axis in axes else size for axis, size in enumerate(shape))
    codes = _shaped(network, "Reshape", gradient.codes, narrow)
    share = prod(shape) // max(prod(narrow), 1) if fact.divides else 1
    flat = Codes(codes, gradient.exponent, gradient.factor / share)
    if source[1] != OPEN:
        return Spread(masked(network, flat, *source), True)
    return Spread(Codes(_shaped(network, "Expand", codes, shape), flat.exponent, flat.factor))


def to_largest(network: Network, call: Call, gradient: Codes) -> Codes | None:
    """A maximum passes its gradient on to the first of the largest elements; None for one that is no pool."""
    x, operator = call.tensor(0), call.operator
    if operator is None or not call.node.op.endswith("MaxPool"):
        return None
    ones = (1,) * (len(x.shape) - 2)
    kernel, strides, dilations, begins = x.shape[2:], ones, ones, (0,) * len(ones)
    if operator.window is not None:
        window = operator.window(call)
        kernel, strides, dilations, begins = window.kernel, window.strides, window.dilations, window.begins
    bits = window_bits(kernel, strides, dilations)
    attributes: dict[str, Attribute] = {
        "kernel": kernel, "strides": strides, "dilations": dilations, "begins": begins, "bits": bits
    }  # fmt: skip
    (codes,) = write(network, "GradientMaxPool", (gradient.codes, x.name), attributes)
    return Codes(codes, gradient.exponent, gradient.factor * (1 << bits))


def window_bits(kernel: Shape, strides: Shape, dilations: Shape) -> int:
    """Bits of the number of windows in which one element lies at most."""
    along = (min(k, ceil(((k - 1) * d + 1) / s)) for k, s, d in zip(kernel, strides, dilations, strict=True))
    return ceil(log2(max(prod(along), 1)))


def _shaped(network: Network, op: str, codes: str, shape: Shape) -> str:
    if network.tensor(codes).shape == shape:
        return codes
    return network.node(op, (codes, network.constant(np.asarray(shape, np.int64))))
