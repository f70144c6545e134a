"""Which codes move the outputs most: how much nearer these come where a tensor or a layer's weights stay floats."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tilewright.model import DType
from tilewright.quantiser.static.quantise import Basis
from tilewright.quantiser.static.trial import decibels
from tilewright.quantiser.static.write import Choice, Written, written

LEAST_DB = 0.1
"""A gain below this is none."""


@dataclass(frozen=True)
class Blamed:
    """Codes as messages call them, and by how many dB the signal to noise at the outputs rises without them."""

    what: str
    gain_db: float


def blamed(basis: Basis, choice: Choice) -> tuple[Blamed, ...]:
    """The codes that cost most, the largest gain first, over the samples of trials."""
    before = decibels(basis.judge.of(written(basis.model, basis.points, choice)))
    each = (Blamed(what, decibels(basis.judge.of(form)) - before) for what, form in _without_one(basis, choice))
    return tuple(sorted((one for one in each if one.gain_db >= LEAST_DB), key=lambda one: (-one.gain_db, one.what)))


def _without_one(basis: Basis, choice: Choice) -> Iterator[tuple[str, Written]]:
    model, points = basis.model, basis.points
    for group in points.groups:
        others = replace(points, groups=tuple(one for one in points.groups if one is not group))
        yield f"'{group.name}'", written(model, others, choice)
    for layer in points.weighted:
        plain = replace(choice, weights={**choice.weights, layer.node: DType.F32})
        yield f"the weights of '{layer.node}'", written(model, points, plain)
