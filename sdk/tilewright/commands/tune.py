"""Count the kernels that could run each layer in the simulator, and write the cheapest choice to lock files."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tilewright.commands.answer import Answer
from tilewright.commands.common import add_compilation, compile_options, path, target_for, target_names, tell
from tilewright.commands.sweeping import add_sweep, folders_of, in_order
from tilewright.errors import TilewrightError, UsageError

if TYPE_CHECKING:
    from tilewright.binding.lock import Lock
    from tilewright.report.codec import Json
    from tilewright.tune.count import Question

SUMMARY = "count the kernels of every layer in the simulator, write a lock file"


@dataclass(frozen=True)
class Tuning:
    """One question of a sweep, and the file of its lock in the folder of all."""

    question: Question
    file: str

    def __str__(self) -> str:
        return f"{self.question.source} on {self.question.target}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Models, targets, where the locks go, and the compilation options."""
    add_compilation(parser, several=True)
    parser.add_argument("-t", "--target", metavar="TARGET,...", required=True, help="targets' names or folders")
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=path, required=True,
        help="the lock file, for 'compile --lock'; for several models or targets a folder of them",
    )  # fmt: skip
    parser.add_argument("--all", action="store_true", help="count all inherited kernels too, not only the first")
    add_sweep(parser, rows=False)


def execute(arguments: argparse.Namespace) -> Answer:
    """Count, write the locks, and tell what changes by them."""
    from tilewright.binding.lock import save_lock
    from tilewright.tune.count import Question, tune

    if arguments.jobs < 1:
        raise UsageError(f"--jobs {arguments.jobs}", why="at least one simulator must run", fix="use 1 or more")
    for option in ("lock", "program", "decisions"):
        if getattr(arguments, option) is not None:
            raise UsageError(f"tune does not take --{option}", why="it counts every kernel of the whole network")
    options = replace(compile_options(arguments), measure=False)
    tunings = []
    for model, folder in folders_of(arguments.models).items():
        for name in target_names(arguments.target):
            target = target_for(name, options)
            place = str(target.folder) if "/" in name else name
            file = "-".join(filter(None, [folder, target.name])) + ".lock"
            tunings.append(Tuning(Question(model, options, place, arguments.all), file))
    if len(tunings) == 1 and not arguments.cluster:
        lock = tune(tunings[0].question, arguments.jobs, lambda text: tell([text]))
        save_lock(lock, arguments.output)
        return Answer(f"{table(lock)}\n\nwritten to {arguments.output}", _rows([lock]))
    return _several(tunings, arguments)


def counted(tuning: Tuning) -> tuple[Tuning, Lock | TilewrightError]:
    """The lock of one question, counted by one simulator at a time."""
    from tilewright.tune.count import tune

    try:
        return tuning, tune(tuning.question)
    except TilewrightError as error:
        return tuning, error


def _several(questions: Sequence[Tuning], arguments: argparse.Namespace) -> Answer:
    """Many locks, each written when it is there; the first that failed sets the exit code."""
    from tilewright.binding.lock import save_lock
    from tilewright.output.staged import make_folder
    from tilewright.report.envelope import error_json

    alone = len(questions) == 1
    if not alone:
        make_folder(arguments.output)

    def arrived(answer: tuple[Tuning, Lock | TilewrightError]) -> None:
        tuning, lock = answer
        if not isinstance(lock, TilewrightError):
            save_lock(lock, arguments.output if alone else arguments.output / tuning.file)

    answers = in_order(counted, questions, arguments, lambda tuning, error: (tuning, error), arrived)
    texts = [
        f"{tuning}: " + (f"error: {lock}" if isinstance(lock, TilewrightError) else f"{tuning.file}\n{table(lock)}")
        for tuning, lock in answers
    ]
    errors = [lock for _, lock in answers if isinstance(lock, TilewrightError)]
    rows = _rows([lock for _, lock in answers if not isinstance(lock, TilewrightError)])
    text = "\n\n".join([*texts, f"written to {arguments.output}"])
    return Answer(text, error_json(errors[0]), errors[0]) if errors else Answer(text, rows)


def table(lock: Lock) -> str:
    """A line for every node with a choice: its kernels with their instructions, cheapest first."""
    lines = []
    for node, kernels in lock.counts.items():
        counted = ", ".join(f"{kernel} {count:,}" for kernel, count in kernels.items())
        lines.append(f"{node}: {counted}")
    return "\n".join(lines) or "no node has a choice"


def _rows(locks: Sequence[Lock]) -> Json:
    rows: list[Json] = [
        {"target": lock.subject.target, "node": node, "instructions": dict(kernels)}
        for lock in locks
        for node, kernels in lock.counts.items()
    ]
    return {"schema": "tilewright/table/1", "rows": rows}
