"""`--drop`: a promise how much accuracy codes may cost, checked on samples that are held out."""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.errors import MismatchError, UsageError
from tilewright.quantiser.static.accuracy import Score
from tilewright.quantiser.static.quantise import Basis, Quantised, Types, built
from tilewright.quantiser.static.samples import Division
from tilewright.quantiser.static.sensitivity import Measure, Sensitivity, by_activations

NAMED = 3
"""Layers that are blamed by name."""


def share(text: str) -> float:
    """What `--drop` says: `1%` or `0.01`; UsageError for anything else."""
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1:
        raise UsageError(f"--drop {text}", why="it is not a share from 0% to 100%", fix="write for example 1%")
    return value


def loss_of(scores: Sequence[Score]) -> float | None:
    """What the target's integers lose: of the right answers where labels are known, else of the float network's."""
    real, ours = scores[0], scores[2]
    if real.accuracy is not None and ours.accuracy is not None:
        return real.accuracy - ours.accuracy
    return None if ours.agreement is None else 1 - ours.agreement


def check_resolution(text: str, allowed: float, division: Division) -> None:
    """UsageError where so few samples are held out that one of them is more than what is promised."""
    count = division.held_out.count
    if allowed and count * allowed < 1:
        raise UsageError(
            f"--drop {text}", why=f"of {count} samples that are held out one is {1 / count:.2%}",
            fix=f"give {int(5 / allowed) + 1} samples or more, every fifth is held out",
        )  # fmt: skip


def within(basis: Basis, division: Division, allowed: float, text: str) -> Quantised:
    """Codes that lose no more than allowed on the samples held out: of 8 bits, else with 16 for the layers to blame.

    How many layers get 16 bits is decided on samples that are measured. MismatchError where the promise is not kept.
    """
    result = built(basis, Types(), division.held_out)
    loss = loss_of(result.scores)
    if loss is None:
        raise UsageError(
            f"--drop {text}", why="the first output tells no classes apart", fix="leave it out, and see signal to noise"
        )
    if loss <= allowed:
        return result
    ranked = by_activations(Measure(basis, division.measured))
    useful = [one for one in ranked if one.gain_db > 0]
    count, best = 1, loss
    while count < 2 * len(useful):
        wide = frozenset(one.name for one in useful[:count])
        tried = built(basis, Types(wide=wide), division.measured)
        if (loss_of(tried.scores) or 0.0) <= allowed or count >= len(useful):
            final = built(basis, Types(wide=wide), division.held_out)
            reached = loss_of(final.scores) or 0.0
            if reached <= allowed:
                return final
            best = min(best, reached)
        count *= 2
    raise _missed(text, loss, best, division, ranked)


def check_kept(result: Quantised, basis: Basis, division: Division, allowed: float, text: str) -> None:
    """MismatchError where types that a budget chose do not keep the promise."""
    loss = loss_of(result.scores)
    if loss is not None and loss > allowed:
        raise _missed(text, loss, loss, division, by_activations(Measure(basis, division.measured)))


def _missed(
    text: str, loss: float, best: float, division: Division, ranked: Sequence[Sensitivity]
) -> MismatchError:  # fmt: skip
    blamed = ", ".join(f"'{one.name}' ({one.gain_db:+.1f} dB with 16 bits)" for one in ranked[:NAMED])
    also = f", and {best:.2%} with 16 bits where they help" if best < loss else ""
    return MismatchError(
        f"--drop {text} is not kept",
        why=f"codes lose {loss:.2%} of {division.held_out.count} samples that are held out{also}; most of it "
        f"comes from {blamed or 'no single layer'}",
        fix="pass more samples like the real ones, allow more loss, or train with quantisation",
    )
