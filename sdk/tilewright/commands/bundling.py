"""`--bundle` of compile and run: several networks in one image, one report, one project."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright.commands.answer import Answer
from tilewright.commands.common import compile_options, explanation, overflow, target_for, target_names, tell
from tilewright.commands.comparing import mismatch, project_folder
from tilewright.commands.pages import write_rows
from tilewright.commands.prefilling import add_prefill
from tilewright.commands.progress import stages, watched
from tilewright.commands.streams import terminal_width
from tilewright.errors import DoesNotFit, UsageError

if TYPE_CHECKING:
    from tilewright.bundle import Bundle, BundleWish
    from tilewright.options import CompileOptions, RunOptions
    from tilewright.report.build import Report
    from tilewright.target import Target


def add_bundle(parser: argparse.ArgumentParser) -> None:
    """`--bundle` and `--concurrent`."""
    group = parser.add_argument_group("several networks in one image")
    group.add_argument("--bundle", metavar="NAME", help="one arena, equal constants and states of one name once")
    group.add_argument(
        "--concurrent", metavar="A,B", action="append", default=[],
        help="networks of the bundle of which one may run while another does: their memory is kept apart",
    )  # fmt: skip
    add_prefill(group)


def bundle_wish(arguments: argparse.Namespace) -> BundleWish | None:
    """What the options say; None where no bundle is asked for."""
    groups = tuple(tuple(word.strip() for word in text.split(",")) for text in arguments.concurrent)
    if arguments.bundle is None:
        if groups:
            raise UsageError("--concurrent", why="it applies to networks in one image", fix="also pass --bundle NAME")
        return None
    if len(targets := target_names(arguments.target)) > 1:
        raise UsageError(
            f"--bundle {arguments.bundle}", why=f"{len(targets)} targets are named, and an image is for one",
            fix="name one target",
        )  # fmt: skip
    from tilewright.bundle import BundleWish

    return BundleWish(arguments.bundle, groups, prefill=arguments.prefill is not None)


def compile_together(arguments: argparse.Namespace, wish: BundleWish) -> Answer:
    """Compile, check that all of it fits, and write."""
    from tilewright.output.staged import staged
    from tilewright.output.written import listed, protection, remove_obsolete
    from tilewright.report.terminal import render

    options = compile_options(arguments, measure=arguments.measure)
    if options.io == "stream":
        raise UsageError(
            "--io stream and --bundle", why="rows are asked for by one network", fix="leave one of them out"
        )
    for option, given in (("--project", arguments.project), ("--write-decisions", arguments.write_decisions)):
        if given is not None:
            raise UsageError(f"{option} and --bundle", why="it is made of one network", fix="leave one of them out")
    target = target_for(arguments.target, options)
    bundle = _compiled(arguments, options, target, wish)
    before = listed(arguments.output)
    with staged(arguments.output, protection(arguments.output, force=arguments.force)) as folder:
        _write(bundle, folder)
        report = bundle.report
        if arguments.measure:
            from tilewright.fitting import roomy
            from tilewright.run.together import measure_bundle

            report = measure_bundle(bundle.subject(folder), roomy(target))
        if error := overflow(report, options.budgets):
            raise _with_smallest(error, arguments, options, target, wish)
        report = _finish(report, folder)
    remove_obsolete(arguments.output, before)
    parts = [explanation(one, options) for one in bundle.members] if arguments.explain else []
    return Answer(
        "\n\n".join([*parts, render(_short(report), terminal_width()) + f"written to {arguments.output}"]),
        report.to_json(),
    )


def run_together(
    arguments: argparse.Namespace, wish: BundleWish, options: CompileOptions, running: RunOptions
) -> Answer:
    """Compile, build, run every network alone and all in turn; a difference is an answer with an error."""
    from tilewright.output.written import listed, remove_obsolete
    from tilewright.report.envelope import Row, error_json
    from tilewright.report.terminal import render
    from tilewright.run.prefilled import run_prefilled
    from tilewright.run.together import run_bundle

    for option, given in (("--inputs", running.inputs), ("--expect", running.expect)):
        if given is not None:
            raise UsageError(f"{option} and --bundle", why="it belongs to one network", fix="run that one by itself")
    if isinstance(running.frames, Path):
        raise UsageError("--frames and --bundle", why="a file belongs to one network", fix="pass a number of calls")
    target = target_for(arguments.target, options)
    bundle = _compiled(arguments, options, target, wish)
    if error := overflow(bundle.report, options.budgets, sure=True):
        raise _with_smallest(error, arguments, options, target, wish)
    before = listed(arguments.output) if arguments.output is not None else {}
    with project_folder(arguments.output, arguments.force) as folder:
        _write(bundle, folder)
        if running.text is None:
            report = run_bundle(bundle.subject(folder), target, running)
        else:
            report = run_prefilled(bundle.subject(folder), target, running)
        report = _finish(report, folder)
    if arguments.output is not None:
        remove_obsolete(arguments.output, before)
    parts = [explanation(one, options) for one in bundle.members] if arguments.explain else []
    failure = overflow(report, options.budgets) or next(filter(None, map(mismatch, (*report.networks, report))), None)
    write_rows(arguments.html, [Row(one.target, one, None, source=one.model.name) for one in report.networks])
    text = "\n\n".join([*parts, render(_short(report), terminal_width())])
    return Answer(text, error_json(failure, report=report) if failure else report.to_json(), failure)


def _compiled(arguments: argparse.Namespace, options: CompileOptions, target: Target, wish: BundleWish) -> Bundle:
    from tilewright.bundle import compile_bundle

    with stages(arguments.quiet) as stage:
        try:
            bundle = compile_bundle(arguments.models, options, target, wish, pipeline=watched(stage))
        except DoesNotFit as error:
            raise _with_smallest(error, arguments, options, target, wish) from None
    tell([f"{one.plan.name}: {note}" for one in bundle.members for note in one.model.notes])
    return bundle


def _with_smallest(
    error: DoesNotFit, arguments: argparse.Namespace, options: CompileOptions, target: Target, wish: BundleWish
) -> DoesNotFit:
    """The error with the smallest sizes with which the image fits, as estimated."""
    from tilewright.bundle import compile_bundle
    from tilewright.fitting import with_smallest_of

    return with_smallest_of(
        error, lambda own: compile_bundle(arguments.models, own, target, wish).report,
        replace(options, measure=False), target,
    )  # fmt: skip


def _write(bundle: Bundle, folder: Path) -> None:
    from tilewright.compile import write_files

    write_files(bundle.artifacts.project, folder)


def _finish(report: Report, folder: Path) -> Report:
    """The report as it is written beside the project."""
    from tilewright.output.written import hashes
    from tilewright.report.build import dumps

    report = replace(report, files=hashes(folder))
    (folder / "report.json").write_text(dumps(report.to_json()), encoding="utf-8")
    return report


def _short(report: Report) -> Report:
    """The report without the layers of its networks, for a terminal."""
    return replace(report, networks=tuple(replace(one, layers=()) for one in report.networks))
