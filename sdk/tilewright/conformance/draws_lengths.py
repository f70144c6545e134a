"""Random calls of operators whose results data decides the length of: a bound, at times too small, and a count."""

from __future__ import annotations

import numpy as np

from tilewright.conformance.draws import Draw, Drawn, Sketch, data, fixed, reals, shape_of
from tilewright.model import Attribute
from tilewright.ops.bounded import BOUND


def _bound(r: Draw, most: int) -> int:
    return most if r.random() < 0.6 else r.randint(1, most)


def selected(r: Draw, op: str) -> Sketch:
    """NonZero, Compress and Unique, with an axis and without one."""
    shape = shape_of(r, 1, 3)
    elements = int(np.prod(shape))
    if op == "NonZero":
        return Sketch(op, (data(r, shape),), {BOUND: _bound(r, elements)}, 2)
    axis = r.randrange(len(shape)) if r.random() < 0.7 else None
    size = elements if axis is None else shape[axis]
    attributes: dict[str, Attribute] = {BOUND: _bound(r, size), **({} if axis is None else {"axis": axis})}
    if op == "Unique":
        return Sketch(op, (Drawn(np.round(reals(r, shape))),), {**attributes, "sorted": r.randint(0, 1)}, 5)
    condition = np.array([r.random() < 0.5 for _ in range(size)])
    return Sketch(op, (data(r, shape), Drawn(condition, "fixed")), attributes, 2)


def suppressed(r: Draw, op: str) -> Sketch:
    """Boxes on a grid, with equal scores among them and limits that are known or not."""
    batch, classes, boxes = r.randint(1, 2), r.randint(1, 2), r.randint(1, 9)
    limits = [
        fixed([r.randint(0, 4)], r.random() < 0.5),
        Drawn(np.array([r.choice((0.0, 0.25, 0.5))], np.float32), "fixed", r.random() < 0.5),
        Drawn(np.array([r.choice((-1.0, 0.25))], np.float32), "fixed", r.random() < 0.5),
    ]
    places = np.round(4 * reals(r, (batch, boxes, 4))) / 4
    scores = np.round(4 * reals(r, (batch, classes, boxes))) / 4
    attributes: dict[str, Attribute] = {"center_point_box": r.randint(0, 1), BOUND: _bound(r, batch * classes * boxes)}
    return Sketch(op, (Drawn(places), Drawn(scores), *limits[: r.randint(1, 3)]), attributes, 2)
