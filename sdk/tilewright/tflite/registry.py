"""All operators, found by walking the folder of families: every module's `OPERATORS` take part."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

import tilewright.tflite.families
from tilewright.tflite.file import FileOperator
from tilewright.tflite.writer import Writer

Family = Callable[[Writer, FileOperator], None]


@cache
def operators() -> Mapping[str, Family]:
    """What writes each operator, by its name in the schema, sorted."""
    every: dict[str, Family] = {}
    package = tilewright.tflite.families
    for name in sorted(info.name for info in iter_modules(package.__path__)):
        family: Mapping[str, Family] = getattr(import_module(f"{package.__name__}.{name}"), "OPERATORS", {})
        assert not every.keys() & family.keys(), (name, every.keys() & family.keys())
        every |= family
    return dict(sorted(every.items()))
