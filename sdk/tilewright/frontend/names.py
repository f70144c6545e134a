"""Names: unique ones for tensors and nodes, and the mangler through which any text must go to become C.

Names in a model file are untrusted. Between the stages they stay as they are (made unique, never shortened); in C
stands only what `c_identifier` returns.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from difflib import get_close_matches

C_LENGTH = 63  # the significant characters of an internal identifier in C99

_KEYWORDS = """
auto break case char const continue default do double else enum extern float for goto if inline int long register
restrict return short signed sizeof static struct switch typedef union unsigned void volatile while bool true false
asm fortran typeof complex imaginary constexpr nullptr alignas alignof static_assert thread_local typeof_unqual
and and_eq bitand bitor catch char8_t char16_t char32_t class co_await co_return co_yield compl concept consteval
constinit const_cast decltype delete dynamic_cast explicit export friend mutable namespace new noexcept not not_eq
operator or or_eq private protected public reinterpret_cast requires static_cast template this throw try typeid
typename using virtual wchar_t xor xor_eq main
errno NULL EOF INFINITY NAN I stdin stdout stderr assert offsetof linux unix i386 size_t ptrdiff_t
abs acos asin atan ceil cos cosh div erf exp fabs floor fma fmax fmin fmod free index log malloc memcpy memmove
memset pow read round signal sin sinh sqrt tan tanh time trunc write
"""
RESERVED = frozenset(_KEYWORDS.split())


def c_identifier(text: str, taken: set[str], length: int = C_LENGTH) -> str:
    """A C99 and C++ identifier of at most `length` characters made of `text`, not in `taken`; it is added to `taken`.

    The same calls in the same order give the same names. Letters with accents lose them; whatever else is not a
    letter, a digit or `_` becomes one `_`. A text that had to be shortened ends in eight digits of its SHA-256.
    """
    plain = unicodedata.normalize("NFKD", text)
    plain = "".join(character for character in plain if not unicodedata.combining(character))
    plain = re.sub(r"[^0-9A-Za-z]+", "_", plain).strip("_")
    if not plain or plain[0].isdigit():
        plain = f"t_{plain}" if plain else "unnamed"
    if plain in RESERVED:
        plain += "_t"
    if len(plain) > length:
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        plain = f"{plain[: length - 9].rstrip('_')}_{digest}"
    candidate, number = plain, 1
    while candidate in taken:
        number = _next_number(number, taken)
        candidate = f"{plain[: length - len(str(number)) - 1]}_{number}"
    taken.add(candidate)
    return candidate


def _next_number(number: int, taken: set[str]) -> int:
    """2, 3, ... 9, then numbers that are most likely free, so that thousands of equal names stay cheap."""
    return number + 1 if number < 9 or number >= len(taken) else len(taken) + 1


def unique(name: str, taken: set[str]) -> str:
    """`name`, or `name_2`, `name_3`, ... so that it is not in `taken`; it is added to `taken`."""
    candidate, number = name, 1
    while candidate in taken:
        number = _next_number(number, taken)
        candidate = f"{name}_{number}"
    taken.add(candidate)
    return candidate


def printable(text: str) -> str:
    """The text with a question mark for each control character."""
    return "".join(c if c.isprintable() else "?" for c in text)


def quoted(name: str, limit: int = 60) -> str:
    """A name for a message: in quotes, without control characters, at most about `limit` characters."""
    shown = printable(name)
    return f"'{shown}'" if len(shown) <= limit else f"'{shown[: limit - 3]}...' ({len(name)} characters)"


def nearest(name: str, known: Iterable[str], count: int = 3) -> str:
    """The sentence that names the most similar of the known names, or the first few of them."""
    names = sorted(set(known))
    close = get_close_matches(name[:80], names[:5000], n=count, cutoff=0.6)
    if close:
        return f"did you mean {' or '.join(quoted(each) for each in close)}?"
    if not names:
        return "there are none"
    more = f" and {len(names) - 6} more" if len(names) > 6 else ""
    return f"there are {', '.join(quoted(each) for each in names[:6])}{more}"
