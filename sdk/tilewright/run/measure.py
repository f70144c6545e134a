"""Puts what a build tells into the report: bytes of code, the bound of the stack, and the toolchain."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from tilewright.memory.levels import MemoryReport
from tilewright.report.build import Report, ToolchainReport
from tilewright.run.build import build
from tilewright.run.image import Image
from tilewright.target import Target


def measure(report: Report, project: Path, target: Target, level: str) -> Report:
    """Build a written project without running it; the report with what was measured. The stack lies in `level`."""
    with tempfile.TemporaryDirectory(prefix="tilewright-build-") as folder:
        image = build(project, report.model.name, target, Path(folder))
    return replace(
        report,
        toolchain=toolchain(image),
        memory=measured_memory(report, image, level, image.stack.size_bytes if image.stack else None),
    )


def toolchain(image: Image) -> ToolchainReport:
    """The compiler that made an image."""
    return ToolchainReport(image.toolchain.compiler, image.toolchain.version, image.toolchain.flags)


def measured_memory(report: Report, image: Image, level: str, stack_bytes: int | None) -> dict[str, MemoryReport]:
    """The memory table with the stack in `level` and the code in the read-only levels; None leaves the stack open.

    Where another level holds the stacks its row says so already, and they are no bytes of this one.
    """
    found = {}
    elsewhere = any(row.stack is not None and name != level for name, row in report.memory.items())
    read_only = any(row.readonly for row in report.memory.values())
    for name, row in report.memory.items():
        if name == level and stack_bytes is not None and not elsewhere:
            without = row.worst_case - (row.stack or 0)
            row = replace(row, stack=stack_bytes, worst_case=without + stack_bytes, estimated=False)
        if row.readonly or (name == level and row.constants and not read_only):
            row = replace(row, code=image.sizes.text_bytes, estimated=False)
        found[name] = row
    return found
