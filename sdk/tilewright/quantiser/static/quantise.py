"""The whole road: prepare, measure, choose ranges, correct biases, write, and tell how right it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tilewright.frontend.write import to_onnx
from tilewright.model import Array, DType, Model
from tilewright.quantiser.static.accuracy import Integers, Score, integers_of, scores
from tilewright.quantiser.static.bias import corrected
from tilewright.quantiser.static.equalise import equalised, pairs_of
from tilewright.quantiser.static.masks import with_finite_masks
from tilewright.quantiser.static.network import prepared, products_of
from tilewright.quantiser.static.pairs import with_forms
from tilewright.quantiser.static.points import Points, points_of
from tilewright.quantiser.static.samples import Division, Samples
from tilewright.quantiser.static.search import Judge, Searched, coding_of, ranges_of, searched, widest_choice
from tilewright.quantiser.static.statistics import Run, Statistics, extremes, measured, merged
from tilewright.quantiser.static.trial import session_of
from tilewright.quantiser.static.write import Choice, written

TRIALS, TRIAL_PRODUCTS, FEWEST = 64, 1 << 32, 16
"""Samples of a trial, less where they multiply more than so often, down to the fewest: each tensor is tried by running
the whole network. Ranges are measured on all that are not held out."""


@dataclass(frozen=True)
class Basis:
    """What is measured once, whatever types the codes get: the float network as it is coded, and its ranges."""

    model: Model
    points: Points
    search: Searched
    statistics: Mapping[str, Statistics]
    judge: Judge
    equalised: bool


@dataclass(frozen=True)
class Types:
    """What is not of eight bits: groups of activations in 16, and layers with weights of 4."""

    wide: frozenset[str] = frozenset()
    narrow: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Quantised:
    """A network in codes: the file, what was chosen and tried, and what it is worth on samples that are held out."""

    content: bytes
    coded: Model
    basis: Basis
    types: Types
    choice: Choice
    bias_corrected: bool
    without_form: tuple[str, ...]
    integers: Integers
    scores: tuple[Score, ...]


def quantised(model: Model, division: Division) -> Quantised:
    """The float network in codes of eight bits. UnsupportedError where it cannot be."""
    return built(basis_of(model, division), Types(), division.held_out)


def basis_of(model: Model, division: Division) -> Basis:
    """Prepare and measure the network, and choose its ranges."""
    real = prepared(model)
    points = points_of(real)
    count = max(FEWEST, min(TRIALS, TRIAL_PRODUCTS // products_of(real)))
    judge = Judge(real, division.measured.first(count))
    real, was_equalised = nearest_equalised(real, points, judge)
    real, statistics = with_finite_masks(real, statistics_of(real, points, division.measured))
    search = searched(real, points, ranges_of(points, statistics), judge)
    return Basis(real, points, search, statistics, judge, was_equalised)


def choice_of(basis: Basis, types: Types) -> tuple[Choice, tuple[str, ...]]:
    """The codes with these types; nodes on two tensors that have no integer form. 16 bits hold all values measured."""
    codings = dict(basis.search.choice.codings)
    for group in basis.points.groups:
        if group.name in types.wide:
            span = merged([basis.statistics[name] for name in group.sources]).span
            codings[group.name] = coding_of(group, span, DType.I16)
    weights = dict.fromkeys(types.narrow, DType.I4)
    return with_forms(basis.model, basis.points, Choice(codings, weights))


def built(basis: Basis, types: Types, samples: Samples) -> Quantised:
    """The network with codes of these types, with figures of these samples."""
    choice, without = choice_of(basis, types)
    judge, points = basis.judge, basis.points
    plain = judge.of(written(basis.model, points, choice))
    better = corrected(basis.model, points, choice, judge.samples)
    final = better if judge.of(written(better, points, choice)) < plain else basis.model
    result = written(final, points, choice)
    content = to_onnx(result.model).SerializeToString(deterministic=True)
    integers = integers_of(content)
    figures = scores(basis.model, result.model, integers, samples)
    return Quantised(content, result.model, basis, types, choice, final is better, without, integers, figures)


def statistics_of(model: Model, points: Points, samples: Samples) -> dict[str, Statistics]:
    """What values the coded tensors take over the samples."""
    names = _measured_names(points)
    return measured(_values(model, names, samples), names, model.constants)


def nearest_equalised(model: Model, points: Points, judge: Judge) -> tuple[Model, bool]:
    """The network, or a form of it with equalised channels, which codes of the plain ranges move least."""
    names, errors = _measured_names(points), list[tuple[float, Model]]()
    for form in (model, *equalised(model, pairs_of(model, points), judge.samples)):
        spans = extremes(_values(form, names, judge.samples), names, form.constants)
        errors.append((judge.of(written(form, points, widest_choice(points, spans))), form))
    best = min(errors, key=lambda one: one[0])[1]
    return best, best is not model


def _measured_names(points: Points) -> list[str]:
    return [name for group in points.groups if not group.probabilities for name in group.sources]


def _values(model: Model, names: Sequence[str], samples: Samples) -> Run:
    """A function that gives the values of these tensors, sample by sample."""
    live = [name for name in names if name not in model.constants]
    given = [name for name in live if name in model.inputs]
    session = session_of(model, [name for name in live if name not in given])

    def run() -> Iterator[Mapping[str, Array]]:
        for number, values in enumerate(session.over(samples)):
            call = samples.call(number)
            yield {**values, **{name: call[name] for name in given}}

    return run
