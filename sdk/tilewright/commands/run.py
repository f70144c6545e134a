"""Compile the network, build it, start it on the target, compare every output and count."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright.commands.answer import Answer
from tilewright.commands.common import add_compilation, compile_options, existing, overflow, target_for, tell
from tilewright.errors import MismatchError

if TYPE_CHECKING:
    from tilewright.report.build import Report

SUMMARY = "compile, build, start on the target, compare, count"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """MODEL, target, the compilation options and what is compared."""
    add_compilation(parser)
    parser.add_argument("-t", "--target", metavar="TARGET", required=True, help="a target's name or folder")
    parser.add_argument("-o", "--output", metavar="DIR", type=Path, help="keep the C project there")
    parser.add_argument("--explain", action="store_true", help="for each node every kernel that was tried, and why not")
    group = parser.add_argument_group("comparison")
    group.add_argument("--inputs", metavar="FILE.npz", type=Path, help="input values by name; default: random ones")
    group.add_argument("--expect", metavar="FILE.npz", type=Path, help="expected outputs by name")
    group.add_argument("--layers", action="store_true", help="compare every tensor")
    group.add_argument("--profile", action="store_true", help="count instructions or cycles per layer")
    group.add_argument("--atol", metavar="A", type=float, default=1e-4, help="absolute tolerance of floats")
    group.add_argument("--rtol", metavar="R", type=float, default=1e-4, help="relative tolerance of floats")
    group.add_argument("--seed", metavar="N", type=int, default=0, help="seed of random inputs")


def execute(arguments: argparse.Namespace) -> Answer:
    """Compile and run; a difference is an answer with an error, so that its report is told and written too."""
    from tilewright.binding.explain import explain
    from tilewright.compile import compile_model, run_model, write
    from tilewright.options import RunOptions
    from tilewright.output import staged, write_text
    from tilewright.report.build import dumps
    from tilewright.report.envelope import error_json
    from tilewright.report.text import render

    options = compile_options(arguments, measure=True)
    asked = RunOptions(
        arguments.inputs, arguments.expect, arguments.layers, arguments.profile, arguments.atol, arguments.rtol,
        arguments.seed,
    )  # fmt: skip
    existing(asked.inputs)
    existing(asked.expect)
    target = target_for(arguments.target, options)
    compiled = compile_model(arguments.model, options, target)
    tell(compiled.model.notes)
    if too_large := overflow(compiled.report, options.budgets):
        raise too_large
    with _folder(arguments.output) as folder:
        with staged(folder) as staging:
            compiled = write(compiled, staging)
        report = run_model(compiled, target, asked, folder)
        write_text(folder / "report.json", dumps(report.to_json()))
    text = (explain(compiled.bound) + "\n\n" if arguments.explain else "") + render(report)
    error = overflow(report, options.budgets) or mismatch(report)
    if error is None:
        return Answer(text, report.to_json())
    return Answer(text, error_json(error, report=report), error)


def mismatch(report: Report) -> MismatchError | None:
    """The error for outputs that differ, or for differences from the reference that nothing explains."""
    run = report.run
    if run is None:
        return None
    if not run.match:
        largest = f"{run.max_lsb_error} steps" if run.max_lsb_error is not None else f"{run.max_abs_error}"
        if run.max_lsb_error is None and run.max_abs_error is None:
            largest = "not finite"
        return MismatchError(
            f"outputs of '{report.model.name}' differ on '{report.target}'",
            why=f"{run.mismatches} of {run.elements} elements, the largest error is {largest}",
            fix="run it with --layers to see where they first differ",
        )
    if run.reference is not None and run.reference.mismatches > run.reference.explained:
        unexplained = run.reference.mismatches - run.reference.explained
        return MismatchError(
            f"'{report.model.name}' differs from {run.reference.name}",
            why=f"{unexplained} differences are not explained by rounding",
            fix="run it with --layers to see where they first differ",
        )
    return None


@contextmanager
def _folder(asked: Path | None) -> Iterator[Path]:
    if asked is not None:
        yield asked
        return
    with tempfile.TemporaryDirectory(prefix="tilewright-") as name:
        yield Path(name)
