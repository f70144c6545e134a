"""Machine code as p-code, the language of Ghidra's descriptions of processors: what all who lift it have to know."""

from __future__ import annotations

from typing import Any

from tilewright.errors import ToolMissing
from tilewright.plugins import platform
from tilewright.target import Target

LANGUAGES = {"EM_ARM": "ARM:LE:32:Cortex", "EM_RISCV": "RISCV:LE:32:RV32GC"}
"""The description of instructions (SLEIGH) by the machine of an ELF file."""
ARM = "EM_ARM"
UNDESCRIBED = frozenset(("mve", "rvv"))
"""Capabilities of cores whose instructions the languages lack, or would take for others."""


def undescribed(target: Target) -> str:
    """Why machine code of a target is not lifted, empty where it is: extensions, and several cores at once."""
    extension = next((one for one in target.capabilities if one in UNDESCRIBED), None)
    if extension is not None:
        return f"its extension '{extension}' is not modelled"
    return "its cores compute together" if platform(target.platform).cores > 1 else ""


def require_lifter(extra: str) -> Any:
    """The module pypcode; ToolMissing names the `extra` that brings it."""
    try:
        import pypcode
    except ImportError as error:
        raise ToolMissing(
            "pypcode is not installed", why="it says what each instruction of the program does",
            fix=f"install tilewright with its extra '{extra}'",
        ) from error  # fmt: skip
    return pypcode


def lifting_context(machine: str, extra: str) -> Any:
    """What translates the instructions of a machine in `LANGUAGES`; Arm's are those of Thumb."""
    context = require_lifter(extra).Context(LANGUAGES[machine])
    if machine == ARM:
        context.setVariableDefault("TMode", 1)
    return context


def governed(code: bytes) -> int:
    """How many Thumb instructions behind this one are made conditional by it: those of an IT, which are lifted with it.

    Source: Armv7-M Architecture Reference Manual, A7.7.38: the lowest bit of the mask that is set ends the block.
    """
    half = int.from_bytes(code[:2], "little")
    if len(code) < 2 or half & 0xFF00 != 0xBF00 or not half & 15:
        return 0
    return 5 - (half & 15 & -(half & 15)).bit_length()
