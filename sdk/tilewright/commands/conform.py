"""The conformance suite over one platform's kernels: drawn calls, C against the operators' meaning in NumPy."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tilewright.commands.answer import Answer
from tilewright.errors import MismatchError, UnsupportedError

if TYPE_CHECKING:
    from tilewright.conformance.kernels import Findings
    from tilewright.report.codec import Json

SUMMARY = "the conformance suite over one platform's kernels"
SCHEMA = "tilewright/conform/1"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The platform, and how many calls are drawn."""
    parser.add_argument("platform", metavar="PLATFORM", help="whose kernels, with those that it inherits")
    group = parser.add_argument_group("calls")
    group.add_argument("--each", metavar="N", type=int, default=2, help="calls for each kernel and operator")
    group.add_argument("--seed", metavar="S", type=int, default=0, help="which calls are drawn")
    group.add_argument("--kernel", metavar="NAME", help="only kernels with this in their name")


def execute(arguments: argparse.Namespace) -> Answer:
    """One row per kernel; exit 5 where one differs, 3 where this machine cannot run the platform's code."""
    from tempfile import TemporaryDirectory

    from tilewright.conformance.kernels import attempts, compare
    from tilewright.plugins import kernels_of, platform
    from tilewright.target import all_targets

    chosen = platform(arguments.platform)
    if not any(t.platform == chosen.name and t.simulator == "native" for t in all_targets()):
        raise UnsupportedError(
            f"the kernels of platform '{chosen.name}' do not run on this machine",
            why="none of its targets does",
            fix="compare networks in its simulator: tilewright run MODEL -t TARGET --layers",
        )
    kernels = kernels_of(chosen)
    wanted = [k for k in kernels if not k.requires and (arguments.kernel or "") in k.name]
    relayouts = [k for k in kernels if k.op == "Relayout"]
    drawn = attempts(wanted, chosen, relayouts, arguments.seed, arguments.each)
    with TemporaryDirectory() as folder:
        from pathlib import Path

        findings = compare(drawn, Path(folder))
    return _answer(findings, arguments.seed)


def _answer(findings: Findings, seed: int) -> Answer:
    from tilewright.report.text import table

    kernels = sorted({name for name, _ in findings.compared})
    rows, plain = [], list["Json"]()
    for name in kernels:
        counts = {op: count for (kernel, op), count in findings.compared.items() if kernel == name}
        wrong = [text for text in findings.differences if text.startswith(f"{name}: ")]
        rows.append([name, str(len(counts)), str(sum(counts.values())), str(len(wrong))])
        plain.append({"kernel": name, "operators": dict(sorted(counts.items())), "differences": list(wrong)})
    text = table(["kernel", "operators", "calls", "differ"], rows, right=[1, 2, 3])
    if not findings.differences:
        return Answer(text, {"schema": SCHEMA, "seed": seed, "rows": plain})
    error = MismatchError(
        f"{len(findings.differences)} of {sum(findings.compared.values())} calls differ",
        why=findings.differences[0],
        fix=f"the same calls again: --seed {seed}",
    )
    return Answer(text, {"schema": SCHEMA, "seed": seed, "rows": plain}, error)
