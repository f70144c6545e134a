"""Worst-case bytes of every memory level, for targets and placement strategies side by side."""

from __future__ import annotations

import argparse
from dataclasses import replace

from tilewright.commands import check
from tilewright.commands.answer import Answer
from tilewright.commands.common import ALLOCATORS, add_compilation, compile_options, target_names
from tilewright.commands.pages import add_html, write_rows
from tilewright.commands.sweeping import Question, add_sweep, folders_of, rows_of
from tilewright.errors import UsageError

SUMMARY = "worst-case bytes per level, side by side"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Models, targets, strategies and the compilation options."""
    add_compilation(parser, several=True)
    parser.add_argument("-t", "--target", metavar="TARGET,...", default="host", help="targets between commas")
    parser.add_argument(
        "--strategies", metavar="A,B", help=f"allocators between commas, of {ALLOCATORS}; default: that of --allocator"
    )
    add_html(parser)
    add_sweep(parser)


def execute(arguments: argparse.Namespace) -> Answer:
    """Compile every model for every target and strategy without writing anything."""
    options = compile_options(arguments)
    names = [options.allocator] if arguments.strategies is None else arguments.strategies.split(",")
    strategies = list(dict.fromkeys(name.strip() for name in names))
    if not all(strategies):
        raise UsageError(f"--strategies {arguments.strategies}", why="a name is empty", fix="separate names by commas")
    questions = [
        Question(model, target, replace(options, allocator=strategy), strategy, folder)
        for model, folder in folders_of(arguments.models).items()
        for target in target_names(arguments.target)
        for strategy in strategies
    ]
    rows = rows_of(check.row, questions, arguments)
    write_rows(arguments.html, rows)
    return check.answer(rows)
