"""What is linked for functions of libraries, each by itself."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from code_tables import Library
from tilewright.platforms.generic.kernels.nest_expressions import FLOAT
from tilewright.report.code_sizes import CoreSizes
from tilewright.run.build import choose_compiler
from tilewright.run.elf import placements
from tilewright.run.tool import start
from tilewright.target import load_target

FUNCTIONS = frozenset(f"{name}f" for text in FLOAT.values() for name in re.findall(r"(\w+)\{f\}\(", text))
"""Functions of the C library that expressions of floats may name."""
LIMIT_SECONDS = 1200.0
"""So long a compiler may take, beside other work."""
_CONSTANT = (".ARM.ex", ".rodata", ".srodata", ".data", ".sdata")
_VARIABLE = (".data", ".sdata", ".bss", ".sbss", "COMMON")


@cache
def library(board: str, functions: tuple[str, ...]) -> Library:
    """What is linked for each of the functions."""
    linked: dict[str, frozenset[str]] = {}
    parts: dict[str, tuple[int, int]] = {}
    for function in functions:
        members = alone(board, function)
        linked[function] = frozenset(members)
        parts |= {part: max(sizes, parts.get(part, (0, 0))) for part, sizes in members.items()}
    return Library(linked, parts)


@cache
def alone(board: str, function: str) -> dict[str, tuple[int, int]]:
    """Parts of libraries that a function needs: bytes of each with its constants, and of its variables."""
    target = load_target(board)
    with tempfile.TemporaryDirectory() as folder:
        empty, mapped = Path(folder) / "empty.c", Path(folder) / "all.map"
        empty.write_text("")
        flags = (*target.cpu_flags, *target.library_flags, "-nostartfiles", "-Wl,--gc-sections")
        wanted = (f"-Wl,-u,{function}", f"-Wl,-e,{function}", f"-Wl,-Map={mapped}", "-lm")
        gcc([choose_compiler(target), *flags, str(empty), *wanted, "-o", str(Path(folder) / "all")], Path(folder))
        sizes_of: dict[str, tuple[int, int]] = {}
        for section, _, size, origin in placements(mapped):
            member = re.search(r"\((?!crt)(\S+)\.o\)$", origin)
            if member:
                rest, variable = size * section.startswith((".text", *_CONSTANT)), size * section.startswith(_VARIABLE)
                before = sizes_of.get(member[1], (0, 0))
                sizes_of[member[1]] = (before[0] + rest, before[1] + variable)
    return {part: sizes for part, sizes in sizes_of.items() if any(sizes)}


def with_functions(board: str, sizes: CoreSizes) -> CoreSizes:
    """A table with what is linked for those of FUNCTIONS that no network named."""
    linked = library(board, tuple(sorted(FUNCTIONS - sizes.library.keys() - sizes.known)))
    parts = {part: max(size, sizes.parts.get(part, (0, 0))) for part, size in linked.parts.items()}
    return replace(sizes, library={**sizes.library, **linked.linked}, parts={**sizes.parts, **parts})


def gcc(command: Sequence[str], folder: Path) -> None:
    """Run the compiler; its complaint ends the script."""
    done = start(list(command), folder, timeout=LIMIT_SECONDS)
    if done.code != 0:
        raise SystemExit(done.errors or f"{command[0]} took more than {LIMIT_SECONDS:.0f} s")
