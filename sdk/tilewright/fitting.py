"""Does a network fit, and what is the smallest that does: one answer for every command and every memory level.

On a platform with one place for activations a size changes nothing of the code, so what a level needs is the smallest
that fits. Where tiles are cut to what there is, every size is another plan: the smallest is searched, and both it and
the size one alignment step below have been compiled, and built where the answer is to be measured.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from tilewright.compile import ROOM_TRIES, Compiled, compile_model, lacking_room, write
from tilewright.errors import DoesNotFit, ToolMissing
from tilewright.options import CompileOptions
from tilewright.pipeline import Compiler
from tilewright.plugins import platform
from tilewright.report.blame import overflow
from tilewright.report.build import Report
from tilewright.run.measure import measure
from tilewright.target import Target
from tilewright.tiling.hierarchy import hierarchy

LARGE = 1 << 30
"""Bytes of a level that is to be large enough for anything."""
DOUBT = 0.4
"""Share by which an estimate may be too small, for the question whether a build is to tell: the most that was seen is
27 % of a stack, where the compiler took a layer with a large frame into the function that calls all."""

ReportAt = Callable[[Mapping[str, int]], Report | None]
"""The report with these sizes of levels instead of those asked for; None where the network does not fit."""


@dataclass(frozen=True)
class Fitted:
    """A compilation with its report, measured where that was asked, and the error where a level is too small."""

    compiled: Compiled
    report: Report
    error: DoesNotFit | None


def fitted(
    source: Path, options: CompileOptions, target: Target, *, pipeline: Compiler[Compiled] | None = None
) -> Fitted:
    """Compile, and build where `options.measure` asks for it. DoesNotFit where no plan can be made at all.

    What is in doubt by an estimate is built too where its compiler is here, so that all commands decide the same.
    Errors name the smallest sizes that fit, each given the sizes of the other levels, as builds tell them.
    """
    exact = replace(options, measure=True)
    try:
        compiled, report = answered(source, options, target, pipeline)
        if _in_doubt(report, options):
            with suppress(ToolMissing):
                compiled, report = built(compiled, source, options, target, pipeline)
    except DoesNotFit as error:
        raise with_smallest(error, source, exact, target) from None
    short = overflow(report, options.budgets)
    return Fitted(compiled, report, short and with_smallest(short, source, exact, target, report))


def answered(
    source: Path, options: CompileOptions, target: Target, pipeline: Compiler[Compiled] | None = None,
    *, in_doubt: bool = False,
) -> tuple[Compiled, Report]:  # fmt: skip
    """A compilation and its report, measured where `options.measure` asks for it; `in_doubt` only where an
    estimate decides."""
    compiled = compile_model(source, options, target, pipeline=pipeline)
    sure = overflow(compiled.report, options.budgets, sure=True) is not None
    if not options.measure or (not _in_doubt(compiled.report, options) if in_doubt else sure):
        return compiled, compiled.report
    return built(compiled, source, options, target, pipeline)


def _in_doubt(report: Report, options: CompileOptions) -> bool:
    """True where a level fits or not only if an estimate is right: it does not fit by an estimate alone, or does and
    would not if that were `DOUBT` too small.
    """
    if overflow(report, options.budgets, sure=True) is not None:
        return False
    for name, level in report.memory.items():
        limits = [limit for limit in (level.size, options.budgets.get(name)) if limit is not None]
        estimated = level.total - level.surely
        if estimated and limits and level.surely <= min(limits) < level.total + DOUBT * estimated:
            return True
    return False


def built(
    compiled: Compiled, source: Path, options: CompileOptions, target: Target, pipeline: Compiler[Compiled] | None
) -> tuple[Compiled, Report]:
    """A compilation and its report as a build measures it.

    Tiles are cut anew where the build tells that the program leaves them less, or more, than was estimated.
    """
    report, left = measured(compiled, compiled.report, target), 0
    for _ in range(ROOM_TRIES):
        if not (left := lacking_room(compiled, report, left)):
            break
        try:
            compiled = compile_model(source, options, target, pipeline=pipeline, program_bytes=left)
        except DoesNotFit:
            break
        report = measured(compiled, compiled.report, target)
    return compiled, report


def measured(compiled: Compiled, report: Report, target: Target) -> Report:
    """The report with what a build says of code and stack; memories of the target may be too small for the image."""
    with tempfile.TemporaryDirectory(prefix="tilewright-") as folder:
        write(compiled, Path(folder))
        return measure(report, Path(folder), compiled.artifacts.interface, roomy(target))


def roomy(target: Target) -> Target:
    """The target with memories into which any image can be linked."""
    memories = {name: replace(memory, size=max(memory.size or 0, LARGE)) for name, memory in target.memories.items()}
    return replace(target, memories=memories)


def with_smallest(
    error: DoesNotFit, source: Path, options: CompileOptions, target: Target, report: Report | None = None
) -> DoesNotFit:
    """The error with the smallest sizes that fit for the levels that it names, and the sizes of others they go with.

    `report` is the one that the error is about.
    """

    def ask(own: CompileOptions) -> Report:
        try:
            return answered(source, own, target)[1]
        except ToolMissing:
            return compile_model(source, replace(own, measure=False), target).report

    return with_smallest_of(error, ask, options, target, report)


def with_smallest_of(
    error: DoesNotFit, ask: Callable[[CompileOptions], Report], options: CompileOptions, target: Target,
    report: Report | None = None,
) -> DoesNotFit:  # fmt: skip
    """The same of whatever `ask` compiles with other sizes: one network, or several in one image."""

    def report_at(sizes: Mapping[str, int]) -> Report | None:
        own = replace(options, level_sizes={**options.level_sizes, **sizes}, budgets={}, dump_dir=None)
        try:
            report_now = ask(own)
        except DoesNotFit:
            return None
        return report_now if overflow(report_now, {}) is None else None

    chosen = platform(target.platform)
    whole = hierarchy(chosen)
    small = list(error.smallest)
    if whole is None:
        known = report is not None and not any(report.memory[name].estimated for name in small)
        large = report_at(dict.fromkeys(small, LARGE)) if options.measure and not known else None
        return _told(error, {name: large.memory[name].total for name in small} if large else error.smallest, {})
    steps = {level.name: level.align for level in chosen.memory}
    given = {
        level.name: options.level_sizes.get(level.name) or target.memories[level.name].size or 0
        for level in chosen.memory if level.name in target.memories
    }  # fmt: skip
    budgeted = {name: size for name, size in error.smallest.items() if size <= given.get(name, 0)}
    small = [name for name in small if name not in budgeted]
    smallest = smallest_sizes(report_at, small, steps, error.smallest) if small else {}
    if smallest is None:  # it is not this level alone
        others = [name for name in (whole.compute.name, whole.home.name) if name not in small]
        smallest = smallest_sizes(report_at, [*small, *others], steps, error.smallest)
    smallest = {**budgeted, **(smallest if smallest is not None else error.smallest)}
    return _told(error, smallest, {name: size for name, size in given.items() if size and name not in smallest})


def _told(error: DoesNotFit, smallest: Mapping[str, int], given: Mapping[str, int]) -> DoesNotFit:
    """The error that names these sizes."""
    if smallest == error.smallest and not given:
        return error
    fix = error.fix
    if smallest != error.smallest:
        fix = "give " + ", ".join(f"'{name}' at least {size} bytes" for name, size in smallest.items())
    told = DoesNotFit(
        error.what, why=error.why, fix=fix, node=error.where.node, tensor=error.where.tensor, smallest=smallest,
        given=given,
    )  # fmt: skip
    told.where = error.where
    return told


def smallest_sizes(
    report_at: ReportAt, levels: Sequence[str], steps: Mapping[str, int], guesses: Mapping[str, int]
) -> dict[str, int] | None:
    """Sizes of the levels with which the network fits together, one after the other as small as possible.

    None where it does not fit however large they are.
    """
    smallest: dict[str, int] = {}
    for at, level in enumerate(levels):
        others = {**dict.fromkeys(levels[at + 1 :], LARGE), **smallest}

        def needed(size: int, level: str = level, others: Mapping[str, int] = others) -> int | None:
            report = report_at({**others, level: size})
            return None if report is None else report.memory[level].total

        size = smallest_size(needed, steps[level], guesses.get(level, 0))
        if size is None:
            return None
        smallest[level] = size
    return smallest


def smallest_size(needed: Callable[[int], int | None], step: int, guess: int = 0) -> int | None:
    """A multiple of `step` that fits where one step less does not; None where not even the largest does.

    `needed` gives the bytes that are taken of a size, None where it does not fit. Few sizes are tried: the guess, what
    was taken of one that fits, the one below, and only then the middle.
    """
    low, high, below = 0, LARGE, False
    probe = min(_up(guess, step) or LARGE, LARGE)
    taken = needed(probe)
    if taken is not None:
        high = probe
    elif probe < LARGE and (taken := needed(LARGE)) is not None:
        low = probe
    else:
        return None
    while high - low > step:
        wanted = _up(taken, step) if taken is not None else high
        if low < wanted < high:
            probe = wanted
        else:
            probe = high - step if taken is not None and not below else _up((low + high) // 2, step)
            below = probe == high - step
        taken = needed(probe)
        low, high = (probe, high) if taken is None else (low, probe)
    return high


def _up(size: int, step: int) -> int:
    return -(-size // step) * step
