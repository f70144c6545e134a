"""What the C of a project comes to, counted where it is emitted: estimates and limits take these values, not the text.

A kernel's template is its author's C. Which functions of a library it calls and in which types it computes shows
nowhere else, so the words of every text are looked through here, once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_CALL_OR_TYPE = re.compile(r"\b([a-z]\w*)\(|\b(float|double|int64_t|uint64_t)\b")
_KEYWORDS = frozenset({"if", "for", "while", "switch", "return", "sizeof", "volatile"})


@dataclass(frozen=True)
class FunctionText:
    """The C of a layer: its function, with those that only it calls.

    `kernel` is the name of the kernel in lower case, `layer` for a loop over tiles and `fetch` for copies of constants,
    each with a number in the network; empty for what belongs to no layer.
    """

    name: str
    text: str
    kernel: str = ""
    number: int = 0


@dataclass(frozen=True)
class FunctionCounts:
    """One C function without comments, every white space one character: `characters` of it, `beside` of the
    declarations before it. `names` are the functions that it calls and the wide types that it computes in; `in_floats`
    that floats are among them; `inlined` that its machine code is its callers'.
    """

    kernel: str
    number: int
    characters: int
    beside: int
    names: frozenset[str]
    in_floats: bool
    inlined: bool


def count(code: FunctionText) -> tuple[FunctionCounts, ...]:
    """The functions of a text, each of which ends with a brace in the first column."""
    counts = []
    for text in _without_tables(_without_comments(code.text)).split("\n}\n"):
        signature = text.partition("\n{\n")[0]
        start = _start(signature)
        declarations, function = text[:start], text[start:]
        names = {name for pair in _CALL_OR_TYPE.findall(text) for name in pair if name} - _KEYWORDS
        inlined = "always_inline" in signature
        sizes = _length(function), _length(declarations)
        counts.append(FunctionCounts(code.kernel, code.number, *sizes, frozenset(names), "float" in text, inlined))
    return tuple(counts)


def _start(signature: str) -> int:
    """Where a function begins: behind the last declaration or line of the preprocessor before it."""
    start = end = 0
    for line in signature.splitlines(keepends=True)[:-1]:
        end += len(line)
        if line.startswith("#") or line.endswith(";\n"):
            start = end
    return start


def _length(text: str) -> int:
    return len(" ".join(text.split()))


def _without_comments(text: str) -> str:
    first, *others = text.split("/*")
    return first + "".join(other.partition("*/")[2] for other in others)


def _without_tables(text: str) -> str:
    """The text without the rows of tables, which are no code."""
    return "\n".join(line for line in text.split("\n") if not (line.startswith(" ") and _is_row(line.strip(" "))))


def _is_row(line: str) -> bool:
    return line.startswith("{") and line.endswith("},")
