"""Compile the networks, build them, start each on the targets, compare every output and count."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright.commands.against import resolved
from tilewright.commands.answer import Answer
from tilewright.commands.boards import BoardWish, add_board, board_wish, opened, refuse_others
from tilewright.commands.bundling import add_bundle, bundle_wish, run_together
from tilewright.commands.check import answer, dumped
from tilewright.commands.common import (
    add_compilation,
    add_force,
    compile_options,
    existing,
    explanation,
    overflow,
    path,
    target_for,
    target_names,
    tell,
    tolerance,
    whole,
)
from tilewright.commands.comparing import mismatch, project_folder
from tilewright.commands.pages import add_html, write_rows
from tilewright.commands.progress import silent, stages, watched
from tilewright.commands.streams import terminal_width
from tilewright.commands.sweeping import Question, add_sweep, folders_of, rows_of
from tilewright.commands.texts import add_text, reading_wish, text_wish
from tilewright.errors import DoesNotFit, TilewrightError, UsageError

if TYPE_CHECKING:
    from tilewright.compile import Compiled
    from tilewright.options import CompileOptions, RunOptions, TextWish
    from tilewright.report.build import Report
    from tilewright.report.envelope import Row


@dataclass(frozen=True)
class Place:
    """Where the C project is kept, None for nowhere; `force` replaces files that are not ours there.

    A `board` is asked in the place of the target's simulator.
    """

    folder: Path | None
    force: bool
    board: BoardWish | None = None


SUMMARY = "compile, build, start on the target, compare, count"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Models, targets, the compilation options and what is compared."""
    add_compilation(parser, several=True)
    add_bundle(parser)
    parser.add_argument("-t", "--target", metavar="TARGET,...", required=True, help="targets' names or folders")
    parser.add_argument("-o", "--output", metavar="DIR", type=path, help="keep the C projects there")
    add_force(parser)
    parser.add_argument("--explain", action="store_true", help="for each node every kernel that was tried, and why not")
    group = parser.add_argument_group("comparison")
    group.add_argument("--inputs", metavar="FILE.npz", type=path, help="input values by name; default: random ones")
    group.add_argument(
        "--frames", metavar="FILE.npz|N", help="calls one after the other, the first axis of every input; N draws them"
    )
    add_text(parser)
    group.add_argument("--labels", metavar="FILE.npz", type=path, help="class numbers of the samples in --inputs")
    group.add_argument(
        "--against",
        metavar="FILE.onnx|FILE.npz",
        type=path,
        help="another network, or its outputs, on the same samples",
    )
    group.add_argument("--predictions", metavar="FILE.csv|FILE.npz", type=path, help="write outputs and classes there")
    group.add_argument("--expect", metavar="FILE.npz", type=path, help="expected outputs by name")
    group.add_argument("--layers", action="store_true", help="compare every tensor")
    group.add_argument("--profile", action="store_true", help="count instructions or cycles per layer")
    group.add_argument("--atol", metavar="A", type=tolerance, default=1e-4, help="absolute tolerance of floats")
    group.add_argument("--rtol", metavar="R", type=tolerance, default=1e-4, help="relative tolerance of floats")
    group.add_argument("--seed", metavar="N", type=whole, default=0, help="seed of random inputs")
    add_board(parser)
    add_html(parser)
    add_sweep(parser)


def execute(arguments: argparse.Namespace) -> Answer:
    """Compile and run; a difference is an answer with an error, so that its report is told and written too."""
    board = board_wish(arguments)
    options = compile_options(arguments, measure=board is None)
    text = text_wish(arguments)
    running = _asked(arguments, text)
    if text is not None:
        options = replace(options, tokenizer=text.tokenizer)
    if (wish := bundle_wish(arguments)) is not None:
        if board is not None:
            refuse_others(arguments, ())
        return run_together(arguments, wish, options, running)
    targets = target_names(arguments.target)
    if board is not None:
        refuse_others(arguments, targets)
    if len(targets) == 1 and len(arguments.models) == 1:
        return _alone(arguments, options, running)
    one = running.expect or isinstance(running.frames, Path) or (running.inputs and not running.labels)
    if len(arguments.models) > 1 and one:
        raise UsageError(
            "--inputs and --expect", why="they belong to one model, and several are named",
            fix="run each by itself, or name the --labels of samples that all of them take",
        )  # fmt: skip
    if running.predictions is not None:
        raise UsageError("--predictions", why="it names one file, and there are several runs", fix="run each by itself")
    if arguments.explain:
        raise UsageError(
            "--explain", why="it runs over a long text, and several networks run", fix="run each by itself"
        )
    questions = [
        Question(model, target, dumped(options, Question(model, target, options, folder=folder)), folder=folder)
        for model, folder in folders_of(arguments.models).items()
        for target in targets
    ]
    project = Place(arguments.output, arguments.force)
    rows = rows_of(partial(row, running=running, project=project), questions, arguments)
    write_rows(arguments.html, rows)
    return answer(rows, ran=True)


def _asked(arguments: argparse.Namespace, text: TextWish | None) -> RunOptions:
    """What is asked of the run; UsageError for a file that is not there."""
    from tilewright.options import Against, RunOptions

    other = arguments.against
    running = RunOptions(
        arguments.inputs, arguments.expect, arguments.layers, arguments.profile, arguments.atol, arguments.rtol,
        arguments.seed, frames=_frames(arguments.frames), labels=arguments.labels,
        against=None if other is None else Against(other, other.name), predictions=arguments.predictions, text=text,
        reading=reading_wish(arguments),
    )  # fmt: skip
    for file in (running.inputs, running.expect, running.labels, other):
        existing(file)
    existing(running.frames if isinstance(running.frames, Path) else None)
    return running


def _frames(text: str | None) -> Path | int | None:
    """What `--frames` says: how many calls, or the file that holds them."""
    if text is None:
        return None
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else path(text)


def _alone(arguments: argparse.Namespace, options: CompileOptions, running: RunOptions) -> Answer:
    """One network on one target: its whole report."""
    from tilewright.report.envelope import Row, error_json
    from tilewright.report.terminal import render

    with stages(arguments.quiet) as stage:
        project = Place(arguments.output, arguments.force, board_wish(arguments))
        compiled, report = _judged(arguments.models[0], arguments.target, options, running, project, stage, tell)
    text = (explanation(compiled, options) + "\n\n" if arguments.explain else "") + render(report, terminal_width())
    error = _too_large(report, arguments.models[0], arguments.target, options) or mismatch(report)
    write_rows(arguments.html, [Row(report.target, report, error)])
    if error is None:
        return Answer(text, report.to_json())
    return Answer(text, error_json(error, report=report), error)


def row(question: Question, running: RunOptions, project: Place) -> Row:
    """The row of one network on one target; its project goes to a folder of its own below that of all."""
    from tilewright.report.envelope import Row

    name, source, options = question.target, str(question.model), question.options
    folder = None if project.folder is None else project.folder / question.folder / Path(name).name
    try:
        project = replace(project, folder=folder)
        compiled, report = _judged(question.model, name, options, running, project, silent, silent)
        error = _too_large(report, question.model, name, options) or mismatch(report)
        return Row(name, report, error, "", source, tuple(compiled.model.notes))
    except TilewrightError as error:
        return Row(name, error=error, source=source)


def _judged(
    model: Path, name: str, options: CompileOptions, running: RunOptions, project: Place,
    stage: Callable[[str], None], notes: Callable[[Sequence[str]], None],
) -> tuple[Compiled, Report]:  # fmt: skip
    """The run, beside that of another network where one is named."""

    def run(other: Path, plain: CompileOptions, alone: RunOptions) -> tuple[Compiled, Report]:
        compiled, report = _run(other, name, plain, alone, Place(None, False), stage, silent)
        if (error := mismatch(report)) is not None:
            raise error
        return compiled, report

    with resolved(running, options, name, run) as complete:
        return _run(model, name, options, complete, project, stage, notes)


def _run(
    model: Path, name: str, options: CompileOptions, running: RunOptions, project: Place,
    stage: Callable[[str], None], notes: Callable[[Sequence[str]], None],
) -> tuple[Compiled, Report]:  # fmt: skip
    from tilewright.compile import run_model, write
    from tilewright.fitting import answered, with_smallest
    from tilewright.output.written import hashes, listed
    from tilewright.report.build import dumps

    target = target_for(name, options)
    try:
        compiled, _ = answered(model, options, target, watched(stage), in_doubt=True)
    except DoesNotFit as error:
        raise with_smallest(error, model, options, target) from None
    notes(compiled.model.notes)
    if too_large := overflow(compiled.report, options.budgets, sure=True):
        raise with_smallest(too_large, model, options, target)
    stage(f"running on {project.board.port if project.board else target.name}")
    failure = None
    with project_folder(project.folder, project.force) as staging:
        compiled = write(compiled, staging)
        files = {**(listed(project.folder) if project.folder else {}), **hashes(staging)}
        try:
            with opened(project.board) as runner:
                report = run_model(compiled, target, running, staging, runner)
        except TilewrightError as error:  # the project stays, so that one can look at what failed
            failure, report = error, compiled.report
        (staging / "report.json").write_text(dumps(replace(report, files=files).to_json()), encoding="utf-8")
    if failure is not None:
        raise failure
    return compiled, report


def _too_large(report: Report, model: Path, name: str, options: CompileOptions) -> DoesNotFit | None:
    """The error where a level is too small for what was measured."""
    from tilewright.fitting import with_smallest

    error = overflow(report, options.budgets)
    return error and with_smallest(error, model, options, target_for(name, options), report)
