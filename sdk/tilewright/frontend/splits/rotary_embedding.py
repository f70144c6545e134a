"""RotaryEmbedding of ONNX Runtime: the standard's, with the positions in another place."""

from __future__ import annotations

from typing import Any

import numpy as np

from tilewright.frontend.splits.parts import Parts
from tilewright.frontend.splits.spelling import MICROSOFT


def _rotary(parts: Parts) -> None:
    if parts.whole("is_packed_batching", 0):
        raise parts.unsupported("its batch is packed", "export the model for a batch of one length")
    if parts.number("scale", 1.0) != 1:
        raise parts.unsupported("it has a scale", "export the model without it")
    shape = parts.shape(0)
    batch, length = (shape[0], shape[2]) if len(shape) == 4 else shape[:2]
    places = parts.input(1)
    if parts.shape(1) in ((1,), ()) and (batch, length) != (1, 1):  # where the first one stands
        steps = np.broadcast_to(np.arange(length), (batch, length))
        places = parts.op("Add", parts.like(1, steps), places)
    elif len(parts.shape(1)) < 2:
        places = parts.reshape(places, (1, 1))
    places = parts.op("Cast", places, to=7)
    depth = 2 * parts.shape(2)[1]
    heads = parts.whole("num_heads", 0) or (shape[-1] // depth if len(shape) == 3 else shape[1])
    attributes: dict[str, Any] = {
        "interleaved": parts.whole("interleaved", 0),
        "num_heads": heads,
        "rotary_embedding_dim": depth,
    }
    operands = (parts.input(0), parts.input(2), parts.input(3), places)
    parts.op("RotaryEmbedding", *operands, into=parts.output(0), **attributes)


SPLITS = {(MICROSOFT, "RotaryEmbedding"): _rotary}
