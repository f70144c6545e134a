"""Platforms, plug-ins and what the documents show import public names only; an inner module is named with its cure."""

from __future__ import annotations

import ast
import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from mako.template import Template
from tilewright.platform import Platform

ROOT = Path(__file__).parents[2]
PLATFORMS, PLUGINS = ROOT / "platforms", ROOT / "tests" / "plugins"
SKELETON = ROOT / "sdk" / "tilewright" / "skeleton"
FACES = ("tilewright.platform", "tilewright.numerics", "tilewright.operators", "tilewright.errors")
"""Modules whose `__all__` is what platforms may import, beside `tilewright.ops.index`."""
EMITTING = "tilewright.emitting"
OUTSIDE = {"numpy"}


def imports(source: str) -> Iterator[tuple[str, str]]:
    """Pairs (module, name) of all imports, those inside functions too; the name is empty for a whole module."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            yield from ((module, alias.name) for alias in node.names)


def own_modules(platform: str) -> tuple[str, ...]:
    """Modules of a platform of which others may import names."""
    return tuple(importlib.import_module(f"tilewright.platforms.{platform}").PUBLIC)


def emitters() -> set[str]:
    """Modules that platforms name as their emitter."""
    named = (importlib.import_module(f"tilewright.platforms.{p.parent.name}.platform") for p in PLATFORMS.glob("*/*.py")
             if p.name == "platform.py")  # fmt: skip
    return {found.PLATFORM.emitter for found in named if isinstance(found.PLATFORM, Platform)}


def offence(module: str, name: str, importer: str) -> str | None:
    """None, or why `importer`, the dotted path of a module of a platform or plug-in, must not import this."""
    top = module.split(".")[0]
    if top == importer.split(".")[0] != "tilewright" or top in sys.stdlib_module_names or top in OUTSIDE:
        return None
    if top != "tilewright":
        return f"{module} is no dependency of a platform"
    if name.startswith("_"):
        return f"{module}.{name} is private"
    if module.startswith("tilewright.platforms."):
        return _of_platforms(module, name, importer)
    if module in FACES or (module == EMITTING and importer in emitters()):
        known = importlib.import_module(module)
        return None if name in getattr(known, "__all__", vars(known)) else f"{module} does not publish {name or 'all'}"
    if module == EMITTING:
        return f"{EMITTING} is for emitters, and no platform names {importer} as its own"
    if module == "tilewright.ops.index" or module.startswith("tilewright.ops.index."):
        return None
    return f"{module} is an inner module; take {name or 'it'} from {', '.join(FACES)}, or publish it there"


def _of_platforms(module: str, name: str, importer: str) -> str | None:
    """Modules of one's own platform are free, those of others if listed as public."""
    _, _, platform, *inner = module.split(".")
    if importer.startswith(f"tilewright.platforms.{platform}."):
        return None
    if (PLATFORMS / platform / Path(*inner) / f"{name}.py").exists():
        inner.append(name)
    inside = ".".join(inner)
    listed = inside in own_modules(platform)
    return None if listed else f"platforms/{platform}/__init__.py does not list '{inside}' as PUBLIC"


def documents() -> Iterator[tuple[str, str]]:
    """Python that the documents show as files of a plug-in called acme."""
    for page in sorted((ROOT / "docs").glob("*.md")):
        for title, text in re.findall(r'^```python title="(acme/[^"]+)"\n(.*?)^```', page.read_text(), re.M | re.S):
            yield f"{title.removesuffix('.py').replace('/', '.')}", text


def modules() -> Iterator[tuple[str, str]]:
    """(dotted path, source) of all that is written as a platform is."""
    for path in sorted(PLATFORMS.rglob("*.py")):
        yield "tilewright.platforms." + ".".join(path.relative_to(PLATFORMS).with_suffix("").parts), path.read_text()
    for folder in (PLUGINS / "acme_rv32", PLUGINS / "faulty_kernels"):
        for path in sorted(folder.rglob("*.py")):
            yield ".".join(("acme_rv32", *path.relative_to(folder).with_suffix("").parts)), path.read_text()
    for path in (SKELETON / "kernel.py.mako", SKELETON / "platform.py.mako"):
        yield f"acme.{path.name.split('.')[0]}", str(Template(filename=str(path)).render(name="acme"))
    yield from documents()


def test_platforms_import_public_names_only() -> None:
    sources = dict(modules())
    assert {"tilewright.platforms.generic.kernels.conv_i8", "acme.kernels.hard_swish", "acme.kernel"} <= set(sources)
    found = [
        f"{importer}: {why}"
        for importer, source in sources.items()
        for module, name in imports(source)
        if (why := offence(module, name, importer))
    ]
    assert not found, "\n".join(found)


def test_names_without_a_leading_underscore_are_taken_from_other_modules() -> None:
    """`portable._axis` would go round the rule on imported names."""
    for importer, source in modules():
        tree = ast.parse(source)
        known = {alias.asname or alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
                 for alias in node.names}  # fmt: skip
        private = [f"{node.value.id}.{node.attr}" for node in ast.walk(tree)
                   if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in known
                   and node.attr.startswith("_") and not node.attr.startswith("__")]  # fmt: skip
        assert not private, f"{importer}: {', '.join(private)}"


def test_what_platforms_publish_is_there() -> None:
    for folder in sorted(PLATFORMS.glob("*/__init__.py")):
        for module in own_modules(folder.parent.name):
            assert (folder.parent / Path(*module.split("."))).with_suffix(".py").exists(), (folder, module)


@pytest.mark.parametrize(
    ("line", "importer", "why"),
    [
        ("from tilewright.codegen.c_types import C_TYPES", "acme.kernels.k", "codegen.c_types is an inner module"),
        ("import tilewright.ops.registry", "acme.kernels.k", "ops.registry is an inner module; take it from"),
        ("from tilewright.platform import inspect", "acme.kernels.k", "tilewright.platform does not publish inspect"),
        ("from tilewright.numerics import _number", "acme.kernels.k", "tilewright.numerics._number is private"),
        ("from tilewright.emitting import render", "acme.kernels.k", "no platform names acme.kernels.k as its own"),
        ("from tilewright.platforms.pulp.kernels import loops", "acme.kernels.k", "does not list 'kernels.loops'"),
        ("from tilewright.platforms.generic.kernels.top_k import TopK", "tilewright.platforms.pulp.kernels.k",
         "platforms/generic/__init__.py does not list 'kernels.top_k'"),
        ("def f():\n    import scipy", "acme.kernels.k", "scipy is no dependency of a platform"),
    ],
)  # fmt: skip
def test_a_planted_offence_is_named(line: str, importer: str, why: str) -> None:
    ((module, name),) = imports(line)
    assert why in str(offence(module, name, importer))


@pytest.mark.parametrize(
    ("line", "importer"),
    [
        ("from tilewright.ops.index.nest import Nest", "acme.kernels.k"),
        ("from tilewright.platforms.generic.kernels import conv_i8", "acme.kernels.k"),
        ("from tilewright.platforms.generic.platform import PLATFORM", "acme.platform"),
        ("from tilewright.platforms.generic.kernels.top_k import TopK", "tilewright.platforms.generic.kernels.k"),
        ("from tilewright.emitting import render", "tilewright.platforms.cuda.emit"),
        ("from acme.platform import PLATFORM", "acme.kernels.k"),
        ("import numpy as np", "acme.kernels.k"),
        ("from dataclasses import dataclass", "acme.kernels.k"),
    ],
)
def test_what_a_platform_needs_is_public(line: str, importer: str) -> None:
    ((module, name),) = imports(line)
    assert offence(module, name, importer) is None
