"""What quantising tells: how right the network is, and of every tensor its range, what it loses, and what was tried."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tilewright.quantiser.static.accuracy import Score
from tilewright.quantiser.static.budget import Front, front_rows, is_taken
from tilewright.quantiser.static.costs import CYCLES
from tilewright.quantiser.static.quantise import Quantised
from tilewright.quantiser.static.statistics import EXTREMES, merged
from tilewright.quantiser.static.trial import decibels
from tilewright.report.page.front import FrontPoint, QuantisedFront
from tilewright.report.text import UNKNOWN, table

if TYPE_CHECKING:
    from tilewright.report.codec import Json

SCHEMA = "tilewright/quantize/1"


SCORES = ("network", "samples", "correct", "classes as float", "signal to noise")


def score_table(scores: Sequence[Score]) -> str:
    """A row per network."""
    return table(SCORES, _score_rows(scores), right=range(1, len(SCORES)))


def _score_rows(scores: Sequence[Score]) -> list[tuple[str, ...]]:
    return [
        (one.name, str(one.samples), _share(one.accuracy), _share(one.agreement), _db(one.signal_to_noise_db))
        for one in scores
    ]


def explained(result: Quantised) -> str:
    """Every group of tensors: its range, the share of values beyond it, the noise of its codes, what was tried."""
    heads = ("tensor", "shares with", "codes", "range", "by", "clipped", "signal to noise", "tried: at the outputs")
    rows = []
    for group in result.basis.points.groups:
        coding, tried = result.choice.codings[group.name], result.basis.search.tried[group.name]
        more = str(len(group.tensors) - 1) if len(group.tensors) > 1 else ""
        span = f"{coding.range.low:.4g} .. {coding.range.high:.4g}"
        clipped, noise = losses(result, group.name)
        trials = ", ".join(f"{one.candidate.method} {decibels(one.error):.1f}" for one in tried)
        row = (group.name, more, coding.dtype.value, span, _method(result, group.name))
        rows.append((*row, _share(clipped), _db(noise), trials))
    return table(heads, rows, right=(5, 6))


def _method(result: Quantised, name: str) -> str:
    """How the range of a group was chosen: of 16 bits it holds all values."""
    return EXTREMES if name in result.types.wide else result.basis.search.methods[name]


def losses(result: Quantised, name: str) -> tuple[float | None, float | None]:
    """The share of a group's values that are clipped, and the signal to noise of its codes in dB."""
    group = next(one for one in result.basis.points.groups if one.name == name)
    if group.probabilities:
        return None, None
    statistics = merged([result.basis.statistics[source] for source in group.sources])
    coding = result.choice.codings[name]
    return statistics.clipped(coding.range), decibels(statistics.noise_to_signal(coding.range, coding.scale))


def lines(result: Quantised, held_out: int, measured: int) -> list[str]:
    """What is said of every run."""
    told = [
        f"ranges and biases from {measured} samples; the figures are of {held_out} that are held out, every fifth",
        score_table(result.scores),
    ]
    if result.types.wide:
        names = ", ".join(f"'{name}'" for name in sorted(result.types.wide)[:4])
        count = len(result.types.wide)
        told.append(f"{'1 tensor has' if count == 1 else f'{count} tensors have'} codes of 16 bits: {names}")
    if result.integers.float_tensors:
        names = ", ".join(f"'{name}'" for name in result.integers.float_tensors[:4])
        count = len(result.integers.float_tensors)
        told.append(f"{'1 tensor stays a float' if count == 1 else f'{count} tensors stay floats'}: {names}")
    if result.integers.real_nodes:
        names = ", ".join(f"'{name}'" for name in result.integers.real_nodes[:4])
        count = len(result.integers.real_nodes)
        told.append(f"{'1 node computes' if count == 1 else f'{count} nodes compute'} codes on real numbers: {names}")
    return told


def front_lines(front: Front) -> list[str]:
    """Choices between the smallest network and the one taken, and what that needs as it is compiled."""
    heads = (*front.taken.needs, "4-bit layers", "16-bit tensors", "signal to noise", "")
    measured = ", ".join(f"{name} {value:,}" for name, value in front.measured.items())
    how = " with --optimize size --without-pass kernels" if front.taken.types.narrow else ""
    text = table(heads, front_rows(front), right=range(len(heads) - 1))
    return ["expected of types between the smallest network and the one taken:", text, f"compiled{how}: {measured}", ""]


def drawn(front: Front, result: Quantised, model: str, target: str, budget: Mapping[str, int]) -> QuantisedFront:
    """The front as a page shows it."""
    points = [
        FrontPoint(
            point.needs, decibels(point.noise), len(point.types.narrow), len(point.types.wide), is_taken(front, point)
        )
        for point in front.points
    ]
    scores = (SCORES, *_score_rows(result.scores))
    return QuantisedFront(model, target, points, budget, front.measured, frozenset({CYCLES}), scores)


def answer(result: Quantised, file: str, held_out: int, measured: int) -> Json:
    """The same as JSON."""
    groups: list[Json] = []
    for group in result.basis.points.groups:
        coding, tried = result.choice.codings[group.name], result.basis.search.tried[group.name]
        clipped, noise = losses(result, group.name)
        groups.append({
            "tensors": list(group.tensors), "codes": coding.dtype.value, "scale": coding.scale,
            "zero_point": coding.zero_point, "method": _method(result, group.name), "clipped": clipped,
            "signal_to_noise_db": noise,
            "tried": [
                {"method": one.candidate.method, "low": one.candidate.span.low, "high": one.candidate.span.high,
                 "signal_to_noise_db": decibels(one.error)} for one in tried
            ],
        })  # fmt: skip
    scores: list[Json] = [
        {
            "network": one.name, "samples": one.samples, "accuracy": one.accuracy, "agreement": one.agreement,
            "signal_to_noise_db": one.signal_to_noise_db,
        } for one in result.scores
    ]  # fmt: skip
    return {
        "schema": SCHEMA, "file": file, "samples": {"measured": measured, "held_out": held_out}, "scores": scores,
        "equalised": result.basis.equalised, "bias_corrected": result.bias_corrected, "groups": groups,
        "float_tensors": list(result.integers.float_tensors), "real_nodes": list(result.integers.real_nodes),
    }  # fmt: skip


def _share(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.2%}"


def _db(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.1f} dB"
