"""What values tensors take over the samples, and the ranges that are worth a trial.

Two runs over the samples: extremes first, then histograms between them. From a histogram come ranges without the
rarest values (percentiles), with the least square error of codes, and with the least relative entropy (Migacz,
"8-bit inference with TensorRT", 2017).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tilewright.model import Array
from tilewright.quantiser.static.codes import Range

Reals = npt.NDArray[np.float64]
EXTREMES = "min/max"
BINS = 2048
STEPS = 255
MASKED = -1e4
"""Values below stand for minus infinity: a mask writes them, and no code has to."""
BELOW = 12.0
"""How far below the largest of a row a masked value has to lie: exp(-12) is a hundredth of a step of Softmax."""
Run = Callable[[], Iterable[Mapping[str, Array]]]


@dataclass(frozen=True)
class Statistics:
    """A histogram of one tensor over all samples: `counts` of equal bins between the extremes."""

    span: Range
    counts: Reals

    @property
    def centres(self) -> Reals:
        """The middle of each bin."""
        edges = np.linspace(self.span.low, self.span.high, len(self.counts) + 1)
        return np.asarray((edges[:-1] + edges[1:]) / 2)

    def clipped(self, span: Range) -> float:
        """The share of values outside of a range."""
        centres, total = self.centres, float(self.counts.sum())
        outside = (centres < span.low) | (centres > span.high)
        return float(self.counts[outside].sum()) / total if total else 0.0

    def noise_to_signal(self, span: Range, step: float) -> float:
        """The energy of what codes of this step lose of the values, over that of the values."""
        signal = float((np.square(self.centres) * self.counts).sum())
        return _square_error(self, span, step) / signal if signal else 0.0


@dataclass(frozen=True)
class Candidate:
    """A range, and the method that it comes from."""

    method: str
    span: Range


def measured(run: Run, names: Sequence[str], constants: Mapping[str, Array]) -> dict[str, Statistics]:
    """The statistics of these tensors; `run` gives the values of a sample at a time and is called twice."""
    spans = extremes(run, names, constants)
    counts = {name: _counts(constants[name], spans[name]) for name in spans if name in constants}
    for values in run():
        for name, value in values.items():
            counts[name] = counts.get(name, 0.0) + _counts(value, spans[name])
    return {name: Statistics(spans[name], counts[name]) for name in names}


def extremes(run: Run, names: Sequence[str], constants: Mapping[str, Array]) -> dict[str, Range]:
    """The range of each tensor from its least to its greatest value."""
    spans = {name: _span(constants[name]) for name in names if name in constants}
    for values in run():
        for name, value in values.items():
            span = _span(value)
            spans[name] = spans[name].joined(span) if name in spans else span
    return spans


def of_constant(values: Array) -> Statistics:
    """The histogram of a constant."""
    return measured(lambda: (), ["constant"], {"constant": values})["constant"]


def merged(each: Sequence[Statistics]) -> Statistics:
    """One histogram for tensors that share a scale."""
    if len(each) == 1:
        return each[0]
    span = each[0].span
    for one in each[1:]:
        span = span.joined(one.span)
    counts = np.zeros(BINS)
    for one in each:
        counts += np.histogram(one.centres, BINS, _bounds(span), weights=one.counts)[0]
    return Statistics(span, counts)


def candidates(statistics: Statistics) -> tuple[Candidate, ...]:
    """Ranges that are worth a trial, each once; the extremes first."""
    listed = [Candidate(EXTREMES, statistics.span)]
    for share in (0.9999, 0.999):
        listed.append(Candidate(f"percentile {share:.2%}", _percentile(statistics, share)))
    listed.append(Candidate("MSE", _least_square_error(statistics)))
    listed.append(Candidate("entropy", _least_entropy(statistics)))
    unlike = dict[tuple[float, float], Candidate]()
    for one in listed:
        unlike.setdefault((one.span.low, one.span.high), one)
    return tuple(unlike.values())


def _span(value: Array) -> Range:
    """The extremes of a tensor; of rows with masked values a low end that Softmax takes for minus infinity."""
    reals = value[value > MASKED]
    if not reals.size:
        return Range(0.0, 0.0)
    low, high = float(reals.min()), float(reals.max())
    if reals.size < value.size and value.ndim:
        rows = value.max(axis=-1)
        low = min(low, float(rows[rows > MASKED].min()) - BELOW)
    return Range(low, high)


def _bounds(span: Range) -> tuple[float, float]:
    return span.low, span.high if span.high > span.low else span.low + 1.0


def _counts(value: Array, span: Range) -> Reals:
    return np.histogram(value, BINS, _bounds(span))[0].astype(np.float64)


def _percentile(statistics: Statistics, share: float) -> Range:
    """The range without the rarest values of each side; 0 stays inside."""
    centres, run = statistics.centres, np.cumsum(statistics.counts)
    rare = (1 - share) * run[-1] / 2
    low = centres[np.searchsorted(run, rare, "right").clip(0, BINS - 1)] if rare >= 1 else statistics.span.low
    high = centres[np.searchsorted(run, run[-1] - rare).clip(0, BINS - 1)] if rare >= 1 else statistics.span.high
    span = statistics.span
    return Range(span.low if span.low >= 0 else float(min(low, 0.0)), float(max(high, 0.0)))


def _shrunk(span: Range, low: float, high: float) -> Range:
    return Range(span.low * low if span.low < 0 else span.low, span.high * high if span.high > 0 else span.high)


def _least_square_error(statistics: Statistics) -> Range:
    """The range whose codes are nearest to the values in the mean of squares."""
    best, low, high = np.inf, 1.0, 1.0
    for _ in range(2):
        for factor in np.linspace(0.3, 1.0, 29):
            for pair in ((float(factor), high), (low, float(factor))):
                error = _square_error(statistics, _shrunk(statistics.span, *pair))
                if error < best:
                    best, (low, high) = error, pair
    return _shrunk(statistics.span, low, high)


def _square_error(statistics: Statistics, span: Range, step: float | None = None) -> float:
    centres = statistics.centres
    low, high = min(span.low, 0.0), max(span.high, 0.0)
    step = (high - low) / STEPS if step is None else step
    beyond = np.maximum(low - centres, 0.0) + np.maximum(centres - high, 0.0)
    each = np.where(beyond > 0, np.square(beyond), step * step / 12)
    return float((each * statistics.counts).sum())


def _least_entropy(statistics: Statistics) -> Range:
    """The range whose codes lose least information: both ends shrink alike."""
    best, chosen = np.inf, 1.0
    for factor in np.linspace(0.3, 1.0, 29):
        loss = _relative_entropy(statistics, _shrunk(statistics.span, float(factor), float(factor)))
        if loss < best:
            best, chosen = loss, float(factor)
    return _shrunk(statistics.span, chosen, chosen)


def _relative_entropy(statistics: Statistics, span: Range) -> float:
    centres, counts = statistics.centres, statistics.counts
    low, high = _bounds(span)
    within = (centres >= low) & (centres <= high)
    if not within.any():
        return float(np.inf)
    places = np.clip(((centres - low) / (high - low) * STEPS).astype(int), 0, STEPS)
    inner = np.where(within, counts, 0.0)
    clipped = inner.copy()
    ends = np.flatnonzero(within)[[0, -1]]
    clipped[ends[0]] += counts[centres < low].sum()
    clipped[ends[1]] += counts[centres > high].sum()
    sums = np.bincount(places, inner, STEPS + 1)
    filled = np.bincount(places, (inner > 0).astype(float), STEPS + 1)
    spread = np.where(inner > 0, sums[places] / np.maximum(filled[places], 1), 0.0)
    p, q = clipped / max(clipped.sum(), 1), spread / max(spread.sum(), 1)
    both = p > 0
    return float((p[both] * np.log(p[both] / np.maximum(q[both], 1e-12))).sum())
