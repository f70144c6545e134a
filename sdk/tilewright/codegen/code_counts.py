"""What the C of a project comes to, counted where it is emitted: estimates and limits take these values, not the text.

A kernel's template is its author's C. Which functions of a library it calls and in which types it computes shows
nowhere else, so the words of every text are looked through here, once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod

from tilewright.codegen.c_tokens import count_tokens
from tilewright.codegen.wide_operations import Operation, operations

_CALL_OR_TYPE = re.compile(r"\b([a-z]\w*)\(|\b(float|double|int64_t|uint64_t)\b")
_TABLE = re.compile(r"static const (\w+) \w+((?:\[\d+\])*) = \{([^;{}]*)")
_ELEMENTS = re.compile(r"(static const [\w ]+(?:\[\w*\])+ = \{)[^;]*\}")
_WIDER_FLOATS = re.compile(r"(#if [^\n]*FLT_EVAL_METHOD == 0[^\n]*\n[^#]*)#else\n[^#]*(?=#endif)")
"""What only compilers take that compute floats in wider types; those of microcontrollers do not."""
_ELEMENT = {"int8_t": 1, "uint8_t": 1, "int16_t": 2, "uint16_t": 2, "int32_t": 4, "uint32_t": 4, "float": 4, "int": 4}
_DECLARED = re.compile(r"([a-z]\w*)\([^()]*\)\s*$")
_KEYWORDS = frozenset({"if", "for", "while", "switch", "return", "sizeof", "volatile"})


@dataclass(frozen=True)
class FunctionText:
    """The C of a layer: its function, with those that only it calls.

    `kernel` is the name of the kernel in lower case (`core` for what other cores are called with), `layer` for a loop
    over tiles and `fetch` for copies of constants, each with a number in the network; empty for what belongs to no
    layer.
    """

    name: str
    text: str
    kernel: str = ""
    number: int = 0


@dataclass(frozen=True)
class FunctionCounts:
    """One C function without comments, every white space one character: `characters` of it, `beside` of the
    declarations before it. `tokens` are those of `count_tokens`, `table_bytes` those of tables inside it. `names` are
    the functions that it calls and the wide types that it computes in; `in_floats` that floats are among them;
    `operations` are those on wide types that it may hold. `repeated` says how often it calls what it calls again.
    """

    kernel: str
    number: int
    characters: int
    beside: int
    names: frozenset[str]
    in_floats: bool
    tokens: tuple[int, ...]
    table_bytes: int
    function: str = ""
    operations: frozenset[Operation] = frozenset()
    repeated: Mapping[str, int] = field(default_factory=dict)


def count(code: FunctionText) -> tuple[FunctionCounts, ...]:
    """The functions of a text, each of which ends with a brace in the first column."""
    counts = []
    for whole in _WIDER_FLOATS.sub(r"\1", _without_comments(code.text)).split("\n}\n"):
        text = _without_tables(whole)
        signature = text.partition("\n{\n")[0]
        start = _start(signature)
        declarations, function = text[:start], text[start:]
        used = Counter(name for pair in _CALL_OR_TYPE.findall(text) for name in pair if name)
        names = used.keys() - _KEYWORDS
        repeated = {name: used[name] for name in sorted(names) if used[name] > 1}
        kernel = "core" if f"{code.name}_core(" in signature else code.kernel  # a phase has the kernel in it
        counts.append(
            FunctionCounts(
                kernel, code.number, _length(function), _length(declarations), frozenset(names), "float" in text,
                count_tokens(function), sum(map(_table_bytes, _TABLE.finditer(whole))),
                _name(signature[start:]), operations(function), repeated,
            )
        )  # fmt: skip
    return tuple(counts)


def _name(signature: str) -> str:
    """The function that a signature declares."""
    declared = _DECLARED.search(signature)
    return declared[1] if declared else ""


def _table_bytes(declaration: re.Match[str]) -> int:
    """Bytes of a table; those of types that are none of C's stand in the plan where they have dimensions."""
    sizes = [int(size) for size in re.findall(r"\d+", declaration[2])]
    if declaration[1] not in _ELEMENT:
        return 0 if sizes else 4 * (declaration[3].count(",") + 1)
    return _ELEMENT[declaration[1]] * prod(sizes)


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
    """The text without the elements of tables, which are no code."""
    return _ELEMENTS.sub(r"\1 }", text)
