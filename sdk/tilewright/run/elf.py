"""What an image holds: symbols from the ELF file, bytes by origin from the linker's map."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tilewright.errors import StateError, ToolMissing

Kind = Literal["code", "constant", "data"]
_PLACED = re.compile(r"^ (\S+)?\s+0x([0-9a-f]+)\s+0x([0-9a-f]+)\s+(\S.*)$")
_ALONE = re.compile(r"^ ([.\w$]\S*)$")
_CODE = (".text", ".init", ".fini", ".vectors", ".plt")
_CONSTANT = (".rodata", ".srodata", ".sdata2", ".lit", ".ARM.ex")
_DATA = (".data", ".sdata", ".bss", ".sbss", "COMMON", ".tdata", ".tbss", ".noinit")


@dataclass(frozen=True)
class Symbol:
    """A named object or function: first address (thumb bit cleared) and bytes."""

    name: str
    address: int
    size_bytes: int
    kind: Kind


@dataclass(frozen=True)
class Section:
    """A section that takes memory."""

    name: str
    address: int
    size_bytes: int
    kind: Kind


@dataclass(frozen=True)
class Sizes:
    """Bytes of code, of constants and of writable memory without the stack."""

    text_bytes: int = 0
    rodata_bytes: int = 0
    ram_bytes: int = 0

    @property
    def flash_bytes(self) -> int:
        """Code and constants."""
        return self.text_bytes + self.rodata_bytes


@dataclass(frozen=True)
class ElfFile:
    """Sections that take memory and every sized symbol, both by address; `labels` are the symbols without a size."""

    sections: tuple[Section, ...]
    symbols: tuple[Symbol, ...]
    labels: Mapping[str, int]

    def label(self, name: str) -> int | None:
        """Address of a symbol without a size, such as those of the link script; None where there is none."""
        return self.labels.get(name)

    def symbol(self, name: str) -> Symbol | None:
        """The symbol of that name, None where there is none."""
        return next((symbol for symbol in self.symbols if symbol.name == name), None)

    def at(self, address: int) -> Symbol | None:
        """The symbol that holds an address, None between symbols."""
        inside = (s for s in self.symbols if s.address <= address < s.address + s.size_bytes)
        return min(inside, key=lambda s: s.size_bytes, default=None)


def read_elf(path: Path) -> ElfFile:
    """Read sections and symbols; StateError for a file that is no ELF, ToolMissing without pyelftools."""
    try:
        from elftools.common.exceptions import ELFError
        from elftools.elf.elffile import ELFFile
    except ImportError as error:
        raise ToolMissing(
            "pyelftools is not installed",
            why="it reads the sizes of the image",
            fix="install tilewright with its extra 'run'",
        ) from error
    with path.open("rb") as stream:
        try:
            return _content(ELFFile(stream))
        except ELFError as error:
            raise StateError(f"{path} is no ELF file", why=str(error), file=str(path)) from error


def _content(elf: Any) -> ElfFile:
    kinds: dict[int, Kind] = {}
    sections = []
    for index, section in enumerate(elf.iter_sections()):
        flags = section["sh_flags"]
        if flags & 2 and not flags & 0x400:  # takes memory, and is no thread-local template
            # A link script may put a library's variables that are never written among the constants.
            writable = flags & 1 and not section.name.startswith(".rodata")
            kind: Kind = "code" if flags & 4 else "data" if writable else "constant"
            kinds[index] = kind
            sections.append(Section(section.name, section["sh_addr"], section["sh_size"], kind))
    thumb = elf["e_machine"] == "EM_ARM"
    table = elf.get_section_by_name(".symtab")
    symbols = []
    labels = {}
    for entry in table.iter_symbols() if table else ():
        if (
            not entry["st_size"]
            and entry["st_info"]["type"] == "STT_NOTYPE"
            and entry["st_info"]["bind"] == "STB_GLOBAL"
        ):
            labels[entry.name] = entry["st_value"]
        of, function = entry["st_shndx"], entry["st_info"]["type"] == "STT_FUNC"
        if of in kinds and entry["st_size"] and entry["st_info"]["type"] in ("STT_FUNC", "STT_OBJECT"):
            address = entry["st_value"] & ~1 if thumb and function else entry["st_value"]
            kind = "code" if function else "constant" if kinds[of] == "code" else kinds[of]
            symbols.append(Symbol(entry.name, address, entry["st_size"], kind))
    sections.sort(key=lambda s: s.address)
    symbols.sort(key=lambda s: (s.address, s.name))
    return ElfFile(tuple(sections), tuple(symbols), labels)


def aliases(path: Path) -> dict[str, str]:
    """Names of functions of an object file that share their code with another one, each with the first of those."""
    from elftools.elf.elffile import ELFFile

    others: dict[str, str] = {}
    first: dict[tuple[Any, int], str] = {}
    with path.open("rb") as stream:
        table: Any = ELFFile(stream).get_section_by_name(".symtab")
        for entry in table.iter_symbols() if table else ():
            if entry["st_info"]["type"] == "STT_FUNC" and isinstance(entry["st_shndx"], int):
                name = first.setdefault((entry["st_shndx"], entry["st_value"]), entry.name)
                if name != entry.name:
                    others[entry.name] = name
    return others


def mapped_sizes(map_file: Path, elf: ElfFile, leave_out: Iterable[str]) -> Sizes:
    """Bytes by the linker's map of everything but the files in `leave_out`: the model with the libraries it needs.

    Only what the linker kept counts. Files of the C runtime (`crt*.o`) are left out too.
    """
    unwanted = set(leave_out)
    total = {"code": 0, "constant": 0, "data": 0}
    for name, address, size, origin in placements(map_file):
        if origin in unwanted or re.search(r"(^|/)crt\w*\.o$|\(crt\w*\.o\)$", origin) or not _is_file(origin):
            continue
        kind = _kind(name, address, elf)
        if kind:
            total[kind] += size
    return Sizes(total["code"], total["constant"], total["data"])


def placements(map_file: Path) -> list[tuple[str, int, int, str]]:
    """(input section, address, bytes, file) of every input section that the linker placed."""
    text = map_file.read_text(encoding="utf-8", errors="replace")
    placements = []
    pending = ""
    for line in text.partition("Linker script and memory map")[2].splitlines():
        placed = _PLACED.match(line)
        if placed and (placed[1] or pending):
            placements.append((placed[1] or pending, int(placed[2], 16), int(placed[3], 16), placed[4].strip()))
        alone = _ALONE.match(line)
        pending = alone[1] if alone else ""
    return [entry for entry in placements if entry[2] > 0]


def _is_file(origin: str) -> bool:
    """True for `path.o` and `library.a(member.o)`, not for the linker's own remarks."""
    return origin.endswith((".o", ".o)", ".obj", ".obj)"))


def _kind(name: str, address: int, elf: ElfFile) -> Kind | None:
    """Kind of an input section by its name, else by the output section that it went into; None for what is neither.

    Unwinding tables do not count: the generated project does not ask for them, only some hosts add them. What takes no
    memory has address 0, where a core's code may lie.
    """
    if name.startswith((".eh_frame", ".note", ".comment", ".debug", ".ARM.attributes", ".riscv.attributes")):
        return None
    prefixes: tuple[tuple[tuple[str, ...], Kind], ...] = ((_CONSTANT, "constant"), (_DATA, "data"), (_CODE, "code"))
    for starts, kind in prefixes:
        if name.startswith(starts):
            return kind
    return next((s.kind for s in elf.sections if s.address <= address < s.address + s.size_bytes), None)
