"""What a report says of a run over a data set: who was right, what was taken for what, and how another network did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

SHOWN_CLASSES = 20
"""Classes of which the whole matrix is shown; of more the pairs that are confused most."""
SHOWN_PAIRS = 5
WIDEST = 80
"""Characters of a line; a matrix that is wider gives way to its pairs."""


@dataclass(frozen=True)
class ConfusedReport:
    """So many samples of the class `label` whose prediction is another."""

    label: int
    predicted: int
    samples: int


@dataclass(frozen=True)
class FarSampleReport:
    """A sample, counted from 0, whose outputs differ from the other network's by `max_abs_difference`."""

    sample: int
    predicted: int | None
    other: int | None
    max_abs_difference: float | None
    label: int | None = None


@dataclass(frozen=True)
class AgainstReport:
    """Another network over the same samples: `where` it was computed, the part of samples with the same class
    (`agreement`), and the samples whose outputs lie `farthest` apart. None where there are no classes or labels."""

    name: str
    where: str
    accuracy: float | None = None
    agreement: float | None = None
    instructions: int | None = None
    cycles: int | None = None
    mean_abs_difference: float | None = None
    farthest: tuple[FarSampleReport, ...] = ()


@dataclass(frozen=True)
class DataSetReport:
    """A run over a data set, of which the first `compared` samples were compared with what they should give.

    `confusion` counts samples by label (rows) and prediction (columns), empty without labels or with very many
    classes; `confused` are its largest entries off the diagonal.
    """

    compared: int
    confusion: tuple[tuple[int, ...], ...] = ()
    confused: tuple[ConfusedReport, ...] = ()
    against: AgainstReport | None = None


def matrix_is_shown(data: DataSetReport) -> bool:
    """True where the matrix is small enough to be shown as a whole."""
    return 0 < len(data.confusion) <= SHOWN_CLASSES


def data_set_lines(samples: int, accuracy: float | None, data: DataSetReport | None) -> list[str]:
    """How many samples, how many were right, and how the other network did; one line each."""
    right = f", accuracy {accuracy:.2%}" if accuracy is not None else ""
    if data is None:
        return [f"{samples:,} samples{right}"]
    some = f"; {data.compared:,} of them compared" if data.compared < samples else "; all of them compared"
    return [f"{samples:,} samples{right}{some}", *([] if data.against is None else _against_lines(data.against))]


def _against_lines(other: AgainstReport) -> list[str]:
    costs = ((other.instructions, "instructions"), (other.cycles, "cycles"))
    figures = [f"accuracy {other.accuracy:.2%}"] if other.accuracy is not None else []
    figures += [f"the same class in {other.agreement:.2%}"] if other.agreement is not None else []
    figures += [f"{cost:,} {unit}" for cost, unit in costs if cost is not None]
    lines = [f"against {other.name} ({other.where}): {', '.join(figures) or 'outputs'}"]
    if other.farthest:
        mean = "" if other.mean_abs_difference is None else f" (mean {other.mean_abs_difference:.3g})"
        lines.append(f"largest differences of outputs{mean}: {'; '.join(map(far_text, other.farthest))}")
    return lines


def far_text(one: FarSampleReport) -> str:
    """A sample and how far apart the two networks are on it."""
    size = "not finite" if one.max_abs_difference is None else f"{one.max_abs_difference:.3g}"
    classes = "" if one.predicted == one.other else f" (class {one.predicted}, there {one.other})"
    return f"{size} in sample {one.sample:,}{classes}"


def confusion_text(data: DataSetReport) -> str:
    """The matrix with its labels, or where that is too wide the pairs that are confused most; empty without labels."""
    if not data.confusion and not data.confused:
        return ""
    text = _matrix(data.confusion) if matrix_is_shown(data) else ""
    if text and len(text.partition("\n")[2].partition("\n")[0]) <= WIDEST:
        return text
    pairs = "; ".join(f"{one.label} as {one.predicted} ({one.samples:,})" for one in data.confused[:SHOWN_PAIRS])
    return f"confused most (label as prediction): {pairs or 'none'}"


def _matrix(rows: Sequence[Sequence[int]]) -> str:
    cells = [[f"{count:,}" if count else "." for count in row] for row in rows]
    width = max(len(cell) for row in [*cells, [str(len(rows) - 1)]] for cell in row)
    side = max(len("label"), len(str(len(rows) - 1)))
    lines = [" ".join(["label".rjust(side), *(str(n).rjust(width) for n in range(len(rows)))])]
    lines += [
        " ".join([str(n).rjust(side), *(cell.rjust(width) for cell in row)]).rstrip() for n, row in enumerate(cells)
    ]
    return "\n".join(["confusion (a row per label, a column per prediction)", *lines])
