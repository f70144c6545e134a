"""A folder for whoever must sign: replication criterion, contracts, traceability, memory, time, proofs, rules, hashes.

`tilewright evidence verify DIR` makes all of a folder again from its own inputs and says what differs.
"""

from __future__ import annotations

import argparse
import math
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from tilewright.commands.answer import Answer
from tilewright.commands.common import (
    add_compilation,
    add_force,
    add_output,
    compile_options,
    existing,
    path,
    target_for,
    tell,
)
from tilewright.commands.progress import stages, watched
from tilewright.errors import MismatchError, StateError, UsageError

if TYPE_CHECKING:
    from tilewright.evidence.document import Evidence, Hashed
    from tilewright.report.codec import Json

SUMMARY = "a folder of evidence for a reviewer, and its verification"
VERIFY = "verify"
ELSEWHERE = ("output", "force", "json", "verbose", "quiet", "help", "dump_dir", "write_codes")
"""Options that say where to write, not what: none of them stands in the command that a folder records."""


VERIFICATION = "tilewright/verification/1"
INPUTS, DECISIONS = "inputs", "inputs/decisions.json"


@dataclass(frozen=True)
class Recorded:
    """A command with the files that it reads: its options, its words, and the hashes of the files."""

    arguments: argparse.Namespace
    command: tuple[str, ...]
    files: tuple[Hashed, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """MODEL, target, folder, sections and vectors; or `verify` and a folder."""
    add_compilation(parser, several=True)
    parser.add_argument("-t", "--target", metavar="TARGET", help="a target's name or folder")
    parser.add_argument("-o", "--output", metavar="DIR", type=path, help="the folder of the evidence")
    add_force(parser)
    group = parser.add_argument_group("evidence")
    group.add_argument("--inputs", metavar="FILE.npz", type=path, help="one or many vectors by name; default: 8 drawn")
    group.add_argument(
        "--range", metavar="INPUT=LOW:HIGH", action="append", default=[], dest="ranges",
        help="values of an input over which bounds are to hold; default: what the vectors span",
    )  # fmt: skip
    group.add_argument(
        "--only", metavar="A,B", help="sections: replication, contracts, trace, memory, time, proofs, misra, coverage"
    )


def execute(arguments: argparse.Namespace) -> Answer:
    """Make a folder, or verify one."""
    if arguments.models[0] == Path(VERIFY):
        return _verify(arguments)
    if len(arguments.models) != 1 or arguments.target is None or arguments.output is None:
        raise UsageError(
            "evidence takes one network, a target and a folder", why="one of them is missing, or there are more",
            fix=f"write 'evidence MODEL -t TARGET -o DIR', or 'evidence {VERIFY} DIR'",
        )  # fmt: skip
    return _make(arguments)


def _make(arguments: argparse.Namespace) -> Answer:
    from tilewright.evidence.collect import parse_sections, refuse_foreign, require_sections
    from tilewright.evidence.document import to_json
    from tilewright.evidence.folder import ours, texts
    from tilewright.evidence.verdict import problems, remarks
    from tilewright.output.staged import staged, write_files
    from tilewright.output.written import protection
    from tilewright.plugins import platform

    refuse_foreign(platform(target_for(arguments.target, compile_options(arguments)).platform))
    only = parse_sections(arguments.only)
    guard = protection(arguments.output, force=arguments.force, recognised=ours)
    with staged(arguments.output, guard) as folder, stages(arguments.quiet) as stage:
        evidence = _collected(_recorded(arguments, folder, stage), folder)
        require_sections(evidence, only)
        write_files(texts(evidence), folder)
    faults = problems(evidence)
    told = [f"evidence of {evidence.name} on {evidence.target}, written to {arguments.output}", *_lines(evidence)]
    told += [f"fault: {sentence}" for sentence in faults] + [f"to judge: {each}" for each in remarks(evidence)]
    error = None
    if faults:
        more = f", and {len(faults) - 1} more" if len(faults) > 1 else ""
        error = MismatchError(
            f"the evidence of '{evidence.name}' has faults", why=f"{faults[0]}{more}",
            fix=f"read {arguments.output / 'evidence.html'}",
        )  # fmt: skip
    return Answer("\n".join(told), to_json(evidence), error)


def _lines(evidence: Evidence) -> list[str]:
    """One line for each section."""
    lines_told = list[str]()
    for output in evidence.replication.outputs if evidence.replication is not None else ():
        lines_told.append(f"output '{output.output}': {output.statement}")
        if output.bounds is not None and output.bounds.likely is not None and output.bounds.observed is not None:
            lines_told.append(f"  likely at most {output.bounds.likely:.3g}, observed {output.bounds.observed:.3g}")
            lines_told.append(f"  order of sums: {output.bounds.order}")
    if evidence.trace is not None and not evidence.trace.missing:
        sizes = len(evidence.trace.nodes), len(evidence.trace.instructions), len(evidence.trace.symbols)
        lines_told.append(f"trace: {sizes[0]} nodes, {sizes[1]} instructions, {sizes[2]} symbols")
    if evidence.time is not None and (cost := evidence.time.cost) is not None:
        lines_told.append(f"time: {cost.least:,} to {cost.most:,} instructions over all inputs")
    if evidence.proofs is not None and (proof := evidence.proofs.proof) is not None:
        lines_told.append(f"proofs: {proof.proved} of {len(proof.layers)} layers for all inputs")
    if evidence.misra is not None and not evidence.misra.missing:
        counts = evidence.misra.mandatory, evidence.misra.required, evidence.misra.advisory
        lines_told.append(f"MISRA C:2012: {counts[0]} mandatory, {counts[1]} required, {counts[2]} advisory departures")
        if evidence.misra.required:
            lines_told.append(f"  {evidence.misra.open} of them open: no record of deviation covers them")
    if evidence.coverage is not None and not evidence.coverage.missing:
        ran, lines = (sum(getattr(f, name) for f in evidence.coverage.functions) for name in ("lines_run", "lines"))
        count = evidence.coverage.vectors
        lines_told.append(f"coverage: {ran} of {lines} lines under {count} vector{'' if count == 1 else 's'}")
        lines_told.append(f"  {evidence.coverage.mcdc}")
    return lines_told


def _collected(recorded: Recorded, folder: Path) -> Evidence:
    """The evidence of a command that is recorded in a folder; its project is written below that."""
    from tilewright.compile import compile_model, write
    from tilewright.evidence.collect import Wish, collect, parse_sections
    from tilewright.evidence.folder import PROJECT

    arguments = recorded.arguments
    options = compile_options(arguments, measure=True)
    target = target_for(arguments.target, options)
    compiled = compile_model(arguments.models[0], options, target)
    (folder / PROJECT).mkdir()
    compiled = write(compiled, folder / PROJECT)
    ranges = _ranges(arguments.ranges, compiled.model.inputs)
    wish = Wish(parse_sections(arguments.only), arguments.inputs, ranges, recorded.command)
    return collect(compiled, target, folder / PROJECT, recorded.files, wish)


def _recorded(arguments: argparse.Namespace, folder: Path, stage: Callable[[str], None]) -> Recorded:
    """The command with copies of all that it reads in the folder, and the decisions that it comes to."""
    from tilewright.evidence.inputs import copied
    from tilewright.fitting import fitted
    from tilewright.schedule.decisions_file import write_decisions

    options = compile_options(arguments, measure=True)
    for file in (arguments.inputs,):
        existing(file)
    target = target_for(arguments.target, options)
    answer_of = fitted(arguments.models[0], options, target, pipeline=watched(stage))
    compiled = answer_of.compiled
    tell(compiled.model.notes)
    if answer_of.error is not None:
        raise answer_of.error
    stage("looking at the code from every side")
    words = copied(arguments, _grammar(), ELSEWHERE, folder, compiled.model.name)
    if arguments.decisions is None:
        platform = compiled.request.platform.name
        write_decisions(compiled.decisions, compiled.loaded.sha256, platform, folder / DECISIONS)
        words += ["--decisions", DECISIONS]
    return _reread(tuple(words), folder)


def _reread(words: tuple[str, ...], folder: Path) -> Recorded:
    """A recorded command, whose files lie in its folder; StateError for one that writes or reads elsewhere."""
    from tilewright.evidence.inputs import files_of, inside

    grammar = _grammar()
    try:
        arguments = grammar.parse_args(list(words))
    except UsageError as error:
        raise StateError(f"the command that '{folder}' records cannot be read", why=error.what) from error
    for action in grammar._actions:
        value = getattr(arguments, action.dest, None)
        if action.dest in ELSEWHERE and value != action.default:
            raise StateError(f"the command that '{folder}' records says where to write", why=f"it has {action.dest}")
        if isinstance(value, Path):
            setattr(arguments, action.dest, inside(folder, value))
    arguments.models = [inside(folder, model) for model in arguments.models]
    pairs = [text.partition("=") for text in arguments.freeze]
    arguments.freeze = [f"{name}={inside(folder, Path(file))}" for name, _, file in pairs]
    return Recorded(arguments, words, files_of(folder))


class _Words(argparse.ArgumentParser):
    """The options of this command by themselves; its errors are ours."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message)


def _grammar() -> argparse.ArgumentParser:
    grammar = _Words(allow_abbrev=False, add_help=False)
    add_arguments(grammar)
    add_output(grammar)
    return grammar


def _verify(arguments: argparse.Namespace) -> Answer:
    """Make a folder's evidence again in another place, and compare."""
    from tilewright.evidence.document import load
    from tilewright.evidence.verify import changed_files, differences

    if len(arguments.models) != 2:
        raise UsageError(f"evidence {VERIFY} takes one folder", fix=f"write 'evidence {VERIFY} DIR'")
    folder: Path = arguments.models[1]
    told = load(folder)
    sentences = list(changed_files(folder, told))
    with tempfile.TemporaryDirectory(prefix="tilewright-verify-") as name:
        again = Path(name)
        shutil.copytree(folder / INPUTS, again / INPUTS)
        made = _collected(_reread(told.command, again), again)
    sentences += differences(told, made)
    table = f"{told.name} on {told.target}, made again from {folder}"
    answer: dict[str, Json] = {
        "schema": "tilewright/verification/1",
        "same": not sentences,
        "differences": [*sentences],
    }
    if not sentences:
        return Answer(f"{table}: every hash and every section is the same", answer)
    more = f", and {len(sentences) - 1} more" if len(sentences) > 1 else ""
    error = MismatchError(
        f"the evidence in '{folder}' cannot be made again", why=f"{sentences[0]}{more}",
        fix="use the tool and the compiler that it names, or make the folder anew",
    )  # fmt: skip
    return Answer("\n".join([f"{table}:", *(f"- {sentence}" for sentence in sentences)]), answer, error)


def _ranges(texts: Sequence[str], inputs: Sequence[str]) -> dict[str, tuple[float, float]]:
    """What `--range` options say; UsageError for one that cannot be read."""
    ranges: dict[str, tuple[float, float]] = {}
    for text in texts:
        name, _, values = text.rpartition("=")
        low, colon, high = values.partition(":")
        try:
            pair = float(low), float(high)
        except ValueError:
            pair = math.nan, math.nan
        if name not in inputs or not colon or not (math.isfinite(sum(pair)) and pair[0] <= pair[1]):
            known = ", ".join(inputs)
            raise UsageError(
                f"--range {text}", why=f"it is not INPUT=LOW:HIGH of an input; there are {known}",
                fix="write for example input=-1:1",
            )  # fmt: skip
        ranges[name] = pair
    return ranges
