"""Gradients in codes through functions of one code."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tilewright.gradient.integers.codes import Codes, write
from tilewright.gradient.network import Network
from tilewright.model import Array
from tilewright.ops.gradient_codes import SHARE_BITS
from tilewright.ops.operator import Call
from tilewright.ops.quantised.lookup import lookup_table
from tilewright.ops.quantised.meaning import table

REACH = 2
"""Codes on either side between which the slope of a table is taken."""


def passed_table(network: Network, call: Call, gradient: Codes) -> Mapping[int, Codes] | None:
    """A function of one code: the slopes of its table; None where it is none of eight bits."""
    x, y, operator = call.tensor(0), call.outputs[0], call.operator
    if x.quantisation is None or y.quantisation is None or x.dtype.bits != 8 or operator is None:
        return None
    codes = lookup_table(call) if call.node.op == "Lookup" else table(operator, call)
    slopes = slopes_of(codes.astype(np.float64)) * (y.quantisation.scale[0] / x.quantisation.scale[0])
    most = float(np.abs(slopes).max())
    if not most:
        return {}
    whole = network.constant(np.rint(slopes / most * (1 << SHARE_BITS)).astype(np.int16))
    (sloped,) = write(network, "GradientSlopes", (gradient.codes, x.name, whole), {})
    return {0: Codes(sloped, gradient.exponent, gradient.factor * most)}


def slopes_of(codes: Array) -> Array:
    """What a table rises by from code to code, over a few of them."""
    at = np.arange(codes.size)
    low, high = np.maximum(at - REACH, 0), np.minimum(at + REACH, codes.size - 1)
    return np.asarray((codes[high] - codes[low]) / (high - low))
