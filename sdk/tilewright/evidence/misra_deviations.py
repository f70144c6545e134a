"""Records of deviation from required rules of MISRA C:2012: rule, lines of C, reason, and what keeps them safe.

A departure from a required rule that no record covers is an open one, and the evidence says so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Deviation:
    """One record; `lines` finds itself in the line of C of each place that it covers."""

    number: str
    rule: str
    lines: re.Pattern[str]
    where: str
    reason: str
    safe: str


DEVIATIONS = (
    Deviation(
        "D1", "20.7", re.compile(r"#define TILEWRIGHT_(MVE|RVV|FPU)_\w+\("),
        "macros TILEWRIGHT_MVE_*, TILEWRIGHT_RVV_* and TILEWRIGHT_FPU_*, which write functions and statements of "
        "inline assembly",
        "their parameters are parts of the text of instructions, names and types, not expressions: parentheses would "
        "end the joining of strings, or declare nothing",
        "only the kernels' own literals and names are passed; the machine code is compared with the operator on drawn "
        "and extreme values, and proved where the section of proofs says so",
    ),
    Deviation(
        "D2", "10.1", re.compile(r"(>>|<<) *\(?(shift|left|right)\b"),
        "shifts by a number of the channel, and of signed numbers in fixed point",
        "the number of bits differs from channel to channel or from value to value, so that no constant division says "
        "the same; and a division rounds towards zero where the operator means down",
        "gcc and clang define the shift of a negative value to round down; the number of bits is less than that of the "
        "word by the proof of each layer when it is compiled",
    ),
    Deviation(
        "D3", "8.14", re.compile(r"\brestrict\b"),
        "pointers of kernels that compilers turn into vectors (x86-64, AArch64)",
        "compilers make vectors of plain C only where they know that operands lie apart",
        "the placement keeps operands of a kernel apart unless it declares that it may run in place: an independent "
        "checker proves it for every plan",
    ),
)  # fmt: skip


def deviation(rule: str, line: str) -> str:
    """The number of the record that covers a departure at a line of C; empty where none does."""
    return next((one.number for one in DEVIATIONS if one.rule == rule and one.lines.search(line)), "")
