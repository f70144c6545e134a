"""Reads one `target.toml`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from tilewright.simulators import is_known, known_simulators
from tilewright.target.fields import Fields
from tilewright.target.value import FILE, Memory, StackRoom, Target

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_KEYS = {
    "": {"name", "platform", "summary", "cpu", "capabilities", "memory", "build", "tools", "optional_tools",
         "libraries", "run", "stack", "timing"},
    "build": {"compilers", "cpu_flags", "compile_flags", "library_flags", "link_flags", "link_script", "startup",
              "whole_word_loads"},
    "run": {"simulator", "command", "plugin", "icount_shift", "systick_hz", "timeout_seconds"},
    "stack": {"size", "core", "level", "all", "slower_percent", "slower_cycles"},
    "timing": {"core", "flash_wait_states"},
}  # fmt: skip
_MEMORY_KEYS = {"address", "size", "most", "readonly"}


def read_target(folder: Path) -> Target:
    """Read `folder/target.toml`; PlatformError names the field that is wrong."""
    read = Fields(folder / FILE)
    table = read.read()
    read.only(table, _KEYS[""])
    name = read.text(table, "name", required=True)
    if not _NAME.fullmatch(name):
        raise read.wrong("name", f"'{name}' is no lower-case identifier")
    build, run, stack, timing = (_group(read, table, key) for key in ("build", "run", "stack", "timing"))
    return Target(
        name=name,
        platform=read.text(table, "platform", required=True),
        summary=read.text(table, "summary", required=True),
        folder=folder,
        cpu=read.text(table, "cpu"),
        capabilities=read.texts(table, "capabilities"),
        memories=_memories(read, read.table(table, "memory")),
        compilers=read.texts(build, "build.compilers"),
        cpu_flags=read.texts(build, "build.cpu_flags"),
        compile_flags=read.texts(build, "build.compile_flags"),
        library_flags=read.texts(build, "build.library_flags"),
        link_flags=read.texts(build, "build.link_flags"),
        link_script=read.text(build, "build.link_script"),
        startup=read.texts(build, "build.startup"),
        whole_word_loads=read.flag(build, "build.whole_word_loads"),
        tools=read.strings(read.table(table, "tools"), "tools"),
        optional_tools=read.strings(read.table(table, "optional_tools"), "optional_tools"),
        libraries=read.strings(read.table(table, "libraries"), "libraries"),
        simulator=_simulator(read, run),
        command=_command(read, run),
        plugin=read.flag(run, "run.plugin"),
        icount_shift=read.number(run, "run.icount_shift"),
        systick_hz=read.number(run, "run.systick_hz"),
        timeout_seconds=float(read.number(run, "run.timeout_seconds") or 60),
        stack_bytes=read.size(stack, "stack.size"),
        stacks=_stacks(read, stack),
        core=read.text(timing, "timing.core"),
        flash_wait_states=read.number(timing, "timing.flash_wait_states") or 0,
    )


def _group(read: Fields, table: Mapping[str, object], key: str) -> Mapping[str, object]:
    group = read.table(table, key)
    read.only(group, _KEYS[key], key)
    return group


def _simulator(read: Fields, run: Mapping[str, object]) -> str:
    simulator = read.text(run, "run.simulator") or "native"
    if not is_known(simulator):
        *first, last = (f"'{name}'" for name in known_simulators())
        raise read.wrong("run.simulator", f"'{simulator}' is none of {', '.join(first)} and {last}")
    return simulator


def _command(read: Fields, run: Mapping[str, object]) -> tuple[str, ...]:
    command = read.texts(run, "run.command") or ("{elf}",)
    if not any("{elf}" in word for word in command):
        raise read.wrong("run.command", "no word holds {elf}")
    return command


def _memories(read: Fields, table: Mapping[str, object]) -> dict[str, Memory]:
    memories: dict[str, Memory] = {}
    for level in table:
        key = f"memory.{level}"
        entry = read.table(table, level, key)
        read.only(entry, _MEMORY_KEYS, key)
        memories[level] = Memory(
            level,
            read.number(entry, f"{key}.address") or 0,
            read.size(entry, f"{key}.size"),
            read.flag(entry, f"{key}.readonly"),
            read.size(entry, f"{key}.most"),
        )
    for one in memories.values():
        for other in memories.values():
            if one.size and other.size and one is not other and one.address <= other.address < one.address + one.size:
                raise read.wrong(f"memory.{other.level}.address", f"it lies inside memory '{one.level}'")
    return memories


def _stacks(read: Fields, table: Mapping[str, object]) -> StackRoom:
    level, size = read.text(table, "stack.level"), read.size(table, "stack.all")
    if bool(level) != bool(size):
        raise read.wrong("stack.level", "it goes with stack.all, the bytes of all stacks in that level")
    percent, cycles = (read.number(table, f"stack.slower_{unit}") or 0 for unit in ("percent", "cycles"))
    own, core = (read.size(table, f"stack.{key}") or 0 for key in ("size", "core"))
    return StackRoom(own, level, size or 0, percent, cycles, core_bytes=core)
