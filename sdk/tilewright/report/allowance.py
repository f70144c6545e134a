"""Code and stack before anything is built: estimates from the C that was generated.

Where a platform's kernels were measured (`code_sizes.py`) a table per core says what a layer takes; other platforms
declare bytes of code for a character of C, apart for functions that compute in floats, with a fixed part for libraries,
and a fixed stack.
"""

from __future__ import annotations

from dataclasses import replace

from tilewright.codegen.artifacts import Artifacts
from tilewright.memory.needs import Amount, Places, Program, with_program
from tilewright.platform import Platform
from tilewright.report.build import Report
from tilewright.report.code_sizes import LayerCounts, sizes_for
from tilewright.target import Target
from tilewright.tiling.hierarchy import align_up

CODE_QUARTERS, STACK_QUARTERS = 5, 6
"""What the sums of the table are multiplied by: layers that the compiler joins, and other shapes, differ from those."""
STACK_BESIDE = 64
"""Bytes of stack that a few more registers take in a kernel that was never measured at that shape."""
VARIABLES = 64
"""Variables of libraries where nothing was measured."""


def estimate(platform: Platform, artifacts: Artifacts, target: Target) -> tuple[int, int, int]:
    """Bytes of code, of its libraries' variables and of stack that a project will take on a target, without a build."""
    cores = 1 + platform.cores * (platform.cores > 1)
    sizes = sizes_for(platform.name, " ".join(target.cpu_flags))
    if sizes is None:
        return _declared_code(platform, artifacts), VARIABLES, platform.allowance.stack_bytes * cores
    counts = LayerCounts.of(artifacts)
    stack = align_up(sizes.stack_bytes(counts) * STACK_QUARTERS // 4 + STACK_BESIDE, 8)
    return sizes.code_bytes(counts) * CODE_QUARTERS // 4 + sizes.constants, sizes.variables, stack * cores


def _declared_code(platform: Platform, artifacts: Artifacts) -> int:
    """The platform's allowance for machine code."""
    allowed, size = platform.allowance, 0.0
    for function in artifacts.counts:
        size += (allowed.real if function.in_floats else allowed.integer) * (function.characters + function.beside)
    return round(allowed.library_bytes + size)


def with_estimates(report: Report, platform: Platform, artifacts: Artifacts, target: Target) -> Report:
    """The report with a program estimated on the safe side; none where the platform's code is no C of ours.

    Stacks that the plan made room for stand in the report already.
    """
    if not artifacts.counts:
        return report
    code, variables, stack = (Amount(size, "estimated") for size in estimate(platform, artifacts, target))
    program = Program(code, variables, declared_stack(target) or stack)
    return replace(report, memory=with_program(report.memory, Places.of(platform), program))


def declared_stack(target: Target) -> Amount | None:
    """The stacks of all cores where the target lays them out itself: no network has more."""
    room = target.stacks
    return Amount(room.all_bytes, "proved") if room.level else None
