"""Start a compiler or a simulator: no shell, a fixed locale, a missing program named by its package."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tilewright.errors import ToolMissing, UsageError
from tilewright.target import Target, missing_tools

_NO_ROOM = ("No space left on device", "Disk quota exceeded", "File size limit exceeded", "File too large")


@dataclass(frozen=True)
class Finished:
    """A program that ended. `code` is negative for a signal and None where the time ran out."""

    code: int | None
    output: str
    errors: str


def find_tool(name: str, package: str) -> str:
    """Path of a program; ToolMissing names the Debian package that brings it, or where it is published."""
    path = shutil.which(name)
    if path is None:
        raise ToolMissing(
            f"{name} is not installed",
            why="building or running for this target needs it",
            fix=how_to_get([package or name]),
        )
    return path


def require_tools(target: Target) -> None:
    """ToolMissing names every program that the target needs and that is not installed, with all packages at once.

    Of compilers that may stand for each other the first is named.
    """
    absent = [(t, p) for t, p in missing_tools(target) if t not in target.compilers[1:]]
    if not absent:
        return
    tools, packages = ([pair[side] for pair in absent] for side in (0, 1))
    raise ToolMissing(
        f"{' and '.join(tools)} {'is' if len(tools) == 1 else 'are'} not installed",
        why=f"building or running needs {'it' if len(tools) == 1 else 'them'} for target '{target.name}'",
        fix=how_to_get(packages),
    )


def how_to_get(packages: Sequence[str]) -> str:
    """What to install: Debian packages by name, and the addresses at which other tools are published."""
    named = [f"'{name}'" for name in packages if "://" not in name]
    install = [f"install the Debian package{'s' * (len(named) > 1)} " + " and ".join(named)] if named else []
    return "; ".join([*install, *(f"it is published at {name}" for name in packages if "://" in name)])


def start(
    command: Sequence[str], folder: Path, *, timeout: float = 120.0, environment: Mapping[str, str] | None = None
) -> Finished:
    """Run a program in `folder` for at most `timeout` seconds; UsageError where it finds no room to write."""
    variables = {**os.environ, "LC_ALL": "C", **(environment or {})}
    try:
        done = subprocess.run(
            list(command),
            cwd=folder,
            env=variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        return Finished(None, _text(error.stdout), _text(error.stderr))
    finished = Finished(done.returncode, _text(done.stdout), _text(done.stderr))
    if finished.code != 0 and (reason := next((words for words in _NO_ROOM if words in finished.errors), None)):
        raise UsageError(
            f"{Path(command[0]).name} cannot write its files",
            why=reason,
            fix="make room on the disk, or let TMPDIR name a place on another one",
        )
    return finished


def _text(raw: bytes | None) -> str:
    """Output as text whatever bytes it holds."""
    return (raw or b"").decode("utf-8", errors="replace")
