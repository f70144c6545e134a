"""What a target declares: a board, a chip or a simulator, its memories, how code is built for it and what runs it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tilewright.errors import PlatformError
from tilewright.platform import MemoryLevel

FILE = "target.toml"


@dataclass(frozen=True)
class Memory:
    """One memory of a target: first address and size in bytes; `size` is None where the host sets no limit.

    A simulator that has more than the declared size says how much as `most`: `--set` may ask for it. Where a board
    stands in for a chip that has more than the board, `most` is less than `size`.
    """

    level: str
    address: int = 0
    size: int | None = None
    readonly: bool = False
    most: int | None = None


@dataclass(frozen=True)
class StackRoom:
    """Bytes of the program's stack, and of all stacks where they lie together in `level` ("": never).

    `program_bytes` of the level of activations are left to code, tables and other stacks, as far as they are known.
    `slower_percent` and `slower_cycles` of each tile are by how much kernels are slower where the stacks lie elsewhere.
    Each other core of a cluster has `core_bytes` (0: not known).
    """

    own_bytes: int = 0
    level: str = ""
    all_bytes: int = 0
    slower_percent: int = 0
    slower_cycles: int = 0
    program_bytes: int = 0
    core_bytes: int = 0


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
    what an access that the flash's prefetch does not foresee costs there: a load, or a taken branch. `simulated_by`
    names the board that stands in for a chip or a core.
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
    simulated_by: str = ""

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


def missing_tools(target: Target) -> tuple[tuple[str, str], ...]:
    """Programs that the target needs and that are not installed, each with the Debian package that brings it."""
    absent = [(tool, package) for tool, package in target.tools.items() if shutil.which(tool) is None]
    compilers = [tool for tool in target.compilers if shutil.which(tool) is not None]
    if compilers:
        absent = [(tool, package) for tool, package in absent if tool not in target.compilers]
    return tuple(absent)


def with_sizes(target: Target, levels: Sequence[MemoryLevel]) -> Target:
    """The target with memories as large as was asked for, where its simulator has that much, and no larger than it has.

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
        elif memory.most and memory.most < memory.size:
            memories[level.name] = replace(memory, size=memory.most)
    return replace(target, memories=memories)
