"""Boards and simulators with the tools that are missing for them, cores and chips, and which chips hold a network."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tilewright.commands.answer import Answer
from tilewright.commands.common import path
from tilewright.commands.streams import terminal_width

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tilewright.report.codec import Json
    from tilewright.target import Chip, Memory, Target

SUMMARY = "boards, chips and cores; which tool is missing for them, and which chips hold a network"
SCHEMA = "tilewright/targets/1"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The network whose chips are asked for."""
    parser.add_argument("--fits", metavar="MODEL", type=path, help="list the chips by what this network leaves of them")


def execute(arguments: argparse.Namespace) -> Answer:
    """Boards, then cores, then chips; with `--fits` the chips alone, those that hold the network first."""
    return _listed() if arguments.fits is None else _fits(arguments.fits)


def _listed() -> Answer:
    """One row per board; a missing tool stands with the Debian package that brings it. Then cores and chips."""
    from tilewright.report.text import table
    from tilewright.target import all_targets, known_cores, missing_tools

    rows: list[list[str]] = []
    plain: list[Json] = []
    for target in all_targets():
        missing = missing_tools(target)
        lacking = ", ".join(f"{tool} (package {package})" for tool, package in missing)
        rows.append(
            [target.name, target.platform, _sizes(target.memories), target.summary,
             f"missing: {lacking}" if missing else "ready"]
        )  # fmt: skip
        plain.append(
            {
                "name": target.name,
                "platform": target.platform,
                "summary": target.summary,
                "memory": {memory.level: memory.size for memory in target.memories.values()},
                "missing": [{"tool": tool, "package": package} for tool, package in missing],
            }
        )
    cores = [[core.name, core.boards[-1], core.summary] for core in known_cores().values()]
    chips = [[chip.name, chip.core, _sizes(chip.memories), chip.part] for chip in _chips()]
    text = table(["target", "platform", "memory", "summary", "tools"], rows, width=terminal_width())
    text += "\n\n" + table(["core", "simulated by", "summary"], cores, width=terminal_width())
    text += "\n\n" + table(["chip", "core", "memory", "part"], chips, width=terminal_width())
    text += "\n'tilewright targets --fits MODEL' says which chips hold a network"
    return Answer(text, {"schema": SCHEMA, "rows": plain, "chips": [_plain(chip) for chip in _chips()]})


def _chips() -> list[Chip]:
    from tilewright.target import known_chips

    return [known_chips()[name] for name in sorted(known_chips())]


def _plain(chip: Chip) -> dict[str, Json]:
    memories: dict[str, Json] = {
        level: {"address": memory.address, "size": memory.size} for level, memory in chip.memories.items()
    }
    return {
        "name": chip.name, "part": chip.part, "core": chip.core, "memory": memories, "also": chip.also,
        "flash_wait_states": chip.flash_wait_states, "source": chip.source,
    }  # fmt: skip


def _fits(model: Path) -> Answer:
    """The chips by what the network leaves of their memory for data, least first; then those that it does not fit."""
    from tilewright.report.text import ESTIMATED, UNKNOWN, number, table
    from tilewright.target import load_target

    answered: dict[str, Mapping[str, int]] = {}
    rows: list[tuple[bool, int, list[str], dict[str, Json]]] = []
    for chip in _chips():
        needs = _needs(model, load_target(chip.name), answered)
        left = {level: (memory.size or 0) - needs.get(level, 0) for level, memory in chip.memories.items()}
        fits = all(size >= 0 for size in left.values())
        data = min(size for level, size in left.items() if level != "flash")
        over = ", ".join(f"{number(size)} B of {level}" for level, size in left.items() if size >= 0)
        lacks = ", ".join(f"{number(-size)} B of {level}" for level, size in left.items() if size < 0)
        cells = [chip.name, chip.core, _sizes(chip.memories), over or UNKNOWN, lacks or "fits"]
        rows.append((not fits, data if fits else -data, cells, {"chip": chip.name, "fits": fits, "left": dict(left)}))
    rows.sort(key=lambda row: row[:2])
    text = table(
        ["chip", "core", "memory", "left over", "lacks"], [cells for _, _, cells, _ in rows], width=terminal_width()
    )
    text += f"\n{ESTIMATED}"
    return Answer(text, {"schema": SCHEMA, "rows": [plain for *_, plain in rows]})


def _needs(model: Path, target: Target, answered: dict[str, Mapping[str, int]]) -> Mapping[str, int]:
    """Bytes that the network needs of each level, estimates in them.

    They are the same for all chips of a core whose memory is one level and flash: only tiles follow the sizes.
    """
    from tilewright.commands.check import row
    from tilewright.commands.sweeping import Question
    from tilewright.errors import DoesNotFit
    from tilewright.options import CompileOptions

    key = target.cpu if set(target.memories) >= {"ram", "flash"} else target.name
    if key not in answered:
        done = row(Question(model, target.name, CompileOptions()))
        if done.report is not None:
            answered[key] = {level: each.total for level, each in done.report.memory.items()}
        elif isinstance(done.error, DoesNotFit):
            answered[key] = done.error.smallest
        else:
            assert done.error is not None
            raise done.error
    return answered[key]


def _sizes(memories: Mapping[str, Memory]) -> str:
    return " ".join(f"{memory.level}={_short(memory.size)}" for memory in memories.values())


def _short(size: int | None) -> str:
    if size is None:
        return "any"
    for unit, factor in (("M", 1 << 20), ("K", 1 << 10)):
        if size and size % factor == 0:
            return f"{size // factor}{unit}"
    return str(size)
