"""Finds the allocators by their modules in this folder."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache

import tilewright.memory.allocators as folder
from tilewright.errors import UsageError
from tilewright.memory.allocators.allocator import Allocator


@cache
def allocators() -> Mapping[str, Allocator]:
    """All allocators by name, in the order of their names."""
    listed: dict[str, Allocator] = {}
    for module in sorted(entry.name for entry in pkgutil.iter_modules(folder.__path__)):
        allocator = getattr(importlib.import_module(f"{folder.__name__}.{module}"), "ALLOCATOR", None)
        if isinstance(allocator, Allocator):
            assert allocator.name not in listed, f"two allocators are named {allocator.name}"
            listed[allocator.name] = allocator
    return listed


def find(name: str) -> Allocator:
    """The allocator of that name; UsageError lists the names where there is none."""
    listed = allocators()
    if name not in listed:
        raise UsageError(f"there is no allocator '{name}'", fix=f"take one of {', '.join(listed)}")
    return listed[name]
