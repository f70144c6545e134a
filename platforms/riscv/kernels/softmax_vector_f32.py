"""Softmax and LogSoftmax of floats in vectors: lines one after the other, or as many side by side as lanes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from tilewright.platform import Call, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels.softmax_f32 import SoftmaxF32, lines_refused
from tilewright.platforms.generic.kernels.softmax_i8 import Line
from tilewright.platforms.riscv.kernels.function_bodies import logarithms, powers_left
from tilewright.platforms.riscv.kernels.strips import Input, StripText
from tilewright.platforms.riscv.platform import PLATFORM

PORTABLE = SoftmaxF32()
LANES = 32
"""Floats in a group of eight registers, at 128 bits a register; half as many lines stand side by side."""
POWER, LOGARITHM = 27, 45
"""Vector instructions of an exponential, and of a logarithm."""


@dataclass(frozen=True)
class Statement:
    """Instructions, and the inputs that they name."""

    lines: tuple[str, ...]
    inputs: tuple[Input, ...]


@dataclass(frozen=True)
class LinesVectorContext:
    """Lines of `length` floats, `x_step` and `y_step` apart; `strip` is the loop over lines that vectors take or walk,
    `around` are the others; `powers` makes v0 of v16, `logarithms` v8 of v8.
    """

    around: tuple[Line, ...]
    strip: Line
    length: int
    x_step: int
    y_step: int
    side_by_side: bool
    logarithm: bool
    powers: Statement
    logarithms: Statement

    @property
    def at_once(self) -> bool:
        """True where registers hold a line, and those of the constants are enough."""
        return not self.side_by_side and self.length <= LANES and not self.logarithm


@PLATFORM.kernel(
    "Softmax", "LogSoftmax", types="f32 -> f32", template="softmax_vector_f32.c.mako", layout=("axes", "same"),
    numerics="1e-5", preference=30, requires=Needs(has=("rvv", "fpu")),
)  # fmt: skip
class SoftmaxVectorF32(KernelMethods):
    """The largest of a line, powers and their sum, over any axis."""

    def accepts(self, call: Call) -> str | None:
        """Elements to work on, and no activation behind."""
        return lines_refused(call)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Each element is read for the last time just before its result is written."""
        return PORTABLE.in_place(call)

    def cost(self, call: Call) -> float:
        """Of the order that takes less."""
        numbers = PORTABLE.context(Operands(call))
        return min(
            one(numbers.lines, numbers.length, call.node.op == "LogSoftmax") for one in (one_by_one, side_by_side)
        )

    def context(self, operands: Operands) -> LinesVectorContext:
        """The numbers of the lines."""
        numbers = PORTABLE.context(operands)
        logarithm = operands.call.node.op == "LogSoftmax"
        apart, beside = (order(numbers.lines, numbers.length, logarithm) for order in (one_by_one, side_by_side))
        together = beside < apart
        at = _strip(numbers.lines) if together else len(numbers.lines) - 1
        return LinesVectorContext(
            around=tuple(line for n, line in enumerate(numbers.lines) if n != at),
            strip=numbers.lines[at] if numbers.lines else Line(1, 0, 0),
            length=numbers.length,
            x_step=numbers.x_step,
            y_step=numbers.y_step,
            side_by_side=together,
            logarithm=logarithm,
            powers=_statement(powers_left),
            logarithms=_statement(logarithms),
        )


def _statement(write: Callable[[StripText], None]) -> Statement:
    text = StripText()
    write(text)
    return Statement(tuple(text.lines), tuple(Input(name, kind, value) for name, value, kind in text.inputs))


def _strip(lines: Sequence[Line]) -> int:
    """The loop whose lines stand side by side: the one that fills lanes best."""
    return max(range(len(lines)), key=lambda at: lines[at].count / -(-lines[at].count // (LANES // 2)))


def one_by_one(lines: Sequence[Line], length: int, logarithm: bool) -> float:
    """Instructions of lines one after the other."""
    short = length <= LANES and not logarithm
    one = POWER + 13 if short else 45 + -(-length // LANES) * (POWER + 17) + logarithm * LOGARITHM
    return float(prod(line.count for line in lines) * one)


def side_by_side(lines: Sequence[Line], length: int, logarithm: bool) -> float:
    """Instructions of lines side by side."""
    if not lines:
        return float("inf")
    strip = lines[_strip(lines)].count
    turns = prod(line.count for line in lines) / strip * -(-strip // (LANES // 2))
    return turns * ((POWER + 15) * length + 30 + logarithm * LOGARITHM)
