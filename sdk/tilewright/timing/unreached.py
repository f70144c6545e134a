"""Machine code that no input reaches: where the abstract run, which takes every way that data may take, never came."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from tilewright.timing.lines import Line, Lines
from tilewright.timing.machine import Machine
from tilewright.timing.program import Program


@dataclass(frozen=True)
class Unreached:
    """Instructions side by side of one line that no input reaches, the first at `address`.

    `dead` where no input reaches the line at all: else compilers made several copies of it, and another one runs.
    """

    address: int
    function: str
    line: Line
    instructions: int
    dead: bool


def unreached(program: Program, machine: Machine, lines: Lines, file: str) -> tuple[Unreached, ...]:
    """The instructions of a file of C, in functions that are called, which the machine did not run."""
    missed = list[tuple[int, str, Line]]()
    living = set[Line]()
    for function in sorted(program.functions.values(), key=lambda one: one.address):
        for each in program.instructions(function):
            line = lines.at(each.address)
            if line is None or line.file != file:
                continue
            if machine.reached(each.address):
                living.add(line)
            elif each.operations:  # what does nothing only fills up
                missed.append((each.address, function.name, line))
    return tuple(_joined(missed, living))


def _joined(missed: list[tuple[int, str, Line]], living: set[Line]) -> Iterator[Unreached]:
    for (function, line), group in groupby(missed, key=lambda one: one[1:]):
        addresses = [address for address, _, _ in group]
        yield Unreached(addresses[0], function, line, len(addresses), line not in living)
