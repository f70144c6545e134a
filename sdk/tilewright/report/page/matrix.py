"""A sweep as a matrix: models by targets, in each cell what is left over of the level that is fullest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from tilewright.errors import DoesNotFit, MismatchError
from tilewright.report.envelope import Row
from tilewright.report.names import short_names
from tilewright.report.page.scale import percent, round_bytes, round_count
from tilewright.report.text import accuracy, number, printable


@dataclass(frozen=True)
class LevelLine:
    """A level of one cell: what it needs, what it has, what is left over or lacking."""

    name: str
    needed: str
    size: str
    left: str
    used: float
    status: str


@dataclass(frozen=True)
class Cell:
    """One network on one target. `kind` is `good`, `bad`, `odd` or `none`; `sort` grows with what is left over."""

    kind: str
    text: str
    note: str
    used: float
    sort: float | None
    title: str
    verdict: str
    why: str
    levels: tuple[LevelLine, ...]


@dataclass(frozen=True)
class Matrix:
    """Rows and columns with their full names; the longer side lies downwards."""

    title: str
    note: str
    corner: str
    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str, str, tuple[Cell, ...]], ...]


EMPTY = Cell("none", "", "", 0.0, None, "", "", "", ())


def matrix_of(rows: Sequence[Row]) -> Matrix:
    """The matrix of a sweep's rows."""
    cells = {(_model(row), _target(row)): _cell(row) for row in rows}
    models = list(dict.fromkeys(model for model, _ in cells))
    targets = list(dict.fromkeys(target for _, target in cells))
    down, across = (models, targets) if len(models) > len(targets) else (targets, models)
    if down is targets:
        cells = {(target, model): cell for (model, target), cell in cells.items()}
    names = _names(models) | {target: printable(target) for target in targets}
    fit = sum(cell.kind == "good" for cell in cells.values())
    return Matrix(
        title=f"{_many(len(models), 'network')} on {_many(len(targets), 'target')}",
        note=f"{fit} of {len(cells)} fit" if any(cell.levels for cell in cells.values()) else "",
        corner="network" if down is models else "target",
        columns=tuple((names[name], printable(name)) for name in across),
        rows=tuple(
            (names[one], printable(one), tuple(cells.get((one, other), EMPTY) for other in across)) for one in down
        ),
    )


def _model(row: Row) -> str:
    return row.source or (row.report.model.name if row.report is not None else "network")


def _target(row: Row) -> str:
    return f"{row.target}, {row.strategy}" if row.strategy else row.target


def _names(models: Sequence[str]) -> dict[str, str]:
    """A network's folder or file, whichever tells it from the others."""
    stems = {model: PurePath(model).with_suffix("").as_posix() for model in models}
    short = short_names(list(stems.values()))
    by_model = {model: short[stem] for model, stem in stems.items()}
    common = {model: PurePath(stem).name for model, stem in stems.items()}
    return common if len(set(common.values())) == len(models) else by_model


def _many(count: int, what: str) -> str:
    return f"{count} {what}" + ("s" if count != 1 else "")


def _cell(row: Row) -> Cell:
    levels = _levels(row)
    lines = tuple(_line(name, needed, size, text) for name, (needed, size, text) in levels.items())
    sized = [(needed / size, name, size - needed) for name, (needed, size, _) in levels.items() if size]
    why = "" if row.error is None else f"{row.error.what}: {row.error.why}" if row.error.why else row.error.what
    if row.error is not None and not isinstance(row.error, DoesNotFit | MismatchError):
        return Cell("odd", "error", row.error.what[:60], 0.0, None, why, "cannot be compiled", why, lines)
    verdict = "outputs differ" if isinstance(row.error, MismatchError) else "fits" if row.fits else "does not fit"
    kind = "odd" if isinstance(row.error, MismatchError) else "good" if row.fits and row.error is None else "bad"
    counted = row.report.run.instructions if row.report is not None and row.report.run is not None else None
    beside = f", {round_count(counted)} instructions" if counted else ""
    beside += f", accuracy {accuracy(row)}" if accuracy(row) else ""
    if not sized:
        most = max(levels.items(), key=lambda item: item[1][0], default=None)
        text = "" if most is None else f"{round_bytes(most[1][0])} of {most[0]}"
        return Cell(kind, text, f"size not limited{beside}", 0.0, None, verdict, verdict, why, lines)
    used, name, left = max(sized)
    text = f"{round_bytes(left)} left" if left >= 0 else f"{round_bytes(-left)} too much"
    note = f"{name} {percent(used, 1)} used{beside}"
    return Cell(kind, text, note, min(used, 1.0), 1 - used, f"{verdict}: {note}", verdict, why, lines)


def _levels(row: Row) -> dict[str, tuple[int, int | None, str]]:
    """What each level needs and has; of a row without a report, the smallest sizes that would do."""
    if row.report is not None:
        return {name: (level.total, level.size, level.verdict) for name, level in row.report.memory.items()}
    smallest = row.error.smallest if row.error is not None else {}
    return {name: (size, None, "smallest that fits") for name, size in smallest.items()}


def _line(name: str, needed: int, size: int | None, text: str) -> LevelLine:
    left = "" if size is None else number(size - needed)
    used = 0.0 if not size else min(needed / size, 1.0)
    return LevelLine(name, number(needed), "" if size is None else number(size), left, used, text)
