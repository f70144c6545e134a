"""Imports modules one by one, each as the first of its own interpreter; prints those that cannot be, and why.

    python import_each.py PACKAGE=FOLDER ...

An import of a module fails for its place in the order only where modules import each other in a circle, so all are
imported once, in one process, while it is noted which module imports which. Each member of a circle is then imported
in a process of its own, forked before the first import. Whatever lies outside comes to a circle through one of them.
"""

from __future__ import annotations

import builtins
import importlib
import os
import sys
from collections.abc import Callable, Iterable
from importlib.util import resolve_name
from pathlib import Path
from typing import Any


def modules(package: str, folder: Path) -> list[str]:
    """Every module below the folder of a package, by its full name; programs, which run when imported, left out."""
    files = [file for file in sorted(folder.rglob("*.py")) if file.stem != "__main__"]
    parts = [file.relative_to(folder).with_suffix("").parts for file in files]
    return [".".join((package, *(part[:-1] if part[-1] == "__init__" else part))) for part in parts]


def in_child(work: Callable[[], object]) -> str:
    """What a forked process that does the work printed of it."""
    reading, writing = os.pipe()
    if not (child := os.fork()):
        os.close(reading)
        try:
            text = str(work() or "")
        except BaseException as error:
            text = f"{type(error).__name__}: {error}"
        with os.fdopen(writing, "w") as stream:
            stream.write(text)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as stream:
        text = stream.read()
    os.waitpid(child, 0)
    return text


def edges(names: Iterable[str]) -> dict[str, set[str]]:
    """Import all; by module, what it imports while it is itself imported, parent packages among them."""
    found: dict[str, set[str]] = {}
    plain, dynamic = builtins.__import__, importlib.import_module

    def note(*imported: str) -> None:
        """What the innermost module imports whose body runs: a function may be called by another than its own."""
        frame = sys._getframe(2)
        while frame.f_code.co_name != "<module>":
            if frame.f_back is None:
                return
            frame = frame.f_back
        for name in imported:
            parts = name.split(".")
            found.setdefault(frame.f_globals["__name__"], set()).update(
                ".".join(parts[:end]) for end in range(1, len(parts) + 1)
            )

    def traced(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        full = resolve_name("." * level + name, (globals or {}).get("__package__") or "") if level else name
        note(full, *(f"{full}.{member}" for member in fromlist or ()))
        return plain(name, globals, locals, fromlist, level)

    def imported(name: str, package: str | None = None) -> Any:
        note(resolve_name(name, package))
        return dynamic(name, package)

    builtins.__import__, importlib.import_module = traced, imported
    try:
        for name in names:
            dynamic(name)
    finally:
        builtins.__import__, importlib.import_module = plain, dynamic
    return found


def in_circles(names: Iterable[str]) -> str:
    """The modules that come back to themselves along imports, one a line."""
    known = sorted(set(names))
    graph = {name: targets & set(known) for name, targets in edges(known).items()}
    circular = []
    for start in known:
        reached, waiting = set[str](), list(graph.get(start, ()))
        while waiting:
            if (name := waiting.pop()) not in reached:
                reached.add(name)
                waiting += graph.get(name, ())
        if start in reached:
            circular.append(start)
    return "\n".join(circular)


def failures(names: list[str]) -> list[str]:
    """A line for every module that cannot be imported first; one line where they cannot even be in order."""
    circular = in_child(lambda: in_circles(names)).splitlines()
    if not set(circular) <= set(names):
        return circular

    def first(name: str) -> str:
        return in_child(lambda: importlib.import_module(name) and None)

    return [f"{name}: {error}" for name in circular if (error := first(name))]


if __name__ == "__main__":
    folders = dict(argument.split("=", 1) for argument in sys.argv[1:])
    sys.stdout.write("\n".join(failures([n for p, folder in folders.items() for n in modules(p, Path(folder))])))
