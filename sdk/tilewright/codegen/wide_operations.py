"""Which operations on wide types a function of C holds: where a core lacks them the compiler calls functions for them.

A function of the compiler that divides floats cannot be called by C without a division. The other way round a `/` may
be one of integers, so the answer is what may be called, never too little.
"""

from __future__ import annotations

import re
from typing import Literal

Operation = Literal[
    "divide floats", "divide integers", "divide 64 bits", "multiply floats", "add floats",
    "convert", "order", "equal", "subtract",
]  # fmt: skip
_INDEX = re.compile(r"\[[^\[\]]*\]")
_OTHER = re.compile(r"->|<<|>>|--|\*\)|\w \*(?=\w)")
"""Signs that compute nothing: of members, shifts and pointers."""
_COUNTER = re.compile(r"for \(|(?:const )?int \w+ = [\w +*%/<>?:()-]+;$")
"""Lines that count or place: no floats, and no integers of 64 bits."""
_HALVES = re.compile(r"tilewright_b?f16_(?:to|of)_")
"""Functions of `tilewright_halves.h`, which scale whole numbers where the core has no such type."""
_COUNTED = re.compile(r"(?:for \(|^\s*(?:const )?)int (\w+) =", re.MULTILINE)
_WIDE = re.compile(r"\d\.|\d\.?f\b|float|double|int64")
_FLOAT = re.compile(r"float|double")
_INTEGER = re.compile(r"int\d+_t|\b(?:bool|double|size_t|unsigned|long)\b|\d\.\d*(?![\df])")
"""Types beside `float` and counters, and numbers that are double."""
_SIGNS: tuple[tuple[Operation, re.Pattern[str]], ...] = (
    ("order", re.compile(r"[<>]")),
    ("equal", re.compile(r"[=!]=|!|\bbool\b")),
    ("subtract", re.compile("-")),
)
_FUNCTIONS: tuple[tuple[Operation, re.Pattern[str]], ...] = (
    ("divide floats", re.compile(r"__div[sdt]f3|__aeabi_[fd]div")),
    ("divide 64 bits", re.compile(r"__u?(?:div|mod|divmod)di[34]|__aeabi_u?ldivmod")),
    ("divide integers", re.compile(r"__u?(?:div|mod|divmod)si[34]|__aeabi_u?idiv(?:mod)?")),
    ("multiply floats", re.compile(r"__mul[sd]f3|__aeabi_[fd]mul")),
    ("add floats", re.compile(r"__add[sd]f3|__aeabi_[fd]add")),
    ("convert", re.compile(r"__(?:float|fix)\w+|__extend\w+|__trunc\w+|__aeabi_(?:u?[il]2[fd]|[fd]2u?[il]z|f2d|d2f)")),
    ("order", re.compile(r"__[lg][te][sdt]f2|__aeabi_c?[fd]r?cmp(?:lt|le|gt|ge)")),
    ("equal", re.compile(r"__(?:eq|ne)[sdt]f2|__aeabi_c?[fd]cmpeq")),
    ("subtract", re.compile(r"__sub[sdt]f3|__aeabi_[fd]r?sub")),
)


def operations(function: str) -> frozenset[Operation]:
    """The operations that a function without comments may hold."""
    needed, signs, rest = set[Operation](), set[str](), list[str]()
    for line in map(str.strip, function.splitlines()):
        if line.startswith("#"):
            continue
        if "/" in line or "%" in line:
            needed.add("divide integers")  # in an index too, where the core cannot divide at all
        if _COUNTER.match(line) and not _WIDE.search(line):
            continue
        while (shorter := _INDEX.sub("@", line)) != line:
            line = shorter
        line = _OTHER.sub(" ", line)
        needed |= {operation for operation, sign in _SIGNS if sign.search(line)}
        signs |= set("*/+-") & set(line)
        rest.append(line)
    if "divide integers" in needed and "int64_t" in function:
        needed.add("divide 64 bits")  # with a sign or without: of small numbers the compiler takes what is cheaper
    if _HALVES.search(function):
        needed |= {"convert", "multiply floats"}
    return frozenset(needed | (_of_floats(signs, rest, function) if _FLOAT.search(function) else set()))


def _of_floats(signs: set[str], lines: list[str], function: str) -> set[Operation]:
    """Operations on floats: compilers multiply by the inverse instead of dividing, and add instead of doubling."""
    needed = set[Operation]()
    needed |= {"divide floats"} if "/" in signs else set()
    needed |= {"multiply floats"} if signs & set("*/") else set()
    needed |= {"add floats"} if signs else set()
    counters = "|".join(sorted(set(_COUNTED.findall(function))))
    if _INTEGER.search(function) or (counters and re.search(rf"\b(?:{counters})\b", "\n".join(lines))):
        needed.add("convert")
    return needed


def operation_of(name: str) -> Operation | None:
    """The operation that a function of the compiler computes; None for those that any C may call."""
    return next((operation for operation, names in _FUNCTIONS if names.fullmatch(name)), None)
