"""The platforms that are installed: where they come from, what they hold, and what is missing or broken."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tilewright.commands.answer import Answer
from tilewright.commands.streams import terminal_width
from tilewright.errors import PlatformError

if TYPE_CHECKING:
    from tilewright.plugins import Platforms
    from tilewright.report.codec import Json

SUMMARY = "the platforms that are installed, and which tool is missing for them"
SCHEMA = "tilewright/platforms/1"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Nothing but what every verb takes."""


def execute(arguments: argparse.Namespace) -> Answer:
    """One row per platform; a broken one stands there with its reason."""
    from tilewright.plugins import find_platforms
    from tilewright.report.text import table
    from tilewright.target import all_targets, missing_tools

    platforms = find_platforms()
    targets = all_targets()
    rows: list[list[str]] = []
    plain: list[Json] = []
    for name in platforms:
        mine = [target for target in targets if target.platform == name]
        ready = [target.name for target in mine if not missing_tools(target)]
        entry = _entry(platforms, name) | {"targets": [target.name for target in mine], "ready": list(ready)}
        plain.append(entry)
        status = f"runs on {', '.join(ready)}" if ready else _lacking(len(mine))
        rows.append(
            [
                name,
                platforms.origin(name),
                str(entry["kernels"] or "-"),
                str(entry["summary"]),
                str(entry["error"] or status),
            ]
        )
    return Answer(
        table(["platform", "from", "kernels", "summary", "status"], rows, right=[2], width=terminal_width()),
        {"schema": SCHEMA, "rows": plain},
    )


def _entry(platforms: Platforms, name: str) -> dict[str, Json]:
    from tilewright.plugins import kernels_of

    entry: dict[str, Json] = {
        "name": name, "from": platforms.origin(name), "summary": "", "kernels": None, "levels": [], "error": None
    }  # fmt: skip
    try:
        platform = platforms[name]
        entry |= {"summary": platform.summary, "levels": [level.name for level in platform.memory]}
        entry["kernels"] = len(kernels_of(platform, platforms))
    except PlatformError as error:
        entry["error"] = str(error)
    return entry


def _lacking(targets: int) -> str:
    return "compiles; no tool to run it, see 'tilewright targets'" if targets else "compiles; no target of it"
