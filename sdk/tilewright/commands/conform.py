"""The conformance suite over one platform's kernels: drawn calls in fenced C against what the operators mean."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright.commands.answer import Answer
from tilewright.commands.common import whole
from tilewright.commands.streams import terminal_width
from tilewright.commands.sweeping import add_sweep, in_order, place_of
from tilewright.errors import MismatchError, TilewrightError, UnsupportedError, UsageError
from tilewright.sweep import Place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.conformance.author import Row
    from tilewright.platform import Platform
    from tilewright.report.codec import Json
    from tilewright.target import Target

SUMMARY = "the conformance suite over one platform's kernels"
SCHEMA = "tilewright/conform/1"


@dataclass(frozen=True)
class Kernels:
    """Kernels of one platform by name, and how many calls are drawn for each; `inherited` ones count too.

    They run on the simulated `target`, on this machine where it is empty.
    """

    platform: str
    names: tuple[str, ...]
    inherited: bool
    seed: int
    each: int
    target: str = ""

    def __str__(self) -> str:
        return " ".join(self.names)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The platform, which of its kernels, and how many calls are drawn."""
    parser.add_argument("platform", metavar="PLATFORM", nargs="+", help="whose kernels")
    parser.add_argument("-t", "--target", metavar="TARGET", default="", help="run them on this simulated board")
    group = parser.add_argument_group("calls")
    group.add_argument("--all", action="store_true", help="the kernels that it inherits, too")
    group.add_argument("--each", metavar="N", type=int, default=4, help="calls for each kernel and operator")
    group.add_argument("--seed", metavar="S", type=whole, default=0, help="which calls are drawn")
    group.add_argument("--kernel", metavar="NAME", help="only kernels with this in their name")
    add_sweep(parser, rows=False)


def execute(arguments: argparse.Namespace) -> Answer:
    """One row per kernel; exit 5 where one is wrong, 3 where this machine cannot run the platform's code."""
    from tilewright.plugins import platform

    alone = place_of(arguments) == Place()
    questions = list[Kernels]()
    for name in dict.fromkeys(arguments.platform):
        names = _wanted(platform(name), arguments)
        parts = [names] if alone else [(one,) for one in names]  # one program for all is built sooner than many
        questions += [
            Kernels(name, part, arguments.all, arguments.seed, arguments.each, arguments.target) for part in parts
        ]
    answers = in_order(compared, questions, arguments, _lost)
    return _answer([row for rows in answers for row in rows], arguments.seed)


def _wanted(chosen: Platform, arguments: argparse.Namespace) -> tuple[str, ...]:
    """Names of the kernels that are asked for; UsageError where there is none."""
    from tilewright.plugins import kernels_of

    if arguments.target:
        _board_of(chosen, arguments.target)
    else:
        _runs_here(chosen)
    every = kernels_of(chosen) if arguments.all else chosen.own_kernels()
    wanted = [kernel.name for kernel in every if (arguments.kernel or "") in kernel.name]
    if not wanted:
        raise UsageError(
            f"platform '{chosen.name}' has no kernel" + (f" '{arguments.kernel}'" if arguments.kernel else ""),
            why="it declares " + (", ".join(sorted({kernel.name for kernel in every})) or "none of its own"),
            fix="name another" if arguments.all else "--all adds those that it inherits",
        )
    return tuple(dict.fromkeys(wanted))


def compared(question: Kernels) -> tuple[Row, ...]:
    """The rows of these kernels."""
    from tempfile import TemporaryDirectory

    from tilewright.conformance.author import examine
    from tilewright.conformance.boards import on_board
    from tilewright.plugins import kernels_of, platform

    chosen = platform(question.platform)
    target = _board_of(chosen, question.target) if question.target else None
    every = kernels_of(chosen) if target is None else on_board(chosen, target)
    wanted = [
        kernel
        for kernel in every
        if kernel.name in question.names and (question.inherited or kernel.platform == chosen.name)
    ]
    with TemporaryDirectory() as folder:
        return examine(wanted, chosen, Path(folder), question.seed, question.each, target)


def _board_of(chosen: Platform, name: str) -> Target:
    """The target; UsageError where it is one of another platform."""
    from tilewright.target import load_target

    target = load_target(name)
    if target.platform != chosen.name:
        raise UsageError(
            f"target '{target.name}' does not run kernels of platform '{chosen.name}'",
            why=f"it is one of platform '{target.platform}'",
            fix="name a target of this platform: tilewright targets",
        )
    return target


def _lost(question: Kernels, error: TilewrightError) -> tuple[Row, ...]:
    """What stands for kernels whose worker died."""
    from tilewright.conformance.author import Fault, Row

    faults = (Fault("declaration", str(error)),)
    return tuple(Row(name, question.platform, {}, faults) for name in question.names)


def _runs_here(chosen: Platform) -> None:
    """Refuse a platform of which no target is this machine; one without any target of ours is tried."""
    from tilewright.platform import Feature
    from tilewright.run.simulator import simulator_of
    from tilewright.target import all_targets

    targets = [target for target in all_targets() if target.platform == chosen.name]
    here = not targets or any(simulator_of(target).on_this_machine for target in targets)
    if not chosen.can(Feature.KERNELS_APART) or not here:
        raise UnsupportedError(
            f"the kernels of platform '{chosen.name}' do not run on this machine",
            why="none of its targets does so",
            fix="compare them on a simulated board: -t TARGET",
        )


def _answer(rows: Sequence[Row], seed: int) -> Answer:
    from tilewright.report.text import printable, table

    cells = [
        [row.kernel, " ".join(sorted(row.compared)) or "-", str(sum(row.compared.values())), row.verdict]
        for row in rows
    ]  # fmt: skip
    text = table(["kernel", "operators", "calls", "verdict"], cells, right=[2], width=terminal_width())
    faults = [fault for row in rows for fault in row.faults]
    notes = [f"{row.kernel}: not compared, {row.skipped}" for row in rows if row.skipped]
    text += "".join(f"\n{printable(sentence, 2000)}" for sentence in [*(f.sentence for f in faults), *notes])
    plain: list[Json] = [
        {
            "kernel": row.kernel,
            "operators": dict(sorted(row.compared.items())),
            "differences": [fault.sentence for fault in row.faults],
        }
        for row in rows
        if not row.skipped
    ]
    skipped: list[Json] = [{"kernel": row.kernel, "why": row.skipped} for row in rows if row.skipped]
    answer: dict[str, Json] = {"schema": SCHEMA, "seed": seed, "rows": plain, "not_compared": skipped}
    if faults:
        wrong = [row.kernel for row in rows if row.faults]
        error = MismatchError(
            f"{len(wrong)} of {len(rows)} kernels do not do what they declare",
            why=faults[0].sentence,
            fix=f"the same calls again: --seed {seed}",
        )
        return Answer(text, answer, error)
    if not plain:
        why = notes[0]
        return Answer(text, answer, UnsupportedError("no kernel could be compared", why=why, fix="compare on a target"))
    return Answer(text, answer)
