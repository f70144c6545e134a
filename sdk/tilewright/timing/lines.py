"""Lines of C by address, from the DWARF tables of a program."""

from __future__ import annotations

import bisect
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Line:
    """A line of a file of C."""

    file: str
    number: int

    def __str__(self) -> str:
        return f"{self.file}:{self.number}"


@dataclass(frozen=True)
class Lines:
    """Lines by the first address of their code; None where the code is nobody's."""

    addresses: tuple[int, ...]
    lines: tuple[Line | None, ...]

    def at(self, address: int) -> Line | None:
        """The line of an instruction, None where it is not known."""
        number = bisect.bisect_right(self.addresses, address) - 1
        return self.lines[number] if number >= 0 else None


@cache
def lines_of(path: Path) -> Lines:
    """Read the line tables of a program; empty where it has none."""
    from elftools.elf.elffile import ELFFile

    rows: list[tuple[int, int, Line | None]] = []
    with path.open("rb") as stream:
        file: Any = ELFFile(stream)
        if file.has_dwarf_info():
            dwarf = file.get_dwarf_info()
            for unit in dwarf.iter_CUs():
                program = dwarf.line_program_for_CU(unit)
                if program is not None:
                    rows += _rows(program)
    rows.sort(key=lambda row: row[:2])
    return Lines(tuple(address for address, _, _ in rows), tuple(line for _, _, line in rows))


def _rows(program: Any) -> list[tuple[int, int, Line | None]]:
    """Address, whether a line begins there (ends sort first), and the line."""
    names = [Path(entry.name.decode("utf-8", "replace")).name for entry in program["file_entry"]]
    first = 0 if program["version"] >= 5 else 1
    rows: list[tuple[int, int, Line | None]] = []
    for entry in program.get_entries():
        state = entry.state
        if state is None:
            continue
        if state.end_sequence:
            rows.append((state.address, 0, None))
        elif 0 <= state.file - first < len(names) and state.line:
            rows.append((state.address, 1, Line(names[state.file - first], state.line)))
    return rows
