"""`--drop`: a promise how much accuracy codes may cost, checked on samples that are held out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Literal

from tilewright.errors import MismatchError, UsageError
from tilewright.quantiser.static.accuracy import Score
from tilewright.quantiser.static.blame import Blamed, blamed
from tilewright.quantiser.static.quantise import Basis, Quantised, Types, built
from tilewright.quantiser.static.samples import EVERY, Division
from tilewright.quantiser.static.sensitivity import Measure, by_activations

NAMED = 3
"""Layers that are blamed by name."""
Metric = Literal["correct", "agreement", "error"]
METRICS: tuple[Metric, ...] = ("correct", "agreement", "error")


@dataclass(frozen=True)
class Promise:
    """`--drop`: what codes may cost, by which metric, and as the user wrote it."""

    text: str
    allowed: float
    metric: Metric


def promise_of(text: str, metric: str | None, division: Division) -> Promise:
    """What is promised: of the right answers where labels are known, else of the float network's, unless a metric is
    named. UsageError where it cannot be judged."""
    known = division.held_out.labels is not None
    chosen: Metric = next((one for one in METRICS if one == metric), "correct" if known else "agreement")
    if chosen == "correct" and not known:
        raise UsageError("--metric correct", why="no labels are given", fix="pass --labels, or --metric agreement")
    promise = Promise(text, share(text), chosen)
    if chosen != "error":
        check_resolution(text, promise.allowed, division)
    return promise


def share(text: str) -> float:
    """What `--drop` says: `1%` or `0.01`; UsageError for anything else."""
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1:
        raise UsageError(f"--drop {text}", why="it is not a share from 0% to 100%", fix="write for example 1%")
    return value


def loss_of(scores: Sequence[Score], metric: Metric) -> float | None:
    """What the target's integers lose: of the right answers, of the float network's, or by how much of their own size
    they move the outputs; None where the metric has no number."""
    real, ours = scores[0], scores[2]
    match metric:
        case "correct":
            return None if real.accuracy is None or ours.accuracy is None else real.accuracy - ours.accuracy
        case "agreement":
            return None if ours.agreement is None else 1 - ours.agreement
    return None if ours.signal_to_noise_db is None else float(10 ** (-ours.signal_to_noise_db / 20))


def check_resolution(text: str, allowed: float, division: Division) -> None:
    """UsageError where so few samples are held out that one of them is more than what is promised."""
    count = division.held_out.count
    if allowed and count * allowed < 1:
        raise UsageError(
            f"--drop {text}", why=f"of {count} samples that are held out one is {1 / count:.2%}",
            fix=f"give {EVERY * ceil(1 / allowed)} samples or more, every fifth is held out",
        )  # fmt: skip


def within(basis: Basis, division: Division, promise: Promise) -> Quantised:
    """Codes that lose no more than allowed on the samples held out: of 8 bits, else with 16 for the layers to blame.

    How many layers get 16 bits is decided on samples that are measured. MismatchError where the promise is not kept.
    """
    result = built(basis, Types(), division.held_out)
    loss = loss_of(result.scores, promise.metric)
    if loss is None:
        raise UsageError(
            f"--drop {promise.text}", why="the first output tells no classes apart",
            fix="add --metric error, what codes move of the outputs",
        )  # fmt: skip
    if loss <= promise.allowed:
        return result
    ranked = by_activations(Measure(basis, division.measured))
    useful = [one for one in ranked if one.gain_db > 0]
    count, best, choice = 1, loss, result.choice
    while count < 2 * len(useful):
        wide = frozenset(one.name for one in useful[:count])
        tried = built(basis, Types(wide=wide), division.measured)
        if (loss_of(tried.scores, promise.metric) or 0.0) <= promise.allowed or count >= len(useful):
            final = built(basis, Types(wide=wide), division.held_out)
            reached = loss_of(final.scores, promise.metric) or 0.0
            if reached <= promise.allowed:
                return final
            best, choice = (reached, final.choice) if reached < best else (best, choice)
        count *= 2
    raise _missed(promise, loss, best, division, blamed(basis, choice))


def check_kept(result: Quantised, basis: Basis, division: Division, promise: Promise) -> None:
    """MismatchError where types that a budget chose do not keep the promise."""
    loss = loss_of(result.scores, promise.metric)
    if loss is not None and loss > promise.allowed:
        raise _missed(promise, loss, loss, division, blamed(basis, result.choice))


def _missed(
    promise: Promise, loss: float, best: float, division: Division, every: Sequence[Blamed]
) -> MismatchError:  # fmt: skip
    named = ", ".join(f"{one.what} ({one.gain_db:+.1f} dB in floats)" for one in every[:NAMED])
    most = f"most of it comes from {named}" if named else "no single tensor or layer adds much of it"
    also = f", and {best:.2%} with 16 bits where they help" if best < loss else ""
    lost = f"move the outputs by {loss:.2%} of their size over" if promise.metric == "error" else f"lose {loss:.2%} of"
    return MismatchError(
        f"--drop {promise.text} is not kept",
        why=f"codes {lost} {division.held_out.count} samples that are held out{also}; {most}",
        fix="pass more samples like the real ones, allow more loss, or train with quantisation",
    )
