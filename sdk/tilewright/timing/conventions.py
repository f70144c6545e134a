"""What the machine must know of a core's calls: registers by name, and routines of floats by theirs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tilewright.timing.binary import Binary
from tilewright.timing.lift import Lifter
from tilewright.timing.stream import Registers

END = 0xFFFFFFF0
"""Where the run function returns to."""
_BINARY = r"(add|sub|mul|div)|(cmp|unord|eq|ne|ge|gt|le|lt)"
_ROUTINES = (
    (re.compile(rf"__({_BINARY})sf[23]"), 2), (re.compile(rf"__({_BINARY})df[23]"), 4),
    (re.compile(r"__fix(uns)?sf[sd]i|__extendsfdf2|__float(un)?si[sd]f"), 1),
    (re.compile(r"__fix(uns)?df[sd]i|__truncdfsf2|__float(un)?di[sd]f"), 2),
    (re.compile(r"__aeabi_f(add|r?sub|mul|div|cmp\w+)"), 2), (re.compile(r"__aeabi_d(add|r?sub|mul|div|cmp\w+)"), 4),
    (re.compile(r"__aeabi_(f2d|f2u?iz|f2u?lz|u?i2[fd])"), 1), (re.compile(r"__aeabi_(d2f|d2u?iz|d2u?lz|u?l2[fd])"), 2),
)  # fmt: skip
"""Names of routines in GCC's libgcc, Arm's run-time ABI (IHI 0043), and words of their arguments."""


@dataclass(frozen=True)
class Convention:
    """Registers by name: where arguments begin, the stack, what a call leaves unknown, what holds the way back."""

    argument: str
    stack: str
    link: str
    clobbered: tuple[str, ...]
    fixed: tuple[tuple[str, str], ...] = ()
    """Registers that hold the address of a label all the time."""


CONVENTIONS = {
    "arm": Convention(
        "r0", "sp", "lr", ("r0", "r1", "r2", "r3", "r12", "lr", "NG", *(f"s{number}" for number in range(16)))
    ),
    "riscv": Convention(
        "a0", "sp", "ra",
        ("ra", *(f"t{number}" for number in range(7)), *(f"a{number}" for number in range(8)),
         *(f"ft{number}" for number in range(12)), *(f"fa{number}" for number in range(8))),
        (("gp", "__global_pointer$"),),
    ),
}  # fmt: skip


def words_of(names: tuple[str, ...]) -> int:
    """Words of arguments of a routine of floats by its names, 0 for any other function."""
    return next((words for pattern, words in _ROUTINES for name in names if pattern.fullmatch(name)), 0)


def clobbered(convention: Convention, lifter: Lifter, registers: Registers) -> list[int]:
    """Places of the words that a call leaves unknown."""
    named = [lifter.register(name) for name in convention.clobbered if lifter.has_register(name)]
    return [registers.place(one.offset) + at for one in named for at in range(0, max(one.size, 4), 4)]


def known_registers(binary: Binary, convention: Convention, stack: int) -> dict[str, int]:
    """What registers hold when the run function begins."""
    values = {convention.stack: stack, convention.link: END}
    for name, label in convention.fixed:
        if (address := binary.elf.label(label)) is not None:
            values[name] = address
    return values
