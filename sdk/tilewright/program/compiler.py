"""Compiles a program of regions: freeze, constant, export, dead elimination, in this order."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tilewright.program.compiled import CompiledProgram
from tilewright.program.schema import CompileMode, Region, Schema

if TYPE_CHECKING:
    import torch

DEFAULT_EXPORTS = Path("tilewright_exports")


class ProgramCompiler:
    """Lowers a schema of regions to a `CompiledProgram`; the schema stays as it is, so compiling twice gives the same.

    `freeze`, `constant` and `export` each return the regions of that mode.
    """

    def __init__(self, program: Schema) -> None:
        self.program = program

    def freeze(self) -> tuple[Region, ...]:
        """Regions whose weights are fixed but that stay part of the network."""
        return self._of(CompileMode.FREEZE)

    def constant(self) -> tuple[Region, ...]:
        """Regions that become values."""
        return self._of(CompileMode.CONSTANT)

    def export(self) -> tuple[Region, ...]:
        """Regions whose state is kept outside."""
        return self._of(CompileMode.EXPORT)

    def _of(self, mode: CompileMode) -> tuple[Region, ...]:
        return tuple(region for region in self.program.regions if region.mode is mode)

    def compile(self, module: torch.nn.Module | None = None, export_dir: str | Path | None = None) -> CompiledProgram:
        """Run all passes; with a module they are carried out on it, its exports written into `export_dir`.

        The module maps region names to submodules in an attribute `regions`, or has an attribute of each region's name.
        UsageError for a region that it lacks: nothing is changed or written then. The default of `export_dir` is
        `tilewright_exports`.
        """
        frozen, constant, exported = self.freeze(), self.constant(), self.export()
        gone = {region.name for region in (*constant, *exported)}
        active = frozenset(name for name in self.program.names if name not in gone)
        reduced = self.program.reduced(active)
        buffers: Mapping[str, Any] = {}
        paths: Mapping[str, str] = {}
        if module is not None:
            from tilewright.program.modules import materialise

            buffers, paths = materialise(module, self.program, Path(export_dir or DEFAULT_EXPORTS))
        return CompiledProgram(
            schema=reduced,
            original=self.program,
            active_regions=active,
            frozen_regions=frozenset(region.name for region in frozen),
            constant_regions=frozenset(region.name for region in constant),
            exported_memories=frozenset(region.name for region in exported),
            active_connections=reduced.connections,
            constant_buffers=buffers,
            exported_paths=paths,
        )
