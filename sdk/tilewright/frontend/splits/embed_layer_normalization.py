"""EmbedLayerNormalization: rows of up to three tables, their sum, its layer normalisation."""

from __future__ import annotations

import numpy as np

from tilewright.frontend.splits.parts import Parts
from tilewright.frontend.splits.spelling import MICROSOFT
from tilewright.model import DType


def _embed(parts: Parts) -> None:
    batch, length = parts.shape(0)
    if parts.input(8):
        places = parts.op("Gather", parts.input(3), parts.input(8), axis=0)
    else:
        places = parts.slice(parts.input(3), 0, 0, length)
    total = parts.op("Add", parts.op("Gather", parts.input(2), parts.input(0), axis=0), places)
    if parts.input(1):
        total = parts.op("Add", total, parts.op("Gather", parts.input(4), parts.input(1), axis=0))
    operands = (total, parts.input(5), parts.input(6))
    if parts.output(2):
        parts.op("Identity", total, into=parts.output(2))
    if parts.output(1):
        _count(parts, batch)
    epsilon = parts.number("epsilon", 1e-12)
    parts.op("LayerNormalization", *operands, into=parts.output(0), axis=-1, epsilon=epsilon)


def _count(parts: Parts, batch: int) -> None:
    """How many words the mask leaves, for each row."""
    if parts.input(7):
        parts.op("ReduceSum", parts.input(7), parts.constant([1]), into=parts.output(1), keepdims=0)
    else:
        parts.op("Identity", parts.constant(np.zeros(batch), DType.I32), into=parts.output(1))


SPLITS = {(MICROSOFT, "EmbedLayerNormalization"): _embed}
