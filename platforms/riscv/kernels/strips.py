"""Text of a strip: lanes of 32 bits, as many at a time as groups of eight registers hold, in a loop of its own.

Values lie in v8, v16 and v24; elements of fewer bits are loaded to v0 and widened. Loads and stores of any width keep
the number of lanes, so one setting of it serves a turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tilewright.numerics import C_TYPES
from tilewright.platform import DType
from tilewright.platforms.riscv.kernels.vector_walk import Operand, Walk

GROUP = 8
VALUES = ("v8", "v16", "v24")
NARROW = "v0"


@dataclass
class StripText:
    """Instructions of one turn, in order, and the operands of the statement: pointers that move, inputs by name, and
    single elements that the function is given."""

    lines: list[str] = field(default_factory=list)
    pointers: list[tuple[str, Operand]] = field(default_factory=list)
    inputs: list[tuple[str, str, str]] = field(default_factory=list)
    scalars: list[tuple[str, str, str]] = field(default_factory=list)

    def __call__(self, *lines: str) -> None:
        """Append instructions."""
        self.lines += lines

    def input(self, name: str, value: str, kind: str = "r") -> str:
        """An input of the statement, whose C is `value`; what an instruction calls it."""
        if all(known != name for known, _, _ in self.inputs):
            self.inputs.append((name, value, kind))
        return f"%[{name}]"

    def scalar(self, name: str, c_type: str, value: str) -> str:
        """A parameter of the function, `value` where it is called; its C."""
        self.scalars.append((name, c_type, value))
        return name

    def load(self, register: str, name: str, operand: Operand) -> None:
        """Elements to a register as they are."""
        self.pointers.append((name, operand))
        bits = operand.dtype.bits
        if operand.step == 1:
            self(f"vle{bits}.v {register}, (%[{name}])")
        else:
            stride = self.input(f"{name}_stride", str(operand.step * bits // 8))
            self(f"vlse{bits}.v {register}, (%[{name}]), {stride}")

    def whole(self, register: str, name: str, operand: Operand) -> None:
        """Integers of up to 32 bits to lanes of 32."""
        bits = operand.dtype.bits
        self.load(register if bits == 32 else NARROW, name, operand)
        if bits < 32:
            self(f"v{'s' if operand.dtype.is_signed else 'z'}ext.vf{32 // bits} {register}, {NARROW}")

    def store(self, register: str, name: str, operand: Operand) -> None:
        """Lanes as elements of the result, of whose width they are."""
        self.pointers.append((name, operand))
        bits = operand.dtype.bits
        if operand.step == 1:
            self(f"vse{bits}.v {register}, (%[{name}])")
        else:
            stride = self.input(f"{name}_stride", str(operand.step * bits // 8))
            self(f"vsse{bits}.v {register}, (%[{name}]), {stride}")

    def narrowed(self, register: str, dtype: DType) -> None:
        """Lanes of 32 bits to those of a type, saturated."""
        unsigned, width, group = not dtype.is_signed, 32, GROUP
        if unsigned and dtype.bits < 32:
            self(f"vmax.vx {register}, {register}, zero")
        while width > dtype.bits:
            width, group = width // 2, group // 2
            self(f"vsetvli zero, zero, e{width}, m{group}, ta, ma")
            self(f"vnclip{'u' if unsigned else ''}.wi {register}, {register}, 0")

    def limited(self, register: str, dtype: DType, low: int, high: int) -> None:
        """Integers of 32 bits to codes of a type, and to narrower limits where these are given."""
        least, most = dtype.range
        if low > least:
            self(f"vmax.vx {register}, {register}, {self.input('low', str(low)) if low else 'zero'}")
        if high < most:
            self(f"vmin.vx {register}, {register}, {self.input('high', str(high))}")
        self.narrowed(register, dtype)


@dataclass(frozen=True)
class Parameter:
    """A parameter of the function of a strip: its name and declaration, the argument, whether the loop moves it."""

    name: str
    declaration: str
    argument: str
    moves: bool


@dataclass(frozen=True)
class Input:
    """An input of the statement: what instructions call it, the constraint, its C."""

    name: str
    kind: str
    value: str


@dataclass(frozen=True)
class Strip:
    """One nest in vectors: loops around a call of the function of `length` lanes, where points exist.

    `before` are instructions ahead of the loop over turns, `otherwise` the statement for points that do not exist.
    """

    comment: str
    loops: tuple[tuple[str, int], ...]
    guards: tuple[str, ...]
    otherwise: str
    length: int
    parameters: tuple[Parameter, ...]
    before: tuple[str, ...]
    lines: tuple[str, ...]
    inputs: tuple[Input, ...]

    @property
    def moved_apart(self) -> bool:
        """True where a pointer moves by other than the number of lanes."""
        return any("%[next]" in line for line in self.lines)


@dataclass(frozen=True)
class StripContext:
    """Declarations of tables and of parameters that are not read, and the strips one after the other."""

    declarations: tuple[str, ...]
    strips: tuple[Strip, ...]


def strip_of(
    walk: Walk, text: StripText, before: Sequence[str] = (), width: int = 32, otherwise: str = "",
) -> Strip:  # fmt: skip
    """The nest of a walk with the instructions of one turn."""
    result = walk.operands[0].name
    parameters = [
        Parameter(name, f"{'' if operand.name == result else 'const '}{C_TYPES[operand.dtype]} *{name}",
                  operand.pointer, True)
        for name, operand in text.pointers
    ]  # fmt: skip
    parameters += [
        Parameter(name, f"{c_type}{'' if c_type.endswith('*') else ' '}{name}", value, False)
        for name, c_type, value in text.scalars
    ]
    inputs = tuple(Input(name, kind, value) for name, value, kind in text.inputs)
    return Strip(
        walk.comment, walk.loops, walk.guards, otherwise, walk.length, tuple(parameters), tuple(before),
        turn(text, width), inputs,
    )  # fmt: skip


def turn(strip: StripText, width: int = 32, group: int = GROUP) -> tuple[str, ...]:
    """The loop over turns: lanes are counted, pointers move on."""
    lines = ["1:", f"vsetvli %[some], %[count], e{width}, m{group}, ta, ma", *strip.lines]
    lines.append("sub %[count], %[count], %[some]")
    moved = 0
    for name, operand in strip.pointers:
        size = operand.dtype.bits // 8
        if operand.step != 1:
            lines += [f"mul %[next], %[some], %[{name}_stride]", f"add %[{name}], %[{name}], %[next]"]
            moved = 0
            continue
        if size > 1 and moved != size:
            lines.append(f"slli %[next], %[some], {size.bit_length() - 1}")
            moved = size
        lines.append(f"add %[{name}], %[{name}], {'%[next]' if size > 1 else '%[some]'}")
    return (*lines, "bnez %[count], 1b")
