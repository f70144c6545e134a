"""Random rows of codes, their products with coded weights, and rows of a coded table."""

from __future__ import annotations

import numpy as np

from tilewright.conformance.draws import Draw, Drawn, Sketch, data, fixed, reals
from tilewright.model import Array


def _codes(r: Draw, *shape: int) -> Array:
    return np.random.default_rng(r.getrandbits(32)).integers(-127, 128, shape).astype(np.int8)


def _table(r: Draw, width: int) -> tuple[tuple[Drawn, Drawn], dict[str, int | float]]:
    """Codes and factors of some rows, in blocks or not."""
    outputs, block = r.choice((1, 3, 4, 8, 12)), r.choice((0, 0, 8, 16))
    blocks = -(-width // block) if block else 1
    weights = tuple(Drawn(_codes(r, outputs, size), "fixed", True) for size in (width, blocks))
    return (weights[0], weights[1]), {"block": block, "unit": r.uniform(1e-5, 1e-3)}


def row_codes(r: Draw, op: str) -> Sketch:
    """Rows of floats."""
    attributes = {"least": 1e-30, "highest": r.choice((127, 7))}
    return Sketch(op, (data(r, (r.randint(1, 4), r.randint(1, 20))),), attributes, outputs=2)


def code_product(r: Draw, op: str) -> Sketch:
    """Rows by a table of as many columns, whole words of them or not."""
    rows, width = r.randint(1, 3), r.choice((1, 4, 8, 12, 20, 32, 35))
    table, attributes = _table(r, width)
    most = Drawn(np.abs(reals(r, (rows, 1))).astype(np.float32), "fixed")
    return Sketch(op, (Drawn(_codes(r, rows, width), "fixed"), most, *table), {**attributes})


def code_rows(r: Draw, op: str) -> Sketch:
    """Rows of a table at indices inside of it."""
    table, attributes = _table(r, r.choice((1, 5, 8, 32)))
    rows = len(table[0].values)
    return Sketch(
        op, (*table, fixed([r.randrange(-rows, rows) for _ in range(r.randint(1, 3))], False)), {**attributes}
    )


def coded_attention(r: Draw, op: str) -> Sketch:
    """Queries over some of the rows of two caches, or over none."""
    heads, queries = r.randint(1, 3), r.randint(1, 4)
    rows, four = r.choice((1, 2, 5, 8, 70, 72)), r.choice((False, True))
    depth, width = (
        r.choice((2, 6, 8, 16, 24) if four else (1, 3, 4, 8, 20, 24)),
        r.choice((2, 8, 16) if four else (1, 4, 8)),
    )
    most = [Drawn(np.abs(reals(r, (1, 1, rows, 1))).astype(np.float32), "fixed") for _ in range(2)]
    caches = [
        Drawn(_codes(r, 1, heads, rows, size // 2).view(np.uint8) if four else _codes(r, 1, heads, rows, size), "fixed")
        for size in (depth, width)
    ]
    q = Drawn(reals(r, (1, heads, queries, depth)).astype(np.float32), "fixed")
    operands = (q, caches[0], most[0], caches[1], most[1], fixed([r.randint(0, rows)], False))
    return Sketch(op, operands, {"scale": 0.5, "k_unit": 1 / 127, "v_unit": 1 / 127})


def half_attention(r: Draw, op: str) -> Sketch:
    """Queries of heads that share keys over some of the rows of two caches, or over none."""
    heads, group, rows = r.randint(1, 2), r.randint(1, 3), r.choice((1, 2, 7, 20))
    depth, width = r.choice((1, 3, 8)), r.choice((1, 4, 6))
    caches = [Drawn(reals(r, (1, heads, rows, size)).astype(np.float16), "fixed") for size in (depth, width)]
    q = Drawn(reals(r, (1, heads * group, r.randint(1, 3), depth)).astype(np.float32), "fixed")
    return Sketch(op, (q, *caches, fixed([r.randint(0, rows)], False)), {"scale": 0.5})


def coded_lstm(r: Draw, op: str) -> Sketch:
    """One or two directions, one scale for all rows or many, with biases and first states or without."""
    steps, batch, inputs, hidden = (r.randint(1, most) for most in (3, 2, 13, 9))
    kind, direction = r.choice((np.int8, np.uint8)), r.choice(("forward", "reverse", "bidirectional"))
    count, draw = 2 if direction == "bidirectional" else 1, np.random.default_rng(r.getrandbits(32))
    limits = np.iinfo(kind)

    def scales() -> Drawn:
        drawn = draw.uniform(1e-4, 0.05, (count, 4 * hidden)) * r.choice((0, 1)) + draw.uniform(1e-4, 0.05)
        return Drawn(drawn.astype(np.float32), "fixed", True)

    x = Drawn(draw.integers(limits.min, limits.max + 1, (steps, batch, inputs)).astype(kind), "fixed")
    scale = Drawn(np.array(r.choice((0.0, 1e-9, 0.01, 0.3, 40.0, 1e6, 3e38)), np.float32), "fixed")
    zero = Drawn(np.array(r.randint(limits.min, limits.max), kind), "fixed")
    operands: list[Drawn | None] = [x, scale, zero]
    for width in (inputs, hidden):
        operands += [Drawn(_codes(r, count, 4 * hidden, width), "fixed", True), scales()]
    bias = Drawn(reals(r, (count, 8 * hidden)).astype(np.float32), "fixed", True)
    operands.append(bias if r.random() < 0.7 else None)
    if r.random() < 0.5:
        operands += [Drawn(reals(r, (count, batch, hidden)).astype(np.float32), "fixed") for _ in range(2)]
    return Sketch(op, tuple(operands), {"direction": direction}, 3)
