"""What the machine needs of a linked program: functions, constants, ranges of code, labels."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tilewright.errors import UnsupportedError
from tilewright.run.elf import ElfFile, read_elf

ALLOCATED, EXECUTED, WRITTEN = 2, 4, 1
MACHINES = {"EM_ARM": "arm", "EM_RISCV": "riscv"}


@dataclass(frozen=True)
class Function:
    """A function by its first name; `end` is behind its last byte. `names` are all that share its address."""

    name: str
    address: int
    end: int
    names: tuple[str, ...]


@dataclass(frozen=True)
class Constants:
    """Bytes at an address that nobody writes."""

    address: int
    data: bytes

    @property
    def end(self) -> int:
        """Address behind them."""
        return self.address + len(self.data)


@dataclass(frozen=True)
class Binary:
    """A program: `machine` is 'arm' or 'riscv', `functions` and `constants` stand by address.

    `data` are the addresses, from and to, of code ranges that hold data.
    """

    path: Path
    machine: str
    functions: tuple[Function, ...]
    constants: tuple[Constants, ...]
    data: tuple[tuple[int, int], ...]
    elf: ElfFile

    @cached_property
    def _starts(self) -> tuple[int, ...]:
        return tuple(function.address for function in self.functions)

    def function_at(self, address: int) -> Function | None:
        """The function that holds an address."""
        place = bisect.bisect_right(self._starts, address) - 1
        if place < 0 or address >= self.functions[place].end:
            return None
        return self.functions[place]

    def named(self, name: str) -> Function | None:
        """The function of that name."""
        return next((one for one in self.functions if name in one.names), None)

    def read(self, address: int, size_bytes: int) -> bytes:
        """Constant bytes, fewer where they end before; none where there are no constants."""
        for one in self.constants:
            if one.address <= address < one.end:
                return one.data[address - one.address : address - one.address + size_bytes]
        return b""

    def is_data(self, address: int) -> bool:
        """Whether an address in code holds data, as the assembler marked it."""
        place = bisect.bisect_right(self.data, (address, 1 << 40)) - 1
        return place >= 0 and self.data[place][0] <= address < self.data[place][1]


def read_binary(path: Path) -> Binary:
    """Read a program for Arm or RISC-V of 32 bits; UnsupportedError for any other, ToolMissing without pyelftools."""
    elf = read_elf(path)
    from elftools.elf.elffile import ELFFile

    with path.open("rb") as stream:
        file: Any = ELFFile(stream)
        machine = MACHINES.get(file["e_machine"], "")
        if not machine or file.elfclass != 32 or not file.little_endian:
            raise UnsupportedError(
                f"instructions of {path.name} cannot be bounded",
                why="it is not a 32-bit Arm or RISC-V program",
                fix="name a target with such a core, 'tilewright targets' lists them",
            )
        constants = _constants(file)
        table = file.get_section_by_name(".symtab")
        entries = [(e["st_value"], e["st_size"], e["st_info"]["type"], e.name) for e in table.iter_symbols()]
    marks = sorted((value, name[:2]) for value, _, _, name in entries if name[:2] in ("$d", "$t", "$x", "$a"))
    ranges = [(v, marks[i + 1][0] if i + 1 < len(marks) else v) for i, (v, name) in enumerate(marks) if name == "$d"]
    merged = tuple((low, high) for low, high in ranges if high > low)
    return Binary(path, machine, _functions(entries, machine == "arm", constants), constants, merged, elf)


def _constants(file: Any) -> tuple[Constants, ...]:
    """Code and constants, among them a library's variables that a link script puts beside constants."""
    sections = []
    for section in file.iter_sections():
        flags = section["sh_flags"]
        written = flags & WRITTEN and not section.name.startswith(".rodata")
        if flags & ALLOCATED and not written and section["sh_size"] and section["sh_type"] != "SHT_NOBITS":
            sections.append(Constants(section["sh_addr"], section.data()))
    return tuple(sorted(sections, key=lambda one: one.address))


def _functions(
    entries: Sequence[tuple[int, int, str, str]], thumb: bool, constants: Sequence[Constants]
) -> tuple[Function, ...]:
    """By address; one without a size ends where the next begins."""
    by_address: dict[int, list[tuple[int, str]]] = {}
    for value, size, kind, name in entries:
        if kind == "STT_FUNC" and name:
            by_address.setdefault(value & ~1 if thumb else value, []).append((size, name))
    functions = []
    starts = sorted(by_address)
    for place, address in enumerate(starts):
        size = max(size for size, _ in by_address[address])
        section = next((one.end for one in constants if one.address <= address < one.end), address)
        following = min(section, starts[place + 1]) if place + 1 < len(starts) else section
        names = tuple(sorted(name for _, name in by_address[address]))
        functions.append(Function(names[0], address, address + size if size else following, names))
    return tuple(functions)
