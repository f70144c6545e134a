"""A listing of Xpulp instructions as text for one asm statement, held against the rules of the core's manual.

Hardware loops: a body has at least three instructions, none of them a branch; loops nest two deep, the outer one ends
at least two instructions behind the inner one; bodies are aligned to words and hold nothing compressed. A rule of our
own: the last instruction of a loop is one of Xpulp's, so that a core without them traps there and can be made to
emulate the loop.
"""

from __future__ import annotations

from dataclasses import dataclass, field

_NUMBERS = {"zero": 0, "ra": 1, "sp": 2, "gp": 3, "tp": 4, "t0": 5, "t1": 6, "t2": 7, "s0": 8, "s1": 9}
_NUMBERS |= {f"a{i}": 10 + i for i in range(8)} | {f"s{i}": 16 + i for i in range(2, 12)}
_NUMBERS |= {f"t{i}": 25 + i for i in range(3, 7)}
_BRANCHES = frozenset({"beq", "bne", "blt", "bge", "bltu", "bgeu", "beqz", "bnez", "j", "jal", "jalr", "call", "ret"})
_SHORTEST = 3
_APART = 2


@dataclass
class _Loop:
    """An open hardware loop: its number, its label, and where its body begins."""

    number: int
    label: str
    first: int


@dataclass
class Listing:
    """Instructions in order, labels among them. Registers that were written to are `used`."""

    lines: list[str] = field(default_factory=list)
    _open: list[_Loop] = field(default_factory=list)
    _ended: int = -_APART
    _labels: int = 0

    def __call__(self, *instructions: str) -> None:
        """Append instructions, written as the assembler reads them."""
        self.lines += instructions

    def label(self) -> str:
        """A fresh label, one per copy of the asm statement."""
        self._labels += 1
        return f".Lx%={chr(96 + self._labels)}"

    def here(self, label: str) -> None:
        """Put a label in front of the next instruction."""
        self.lines.append(f"{label}:")

    def begin_loop(self, count: str) -> None:
        """Start a hardware loop that runs as often as the register `count` says; the outer one has number 1."""
        assert len(self._open) < 2, "two hardware loops are all that the core has"
        number = 0 if self._open else 1
        if self._open:
            assert self._open[0].number == 1
        loop = _Loop(number, self.label(), 0)
        if not self._open:
            self.lines += [".option push", ".balign 4", ".option norvc"]
        self.lines.append(f"lp.setup {number}, x{_NUMBERS[count]}, {loop.label}")
        loop.first = len(self.lines)
        self._open.append(loop)

    def end_loop(self) -> None:
        """End the innermost loop with the instruction that was appended last."""
        loop = self._open.pop()
        body = [line for line in self.lines[loop.first :] if _is_instruction(line)]
        assert len(body) >= _SHORTEST, "a hardware loop has at least three instructions"
        assert body[-1].startswith(("p.", "pv.")), "a hardware loop ends with an instruction of Xpulp"
        assert not any(line.split()[0] in _BRANCHES for line in body), "a hardware loop holds no branch"
        last = self._count() - 1
        assert last - self._ended >= _APART, "the outer loop ends two instructions behind the inner one"
        self._ended = last
        self.lines.insert(len(self.lines) - 1, f"{loop.label}:")
        if not self._open:
            self.lines.append(".option pop")

    def _count(self) -> int:
        return sum(_is_instruction(line) for line in self.lines)

    def text(self, indent: str) -> str:
        """C string literals, one instruction a line; what may be is compressed, since the cores' caches are small."""
        assert not self._open, "a hardware loop was not ended"
        return "\n".join(f'{indent}"{line}\\n"' for line in self.lines)


def _is_instruction(line: str) -> bool:
    return not line.endswith(":") and not line.startswith(".")


def constant(register: str, value: int) -> tuple[str, ...]:
    """Instructions that load 32 bits."""
    value = (value + (1 << 31)) % (1 << 32) - (1 << 31)
    return (f"li {register}, {value}",)
