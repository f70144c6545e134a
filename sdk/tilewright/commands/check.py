"""Do the networks fit? One row per model and target; code and stack are estimated, or measured where that is asked."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from tilewright.commands.answer import Answer
from tilewright.commands.common import add_compilation, compile_options, target_for, target_names
from tilewright.commands.pages import add_html, write_rows
from tilewright.commands.streams import terminal_width
from tilewright.commands.sweeping import Question, add_sweep, folders_of, rows_of
from tilewright.errors import DoesNotFit, TilewrightError

if TYPE_CHECKING:
    from tilewright.options import CompileOptions
    from tilewright.report.envelope import Row

SUMMARY = "does it fit? a row per target; needs no compiler"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Models, targets and the compilation options."""
    add_compilation(parser, several=True)
    parser.add_argument("--measure", action="store_true", help="build the code to measure its size and stack")
    parser.add_argument("-t", "--target", metavar="TARGET,...", help="targets between commas, or all; default: all")
    add_html(parser)
    add_sweep(parser)


def execute(arguments: argparse.Namespace) -> Answer:
    """Compile every model for every target without writing anything, and say whether it fits."""
    options = compile_options(arguments, measure=arguments.measure)
    targets = target_names(None if arguments.target == "all" else arguments.target)
    questions = [
        Question(model, target, options, folder=folder)
        for model, folder in folders_of(arguments.models).items()
        for target in targets
    ]
    rows = rows_of(row, questions, arguments, told)
    write_rows(arguments.html, rows)
    return answer(rows)


def row(question: Question) -> Row:
    """The report of one target, or the error that stands in its place."""
    from tilewright.fitting import fitted
    from tilewright.report.envelope import Row

    options, name, source = question.options, question.target, str(question.model)
    try:
        answer_of = fitted(question.model, dumped(options, question), target_for(name, options))
        notes = tuple(answer_of.compiled.model.notes)
        return Row(name, answer_of.report, answer_of.error, question.strategy, source, notes)
    except TilewrightError as error:
        return Row(name, error=error, strategy=question.strategy, source=source)


def dumped(options: CompileOptions, question: Question) -> CompileOptions:
    """The options with a folder of its own for what each question dumps."""
    if options.dump_dir is None:
        return options
    return replace(options, dump_dir=options.dump_dir / question.folder / question.target / question.strategy)


def answer(rows: list[Row], *, ran: bool = False) -> Answer:
    """The rows as a table; the first row that failed sets the exit code, and ends the command if it is the only one."""
    from tilewright.report.envelope import error_json, table_json
    from tilewright.report.expensive import expensive
    from tilewright.report.text import memory_table, rows_table

    failed = next((row.error for row in rows if row.error is not None), None)
    if failed is not None and len(rows) == 1 and rows[0].report is None and not failed.smallest:
        raise failed
    if failed is not None and all(row.report is None and str(row.error) == str(failed) for row in rows):
        return Answer("", error_json(failed, rows=rows), failed)
    text = rows_table(_once_each(rows), ran=ran, width=terminal_width())
    if len(rows) == 1 and rows[0].report is not None:
        most = "" if ran or not rows[0].fits else expensive(rows[0].report, terminal_width())
        text = "\n\n".join(filter(None, (memory_table(rows[0].report, terminal_width()), text, most)))
    if len(rows) > 1 and failed is not None:
        text += "\n" + "".join(f"\n{question_of(row)}: {reason(row.error)}" for row in _once_each(rows) if row.error)
    return Answer(text, table_json(rows) if failed is None else error_json(failed, rows=rows), failed)


def _once_each(rows: list[Row]) -> list[Row]:
    """One row for a network that fails for every target in the same words: it is the network that is wrong."""
    told: list[Row] = []
    for row in rows:
        same = [other for other in rows if other.source == row.source]
        if len(same) == 1 or row.report is not None or any(str(other.error) != str(row.error) for other in same):
            told.append(row)
        elif row is same[0]:
            targets = dict.fromkeys(other.target for other in same)
            told.append(replace(row, target=f"all {len(targets)}" if len(targets) > 1 else row.target))
    return told


def reason(error: TilewrightError) -> str:
    """Why a row failed, and what to do where that is not said in its columns."""
    if isinstance(error, DoesNotFit):
        return error.why
    return "; ".join(filter(None, (f"{error.what}: {error.why}" if error.why else error.what, error.fix)))


def told(row: Row) -> str:
    """A row in one line, for those who watch it come."""
    from tilewright.report.text import fullest_memory, verdict

    if row.error is None:
        return f"{question_of(row)}: {verdict(row, ran=False)}, {fullest_memory(row)}"
    head = "does not fit: " if isinstance(row.error, DoesNotFit) else ""
    return f"{question_of(row)}: {head}{reason(row.error)}"


def question_of(row: Row) -> str:
    """What a row answers: network, target and strategy, as far as they are named."""
    return " ".join(filter(None, (row.source, row.target, row.strategy)))
