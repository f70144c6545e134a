"""Random weights in blocks for MatMulBlocks."""

from __future__ import annotations

import numpy as np

from tilewright.conformance.draws import Draw, Drawn, Sketch, data


def packed_weights(r: Draw, op: str) -> Sketch:
    """Some rows by codes of eight bits, with zero points, one for all blocks or many, and a bias."""
    rows, depth, columns, block = r.randint(1, 3), r.randint(1, 40), r.randint(1, 7), r.choice((4, 16, 64))
    shape, draw = (columns, -(-depth // block)), np.random.default_rng(r.getrandbits(32))
    kind = r.choice((np.int8, np.uint8))
    codes = draw.integers(0, 100, (columns, depth)).astype(kind)
    zero = draw.integers(0, 9, shape) if r.random() < 0.5 else np.full(shape, r.randrange(9))
    zeros = Drawn(zero.astype(kind), "fixed", True) if r.random() < 0.7 else None
    scale = draw.uniform(0.01, 0.1, shape).astype(np.float32)
    bias = Drawn(draw.uniform(-1, 1, columns).astype(np.float32), "fixed", True) if r.random() < 0.5 else None
    weights = (Drawn(codes, "fixed", True), Drawn(scale, "fixed", True), zeros, bias)
    return Sketch(op, (data(r, (rows, depth)), *weights), {"block_size": block})
