"""Count the kernels that could run each layer in the simulator, and write the cheapest choice to a lock file."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright.commands.answer import Answer
from tilewright.commands.common import add_compilation, compile_options, target_for, tell
from tilewright.errors import UsageError

if TYPE_CHECKING:
    from tilewright.report.codec import Json
    from tilewright.tune.lock import Lock

SUMMARY = "count the kernels of every layer in the simulator, write a lock file"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """MODEL, target, where the lock goes, and the compilation options."""
    add_compilation(parser)
    parser.add_argument("-t", "--target", metavar="TARGET", required=True, help="a target's name or folder")
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=Path, required=True, help="the lock file, for 'compile --lock'"
    )
    parser.add_argument("--jobs", metavar="N", type=int, default=1, help="simulators at once; the result is the same")
    parser.add_argument("--all", action="store_true", help="count all inherited kernels too, not only the first")


def execute(arguments: argparse.Namespace) -> Answer:
    """Count, write the lock, and tell what changes by it."""
    from tilewright.tune.count import Question, tune
    from tilewright.tune.lock import save_lock

    if arguments.jobs < 1:
        raise UsageError(f"--jobs {arguments.jobs}", why="at least one simulator must run", fix="give 1 or more")
    if arguments.lock is not None or arguments.program is not None:
        option = "--lock" if arguments.lock is not None else "--program"
        raise UsageError(f"tune does not take {option}", why="it counts every kernel of the whole network")
    options = replace(compile_options(arguments), measure=False)
    target = target_for(arguments.target, options)
    place = str(target.folder) if "/" in arguments.target else arguments.target
    lock = tune(Question(arguments.model, options, place, arguments.all), arguments.jobs, lambda text: tell([text]))
    save_lock(lock, arguments.output)
    return Answer(f"{table(lock)}\n\nwritten to {arguments.output}", _rows(lock))


def table(lock: Lock) -> str:
    """A line for every node with a choice: its kernels with their instructions, cheapest first."""
    lines = []
    for node, kernels in lock.counts.items():
        counted = ", ".join(f"{kernel} {count:,}" for kernel, count in kernels.items())
        lines.append(f"{node}: {counted}")
    return "\n".join(lines) or "no node has a choice"


def _rows(lock: Lock) -> Json:
    rows: list[Json] = [
        {"target": lock.subject.target, "node": node, "instructions": dict(kernels)}
        for node, kernels in lock.counts.items()
    ]
    return {"schema": "tilewright/table/1", "rows": rows}
