"""Which operations on wide types a function of C holds: where a core lacks them the compiler calls functions for them.

A function of the compiler that divides floats cannot be called by C without a division. The other way round a `/` may
be one of integers, so the answer is what may be called, never too little.
"""

from __future__ import annotations

import re
from typing import Literal

Operation = Literal["divide floats", "divide integers", "order", "equal", "subtract"]
_INDEX = re.compile(r"\[[^\[\]]*\]")
_OTHER = re.compile(r"->|<<|>>|--")
_COUNTER = re.compile(r"for \(|(?:const )?int \w+ = [\w +*%/<>?:()-]+;$")
"""Lines that count or place: no floats, and no integers of 64 bits."""
_WIDE = re.compile(r"\d\.|\d\.?f\b|float|double|int64")
_SIGNS: tuple[tuple[Operation, re.Pattern[str]], ...] = (
    ("order", re.compile(r"[<>]")),
    ("equal", re.compile(r"[=!]=|!|\bbool\b")),
    ("subtract", re.compile("-")),
)
_FUNCTIONS: tuple[tuple[Operation, re.Pattern[str]], ...] = (
    ("divide floats", re.compile(r"__div[sdt]f3|__aeabi_[fd]div")),
    ("divide integers", re.compile(r"__u?(?:div|mod|divmod)[sd]i[34]|__aeabi_u?[il]div(?:mod)?")),
    ("order", re.compile(r"__[lg][te][sdt]f2|__aeabi_c?[fd]r?cmp(?:lt|le|gt|ge)")),
    ("equal", re.compile(r"__(?:eq|ne)[sdt]f2|__aeabi_c?[fd]cmpeq")),
    ("subtract", re.compile(r"__sub[sdt]f3|__aeabi_[fd]r?sub")),
)


def operations(function: str) -> frozenset[Operation]:
    """The operations that a function without comments may hold."""
    needed, divides = set[Operation](), False
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
        divides = divides or "/" in line
    if divides and re.search("float|double", function):
        needed.add("divide floats")
    return frozenset(needed)


def operation_of(name: str) -> Operation | None:
    """The operation that a function of the compiler computes; None for those that any C may call."""
    return next((operation for operation, names in _FUNCTIONS if names.fullmatch(name)), None)
