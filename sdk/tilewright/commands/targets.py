"""The targets that are installed, and which tool is missing to build for them and to run them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tilewright.commands.answer import Answer

if TYPE_CHECKING:
    from tilewright.report.codec import Json

SUMMARY = "the targets that are installed, and which tool is missing for them"
SCHEMA = "tilewright/targets/1"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Nothing but what every verb takes."""


def execute(arguments: argparse.Namespace) -> Answer:
    """One row per target; a missing tool stands with the Debian package that brings it."""
    from tilewright.report.text import table
    from tilewright.target import all_targets, missing_tools

    rows: list[list[str]] = []
    plain: list[Json] = []
    for target in all_targets():
        missing = missing_tools(target)
        sizes = [f"{memory.level}={_short(memory.size)}" for memory in target.memories.values()]
        lacking = ", ".join(f"{tool} (package {package})" for tool, package in missing)
        rows.append(
            [
                target.name,
                target.platform,
                " ".join(sizes),
                target.summary,
                f"missing: {lacking}" if missing else "ready",
            ]
        )
        plain.append(
            {
                "name": target.name,
                "platform": target.platform,
                "summary": target.summary,
                "memory": {memory.level: memory.size for memory in target.memories.values()},
                "missing": [{"tool": tool, "package": package} for tool, package in missing],
            }
        )
    return Answer(table(["target", "platform", "memory", "summary", "tools"], rows), {"schema": SCHEMA, "rows": plain})


def _short(size: int | None) -> str:
    if size is None:
        return "any"
    for unit, factor in (("M", 1 << 20), ("K", 1 << 10)):
        if size and size % factor == 0:
            return f"{size // factor}{unit}"
    return str(size)
