"""Chips and cores by the names that people know: data in `targets/chips`, and the simulated board that computes alike.

A chip is its core and its memories. Its target is that of a board here with the same core: code is built with the
chip's flags and planned for the chip's memories, and `run` starts it on that board, whose own memories lie elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from tilewright.target.fields import Fields
from tilewright.target.file import read_target
from tilewright.target.value import Memory, Target, targets_folder

CORES = "cores.toml"
_CORE_KEYS = frozenset({"summary", "boards", "cpu_flags", "capabilities", "timing"})
_CHIP_KEYS = frozenset({"part", "core", "also", "flash_wait_states", "source"})
_MEMORY_KEYS = frozenset({"address", "size"})


@dataclass(frozen=True)
class Core:
    """A processor core. `boards` are those here that compute like it; None stands for what the board says itself."""

    name: str
    summary: str
    boards: tuple[str, ...]
    cpu_flags: tuple[str, ...] | None = None
    capabilities: tuple[str, ...] | None = None
    timing: str | None = None


@dataclass(frozen=True)
class Chip:
    """A chip: its core and its memories, with the addresses that they have in silicon, by level.

    `also` names memories that no level stands for; `flash_wait_states` are those at the highest clock; `source` says
    where all this is published.
    """

    name: str
    part: str
    core: str
    memories: Mapping[str, Memory]
    source: str
    also: str = ""
    flash_wait_states: int = 0


def chips_folder() -> Path:
    """The folder of the tables."""
    return targets_folder() / "chips"


@cache
def known_cores() -> Mapping[str, Core]:
    """Every core by its name; PlatformError where the table is ill-formed."""
    read = Fields(chips_folder() / CORES)
    table = read.read()
    return {name: _core(read, read.table(table, name), name) for name in table}


@cache
def known_chips() -> Mapping[str, Chip]:
    """Every chip by its name; PlatformError where a table is ill-formed, or a chip names a core that is not known."""
    chips: dict[str, Chip] = {}
    for path in sorted(chips_folder().glob("*.toml")):
        if path.name == CORES:
            continue
        read = Fields(path)
        table = read.read()
        for name in table:
            if name in chips or name in known_cores():
                raise read.wrong(name, "it is described twice")
            chips[name] = _chip(read, read.table(table, name), name)
    return chips


def chip_target(name: str) -> Target:
    """The target of a chip or of a core alone; KeyError for another name."""
    chip = known_chips().get(name)
    core = known_cores()[chip.core if chip is not None else name]
    if chip is None:
        return _of_core(core, name, core.summary, read_target(targets_folder() / core.boards[-1]))
    boards = [read_target(targets_folder() / board) for board in core.boards]
    board = next((board for board in boards if _holds(board, chip)), boards[-1])
    summary = f"{chip.part}: {core.summary}"
    memories = {level: _placed(memory, board.memories[level]) for level, memory in chip.memories.items()}
    rest = {level: memory for level, memory in board.memories.items() if level not in memories and memory.readonly}
    return replace(
        _of_core(core, name, summary, board), memories=memories | rest, flash_wait_states=chip.flash_wait_states,
        stack_bytes=_stack_bytes(board, chip),
    )  # fmt: skip


def _of_core(core: Core, name: str, summary: str, board: Target) -> Target:
    return replace(
        board, name=name, summary=summary, cpu=core.summary, simulated_by=board.name,
        cpu_flags=board.cpu_flags if core.cpu_flags is None else core.cpu_flags,
        capabilities=board.capabilities if core.capabilities is None else core.capabilities,
        core=board.core if core.timing is None else core.timing,
    )  # fmt: skip


def _holds(board: Target, chip: Chip) -> bool:
    return all((board.memories[level].size or 0) >= (memory.size or 0) for level, memory in chip.memories.items())


def _placed(memory: Memory, on_board: Memory) -> Memory:
    """A chip's memory where the board has it; `most` is what the board holds, where that is less."""
    holds, size = max(on_board.size or 0, on_board.most or 0), memory.size or 0
    most = holds if holds < size else None
    return replace(memory, address=on_board.address, readonly=on_board.readonly, most=most)


def _stack_bytes(board: Target, chip: Chip) -> int | None:
    """An eighth of a small RAM, at most what the board sets aside."""
    ram = chip.memories.get("ram")
    if ram is None or not ram.size or not board.stack_bytes:
        return board.stack_bytes
    return min(board.stack_bytes, ram.size // 8)


def _core(read: Fields, table: Mapping[str, object], name: str) -> Core:
    read.only(table, _CORE_KEYS, name)
    return Core(
        name,
        read.text(table, f"{name}.summary", required=True),
        read.texts(table, f"{name}.boards"),
        read.texts(table, f"{name}.cpu_flags") if "cpu_flags" in table else None,
        read.texts(table, f"{name}.capabilities") if "capabilities" in table else None,
        read.text(table, f"{name}.timing") if "timing" in table else None,
    )


def _chip(read: Fields, table: Mapping[str, object], name: str) -> Chip:
    core = read.text(table, f"{name}.core", required=True)
    if core not in known_cores():
        raise read.wrong(f"{name}.core", f"'{core}' is none of {', '.join(known_cores())}")
    levels = read_target(targets_folder() / known_cores()[core].boards[0]).memories
    read.only(table, _CHIP_KEYS | set(levels), name)
    memories = {}
    for level in levels:
        entry = read.table(table, level, f"{name}.{level}")
        read.only(entry, _MEMORY_KEYS, f"{name}.{level}")
        size = read.size(entry, f"{name}.{level}.size")
        if entry and not size:
            raise read.wrong(f"{name}.{level}.size", "it is missing")
        if entry:
            memories[level] = Memory(level, read.number(entry, f"{name}.{level}.address") or 0, size)
    return Chip(
        name,
        read.text(table, f"{name}.part", required=True),
        core,
        memories,
        read.text(table, f"{name}.source", required=True),
        read.text(table, f"{name}.also"),
        read.number(table, f"{name}.flash_wait_states") or 0,
    )
