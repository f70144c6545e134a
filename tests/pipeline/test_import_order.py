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

import pytest
from tilewright import __file__ as START
from tilewright.platforms.generic import platform as GENERIC

ORDER = (
    # facts and values that all rooms share
    "version", "errors", "sizes", "ieee", "model", "layout", "arrays", "safetensors", "text", "options", "output",
    "pipeline", "sweep", "intervals", "distributions",
    # what operators mean; what platforms, simulators and targets declare
    "ops", "kernel", "kernel_check", "platform_facts", "platform", "plugins", "simulators", "targets", "target",
    # the stages, in the order of the flow
    "tflite", "frontend", "passes", "binding", "rows", "tiling", "plan", "memory", "schedule", "codegen", "numerics",
    "operators", "emitting", "platforms",
    # what is told of them, and where they run
    "report", "graphs", "run",
    # the flow itself, and what is built on it
    "program", "smaller_code", "compile", "board", "alike", "prefill", "bundle", "gradient", "fitting", "prove", "tune",
    "timing", "export", "project", "conformance", "backend", "skeleton", "deployer", "quantiser", "evidence",
    "__init__", "commands", "cli", "__main__",
)  # fmt: skip
"""Rooms, the lowest first."""

BY_NAME = ("import_module", "__import__")
"""Calls that import; what they are given as a value, not in letters, is found by its folder or published."""


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
def sources() -> Mapping[str, str]:
    """The text of every module."""
    return {module: file.read_text(encoding="utf-8") for module, file in modules()}


@cache
def imports_of(module: str, text: str) -> tuple[Import, ...]:
    """Every import of ours, wherever in a module it stands."""
    listed = list[Import]()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{module}:{node.lineno} imports by dots"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            called = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            names = [str(each.value) for each in node.args if called in BY_NAME and isinstance(each, ast.Constant)]
        else:
            continue
        ours = [name.split(".", 1)[1] for name in names if name.startswith("tilewright.")]
        listed += [Import(module, name, node.lineno) for name in ours]
    return tuple(listed)


def imports(texts: Mapping[str, str]) -> list[Import]:
    """Every import of ours in these modules."""
    return [each for module, text in texts.items() for each in imports_of(module, text)]


def upwards(texts: Mapping[str, str]) -> list[str]:
    """Imports that lead to a room further up."""
    height = {room: number for number, room in enumerate(ORDER)}
    return sorted(
        f"{each.module}:{each.line} imports {each.name}"
        for each in imports(texts)
        if height.get(room_of(each.name), -1) > height[room_of(each.module)]
    )


def circles(texts: Mapping[str, str]) -> list[str]:
    """Modules that need themselves, by way of others."""
    needs: dict[str, set[str]] = {module: set() for module in texts}
    for each in imports(texts):
        name = each.name if each.name in texts else each.name.rpartition(".")[0]
        if name in texts and name != each.module:
            needs[each.module].add(name)
    return sorted(module for module, others in needs.items() if module in reached(others, needs))


def reached(start: Collection[str], needs: Mapping[str, Collection[str]]) -> set[str]:
    """All that one comes to from there."""
    reachable, left = set[str](), list(start)
    while left:
        if (module := left.pop()) not in reachable:
            reachable.add(module)
            left += needs[module]
    return reachable


def test_every_room_has_its_place() -> None:
    rooms = {room_of(module) for module in sources()} | {"targets"}
    assert len(ORDER) == len(set(ORDER))
    assert set(ORDER) == rooms, "a new room wants a place in ORDER, one that is gone none"


def test_imports_lead_down() -> None:
    assert not upwards(sources()), "move what is needed to the lower room, or hand it in as a value"


def test_no_two_files_need_one_another() -> None:
    """Files that import one another cannot be read, tested or imported one at a time."""
    assert not circles(sources())


@pytest.mark.parametrize(
    "offence",
    [
        "import tilewright.compile",
        "from tilewright.compile import Compiled",
        "if TYPE_CHECKING:\n    from tilewright.compile import Compiled",
        "def late():\n    from tilewright import compile",
        "def late():\n    importlib.import_module('tilewright.compile')",
    ],
)
def test_an_import_that_leads_up_is_seen(offence: str) -> None:
    planted = {**sources(), "plan.plan": f"{sources()['plan.plan']}\n{offence}\n"}
    [line] = upwards(planted)
    assert line.startswith("plan.plan:")
    assert "imports compile" in line
    assert {"plan.plan", "compile"} <= set(circles(planted))


def test_files_of_one_room_that_need_one_another_are_seen() -> None:
    assert circles({"ops.a": "import tilewright.ops.b", "ops.b": "from tilewright.ops.a import A"}) == [
        "ops.a",
        "ops.b",
    ]
