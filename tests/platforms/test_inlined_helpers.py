"""Helpers of kernels that are compiled with options of their own are inlined whatever a compiler thinks of it.

gcc inlines no function into one whose `optimize` attribute differs, unless it must; a call for each element is left.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

PLATFORMS = Path(__file__).parents[2] / "platforms"
MACRO = re.compile(r"#define (TILEWRIGHT_\w+)(?:\([^)]*\))? *(.*)")
FUNCTION = re.compile(
    r"^ *((?:static|TILEWRIGHT_[A-Z_]+)\b[^;{}=#]*?\b(tilewright_\w+)(?:##\w+)?\s*\([^;{}]*\)[\s\\]*)\{", re.MULTILINE
)
BEFORE = re.compile(r"(?:^(?:#if.*|#endif|__attribute__.*)\n)+\Z", re.MULTILINE)
CALL = re.compile(r"\b(tilewright_\w+)\s*\(")
LARGER = {"tilewright_product_exact of product_exact.h"}
"""Of eight lines in a loop, called for four sums at a time: 56 bytes more in each kernel where it is inlined."""


@dataclass(frozen=True)
class Helper:
    """A function of a header: what stands before its name, and what it calls."""

    header: str
    attributes: str
    calls: frozenset[str]

    @property
    def apart(self) -> bool:
        """Whether it is compiled with options of its own."""
        return "optimize(" in self.attributes

    @property
    def forced(self) -> bool:
        """Whether it is inlined always."""
        return "always_inline" in self.attributes


def helpers(texts: dict[str, str]) -> dict[str, list[Helper]]:
    """The functions of headers by name, with the macros before them spelt out."""
    macros: dict[str, str] = {}
    for text in texts.values():
        for name, body in MACRO.findall(text.replace("\\\n", " ")):
            macros[name] = f"{macros.get(name, '')} {body}"
    found: dict[str, list[Helper]] = {}
    for header, text in texts.items():
        for match in FUNCTION.finditer(text):
            before = BEFORE.search(text[: match.start()])
            words = (before[0] if before else "") + match[1]
            spelt = words + "".join(macros.get(word, "") for word in re.findall(r"TILEWRIGHT_\w+", words))
            ends = [at for end in ("\n}\n", "\n    }\n") if (at := text.find(end, match.end())) >= 0]
            body = text[match.end() : min(ends, default=len(text))]
            found.setdefault(match[2], []).append(Helper(header, spelt, frozenset(CALL.findall(body))))
    return found


def left_as_calls(texts: dict[str, str]) -> set[str]:
    """Inline functions that others compiled with options of their own call, through ones that are inlined too."""
    found = helpers(texts)
    waiting = [one for many in found.values() for one in many if one.apart]
    left, seen = set[str](), set[str]()
    while waiting:
        for name in waiting.pop().calls - seen:
            seen.add(name)
            called = found.get(name, [])
            waiting += [one for one in called if one.forced]
            left |= {
                f"{name} of {one.header}"
                for one in called
                if re.search(r"\binline\b", one.attributes) and not one.forced and not one.apart
            }
    return left


def test_no_helper_of_a_kernel_with_options_of_its_own_is_left_as_a_call() -> None:
    texts = {path.name: path.read_text(encoding="utf-8") for path in PLATFORMS.rglob("*.h")}
    assert sum(one.apart for many in helpers(texts).values() for one in many) > 60
    assert left_as_calls(texts) == LARGER


def test_a_helper_behind_an_inlined_one_is_found() -> None:
    text = """#define TILEWRIGHT_APART static __attribute__((noinline, optimize("O2")))
static inline int tilewright_deep(int x)
{
    return x;
}

static inline __attribute__((always_inline)) int tilewright_near(int x)
{
    return tilewright_deep(x);
}

TILEWRIGHT_APART int tilewright_kernel(int x)
{
    return tilewright_near(x);
}
"""
    assert left_as_calls({"a.h": text}) == {"tilewright_deep of a.h"}
    forced = text.replace("inline int", "inline __attribute__((always_inline)) int")
    assert left_as_calls({"a.h": forced}) == set()
