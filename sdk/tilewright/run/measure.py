"""Puts what a build tells into the report: bytes of code, the bound of the stack, and the toolchain."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

from tilewright.codegen.interface import Interface
from tilewright.memory.needs import Amount, MemoryReport, Places, Program, with_program
from tilewright.plugins import platform
from tilewright.report.allowance import STACK_OF_LIBRARIES, declared_stack
from tilewright.report.build import Report, ToolchainReport
from tilewright.run.build import build
from tilewright.run.image import Image
from tilewright.run.stack import StackBound
from tilewright.target import Target


def measure(report: Report, project: Path, interface: Interface, target: Target) -> Report:
    """Build a written project, called by its `interface`, without running it; the report with what was measured."""
    with tempfile.TemporaryDirectory(prefix="tilewright-build-") as folder:
        image = build(project, interface, target, Path(folder))
    return replace(
        report,
        toolchain=toolchain(image),
        memory=measured_memory(report, image),
    )


def toolchain(image: Image) -> ToolchainReport:
    """The compiler that made an image."""
    return ToolchainReport(image.toolchain.compiler, image.toolchain.version, image.toolchain.flags)


def measured_memory(report: Report, image: Image, used_bytes: int = 0) -> dict[str, MemoryReport]:
    """The memory table with code, variables and stack of an image; of the stack at least what a run `used_bytes`."""
    of = platform(report.platform)
    places = Places.of(of)
    stack = declared_stack(image.target) or measured_stack(image, of.cores, used_bytes)
    apart = report.memory.keys() - {places.constants, places.variables, of.compute_in}
    code, variables = beside_data(report.memory, places, image, apart)
    program = Program(Amount(code, "measured"), Amount(variables, "measured"), stack)
    return with_program(report.memory, places, program)


def measured_stack(image: Image, cores: int, used_bytes: int) -> Amount | None:
    """Stack of the core that calls and of all that compute: proved where the compiler tells of all that is called.

    None where neither it nor a run told anything. Functions of libraries bring no figures, so they get an allowance.
    """
    bound, beside = image.stack, image.core_stack
    if bound is None:
        return Amount(used_bytes, "measured") if used_bytes else None
    others = (cores, beside) if cores > 1 and beside is not None else (0, bound)
    size = max(_with_libraries(bound), used_bytes) + others[0] * _with_libraries(others[1])
    proved = bound.proved and others[1].proved and used_bytes <= bound.size_bytes
    return Amount(size, "proved" if proved else "measured")


def _with_libraries(bound: StackBound) -> int:
    return bound.size_bytes + (0 if bound.proved else STACK_OF_LIBRARIES)


def beside_data(
    memory: Mapping[str, MemoryReport], places: Places, image: Image, apart: Collection[str] = ()
) -> tuple[int, int]:
    """Bytes of code with the constants that it and its libraries bring, and of variables, beside those of the plan.

    In levels that lie `apart` there are constants of the image too, e.g. in an engine's weight memory.
    """
    rest = memory[places.constants]
    at_rest = rest.constants + rest.tables
    data = sum(
        row.worst_case - (row.stack or 0) for name, row in memory.items() if not row.readonly and name not in apart
    )
    data -= 0 if rest.readonly else at_rest
    sizes = image.sizes
    elsewhere = sum(memory[name].constants for name in apart)
    return sizes.text_bytes + max(0, sizes.rodata_bytes - at_rest - elsewhere), max(0, sizes.ram_bytes - data)
