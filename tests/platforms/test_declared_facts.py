"""What a platform or a target declares is read: no level without bytes, no copy that nothing makes, no idle field."""

from __future__ import annotations

import ast
from dataclasses import fields
from functools import cache
from pathlib import Path

import pytest
import tilewright
from tilewright.platform import Allowance, Copy, Engine, MemoryLevel, Platform, TileCosts
from tilewright.platforms.generic.platform import __file__ as GENERIC
from tilewright.plugins import find_platforms, platform
from tilewright.target import Memory, StackRoom, Target
from tilewright.tiling.hierarchy import hierarchy


@pytest.mark.parametrize("name", [name for name in find_platforms() if "folder" in find_platforms().origin(name)])
def test_every_level_and_copy_of_a_platform_is_used(name: str) -> None:
    declared = platform(name)
    levels, copies = {declared.compute_in, declared.constants_in}, set[Copy]()
    levels |= {engine.memory for engine in declared.engines}
    if (found := hierarchy(declared)) is not None:
        levels |= {found.compute.name, found.home.name, found.rest.name}
        copies = {copy for copy in (found.load, found.store, found.load_constants, found.fetch) if copy is not None}
    assert [level.name for level in declared.memory if level.name not in levels] == []
    assert [f"{copy.source} to {copy.target}" for copy in declared.copies if copy not in copies] == []


@cache
def attributes_read() -> frozenset[str]:
    """Every attribute that our code reads, in Python and in templates; of what is read of `self` none."""
    found = set[str]()
    for folder in (Path(tilewright.__file__).parent, Path(str(GENERIC)).parents[1]):
        for file in folder.rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                    found.add(node.attr)
    return frozenset(found)


@pytest.mark.parametrize("kind", [Platform, MemoryLevel, Copy, Engine, TileCosts, Allowance, Target, Memory, StackRoom])
def test_every_declared_field_is_read(kind: type) -> None:
    assert [one.name for one in fields(kind) if one.name not in attributes_read()] == []
