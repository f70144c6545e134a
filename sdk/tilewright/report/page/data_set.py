"""What the page shows of a run over a data set: the confusion matrix where it is small, and the other network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tilewright.report.build import RunReport
from tilewright.report.data_set import confusion_text, data_set_lines, matrix_is_shown
from tilewright.report.text import number


@dataclass(frozen=True)
class Cell:
    """A count with its share of the samples of that label; right on the diagonal, empty where it is 0."""

    text: str
    share: float
    kind: Literal["right", "wrong", ""]


@dataclass(frozen=True)
class DataSetView:
    """The matrix, no rows where it is large or there are no labels, and lines to read."""

    title: str
    rows: tuple[tuple[Cell, ...], ...]
    lines: tuple[str, ...]


def data_set_view(run: RunReport) -> DataSetView | None:
    """The view of a run over samples; None for any other."""
    data = run.data_set
    if data is None or run.samples is None:
        return None
    title, *lines = data_set_lines(run.samples, run.accuracy, data)
    if matrix_is_shown(data):
        rows = tuple(_row(label, counts) for label, counts in enumerate(data.confusion))
        return DataSetView(title, rows, tuple(lines))
    pairs = confusion_text(data)
    return DataSetView(title, (), tuple([*lines, pairs] if pairs else lines))


def accuracy_note(run: RunReport) -> str:
    """How many samples, and the accuracy of the other network where there is one."""
    other = run.data_set.against if run.data_set is not None else None
    beside = "" if other is None or other.accuracy is None else f", {other.name} {other.accuracy:.2%}"
    return f"{number(run.samples)} samples{beside}"


def _row(label: int, counts: tuple[int, ...]) -> tuple[Cell, ...]:
    whole = sum(counts) or 1
    return tuple(
        Cell(f"{count:,}" if count else "", count / whole, "" if not count else "right" if n == label else "wrong")
        for n, count in enumerate(counts)
    )
