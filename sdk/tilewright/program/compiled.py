"""What compiling a program of regions gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tilewright.program.schema import CompileMode, Connection, Schema

PLACEMENTS: Mapping[CompileMode, str] = {
    CompileMode.RUNTIME: "RAM, updatable",
    CompileMode.FREEZE: "flash",
    CompileMode.CONSTANT: "folded",
    CompileMode.EXPORT: "blob beside the firmware",
}


@dataclass(frozen=True)
class CompiledProgram:
    """A program ready to deploy.

    `schema` holds the active regions only. `constant_buffers` maps "region/path.of.buffer" to its value,
    `exported_paths` a region to the file that its state was written to; both are filled where a module was given.
    """

    schema: Schema
    original: Schema
    active_regions: frozenset[str]
    frozen_regions: frozenset[str]
    constant_regions: frozenset[str]
    exported_memories: frozenset[str]
    active_connections: tuple[Connection, ...]
    constant_buffers: Mapping[str, Any] = field(default_factory=dict)
    exported_paths: Mapping[str, str] = field(default_factory=dict)

    @property
    def n_eliminated(self) -> int:
        """Regions that are no part of training any more."""
        return len(self.original.regions) - len(self.active_regions)

    def mode(self, region: str) -> CompileMode:
        """How a region is shipped; UsageError for one that is not there."""
        return self.original.region(region).mode

    def summary(self) -> str:
        """One line per region: its mode, where its weights go, whether it still trains."""
        lines = [
            f"{len(self.original.regions)} regions, {len(self.active_regions)} active, {self.n_eliminated} eliminated, "
            f"{len(self.active_connections)} of {len(self.original.connections)} connections"
        ]
        width = max((len(name) for name in self.original.names), default=0)
        for region in self.original.regions:
            state = "active" if region.name in self.active_regions else "eliminated"
            place = self.exported_paths.get(region.name, PLACEMENTS[region.mode])
            lines.append(f"  {region.name:{width}}  {region.mode.value:8}  {state:10}  {place}")
        return "\n".join(lines)
