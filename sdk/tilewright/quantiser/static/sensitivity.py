"""How much each layer costs the result: measured with the integers of the target, one change at a time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tilewright.frontend.write import to_onnx
from tilewright.ops.codes import Mean, Moves, Products
from tilewright.ops.registry import codes_of
from tilewright.passes.quantise.kinds import limits
from tilewright.quantiser.static.accuracy import Integers, integers_of, noise_of
from tilewright.quantiser.static.inside import inside
from tilewright.quantiser.static.network import products_of
from tilewright.quantiser.static.points import Group
from tilewright.quantiser.static.quantise import Basis, Types, choice_of
from tilewright.quantiser.static.samples import Samples
from tilewright.quantiser.static.trial import decibels, session_of
from tilewright.quantiser.static.write import written

FEW, FEW_PRODUCTS, FEWEST = 16, 1 << 28, 4
"""Samples of a measurement, less where they multiply more than so often, down to the fewest: NumPy computes them."""


@dataclass(frozen=True)
class Sensitivity:
    """What one change does: noise over signal at the outputs with it, and with codes of eight bits alone."""

    name: str
    types: Types
    noise: float
    before: float

    @property
    def gain_db(self) -> float:
        """By how many dB the signal to noise rises."""
        return decibels(self.noise) - decibels(self.before)


class Measure:
    """Noise over signal of codes with some types, against the float network, over a few samples."""

    def __init__(self, basis: Basis, samples: Samples) -> None:
        count = max(FEWEST, min(FEW, FEW_PRODUCTS // products_of(basis.model)))
        self.basis, self.samples = basis, samples.first(count)
        names = list(basis.model.outputs)
        calls = session_of(basis.model, names).over(self.samples)
        self.reference = [[values[name] for name in names] for values in calls]
        self.before, self.integers = self.of(Types())

    def of(self, types: Types) -> tuple[float, Integers]:
        """The noise with these types, and the network as it is compiled."""
        choice, _ = choice_of(self.basis, types)
        model = written(self.basis.model, self.basis.points, choice).model
        integers = integers_of(to_onnx(model).SerializeToString(deterministic=True))
        return noise_of(self.basis.model, integers.outputs(self.samples), self.reference), integers


def by_activations(measure: Measure) -> tuple[Sensitivity, ...]:
    """What 16 bits in the place of 8 gain for each tensor that can have them, the largest gain first.

    A tensor whose readers would compute in floats with 16 bits cannot.
    """
    return _sorted(
        _one(measure, group.name, Types(wide=frozenset((group.name,)))) for group in widenable(measure.basis)
    )


def widenable(basis: Basis) -> tuple[Group, ...]:
    """Groups that only sums of products, means and moves write and read: others have no integer form of 16 bits."""
    model, hidden = basis.model, inside(basis.model)
    bad = set[str]()
    for node in model.nodes:
        plain = isinstance(codes_of(node), Products | Mean | Moves)
        if plain or (limits(node) and node.inputs[0] in hidden) or (node.op == "Add" and hidden & set(node.inputs)):
            continue
        bad.update((*node.inputs, *node.outputs))
    return tuple(
        group for group in basis.points.groups
        if not group.probabilities and not bad.intersection(group.tensors)
    )  # fmt: skip


def by_weights(measure: Measure) -> tuple[Sensitivity, ...]:
    """What weights of 4 bits in the place of 8 lose for each layer, the smallest loss first."""
    layers = (one for one in measure.basis.points.weighted)
    return _sorted(_one(measure, one.node, Types(narrow=frozenset((one.node,)))) for one in layers)


def _one(measure: Measure, name: str, types: Types) -> Sensitivity | None:
    noise, integers = measure.of(types)
    plain = measure.integers
    if len(integers.float_tensors) > len(plain.float_tensors) or len(integers.real_nodes) > len(plain.real_nodes):
        return None
    return Sensitivity(name, types, noise, measure.before)


def _sorted(each: Iterable[Sensitivity | None]) -> tuple[Sensitivity, ...]:
    usable = [one for one in each if one is not None]
    return tuple(sorted(usable, key=lambda one: (one.noise, one.name)))
