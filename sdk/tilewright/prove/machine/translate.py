"""Blocks of p-code as Python functions: numbers are computed in place, terms by `terms.py`.

A label is an address and the place of an operation in its instruction. The function of a label runs up to the next
branch, or to the next label that some branch aims at, and returns the label that comes next, or `(condition, label,
label)` where a term decides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tilewright.prove import terms
from tilewright.prove.machine.gave_up import GaveUp
from tilewright.prove.machine.operations import EXPRESSIONS, USER_OPERATIONS
from tilewright.prove.machine.program import Program
from tilewright.prove.terms import Value

Registers = list[Value]
Next = int | tuple[Value, int, int]
Block = Callable[[Registers], Next]
INSIDE = 8
"""Bits of a label for the operation in the instruction."""
MOST_INSTRUCTIONS = 400
PLACE = (1 << INSIDE) - 1
FLAGS_START, FLAGS_END = 96, 128
"""Where the one-byte registers of the Arm description lie."""
STICKY = 106
"""The flag Q of the Arm description, which no kernel asks for: it would hold on to every sum."""
PASSING = range(100, 105)
"""Flags of the Arm description that live inside of one instruction."""


def label_of(address: int, place: int = 0) -> int:
    """The label of an operation."""
    return address << INSIDE | place


@dataclass
class Cells:
    """Places of registers in the machine's list, four bytes each but for flags; and of what crosses a branch inside."""

    arm: bool
    places: dict[tuple[str, int], int] = field(default_factory=dict)

    def register(self, offset: int) -> tuple[int, int, int]:
        """(place, the cell's first offset, its bytes) of a register's byte."""
        flag = self.arm and FLAGS_START <= offset < FLAGS_END and not 112 <= offset < 120
        start, size = (offset, 1) if flag else (offset & ~3, 4)
        return self.place("register", start), start, size

    def place(self, kind: str, offset: int) -> int:
        """The place of a cell."""
        return self.places.setdefault((kind, offset), len(self.places))


class Translator:
    """Makes blocks, and makes them anew where a later branch aims into one."""

    def __init__(self, program: Program, load: Callable[..., Value], store: Callable[..., None]) -> None:
        self.program = program
        self.cells = Cells(program.arm)
        self.leaders: set[int] = set()
        self.inside: dict[int, set[int]] = {}
        self.blocks: dict[int, Block] = {}
        self.names: dict[str, Any] = {
            "load": load, "store": store, "goto": self._goto, "user": self._user,
            **{name: getattr(terms, name) for name in dir(terms) if not name.startswith("_")},
        }  # fmt: skip

    def block(self, label: int) -> Block:
        """The function that runs from a label on."""
        made = self.blocks.get(label)
        if made is None:
            made = self.blocks[label] = self._compile(label)
        return made

    def lead(self, label: int) -> None:
        """Let a block begin here, and none go over it."""
        if label not in self.leaders:
            self.leaders.add(label)
            for start in self.inside.pop(label, ()):
                self.blocks.pop(start, None)

    def _compile(self, label: int) -> Block:
        writer = _Writer(self.cells, self.program)
        address, place = label >> INSIDE, label & PLACE
        for _ in range(MOST_INSTRUCTIONS):
            lifted = self.program.lift(address)
            ended = self._instruction(writer, label, address, place, lifted)
            if ended:
                break
            address, place = lifted.next, 0
        else:
            writer.go(label_of(address))
        space: dict[str, Any] = dict(self.names)
        exec(compile(writer.source(), f"<{label >> INSIDE:#x}>", "exec"), space)
        made: Block = space["block"]
        return made

    def _instruction(self, writer: _Writer, label: int, address: int, place: int, lifted: Any) -> bool:
        """Write the operations of one instruction; True where the block ends in it."""
        code = self.program.pypcode.OpCode
        while place < len(lifted.operations):
            here = label_of(address, place)
            if here != label and here in self.leaders:
                writer.go(here)
                return True
            self.inside.setdefault(here, set()).add(label)
            operation = lifted.operations[place]
            after = self._relative(address, lifted, place + 1)
            kind = operation.opcode
            if kind in (code.CBRANCH, code.BRANCH, code.CALL):
                target = self._target(address, lifted, place, operation)
                self.lead(target)
                if kind == code.CBRANCH:
                    self.lead(after)
                    writer.branch(operation.inputs[1], target, after)
                else:
                    writer.go(target)
                return True
            if kind in (code.BRANCHIND, code.CALLIND, code.RETURN):
                writer.jump(operation.inputs[0])
                return True
            writer.operation(operation)
            place += 1
        if (follows := label_of(lifted.next)) in self.leaders:
            writer.go(follows)
            return True
        return False

    def _relative(self, address: int, lifted: Any, place: int) -> int:
        return label_of(address, place) if place < len(lifted.operations) else label_of(lifted.next)

    def _target(self, address: int, lifted: Any, place: int, operation: Any) -> int:
        node = operation.inputs[0]
        if node.space.name == "const":
            return self._relative(address, lifted, place + terms.signed(node.offset & terms.mask(4), 4))
        return label_of(node.offset)

    def _goto(self, value: Value) -> int:
        if not isinstance(value, int):
            raise GaveUp("a jump to an address that depends on the inputs")
        label = label_of(value & ~1)
        self.lead(label)
        return label

    def _user(self, name: str, inputs: tuple[Value, ...], size: int) -> Value:
        made = USER_OPERATIONS.get(name)
        if made is None:
            raise GaveUp(f"an instruction whose '{name}' has no meaning here")
        return made(inputs, size)


class _Writer:
    """The source of one block."""

    def __init__(self, cells: Cells, program: Program) -> None:
        self.cells = cells
        self.arm = program.arm
        self.codes = program.pypcode.OpCode
        self.lines: list[tuple[str, str, frozenset[str]]] = []
        self.read: dict[str, int] = {}
        self.written: dict[str, int] = {}
        self.unique: dict[int, int] = {}
        self.passing = {f"r{offset}" for offset in PASSING} if program.arm else set()
        self.inside = False
        self.final = ""
        self.final_reads: frozenset[str] = frozenset()

    def source(self) -> str:
        """The function as text: what nobody reads is left out."""
        held = {name: place for name, place in self.written.items() if self.inside or name not in self.passing}
        live = set(held) | set(self.final_reads)
        needed: list[str] = []
        for name, text, reads in reversed(self.lines):
            if name and name not in live:
                continue
            live.discard(name)
            live |= reads
            needed.append(text)
        body = [f"{name} = R[{place}]" for name, place in self.read.items() if name in live]
        body += reversed(needed)
        body += [f"R[{place}] = {name}" for name, place in held.items()]
        return "def block(R):\n" + "".join(f"    {line}\n" for line in (*body, *self.final.split("\n")))

    def go(self, label: int) -> None:
        """End the block with the label that comes next."""
        self.final, self.inside = f"return {label}", bool(label & PLACE)

    def branch(self, condition: Any, target: int, after: int) -> None:
        """End the block with one label where the condition holds, else the other."""
        text, self.final_reads = self.value(condition)
        self.inside = bool((target | after) & PLACE)
        if text.isdigit():
            self.final = f"return {target if int(text) else after}"
            return
        known = f"if {text}.__class__ is int: return {target} if {text} else {after}"
        self.final = f"{known}\nreturn ({text}, {target}, {after})"

    def jump(self, node: Any) -> None:
        """End the block with a jump to a computed address."""
        text, self.final_reads = self.value(node)
        self.final = f"return goto({text})"

    def value(self, node: Any) -> tuple[str, frozenset[str]]:
        """The expression of an operand, and the names that it reads."""
        kind, offset, size = node.space.name, node.offset, node.size
        if kind == "const":
            return str(offset & terms.mask(size)), frozenset()
        if kind == "ram":
            return f"load({offset}, {size})", frozenset()
        if kind == "unique":
            return self._unique(offset, size)
        if self.arm and kind == "register" and offset == STICKY:
            raise GaveUp("an instruction that asks for the flag Q")
        if kind != "register":
            raise GaveUp(f"an operand in the space '{kind}'")
        parts = []
        names = set()
        at = offset
        while at < offset + size:
            place, start, width = self.cells.register(at)
            name = f"r{start}"
            if name not in self.written:
                self.read.setdefault(name, place)
            names.add(name)
            taken = min(start + width, offset + size) - at
            parts.append((name if taken == width else f"cut({name}, {at - start}, {taken})", taken))
            at += taken
        if len(parts) == 1:
            return parts[0][0], frozenset(names)
        return "join([" + ", ".join(f"({text}, {width})" for text, width in parts) + "])", frozenset(names)

    def _unique(self, offset: int, size: int) -> tuple[str, frozenset[str]]:
        for start, width in self.unique.items():
            if start <= offset and offset + size <= start + width:
                name = f"u{start}"
                whole = start == offset and width == size
                return (name if whole else f"cut({name}, {offset - start}, {size})"), frozenset((name,))
        name = f"u{offset}"  # written before a branch inside of the instruction
        self.read.setdefault(name, self.cells.place("unique", offset))
        return name, frozenset((name,))

    def write(self, node: Any, text: str, reads: frozenset[str]) -> None:
        """Assign an expression to a result."""
        kind, offset, size = node.space.name, node.offset, node.size
        if kind == "unique":
            self.unique = {s: w for s, w in self.unique.items() if s + w <= offset or offset + size <= s}
            self.unique[offset] = size
            name = f"u{offset}"
            self.written[name] = self.cells.place("unique", offset)
            self.passing.add(name)
            self.lines.append((name, f"{name} = {text}", reads))
            return
        if kind != "register":
            raise GaveUp(f"a result in the space '{kind}'")
        place, start, width = self.cells.register(offset)
        if start == offset and size == width:
            name = f"r{start}"
            self.written[name] = place
            self.lines.append((name, f"{name} = {text}", reads))
        elif start == offset and size % width == 0:
            self.lines.append(("wide", f"wide = {text}", reads))
            for at in range(0, size, width):
                place, start, _ = self.cells.register(offset + at)
                self.written[f"r{start}"] = place
                self.lines.append((f"r{start}", f"r{start} = cut(wide, {at}, {width})", frozenset(("wide",))))
        else:
            self._insert(place, start, width, offset, size, text, reads)

    def _insert(
        self, place: int, start: int, width: int, offset: int, size: int, text: str, reads: frozenset[str]
    ) -> None:
        name, below = f"r{start}", offset - start
        if name not in self.written:
            self.read.setdefault(name, place)
        above = width - below - size
        parts = [f"(cut({name}, 0, {below}), {below})"] if below else []
        parts.append(f"({text}, {size})")
        parts += [f"(cut({name}, {below + size}, {above}), {above})"] if above else []
        self.written[name] = place
        self.lines.append((name, f"{name} = join([{', '.join(parts)}])", reads | {name}))

    def operation(self, operation: Any) -> None:
        """Write one operation that is no branch."""
        kind = operation.opcode
        output = operation.output
        if self.arm and output is not None and (output.space.name, output.offset) == ("register", STICKY):
            return
        if kind == self.codes.STORE:
            address, value = (self.value(node) for node in operation.inputs[1:3])
            self.lines.append(
                ("", f"store({address[0]}, {value[0]}, {operation.inputs[2].size})", address[1] | value[1])
            )
            return
        if kind == self.codes.LOAD:
            text, reads = self.value(operation.inputs[1])
            self.write(operation.output, f"load({text}, {operation.output.size})", reads)
            return
        if kind == self.codes.CALLOTHER:
            self._call_other(operation)
            return
        made = EXPRESSIONS.get(kind.name)
        if made is None:
            text = f"user({kind.name!r}, (), 0)"
            self.write(operation.output, text, frozenset())
            return
        inputs = [self.value(node) for node in operation.inputs]
        sizes = [node.size for node in operation.inputs]
        text = made([text for text, _ in inputs], sizes, operation.output.size)
        self.write(operation.output, text, frozenset().union(*(reads for _, reads in inputs)))

    def _call_other(self, operation: Any) -> None:
        if operation.output is None:
            return
        name = operation.inputs[0].getUserDefinedOpName()
        inputs = [self.value(node) for node in operation.inputs[1:]]
        listed = "".join(f"{text}, " for text, _ in inputs)
        self.write(
            operation.output, f"user({name!r}, ({listed}), {operation.output.size})",
            frozenset().union(*(reads for _, reads in inputs)),
        )  # fmt: skip
