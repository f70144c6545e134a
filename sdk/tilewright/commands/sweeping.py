"""What verbs over many models and targets share: `--jobs` and `--cluster`, rows as they come, and how far it is."""

from __future__ import annotations

import argparse
import json
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from tilewright.commands.common import path, tell
from tilewright.commands.progress import steps
from tilewright.errors import TilewrightError, UsageError

if TYPE_CHECKING:
    from tilewright.options import CompileOptions
    from tilewright.report.envelope import Row
    from tilewright.sweep import Place

_LOG = logging.getLogger("tilewright")
T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Question:
    """One model on one target, with a placement strategy where several are asked for.

    `folder` is where its files go below a folder that all share; empty for a single question.
    """

    model: Path
    target: str
    options: CompileOptions
    strategy: str = ""
    folder: str = ""

    def __str__(self) -> str:
        return " ".join(filter(None, [str(self.model), "on", self.target, self.strategy]))


def add_sweep(parser: argparse.ArgumentParser, *, rows: bool = True) -> None:
    """Where many questions are answered, and where their rows go while others are still open."""
    group = parser.add_argument_group("sweeps")
    group.add_argument("--jobs", metavar="N", type=int, default=1, help="processes that work at a time")
    group.add_argument("--cluster", metavar="tcp://HOST:PORT", default="", help="a Dask scheduler whose workers do it")
    if rows:
        group.add_argument(
            "--rows", metavar="FILE", type=path, help="append each row, when it is there, as a line of JSON"
        )


def folders_of(models: Sequence[Path]) -> dict[Path, str]:
    """A folder's name for each model: none for a single one, else its own name, numbered where two are alike."""
    if len(models) == 1:
        return {models[0]: ""}
    from tilewright.compile import model_name
    from tilewright.frontend.names import c_identifier

    taken: set[str] = set()
    return {model: c_identifier(model_name(model), taken) for model in models}


def place_of(arguments: argparse.Namespace) -> Place:
    """What `--jobs` and `--cluster` say."""
    from tilewright.sweep import Place

    if arguments.jobs < 1:
        raise UsageError(f"--jobs {arguments.jobs}", why="no worker would run", fix="use 1 or more")
    if arguments.cluster and arguments.jobs != 1:
        raise UsageError("--jobs and --cluster", why="the cluster has workers of its own", fix="pass one of them")
    return Place(arguments.jobs, arguments.cluster)


def in_order(
    function: Callable[[T], R],
    questions: Sequence[T],
    arguments: argparse.Namespace,
    failed: Callable[[T, TilewrightError], R],
    arrived: Callable[[R], None] = lambda answer: None,
) -> list[R]:
    """All answers in the order of their questions; `arrived` hears of each when it comes.

    `failed` makes an answer of what became of a question whose worker died.
    """
    from tilewright.sweep import answers

    by_index: dict[int, R] = {}
    with steps(len(questions), arguments.quiet) as done:
        for index, answer in answers(function, questions, place_of(arguments)):
            row = failed(questions[index], answer) if isinstance(answer, TilewrightError) else answer
            by_index[index] = row
            arrived(row)
            done(str(questions[index]))
    return [by_index[index] for index in range(len(questions))]


def rows_of(
    function: Callable[[Question], Row], questions: Sequence[Question], arguments: argparse.Namespace,
    told: Callable[[Row], str] | None = None,
) -> list[Row]:  # fmt: skip
    """The rows of a table, in the order of the questions; as they come notes are told and `--rows` is written, and
    those of several networks are logged as `told` puts them, an error that several targets share once."""
    from tilewright.report.envelope import Row

    several = len({question.model for question in questions}) > 1
    known = set[tuple[str, str]]()

    def failed(question: Question, error: TilewrightError) -> Row:
        return Row(question.target, error=error, strategy=question.strategy, source=str(question.model))

    with _lines(arguments.rows) as write:

        def arrived(row: Row) -> None:
            tell(row.notes)
            write(row)
            if told is not None and several and (row.error is None or (row.source, str(row.error)) not in known):
                known.add((row.source, str(row.error)))
                _LOG.info("%s", told(row))

        rows = in_order(function, questions, arguments, failed, arrived)
    return rows if several else [replace(row, source="") for row in rows]


@contextmanager
def _lines(file: Path | None) -> Iterator[Callable[[Row], None]]:
    """What writes a row as a line of JSON; UsageError where the file cannot be written."""
    if file is None:
        yield lambda row: None
        return
    from tilewright.output.staged import append_line, unwritable

    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    except OSError as error:
        raise unwritable(file, error) from error

    def write(row: Row) -> None:
        try:
            append_line(descriptor, json.dumps(row.to_json(), allow_nan=False))
        except OSError as error:
            raise unwritable(file, error) from error

    try:
        yield write
    finally:
        os.close(descriptor)
