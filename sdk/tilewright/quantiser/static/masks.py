"""Constants that stand for minus infinity in a sum before Softmax become numbers that codes can hold.

No range of 256 codes holds minus infinity, or -1e9 beside numbers of the size of 1. All that counts is that the sum
lies far enough below every other for its exponential to be no step of a probability.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tilewright.model import Array, Model
from tilewright.quantiser.static.statistics import BELOW, MASKED, Statistics, of_constant


def with_finite_masks(
    model: Model, statistics: Mapping[str, Statistics]
) -> tuple[Model, dict[str, Statistics]]:  # fmt: skip
    """The network with such constants limited by the range of what they are added to, and the statistics with them."""
    constants, known = dict[str, Array](), dict(statistics)
    for node in model.nodes:
        if node.op != "Add":
            continue
        for mask, other in (node.inputs, node.inputs[::-1]):
            values = model.constants.get(mask)
            if values is None or mask not in known or not (values <= MASKED).any() or other not in known:
                continue
            span = known[other].span
            constants[mask] = np.maximum(values, np.float32(span.low - span.high - BELOW))
            known[mask] = of_constant(constants[mask])
    return (model.replace(constants={**model.constants, **constants}), known) if constants else (model, known)
