"""Code and stack before anything is built: estimates from the C that was generated.

Where a platform's kernels were measured (`code_sizes.py`) a table per core says what a layer takes; other platforms
declare bytes of code for a character of C, apart for functions that compute in floats, with a fixed part for libraries,
and a fixed stack.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tilewright.codegen.artifacts import Artifacts
from tilewright.memory.needs import Amount, Places, Program, with_program
from tilewright.platform import Platform
from tilewright.report.build import Report
from tilewright.report.code_sizes import LayerCounts, sizes_for
from tilewright.sizes import align_up
from tilewright.target import Target

STACK_OF_LIBRARIES = 128
"""Bytes for functions of the C library and of the compiler's own, of which no call graph tells: listings show 104."""
STACK_TO_SPARE = 64
"""Bytes beside an estimated stack where no library is called: a frame of nothing can be another's eight registers."""
VARIABLES = 64
"""Variables of libraries where nothing was measured."""


@dataclass(frozen=True)
class Estimate:
    """Bytes of code, of its libraries' variables and of all stacks; `basis` names another core that was measured."""

    code: int
    variables: int
    stack: int
    basis: str = ""


def estimate(platform: Platform, artifacts: Artifacts, target: Target) -> Estimate:
    """What a project's program will take on a target, without a build."""
    cores = platform.cores * (platform.cores > 1)
    counts = LayerCounts.of(artifacts)
    sizes = sizes_for(platform.name, " ".join(target.cpu_flags), counts)
    if sizes is None:
        return Estimate(_declared_code(platform, artifacts), VARIABLES, platform.allowance.stack_bytes * (1 + cores))
    spare = STACK_OF_LIBRARIES if sizes.calls_libraries(counts) else STACK_TO_SPARE
    mine, others = (align_up(size, 8) + spare for size in sizes.stack_bytes(counts))
    return Estimate(sizes.code_bytes(counts), sizes.variable_bytes(counts), mine + cores * others, sizes.basis)


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
    estimated = estimate(platform, artifacts, target)
    code, variables, stack = (
        Amount(size, "estimated", estimated.basis) for size in (estimated.code, estimated.variables, estimated.stack)
    )
    program = Program(code, variables, declared_stack(target) or stack)
    return replace(report, memory=with_program(report.memory, Places.of(platform), program))


def declared_stack(target: Target) -> Amount | None:
    """The stacks of all cores where the target lays them out itself: no network has more."""
    room = target.stacks
    return Amount(room.all_bytes, "proved") if room.level else None
