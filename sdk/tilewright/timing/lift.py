"""Instructions as p-code: what each of them does, in the words of Ghidra's processor descriptions (pypcode)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tilewright.errors import UnsupportedError
from tilewright.run.pcode import ARM, governed, lifting_context
from tilewright.run.register_lists import RegisterList, refused_list, register_list
from tilewright.timing.binary import Binary

EXTRA = "time"
_MACHINES = {"arm": ARM, "riscv": "EM_RISCV"}
HARMLESS = frozenset(
    ("setISAMode", "InstructionSynchronizationBarrier", "DataSynchronizationBarrier", "DataMemoryBarrier",
     "HintPreloadData", "fence", "fence.i")
)  # fmt: skip
"""Operations outside of p-code that change nothing which the machine holds."""
UNKNOWN_RESULT = ("SignedDoesSaturate", "UnsignedDoesSaturate", "Vector", "Float", "FP", "Fixed", "SatQ", "SignedSatQ",
                  "Absolute", "ReverseBitOrder", "VFPExpandImmediate", "SIMDExpandImmediate")  # fmt: skip
"""Beginnings of operations outside of p-code that have a result, which is not computed, and no other effect."""
SATURATIONS = {"SignedSaturate": 1, "UnsignedSaturate": 0}
"""Those that are, with what is added to their number of bits."""
FUSED = ("vfm", "vfnm", "fmadd", "fmsub", "fnm")
"""Beginnings of mnemonics that round once where p-code multiplies and adds."""


@dataclass(frozen=True)
class Operand:
    """A place in a space of p-code: 'const' (the number itself), 'register', 'unique' or 'ram'; size in bytes."""

    space: str
    offset: int
    size: int


@dataclass(frozen=True)
class Operation:
    """An operation by p-code's name. `of` names what stands outside of p-code."""

    name: str
    output: Operand | None
    inputs: tuple[Operand, ...]
    of: str = ""


@dataclass(frozen=True)
class Instruction:
    """An instruction with its operations, in order."""

    address: int
    size_bytes: int
    operations: tuple[Operation, ...]

    @property
    def end(self) -> int:
        """Address behind it."""
        return self.address + self.size_bytes


@dataclass
class Lifter:
    """Lifts instructions of one program when they are first asked for."""

    binary: Binary
    instructions: dict[int, Instruction] = field(default_factory=dict)
    _context: Any = None

    def __post_init__(self) -> None:
        self._context = lifting_context(_MACHINES[self.binary.machine], EXTRA)

    def register(self, name: str) -> Operand:
        """A register by its name."""
        place = self._context.registers[name]
        return Operand("register", place.offset, place.size)

    def has_register(self, name: str) -> bool:
        """Whether the core has a register of that name."""
        return name in self._context.registers

    def sweep(self, first: int, end: int) -> None:
        """Lift all code from an address to another, past what cannot be read."""
        at = first
        while at < end:
            if self.binary.is_data(at):
                at += 2
                continue
            instruction = self.instruction(at)
            at = instruction.end if instruction is not None else at + 2

    def instruction(self, address: int) -> Instruction | None:
        """The instruction at an address, None where there is none."""
        if address not in self.instructions:
            self._translate(address)
        return self.instructions.get(address)

    def mnemonic(self, address: int) -> str:
        """How an assembler writes the instruction at an address."""
        code = self.binary.read(address, 20)
        listed = refused_list(code, 1 + governed(code)) if self.binary.machine == "arm" else None
        if listed is not None:
            return f"{listed.mnemonic} of {listed.count} registers"
        try:
            [one] = self._context.disassemble(code[:4], address, max_instructions=1).instructions
        except Exception:
            return "unknown"
        return str(one.mnem)

    def _translate(self, address: int) -> None:
        """Lift one instruction; of Arm's IT with those that it governs, whose condition it is."""
        import pypcode

        raw = self.binary.read(address, 20)
        count = 1
        if self.binary.machine == "arm":
            count += governed(raw)
            listed = register_list(raw)
            if listed is not None and listed.base < 15:  # what the program counter holds is not kept
                self._keep(address, 4, self._moves(listed))
                return
            if refused_list(raw, count) is not None:  # under a condition
                self._keep(address, 2, [Operation("CALLOTHER", None, (), "RegisterList")])
                return
        try:
            translated = self._context.translate(raw, address, max_instructions=count)
        except (pypcode.BadDataError, pypcode.UnimplError, pypcode.DecoderError):
            return
        at, size, operations = -1, 0, list[Operation]()
        for each in translated.ops:
            if each.opcode == pypcode.OpCode.IMARK:
                self._keep(at, size, operations)
                at, size, operations = each.inputs[0].offset, each.inputs[0].size, []
            else:
                operations.append(_operation(each))
        self._keep(at, size, operations)

    def _moves(self, listed: RegisterList) -> list[Operation]:
        """A load or store of a list of registers, the one with the lowest number at the lowest address."""
        base = self.register(("sp", "lr", "pc")[listed.base - 13] if listed.base > 12 else f"r{listed.base}")
        at, size = self.register("mult_addr"), listed.register_bytes
        span, step = Operand("const", listed.count * size, 4), Operand("const", size, 4)
        moves = [Operation("INT_SUB", at, (base, span)) if listed.below else Operation("COPY", at, (base,))]
        for number in range(listed.first, listed.first + listed.count):
            one = self.register(f"{'d' if size == 8 else 's'}{number}")
            moves.append(Operation("LOAD", one, (at,)) if listed.loads else Operation("STORE", None, (at, one)))
            moves.append(Operation("INT_ADD", at, (at, step)))
        if listed.writes_back:
            moves.append(Operation("INT_SUB" if listed.below else "INT_ADD", base, (base, span)))
        return moves

    def _keep(self, address: int, size: int, operations: Sequence[Operation]) -> None:
        if address < 0:
            return
        if any(one.name == "FLOAT_MULT" for one in operations) and self.mnemonic(address).startswith(FUSED):
            operations = [
                Operation("UNKNOWN", one.output, ()) if one.name == "FLOAT_MULT" else one for one in operations
            ]
        self.instructions[address] = Instruction(address, size, tuple(operations))


def _operand(of: Any) -> Operand:
    return Operand(of.space.name, of.offset, of.size)


def _operation(of: Any) -> Operation:
    name = of.opcode.name
    output = None if of.output is None else _operand(of.output)
    inputs = tuple(_operand(one) for one in of.inputs)
    if name in ("LOAD", "STORE"):
        return Operation(name, output, inputs[1:])
    if name == "CALLOTHER":
        return Operation(name, output, inputs[1:], of.inputs[0].getUserDefinedOpName())
    return Operation(name, output, inputs)


def unmodelled(name: str, instruction: str, function: str) -> UnsupportedError:
    """The refusal of an instruction whose effect nobody told."""
    return UnsupportedError(
        f"instructions of '{name}' cannot be bounded",
        why=f"{instruction} in {function} is not modelled",
        fix="name a target whose core does without it",
    )
