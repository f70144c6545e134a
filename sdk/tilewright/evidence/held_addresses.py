"""Functions whose address another function takes: they are called through it, where no call graph tells of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

ALLOCATED, FUNCTION, SECTION = 2, "STT_FUNC", "STT_SECTION"


def read_held(objects: Iterable[Path]) -> Iterator[tuple[str, str]]:
    """Pairs of a function and another that it names, by its relocations in files of objects; in their order, once."""
    from elftools.elf.elffile import ELFFile

    for path in objects:
        with path.open("rb") as stream:
            yield from dict.fromkeys(_held(ELFFile(stream)))


def _held(elf: Any) -> Iterator[tuple[str, str]]:
    table = elf.get_section_by_name(".symtab")
    symbols = [] if table is None else list(table.iter_symbols())
    functions = [one for one in symbols if one["st_info"]["type"] == FUNCTION and one["st_size"]]
    for section in elf.iter_sections():
        if section["sh_type"] not in ("SHT_REL", "SHT_RELA"):
            continue
        place = section["sh_info"]
        if not elf.get_section(place)["sh_flags"] & ALLOCATED:
            continue
        here = [one for one in functions if one["st_shndx"] == place]
        for relocation in section.iter_relocations():
            named = symbols[relocation["r_info_sym"]]
            holder = next((one.name for one in here if _inside(one, relocation["r_offset"])), "")
            for held in _functions(named, functions) if holder else ():
                if held != holder:
                    yield holder, held


def _functions(named: Any, functions: list[Any]) -> list[str]:
    """What a relocation names; by its section where every function has one of its own."""
    if named["st_info"]["type"] != SECTION:
        return [named.name] if any(one.name == named.name for one in functions) else []
    in_section = [one.name for one in functions if one["st_shndx"] == named["st_shndx"]]
    return in_section if len(in_section) == 1 else []


def _inside(function: Any, offset: int) -> bool:
    start: int = function["st_value"] & ~1
    return start <= offset < start + int(function["st_size"])
