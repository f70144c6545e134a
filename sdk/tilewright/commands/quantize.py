"""Write a float network in integers of 8 bits: standard ONNX with QuantizeLinear and DequantizeLinear.

Ranges are those with which the outputs over the calibration samples are nearest to the float network's.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright.commands.answer import Answer
from tilewright.commands.common import existing, path, shape_pairs, tell
from tilewright.commands.pages import add_html
from tilewright.commands.progress import stages

if TYPE_CHECKING:
    from tilewright.target import Target

SUMMARY = "write a float network in integers, ranges measured on samples"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """MODEL, the samples, the file."""
    parser.add_argument("model", metavar="MODEL", type=path, help="the network in floats, an ONNX file")
    parser.add_argument("-o", "--output", metavar="FILE.onnx", type=path, required=True, help="the file to write")
    parser.add_argument(
        "--calibrate", metavar="FILE.npz", type=path, required=True,
        help="samples by input, stacked along a first axis; 100 to 500 that are like the real ones",
    )  # fmt: skip
    parser.add_argument("--labels", metavar="FILE.npz", type=path, help="class numbers of the samples")
    parser.add_argument(
        "--shape",
        dest="shapes",
        metavar="INPUT=1,3,96,96",
        action="append",
        default=[],
        help="static shape of an input",
    )
    parser.add_argument("-t", "--target", metavar="TARGET", help="where the budget holds")
    parser.add_argument(
        "--budget", metavar="ram=64K,flash=256K,cycles=10M", action="append", default=[],
        help="what the network may need there: weights of 4 bits and tensors of 16 as it allows; exit 4 when none fit",
    )  # fmt: skip
    parser.add_argument(
        "--drop", metavar="1%", help="what codes may cost of the right answers; 16 bits where they help, else exit 5"
    )
    parser.add_argument(
        "--metric", metavar="NAME",
        help="what --drop is of: correct answers, agreement with the float network's, or the error at the outputs",
    )  # fmt: skip
    add_html(parser)
    parser.add_argument(
        "--explain", action="store_true", help="for each tensor its range, and every one that was tried"
    )


def _budget(arguments: argparse.Namespace) -> tuple[dict[str, int] | None, Target | None]:
    """What the network may need, and where; UsageError for a budget without a target or with words that it has not."""
    from tilewright.errors import UsageError
    from tilewright.quantiser.static.budget import budget_of, check_words
    from tilewright.target import load_target

    budget = budget_of(arguments.budget) if arguments.budget else None
    if (budget is None) != (arguments.target is None):
        raise UsageError("--budget and -t", why="a budget is checked on a target", fix="pass both or neither")
    target = None if arguments.target is None else load_target(arguments.target)
    if budget is not None and target is not None:
        check_words(budget, target)
    return budget, target


def execute(arguments: argparse.Namespace) -> Answer:
    """Load, quantise, write the file, tell how right it is."""
    from tilewright.errors import UsageError
    from tilewright.frontend.load import load
    from tilewright.output.staged import write_bytes, write_text
    from tilewright.quantiser.static.budget import within_budget
    from tilewright.quantiser.static.drop import METRICS, check_kept, promise_of, within
    from tilewright.quantiser.static.quantise import Types, basis_of, built
    from tilewright.quantiser.static.samples import divided, read_samples
    from tilewright.quantiser.static.told import answer, drawn, explained, front_lines, lines
    from tilewright.report.page.render import render_front

    output: Path = arguments.output
    if output.suffix != ".onnx":
        raise UsageError(
            f"-o {output}", why="the name of an ONNX file ends in .onnx", fix=f"write {output.with_suffix('.onnx')}"
        )
    for file in (arguments.model, arguments.calibrate, arguments.labels):
        existing(file)
    budget, target = _budget(arguments)
    if arguments.metric is not None and arguments.drop is None:
        raise UsageError("--metric", why="it is what a promise is judged by", fix="also pass --drop")
    if arguments.metric not in (None, *METRICS):
        raise UsageError(
            f"--metric {arguments.metric}", why="there is none of this name", fix=f"pass one of {', '.join(METRICS)}"
        )
    if arguments.html is not None and budget is None:
        raise UsageError("--html", why="it draws the choices that a budget leaves", fix="also pass --budget")
    with stages(arguments.quiet) as stage:
        stage("reading")
        model = load(arguments.model, shapes=shape_pairs(arguments.shapes))
        tell(model.notes)
        division = divided(read_samples(model, arguments.calibrate, arguments.labels))
        promise = None if arguments.drop is None else promise_of(arguments.drop, arguments.metric, division)
        stage("choosing ranges")
        basis = basis_of(model, division)
        front = None
        if budget is not None and target is not None:
            stage(f"choosing types for {arguments.target}")
            front = within_budget(basis, division.measured, budget, target)
        stage("checking on samples that are held out")
        if front is not None:
            result = built(basis, front.taken.types, division.held_out)
            if promise is not None:
                check_kept(result, basis, division, promise)
        elif promise is None:
            result = built(basis, Types(), division.held_out)
        else:
            result = within(basis, division, promise)
    write_bytes(output, result.content)
    if front is not None and arguments.html is not None:
        write_text(arguments.html, render_front(drawn(front, result, output.stem, arguments.target, budget or {})))
    measured, held_out = division.measured.count, division.held_out.count
    text = [*(front_lines(front) if front is not None else ()), *lines(result, held_out, measured)]
    if arguments.explain:
        text.insert(0, explained(result) + "\n")
    return Answer("\n".join([*text, f"written to {output}"]), answer(result, str(output), held_out, measured))
