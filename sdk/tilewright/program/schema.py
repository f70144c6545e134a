"""Named regions of a network, the connections between them, and how each region is shipped.

As JSON, or as YAML where PyYAML is installed:

    {"regions": {"backbone": {"nodes": ["conv", "bn"], "family": "observation"},
                 "head": {"nodes": ["dense"], "compile_mode": "export"}},
     "connections": [["backbone", "head"]]}

A region's mode is its own `compile_mode`; else its family's; else `runtime`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from enum import Enum
from pathlib import Path
from typing import Any

from tilewright.errors import ToolMissing, UsageError


class CompileMode(Enum):
    """How a region is shipped; on a network: in RAM, in flash, as a folded value, as a blob beside the firmware."""

    RUNTIME = "runtime"
    FREEZE = "freeze"
    CONSTANT = "constant"
    EXPORT = "export"


FAMILY_MODES: Mapping[str, CompileMode] = {
    "observation": CompileMode.FREEZE,
    "residual": CompileMode.FREEZE,
    "action": CompileMode.FREEZE,
    "state": CompileMode.RUNTIME,
    "memory": CompileMode.EXPORT,
}
"""What a region of a family is where it does not say so itself."""


@dataclass(frozen=True)
class Region:
    """A named part of a network. `nodes` are prefixes of ONNX node names; empty for a module's own regions."""

    name: str
    family: str = ""
    compile_mode: CompileMode | None = None
    nodes: tuple[str, ...] = ()

    @property
    def mode(self) -> CompileMode:
        """The mode that holds."""
        return self.compile_mode or FAMILY_MODES.get(self.family, CompileMode.RUNTIME)


@dataclass(frozen=True)
class Connection:
    """Values flow from one region to another."""

    source: str
    target: str


@dataclass(frozen=True)
class Schema:
    """Regions in order and the connections between them; UsageError where a connection names no region."""

    regions: tuple[Region, ...]
    connections: tuple[Connection, ...] = ()
    origin: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        """Refuse names that are not there or there twice."""
        names = [region.name for region in self.regions]
        for name in names:
            if not name or names.count(name) > 1:
                raise UsageError(
                    f"region '{name}' is named {names.count(name)} times", why="a name stands for one region",
                    fix="rename one", file=self.origin,
                )  # fmt: skip
        for connection in self.connections:
            for name in (connection.source, connection.target):
                self.region(name)

    @property
    def names(self) -> tuple[str, ...]:
        """The regions' names."""
        return tuple(region.name for region in self.regions)

    def region(self, name: str) -> Region:
        """The region of that name; UsageError names the nearest one where there is none."""
        for region in self.regions:
            if region.name == name:
                return region
        near = get_close_matches(name, self.names, 1)
        known = ", ".join(self.names) or "none"
        raise UsageError(
            f"unknown region '{name}'", why=f"the regions are {known}",
            fix=f"did you mean '{near[0]}'?" if near else "name one of them", file=self.origin,
        )  # fmt: skip

    def reduced(self, active: Iterable[str]) -> Schema:
        """The active regions and what joins them; the schema itself where all are active."""
        remaining = set(active)
        if remaining >= set(self.names):
            return self
        return replace(
            self,
            regions=tuple(region for region in self.regions if region.name in remaining),
            connections=tuple(c for c in self.connections if {c.source, c.target} <= remaining),
        )


def schema_from(table: Mapping[str, Any], origin: str = "") -> Schema:
    """The schema that a table of names says; UsageError names what is not understood."""
    _only(table, ("regions", "connections"), "the file", origin)
    regions = table.get("regions")
    if not isinstance(regions, Mapping) or not regions:
        raise UsageError("no regions are named", why="'regions' is missing or not a table", file=origin)
    listed = table.get("connections", [])
    if not isinstance(listed, list) or not all(isinstance(c, list) and len(c) == 2 for c in listed):
        raise UsageError("'connections' is no list of pairs", fix='write [["from", "to"], ...]', file=origin)
    connections = tuple(Connection(str(c[0]), str(c[1])) for c in listed)
    return Schema(tuple(_region(str(n), entry, origin) for n, entry in regions.items()), connections, origin)


def _region(name: str, entry: object, origin: str) -> Region:
    if not isinstance(entry, Mapping):
        raise UsageError(f"region '{name}' is no table", fix='write {"nodes": ["prefix"]}', file=origin)
    _only(entry, ("family", "compile_mode", "nodes"), f"region '{name}'", origin)
    mode, nodes = entry.get("compile_mode"), entry.get("nodes", [])
    modes = [m.value for m in CompileMode]
    if mode is not None and mode not in modes:
        raise UsageError(f"region '{name}' has the mode '{mode}'", fix="choose " + ", ".join(modes), file=origin)
    if not isinstance(nodes, list) or not all(isinstance(n, str) and n for n in nodes):
        raise UsageError(f"'nodes' of region '{name}' is no list of prefixes of node names", file=origin)
    return Region(name, str(entry.get("family", "")), CompileMode(mode) if mode else None, tuple(nodes))


def _only(table: Mapping[str, Any], known: tuple[str, ...], where: str, origin: str) -> None:
    for key in table:
        if key not in known:
            raise UsageError(f"{where} has the key '{key}'", why=f"known are {', '.join(known)}", file=origin)


def read_schema(file: Path) -> Schema:
    """The schema in a JSON or YAML file; UsageError where it cannot be read, ToolMissing without PyYAML."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read '{file}'", why=str(error), file=str(file)) from None
    table = _yaml(text, file) if file.suffix in (".yaml", ".yml") else _json(text, file)
    if not isinstance(table, Mapping):
        raise UsageError(f"'{file}' holds no table", fix="see docs/regions.md", file=str(file))
    return schema_from(table, str(file))


def _json(text: str, file: Path) -> object:
    try:
        document: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"'{file}' is no JSON", why=str(error), file=str(file)) from None
    return document


def _yaml(text: str, file: Path) -> object:
    try:
        import yaml
    except ImportError:
        raise ToolMissing(
            "PyYAML is not installed", why=f"'{file}' is YAML", fix="install pyyaml, or write the file as JSON"
        ) from None
    try:
        document: object = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise UsageError(f"'{file}' is no YAML", why=str(error), file=str(file)) from None
    return document
