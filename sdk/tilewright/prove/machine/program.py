"""An image's code lifted to p-code, and its memory as it is before anything ran."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tilewright.prove.machine.gave_up import GaveUp
from tilewright.prove.machine.memory import KNOWN, STALE, Region
from tilewright.run.pcode import ARM, LANGUAGES, governed, lifting_context, require_lifter
from tilewright.run.register_lists import RegisterList, refused_list, register_list

EXTRA = "prove"
STACK_START, STACK_BYTES = 0x7F000000, 1 << 20
"""The machine's own stack, where no image has anything."""
RETURN = 0x7EFFFFF0
"""The return address of the function that is run."""
SPAN = 20


@dataclass(frozen=True)
class Space:
    """A space of p-code, by its name."""

    name: str


@dataclass(frozen=True)
class Place:
    """A place as pypcode's operations name it; in bytes."""

    space: Space
    offset: int
    size: int


@dataclass(frozen=True)
class Move:
    """An operation of our own, read as those of pypcode are."""

    opcode: Any
    output: Place | None
    inputs: tuple[Place, ...]


@dataclass(frozen=True)
class Lifted:
    """One instruction: its operations, and the address behind it."""

    operations: tuple[Any, ...]
    next: int


class Program:
    """Code of one image; GaveUp for a machine without a description, and where it runs into what is not lifted."""

    def __init__(self, path: Path) -> None:
        self.pypcode = require_lifter(EXTRA)
        from elftools.elf.elffile import ELFFile

        self.regions: list[Region] = []
        with path.open("rb") as stream:
            elf = ELFFile(stream)
            machine = elf["e_machine"]
            if machine not in LANGUAGES:
                raise GaveUp(f"machine code of {machine} is not lifted")
            self.arm = machine == ARM
            self._read_sections(elf)
            table: Any = elf.get_section_by_name(".symtab")
            self.labels = {symbol.name: symbol["st_value"] for symbol in table.iter_symbols() if symbol.name}
        self.context = lifting_context(machine, EXTRA)
        self.registers = {name: (node.offset, node.size) for name, node in self.context.registers.items()}
        self.lifted: dict[int, Lifted] = {}
        stack = Region(STACK_START, bytearray(STACK_BYTES), bytearray([STALE]) * STACK_BYTES, True)
        self.regions.append(stack)

    def _read_sections(self, elf: Any) -> None:
        for section in elf.iter_sections():
            size = section["sh_size"]
            if not section["sh_flags"] & 2 or not size:
                continue
            empty = section["sh_type"] == "SHT_NOBITS"
            data = bytearray(size) if empty else bytearray(section.data())
            writable = bool(section["sh_flags"] & 1) and not section.name.startswith(".rodata")
            self.regions.append(Region(section["sh_addr"], data, bytearray([KNOWN]) * size, writable))

    def address(self, name: str) -> int:
        """The address of a function, without the bit that says Thumb."""
        if name not in self.labels:
            raise GaveUp(f"the image has no function '{name}'")
        address: int = self.labels[name]
        return address & ~1 if self.arm else address

    def bytes_at(self, address: int) -> bytes:
        """The code from an address on."""
        for region in self.regions:
            if region.start <= address < region.end:
                at = address - region.start
                return bytes(region.data[at : at + SPAN])
        raise GaveUp(f"a jump to {address:#x}, where the image has no code")

    def lift(self, address: int) -> Lifted:
        """The instruction at an address; with one that makes others conditional (IT) these are lifted too."""
        if address not in self.lifted:
            code = self.bytes_at(address)
            listed = register_list(code) if self.arm else None
            if listed is not None and listed.base < 15:  # what the program counter holds is no register
                self.lifted[address] = Lifted(tuple(self._moves(listed)), address + 4)
                return self.lifted[address]
            count = 1 + (governed(code) if self.arm else 0)
            if self.arm and (listed := refused_list(code, count)) is not None:
                raise GaveUp(f"the {listed.mnemonic} of {listed.count} registers at {address:#x} is not lifted")
            try:
                translation = self.context.translate(code, address, max_instructions=count)
            except Exception as error:
                raise GaveUp(f"the instruction at {address:#x} is not lifted ({type(error).__name__})") from error
            self._split(translation.ops)
        return self.lifted[address]

    def _moves(self, listed: RegisterList) -> Iterator[Move]:
        """A load or store of a list of registers, the one with the lowest number at the lowest address."""
        code, size = self.pypcode.OpCode, listed.register_bytes
        base = self._place(("sp", "lr")[listed.base - 13] if listed.base > 12 else f"r{listed.base}")
        at, memory = self._place("mult_addr"), _number(0, 4)
        span = _number(listed.count * size, 4)
        yield Move(code.INT_SUB, at, (base, span)) if listed.below else Move(code.COPY, at, (base,))
        for number in range(listed.first, listed.first + listed.count):
            one = self._place(f"{'d' if size == 8 else 's'}{number}")
            yield Move(code.LOAD, one, (memory, at)) if listed.loads else Move(code.STORE, None, (memory, at, one))
            yield Move(code.INT_ADD, at, (at, _number(size, 4)))
        if listed.writes_back:
            yield Move(code.INT_SUB if listed.below else code.INT_ADD, base, (base, span))

    def _place(self, register: str) -> Place:
        return Place(Space("register"), *self.registers[register])

    def _split(self, operations: Any) -> None:
        start, size, own = -1, 0, list[Any]()
        for operation in operations:
            if operation.opcode == self.pypcode.OpCode.IMARK:
                if start >= 0:
                    self.lifted[start] = Lifted(tuple(own), start + size)
                start, size, own = operation.inputs[0].offset, operation.inputs[0].size, []
            else:
                own.append(operation)
        self.lifted[start] = Lifted(tuple(own), start + size)


def _number(value: int, size: int) -> Place:
    return Place(Space("const"), value, size)
