"""The debug information of an image: which addresses come of which line of a file, and where variables are declared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tilewright.errors import ToolMissing

_ADDRESS = 0x03  # DW_OP_addr


@dataclass(frozen=True)
class Row:
    """Machine code of [address, end) that comes of a line."""

    address: int
    end: int
    line: int


@dataclass(frozen=True)
class LineTable:
    """The rows of one file, the line at which the variable at an address is declared, the functions of which there is
    machine code, on its own or inside of others, and by the line of its call what lies inside of another."""

    rows: tuple[Row, ...]
    variables: dict[int, int]
    functions: frozenset[str] = frozenset()
    calls: tuple[Row, ...] = ()


def read_lines(path: Path, file: str) -> LineTable:
    """The line table of a file by its name, from an image built with -g; ToolMissing without pyelftools."""
    try:
        from elftools.elf.elffile import ELFFile
    except ImportError as error:
        raise ToolMissing(
            "pyelftools is not installed", why="it reads the lines of the image",
            fix="install tilewright with its extra 'run'",
        ) from error  # fmt: skip
    rows, variables, functions, calls = list[Row](), dict[int, int](), set[str](), list[Row]()
    with path.open("rb") as stream:
        dwarf: Any = ELFFile(stream).get_dwarf_info()
        for unit in dwarf.iter_CUs():
            name = unit.get_top_DIE().attributes.get("DW_AT_name")
            if name is None or Path(name.value.decode(errors="replace")).name != file:
                continue
            rows += _rows(dwarf.line_program_for_CU(unit), file)
            variables |= dict(_variables(unit))
            functions |= set(_functions(unit))
            calls += _calls(dwarf, unit)
    return LineTable(tuple(rows), variables, frozenset(functions), tuple(calls))


def _rows(program: Any, file: str) -> Iterator[Row]:
    header = program.header
    shift = 0 if header["version"] >= 5 else 1
    names = [Path(entry.name.decode(errors="replace")).name for entry in header["file_entry"]]
    before: Any = None
    for entry in program.get_entries():
        state = entry.state
        if state is None:
            continue
        if before is not None and state.address > before.address and names[before.file - shift] == file:
            yield Row(before.address, state.address, before.line)
        before = None if state.end_sequence else state


def _variables(unit: Any) -> Iterator[tuple[int, int]]:
    for die in unit.iter_DIEs():
        if die.tag != "DW_TAG_variable" or "DW_AT_location" not in die.attributes:
            continue
        place = die.attributes["DW_AT_location"].value
        line = die.attributes.get("DW_AT_decl_line")
        if isinstance(place, list) and place and place[0] == _ADDRESS and line is not None:
            yield int.from_bytes(bytes(place[1:]), "little"), int(line.value)


def _functions(unit: Any) -> Iterator[str]:
    for die in unit.iter_DIEs():
        if die.tag == "DW_TAG_inlined_subroutine" or (
            die.tag == "DW_TAG_subprogram" and ("DW_AT_low_pc" in die.attributes or "DW_AT_ranges" in die.attributes)
        ):
            copied = "DW_AT_abstract_origin" in die.attributes
            of = die.get_DIE_from_attribute("DW_AT_abstract_origin") if copied else die
            if "DW_AT_name" in of.attributes:
                yield of.attributes["DW_AT_name"].value.decode(errors="replace")


def _calls(dwarf: Any, unit: Any) -> Iterator[Row]:
    """Machine code of functions that lie inside of others, by the line of the call, which may have none itself."""
    for die in unit.iter_DIEs():
        if die.tag == "DW_TAG_inlined_subroutine" and "DW_AT_call_line" in die.attributes:
            line = int(die.attributes["DW_AT_call_line"].value)
            yield from (Row(low, high, line) for low, high in _ranges(dwarf, unit, die.attributes))


def _ranges(dwarf: Any, unit: Any, attributes: Any) -> Iterator[tuple[int, int]]:
    """The addresses, from and to, of an entry."""
    if "DW_AT_low_pc" in attributes and "DW_AT_high_pc" in attributes:
        low, high = int(attributes["DW_AT_low_pc"].value), attributes["DW_AT_high_pc"]
        yield low, int(high.value) if high.form == "DW_FORM_addr" else low + int(high.value)
    elif "DW_AT_ranges" in attributes:
        first = unit.get_top_DIE().attributes.get("DW_AT_low_pc")
        base = int(first.value) if first is not None else 0
        for entry in dwarf.range_lists().get_range_list_at_offset(attributes["DW_AT_ranges"].value, unit):
            if hasattr(entry, "base_address"):
                base = entry.base_address
            else:
                start = 0 if getattr(entry, "is_absolute", False) else base
                yield start + entry.begin_offset, start + entry.end_offset


def same_program(one: Path, other: Path) -> bool:
    """True where two images load the same bytes at the same addresses; notes, which hold hashes, do not count."""
    return _loaded(one) == _loaded(other)


def _loaded(path: Path) -> list[tuple[str, int, bytes]]:
    from elftools.elf.elffile import ELFFile

    with path.open("rb") as stream:
        elf: Any = ELFFile(stream)
        return [
            (section.name, section["sh_addr"], section.data() if section["sh_type"] != "SHT_NOBITS" else b"")
            for section in elf.iter_sections()
            if section["sh_flags"] & 2 and not section.name.startswith(".note")
        ]
