"""Targets: one board or simulator each, described by a folder with a `target.toml`, a link script and a start-up file.

A target is data only. `load_target` takes the name of a folder of `tilewright.targets` or a path to such a folder
anywhere, so a user adds a board by writing one. Files that a target names lie in its own folder or, shared between
boards of one family, in `targets/start`.
"""

from __future__ import annotations

import re
import shutil
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

from tilewright.errors import PlatformError, UsageError
from tilewright.platform import MemoryLevel
from tilewright.simulators import is_known, known_simulators
from tilewright.sizes import parse_size

FILE = "target.toml"
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_KEYS = {
    "": {"name", "platform", "summary", "cpu", "capabilities", "memory", "build", "tools", "optional_tools",
         "libraries", "run", "stack", "timing"},
    "memory": {"address", "size", "most", "readonly"},
    "build": {"compilers", "cpu_flags", "compile_flags", "library_flags", "link_flags", "link_script", "startup",
              "whole_word_loads"},
    "run": {"simulator", "command", "plugin", "icount_shift", "systick_hz", "timeout_seconds"},
    "stack": {"size", "level", "all", "slower_percent", "slower_cycles"},
    "timing": {"core", "flash_wait_states"},
}  # fmt: skip


@dataclass(frozen=True)
class Memory:
    """One memory of a target: first address and size in bytes; `size` is None where the host sets no limit.

    A simulator that has more than the declared size says how much as `most`: `--set` may ask for it.
    """

    level: str
    address: int = 0
    size: int | None = None
    readonly: bool = False
    most: int | None = None


@dataclass(frozen=True)
class StackRoom:
    """Bytes of the program's stack, and of all stacks where they lie together in `level` ("": never).

    `slower_percent` and `slower_cycles` of each tile are by how much kernels are slower where the stacks lie elsewhere.
    """

    own_bytes: int = 0
    level: str = ""
    all_bytes: int = 0
    slower_percent: int = 0
    slower_cycles: int = 0


@dataclass(frozen=True)
class Target:
    """A target as its `target.toml` declares it; sizes in bytes. `folder` holds its files.

    `simulator` names what runs the image: `native` (a program of this machine), `qemu`, `gvsoc`, `cuda` (a library that
    this process loads), `none` (the board is only compiled for), or one of another distribution; `{elf}` in `command`
    stands for the image. `tools` maps every program that is needed to the Debian package that brings it, or to the
    address where it is published; of `compilers`, in order of preference, one is enough; `libraries` does the same for
    files that the compiler reads. `library_flags` name the C library of the test image: it is the simulator's, not the
    generated project's. `whole_word_loads` says that the compiler copies the last bytes of small aligned blocks by
    loading the aligned word that they lie in. `plugin` says that the simulator takes our QEMU plugin. Without it
    instructions are counted by the core's own counter under `-icount shift=icount_shift`: RISC-V counts them itself, a
    Cortex-M by its SysTick of `systick_hz`. `core` names the table of cycles in `run/cores`; `flash_wait_states` is
    what an access that the flash's prefetch does not foresee costs there: a load, or a taken branch.
    """

    name: str
    platform: str
    summary: str
    folder: Path
    cpu: str = ""
    capabilities: tuple[str, ...] = ()
    memories: Mapping[str, Memory] = field(default_factory=dict)
    compilers: tuple[str, ...] = ()
    cpu_flags: tuple[str, ...] = ()
    compile_flags: tuple[str, ...] = ()
    library_flags: tuple[str, ...] = ()
    link_flags: tuple[str, ...] = ()
    link_script: str = ""
    startup: tuple[str, ...] = ()
    whole_word_loads: bool = False
    tools: Mapping[str, str] = field(default_factory=dict)
    optional_tools: Mapping[str, str] = field(default_factory=dict)
    libraries: Mapping[str, str] = field(default_factory=dict)
    simulator: str = "native"
    command: tuple[str, ...] = ("{elf}",)
    plugin: bool = False
    icount_shift: int | None = None
    systick_hz: int | None = None
    timeout_seconds: float = 60.0
    stack_bytes: int | None = None
    stacks: StackRoom = StackRoom()
    core: str = ""
    flash_wait_states: int = 0

    @property
    def flags(self) -> tuple[str, ...]:
        """Every flag that a translation unit is compiled with: those of the core, then those of the optimiser."""
        return self.cpu_flags + self.compile_flags

    def file(self, name: str) -> Path:
        """A file that the target names: in its own folder, else among the shared start-up files; PlatformError."""
        for folder in (self.folder, targets_folder() / "start"):
            if (folder / name).is_file():
                return folder / name
        raise PlatformError(
            f"target '{self.name}' names the file '{name}'",
            why="it lies neither in the target's folder nor in targets/start",
            fix="write the file or correct the name in target.toml",
            file=str(self.folder / FILE),
        )


def targets_folder() -> Path:
    """The folder of the targets that ship with the package."""
    import tilewright.targets

    return Path(next(iter(tilewright.targets.__path__)))


def known_targets() -> tuple[str, ...]:
    """Names of the targets that ship with the package, sorted."""
    return tuple(sorted(path.parent.name for path in targets_folder().glob(f"*/{FILE}")))


def all_targets() -> tuple[Target, ...]:
    """Every target that ships with the package, by name."""
    return tuple(load_target(name) for name in known_targets())


def load_target(name_or_path: str | Path) -> Target:
    """Read a target by name, or from a folder given by its path. UsageError if unknown, PlatformError if ill-formed."""
    text = str(name_or_path)
    if isinstance(name_or_path, str) and text in known_targets():
        return read_target(targets_folder() / text)
    folder = Path(name_or_path)
    if (folder / FILE).is_file():
        return read_target(folder.resolve())
    if isinstance(name_or_path, Path) or "/" in text:
        raise UsageError(f"no target in '{text}'", why=f"the folder holds no {FILE}", file=text)
    raise UsageError(
        f"unknown target '{text}'",
        why="known are " + ", ".join(known_targets()),
        fix=f"name one of them or give the path of a folder with a {FILE}",
    )


def read_target(folder: Path) -> Target:
    """Read `folder/target.toml`; PlatformError names the field that is wrong."""
    path = folder / FILE
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PlatformError(f"{path} is not valid TOML", why=str(error), file=str(path)) from error
    return _Reader(path).target(table)


def missing_tools(target: Target) -> tuple[tuple[str, str], ...]:
    """Programs that the target needs and that are not installed, each with the Debian package that brings it."""
    absent = [(tool, package) for tool, package in target.tools.items() if shutil.which(tool) is None]
    compilers = [tool for tool in target.compilers if shutil.which(tool) is not None]
    if compilers:
        absent = [(tool, package) for tool, package in absent if tool not in target.compilers]
    return tuple(absent)


class _Reader:
    """Checks and converts the fields of one target.toml; every refusal names the file and the field."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def target(self, table: Mapping[str, object]) -> Target:
        self.known("", table)
        name = self.text(table, "name", required=True)
        if not _NAME.fullmatch(name):
            raise self.wrong("name", f"'{name}' is no lower-case identifier")
        build, run, stack, timing = (self.table(table, key) for key in ("build", "run", "stack", "timing"))
        simulator = self.text(run, "run.simulator") or "native"
        if not is_known(simulator):
            *first, last = (f"'{name}'" for name in known_simulators())
            raise self.wrong("run.simulator", f"'{simulator}' is none of {', '.join(first)} and {last}")
        command = self.texts(run, "run.command") or ("{elf}",)
        if not any("{elf}" in word for word in command):
            raise self.wrong("run.command", "no word holds {elf}")
        return Target(
            name=name,
            platform=self.text(table, "platform", required=True),
            summary=self.text(table, "summary", required=True),
            folder=self.path.parent,
            cpu=self.text(table, "cpu"),
            capabilities=self.texts(table, "capabilities"),
            memories=self.memories(self.table(table, "memory")),
            compilers=self.texts(build, "build.compilers"),
            cpu_flags=self.texts(build, "build.cpu_flags"),
            compile_flags=self.texts(build, "build.compile_flags"),
            library_flags=self.texts(build, "build.library_flags"),
            link_flags=self.texts(build, "build.link_flags"),
            link_script=self.text(build, "build.link_script"),
            startup=self.texts(build, "build.startup"),
            whole_word_loads=self.flag(build, "build.whole_word_loads"),
            tools=self.strings(self.table(table, "tools"), "tools"),
            optional_tools=self.strings(self.table(table, "optional_tools"), "optional_tools"),
            libraries=self.strings(self.table(table, "libraries"), "libraries"),
            simulator=simulator,
            command=command,
            plugin=self.flag(run, "run.plugin"),
            icount_shift=self.number(run, "run.icount_shift"),
            systick_hz=self.number(run, "run.systick_hz"),
            timeout_seconds=float(self.number(run, "run.timeout_seconds") or 60),
            stack_bytes=self.size(stack, "stack.size"),
            stacks=self.stacks(stack),
            core=self.text(timing, "timing.core"),
            flash_wait_states=self.number(timing, "timing.flash_wait_states") or 0,
        )

    def memories(self, table: Mapping[str, object]) -> dict[str, Memory]:
        found: dict[str, Memory] = {}
        for level in table:
            entry = self.table(table, level, f"memory.{level}")
            self.known("memory", entry, f"memory.{level}")
            found[level] = Memory(
                level,
                self.number(entry, f"memory.{level}.address") or 0,
                self.size(entry, f"memory.{level}.size"),
                self.flag(entry, f"memory.{level}.readonly"),
                self.size(entry, f"memory.{level}.most"),
            )
        for one in found.values():
            for other in found.values():
                if (
                    one.size
                    and other.size
                    and one is not other
                    and one.address <= other.address < one.address + one.size
                ):
                    raise self.wrong(f"memory.{other.level}.address", f"it lies inside memory '{one.level}'")
        return found

    def stacks(self, table: Mapping[str, object]) -> StackRoom:
        level, size = self.text(table, "stack.level"), self.size(table, "stack.all")
        if bool(level) != bool(size):
            raise self.wrong("stack.level", "it goes with stack.all, the bytes of all stacks in that level")
        slower = (self.number(table, f"stack.slower_{unit}") or 0 for unit in ("percent", "cycles"))
        return StackRoom(self.size(table, "stack.size") or 0, level, size or 0, *slower)

    def wrong(self, key: str, why: str) -> PlatformError:
        return PlatformError(f"{self.path}: field '{key}' is wrong", why=why, file=str(self.path))

    def known(self, group: str, table: Mapping[str, object], shown: str = "") -> None:
        for key in table:
            if key not in _KEYS[group]:
                known = ", ".join(sorted(_KEYS[group]))
                raise self.wrong(f"{shown or group}.{key}".lstrip("."), f"there is no such field; known are {known}")

    def table(self, table: Mapping[str, object], key: str, shown: str = "") -> Mapping[str, object]:
        value = table.get(key, {})
        if not isinstance(value, dict):
            raise self.wrong(shown or key, "it is no table")
        entry = cast("dict[str, object]", value)
        if key in _KEYS and key != "memory" and not shown:
            self.known(key, entry)
        return entry

    def text(self, table: Mapping[str, object], key: str, required: bool = False) -> str:
        value = table.get(key.rpartition(".")[2], "")
        if not isinstance(value, str):
            raise self.wrong(key, f"{value!r} is no text")
        if required and not value:
            raise self.wrong(key, "it is missing")
        return value

    def texts(self, table: Mapping[str, object], key: str) -> tuple[str, ...]:
        value = table.get(key.rpartition(".")[2], [])
        if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
            raise self.wrong(key, "it is no list of texts")
        return tuple(str(word) for word in value)

    def strings(self, table: Mapping[str, object], key: str) -> dict[str, str]:
        for name, value in table.items():
            if not isinstance(value, str):
                raise self.wrong(f"{key}.{name}", f"{value!r} is no package name")
        return {name: str(value) for name, value in table.items()}

    def flag(self, table: Mapping[str, object], key: str) -> bool:
        value = table.get(key.rpartition(".")[2], False)
        if not isinstance(value, bool):
            raise self.wrong(key, f"{value!r} is neither true nor false")
        return value

    def number(self, table: Mapping[str, object], key: str) -> int | None:
        value = table.get(key.rpartition(".")[2])
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
            raise self.wrong(key, f"{value!r} is no whole number")
        return value

    def size(self, table: Mapping[str, object], key: str) -> int | None:
        value = table.get(key.rpartition(".")[2])
        if isinstance(value, str):
            return self.parsed(value, key)
        return self.number(table, key)

    def parsed(self, text: str, key: str) -> int:
        size = parse_size(text)
        if size is None:
            raise self.wrong(key, f"'{text}' is no size such as 65536 or '64K'")
        return size


def with_sizes(target: Target, levels: Sequence[MemoryLevel]) -> Target:
    """The target with memories as large as was asked for, where its simulator has that much.

    A smaller one is taken over where stacks may lie in it: they stay inside of it too.
    """
    memories = dict(target.memories)
    for level in levels:
        memory = memories.get(level.name)
        if memory is None or not level.size or not memory.size:
            continue
        shared = level.name == target.stacks.level
        if memory.size < level.size <= (memory.most or 0) or (shared and level.size < memory.size):
            memories[level.name] = replace(memory, size=level.size)
    return replace(target, memories=memories)
