"""A loop nest as a value: loops, guards and statements, built once from a nest of index maps.

    LoopNest("y[i] = a[i]", (Loops((Loop("i", 4, parallel=True),), ("y[i] = a[i];",)),))

Statements are text of C; what holds them is none. So who hands the parallel loops to cores or threads takes them from
the value, and the rest prints itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile


@dataclass(frozen=True)
class Loop:
    """A loop that counts from 0 up to `extent`; the steps of a `parallel` one write results of their own."""

    name: str
    extent: int
    parallel: bool = False


@dataclass(frozen=True)
class Loops:
    """Loops around a body, the outermost first; a block where there are none."""

    loops: tuple[Loop, ...]
    body: tuple[Part, ...]


@dataclass(frozen=True)
class Guard:
    """A body that is run where all conditions hold."""

    conditions: tuple[str, ...]
    body: tuple[Part, ...]


Part = str | Loops | Guard
"""A statement, or what holds statements."""


@dataclass(frozen=True)
class ConstantTable:
    """A constant array that statements read; `text` are its elements."""

    name: str
    c_type: str
    length: int
    text: str

    @property
    def declaration(self) -> str:
        """The array as C."""
        return f"static const {self.c_type} {self.name}[{self.length}] = {{{self.text}}};"


@dataclass(frozen=True)
class LoopNest:
    """The parts one after the other, what they compute as a comment, and the tables that they read.

    `reads` and `writes` name the tensors in memory whose elements are read and written.
    """

    comment: str
    body: tuple[Part, ...]
    tables: tuple[ConstantTable, ...] = ()
    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()

    @property
    def lines(self) -> list[str]:
        """All of it as C, loop by loop on one core."""
        return c_lines(self.body)

    @property
    def shared(self) -> Loops | None:
        """The parallel loops that hold all of the nest, and what one of their steps runs; None where something stands
        beside them. A nest without parts has no loops.
        """
        if not self.body:
            return Loops((), ())
        outer = self.body[0]
        if len(self.body) > 1 or not isinstance(outer, Loops):
            return None
        loops = tuple(takewhile(lambda loop: loop.parallel, outer.loops))
        rest = outer.loops[len(loops) :]
        return Loops(loops, (Loops(rest, outer.body),) if rest or not loops else outer.body)


def declarations(nests: Sequence[LoopNest]) -> tuple[str, ...]:
    """The tables of all nests as C, each name once."""
    return tuple({table.name: table.declaration for nest in nests for table in nest.tables}.values())


def c_lines(parts: Sequence[Part]) -> list[str]:
    """The parts as lines of C."""
    lines = list[str]()
    for part in parts:
        if isinstance(part, str):
            lines.append(part)
        elif isinstance(part, Guard):
            lines += [f"if ({' && '.join(part.conditions)}) {{", *_indented(c_lines(part.body)), "}"]
        else:
            lines += _loop_lines(part)
    return lines


def _loop_lines(loops: Loops) -> list[str]:
    lines = c_lines(loops.body)
    for loop in reversed(loops.loops):
        head = f"for (int {loop.name} = 0; {loop.name} < {loop.extent}; {loop.name}++) {{"
        lines = [head, *_indented(lines), "}"]
    return lines if loops.loops else ["{", *_indented(lines), "}"]


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" for line in lines]
