"""Chooses the range of every tensor by the error that is measured at the outputs.

First each method for all tensors at once, then for each half of them in the network's order, each quarter and so on:
what one tensor clips is clipped already behind another that does. Then tensor by tensor the other ranges, each kept
where the error falls. A trial is a run over the trial samples with other scales, on one session.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from tilewright.model import Array, DType, Model
from tilewright.quantiser.static.codes import Coding, Range, coding
from tilewright.quantiser.static.points import Group, Points
from tilewright.quantiser.static.samples import Samples
from tilewright.quantiser.static.statistics import Candidate, Statistics, candidates, merged
from tilewright.quantiser.static.trial import Reals, centred, judged, noise_to_signal, scale_arrays, session_of
from tilewright.quantiser.static.write import Choice, Written, written
from tilewright.run.onnx_session import Session

PROBABILITIES = Coding(1.0 / 256.0, -128, DType.I8)
"""Softmax: all codes between 0 and 255/256."""
PARTS = (1, 2, 4, 8)
"""Into how many parts the tensors are divided, one way after the other, of which each gets the ranges of one method."""
GAIN = 1e-3
"""By how much of itself the error has to fall for a range to be taken that is not the start's."""


@dataclass(frozen=True)
class Tried:
    """A range of a group, and the ratio of noise to signal at the outputs with it."""

    candidate: Candidate
    error: float


@dataclass(frozen=True)
class Searched:
    """What was chosen, and all that was tried by group."""

    choice: Choice
    methods: Mapping[str, str]
    tried: Mapping[str, tuple[Tried, ...]]
    error: float


class Judge:
    """What the float network gives for the trial samples, and how far from it another one is."""

    def __init__(self, model: Model, samples: Samples) -> None:
        self.samples = samples
        self.names = judged(model, samples)
        session = session_of(model, list(self.names))
        self.reference = self._columns(session.over(samples), {name: name for name in self.names})

    def error(self, session: Session, reals: Mapping[str, str], changed: Mapping[str, Array]) -> float:
        """Noise over signal of the judged tensors, their mean; `reals` says what they are called there."""
        names = {name: reals.get(name, name) for name in self.names}
        columns = self._columns(session.over(self.samples, changed), names)
        errors = [noise_to_signal(self.reference[name], columns[name]) for name in self.names]
        return float(np.mean(errors)) if errors else 0.0

    def of(self, result: Written) -> float:
        """The error of a network in codes as it is written."""
        names = [result.reals.get(name, name) for name in self.names]
        return self.error(session_of(result.model, names), result.reals, {})

    def _columns(self, calls: Iterator[dict[str, Array]], names: Mapping[str, str]) -> dict[str, list[Reals]]:
        columns: dict[str, list[Reals]] = {name: [] for name in names}
        for values in calls:
            for name, peeled in self.names.items():
                columns[name].append(centred(values[names[name]], peeled))
        return columns


def ranges_of(points: Points, statistics: Mapping[str, Statistics]) -> dict[str, tuple[Candidate, ...]]:
    """For every group the ranges that are worth a trial, the extremes first."""
    return {
        group.name: (Candidate("steps of 1/256", PROBABILITIES.range),)
        if group.probabilities
        else candidates(merged([statistics[name] for name in group.sources]))
        for group in points.groups
    }


def widest_choice(points: Points, spans: Mapping[str, Range]) -> Choice:
    """Every group with the range of all its values."""
    codings = dict[str, Coding]()
    for group in points.groups:
        span = Range(0.0, 0.0)
        for name in () if group.probabilities else group.sources:
            span = span.joined(spans[name])
        codings[group.name] = coding_of(group, span)
    return Choice(codings)


def coding_of(group: Group, span: Range, dtype: DType = DType.I8) -> Coding:
    """The codes of a group with this range."""
    return PROBABILITIES if group.probabilities and dtype is DType.I8 else coding(span, dtype)


def searched(model: Model, points: Points, ranges: Mapping[str, tuple[Candidate, ...]], judge: Judge) -> Searched:
    """The ranges with which the outputs are nearest to those of the float network."""
    groups = {group.name: group for group in points.groups}
    start = {name: listed[0] for name, listed in ranges.items()}
    base = written(model, points, _choice(groups, start), float_bias=True)
    names = [base.reals.get(name, name) for name in judge.names]
    variable = [name for pair in base.scales.values() for name in pair]
    session = session_of(base.model, names, variable)

    def error(chosen: Mapping[str, Candidate]) -> float:
        arrays = dict[str, Array]()
        for name, pair in base.scales.items():
            arrays |= scale_arrays(pair, coding_of(groups[name], chosen[name].span))
        return judge.error(session, base.reals, arrays)

    best, least, order = start, error(start), list(ranges)
    methods = dict.fromkeys(one.method for listed in ranges.values() for one in listed)
    for parts in PARTS:
        size = -(-len(order) // parts)
        for begin in range(0, len(order), size) if size > 1 else ():
            for method in methods:
                chosen = {**best, **{name: _by(method, ranges[name]) for name in order[begin : begin + size]}}
                if chosen != best and (now := error(chosen)) < least * (1 - GAIN):
                    best, least = chosen, now
    tried: dict[str, tuple[Tried, ...]] = {}
    for name, listed in ranges.items():
        results = [Tried(best[name], least)]
        for candidate in listed:
            if candidate != best[name] or candidate.method != best[name].method:
                results.append(Tried(candidate, error({**best, name: candidate})))
        better = min(results, key=lambda one: one.error)
        if better.error < least * (1 - GAIN):
            best, least = {**best, name: better.candidate}, better.error
        tried[name] = tuple(results)
    return Searched(_choice(groups, best), {name: one.method for name, one in best.items()}, tried, least)


def _by(method: str, listed: tuple[Candidate, ...]) -> Candidate:
    """The range of this method, or the first where it gave none of its own."""
    return next((one for one in listed if one.method == method), listed[0])


def _choice(groups: Mapping[str, Group], chosen: Mapping[str, Candidate]) -> Choice:
    return Choice({name: coding_of(groups[name], one.span) for name, one in chosen.items()})
