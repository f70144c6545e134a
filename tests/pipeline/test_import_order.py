"""Which rooms of the package may know which: an import leads to a room further down, or stays in its own.

A room is a package or a module of `tilewright`. All imports count, also those inside functions and those for types
alone: an import inside of a function saves time at the start and hides no circle, and whoever names a type knows it.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tilewright import __file__ as START
from tilewright.platforms.generic import platform as GENERIC

ORDER = (
    # facts and values that all rooms share
    "version", "errors", "sizes", "ieee", "model", "layout", "arrays", "safetensors", "options", "output", "pipeline",
    "sweep", "intervals", "distributions",
    # what operators mean; what platforms, simulators and targets declare
    "ops", "kernel", "kernel_check", "platform_facts", "platform", "plugins", "simulators", "targets", "target",
    # the stages, in the order of the flow
    "frontend", "passes", "binding", "rows", "tiling", "plan", "memory", "schedule", "codegen", "numerics", "operators",
    "emitting", "platforms",
    # what is told of them, and where they run
    "report", "graphs", "run",
    # the flow itself, and what is built on it
    "program", "compile", "tune", "export", "project", "conformance", "skeleton", "deployer",
    "__init__", "commands", "cli", "__main__",
)  # fmt: skip
"""Rooms, the lowest first."""

UPWARDS: dict[tuple[str, str], str] = {
    ("kernel", "tiling"): "what a kernel is told of a tile names the operands of its schedule",
    ("binding.check", "rows"): "the checker of bound graphs looks into chains of rows",
    ("tiling.tile", "plan"): "what a tile may take depends on what is placed beside it",
    ("tiling.tile", "memory"): "what a tile may take depends on what is placed beside it",
    ("tiling.stacks", "memory"): "what a tile may take depends on what is placed beside it",
    ("program.deploy", "compile"): "regions change two steps of the pipeline",
}
"""Imports that lead up, by module and room, with the reason: none is to come, one that is gone is struck out."""


CIRCLES: dict[tuple[str, ...], str] = {
    ("codegen.functions", "codegen.tiled"): "the function of a layer may hold tiles, those of a tile call layers",
    ("compile", "program.deploy"): "regions change two steps of the pipeline",
    ("ops.operator", "ops.window"): "an operator says how its windows lie, and windows are read from its calls",
    ("frontend.shapes", "frontend.unroll"): "the nodes of a loop's turn are walked by the graph that found the loop",
}
"""Files that know one another, with the reason: none is to come, one that is gone is struck out."""


@dataclass(frozen=True)
class Import:
    """`module` of ours imports `name`, both without the package's own name."""

    module: str
    name: str
    line: int


def room_of(module: str) -> str:
    return module.split(".")[0]


def modules() -> Iterator[tuple[str, Path]]:
    """Every module of the package and of the platforms, without "tilewright." in front."""
    for folder, prefix in ((Path(START).parent, ()), (Path(str(GENERIC.__file__)).parents[1], ("platforms",))):
        for file in sorted(folder.rglob("*.py")):
            parts = (*prefix, *file.relative_to(folder).with_suffix("").parts)
            yield ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts), file


@cache
def imports() -> tuple[Import, ...]:
    """Every import of ours, wherever in a file it stands."""
    found = []
    for module, file in modules():
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert not node.level, f"{file}:{node.lineno} imports by dots"
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            else:
                continue
            ours = [name.split(".", 1)[1] for name in names if name.startswith("tilewright.")]
            found += [Import(module, name, node.lineno) for name in ours]
    return tuple(found)


def reached(start: Collection[str], needs: Mapping[str, Collection[str]]) -> set[str]:
    """All that one comes to from there."""
    found, left = set[str](), list(start)
    while left:
        if (module := left.pop()) not in found:
            found.add(module)
            left += needs[module]
    return found


def test_every_room_has_its_place() -> None:
    rooms = {room_of(module) for module, _ in modules()} | {"targets"}
    assert len(ORDER) == len(set(ORDER))
    assert set(ORDER) == rooms, "a new room wants a place in ORDER, one that is gone none"


def test_imports_lead_down() -> None:
    height = {room: number for number, room in enumerate(ORDER)}
    up = {
        (each.module, room_of(each.name)): f"{each.module}:{each.line} imports {each.name}"
        for each in imports()
        if room_of(each.name) in height and height[room_of(each.name)] > height[room_of(each.module)]
    }
    new = sorted(text for key, text in up.items() if key not in UPWARDS)
    assert not new, "these imports lead up; move what is needed to the lower room, or hand it in as a value"
    gone = sorted(UPWARDS.keys() - up.keys())
    assert not gone, "these no longer lead up; strike them out of UPWARDS"


def test_no_two_files_need_one_another() -> None:
    """Files that import one another cannot be read, tested or imported one at a time."""
    known = {module for module, _ in modules()}
    needs: dict[str, set[str]] = {module: set() for module in known}
    for each in imports():
        name = each.name if each.name in known else each.name.rpartition(".")[0]
        if name in known and name != each.module:
            needs[each.module].add(name)
    circle = {module for module, others in needs.items() if module in reached(others, needs)}
    assert circle == {module for circle in CIRCLES for module in circle}
