"""Does the network fit? One row per target, without a compiler; code and stack are estimated."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from tilewright.commands.answer import Answer
from tilewright.commands.common import add_compilation, compile_options, overflow, target_for, target_names, tell
from tilewright.errors import TilewrightError

if TYPE_CHECKING:
    from tilewright.options import CompileOptions
    from tilewright.report.envelope import Row

SUMMARY = "does it fit? a row per target; needs no compiler"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """MODEL, targets and the compilation options."""
    add_compilation(parser)
    parser.add_argument("-t", "--target", metavar="TARGET,...", help="targets between commas, or all; default: all")


def execute(arguments: argparse.Namespace) -> Answer:
    """Compile for every target without writing anything, and say whether it fits."""
    options = compile_options(arguments)
    named = None if arguments.target == "all" else arguments.target
    return answer([row(arguments, name, options, allowance=True) for name in target_names(named)])


def row(
    arguments: argparse.Namespace, target_name: str, options: CompileOptions, strategy: str = "", *,
    allowance: bool = False,
) -> Row:  # fmt: skip
    """The report of one target, or the error that stands in its place; `allowance` adds estimated code and stack."""
    from tilewright.compile import compile_model
    from tilewright.report.allowance import with_allowance
    from tilewright.report.envelope import Row

    try:
        target = target_for(target_name, options)
        if options.dump_dir is not None:
            options = replace(options, dump_dir=options.dump_dir / target.name / strategy)
        compiled = compile_model(arguments.model, options, target)
        tell(compiled.model.notes)
        report = compiled.report
        if allowance and target.simulator != "native":
            report = with_allowance(report, compiled.request.platform, compiled.artifacts)
        return Row(target_name, report, overflow(report, options.budgets), strategy)
    except TilewrightError as error:
        return Row(target_name, error=error, strategy=strategy)


def answer(rows: list[Row]) -> Answer:
    """The rows as a table; the first row that failed sets the exit code, and ends the command if it is the only one."""
    from tilewright.report.envelope import error_json, table_json
    from tilewright.report.text import memory_table, rows_table

    failed = next((row.error for row in rows if row.error is not None), None)
    if failed is not None and len(rows) == 1 and rows[0].report is None and not failed.smallest:
        raise failed
    text = rows_table(rows)
    if len(rows) == 1 and rows[0].report is not None:
        text = memory_table(rows[0].report) + "\n\n" + text
    return Answer(text, table_json(rows) if failed is None else error_json(failed, rows=rows), failed)
