"""Loop bounds for other tools that compute worst-case time: OTAWA's flow facts (F4) and annotations of aiT (AIS2).

A bound is the most times that the head of a loop runs each time that the loop is entered, in any context: no tool's
reading of a bound (turns of the body, back edges) is larger.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tilewright.timing.bound import LoopBound


def otawa(program: Path, loops: Sequence[LoopBound]) -> str:
    """A file of flow facts, `NAME.ff`; comments name the line of C."""
    lines = [f"// Loop bounds of {program.name}, counted in an abstract run of its instructions."]
    lines += [f"loop 0x{one.address:x} {one.most};  // {_where(one)}" for one in loops]
    return "\n".join(lines) + "\n"


def ait(program: Path, loops: Sequence[LoopBound]) -> str:
    """A file of annotations, `NAME.ais`."""
    lines = [f"# Loop bounds of {program.name}, counted in an abstract run of its instructions."]
    lines += [f"loop 0x{one.address:x} {{ bound: 0..{one.most}; }}  # {_where(one)}" for one in loops]
    return "\n".join(lines) + "\n"


def _where(one: LoopBound) -> str:
    return f"{one.function}, {one.line}" if one.line is not None else one.function
