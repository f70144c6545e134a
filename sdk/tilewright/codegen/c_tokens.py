"""How much machine code a function of our C becomes: its tokens, those of unrolled loops as often as these run.

A loop whose bounds are literals costs nothing where it never runs and its body alone where it runs once. Where all
turns together have few tokens the compiler writes them one after the other; how few differs by kernel, so a function
has one count for every limit of `UNROLLED`. Or it computes elements of a byte side by side, where the innermost loop
runs in whole words: there the body stands four times.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

WORDS = -8
"""Stands for loops that are not written out, but compute eight elements of a byte in a turn if that divides theirs."""
UNROLLED = (0, 100, 400, 800, 1500, WORDS)
"""Tokens that all turns of a loop may have together to be written one after the other."""
_SIDE_BY_SIDE = 4
_LOOP_TOKENS = 6
"""Of a loop that stays one: its counter, its test, its jump."""
_TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|[-+*/%<>=!&|^~?:]+|\[|\(|\{")
_LOOP = re.compile(r"for \([\w ]*?(\w+) = (-?\d+); \1 < (\d+); (?:\1\+\+|\1 \+= (\d+))\)")


@dataclass
class _Block:
    """A block that is being read: the tokens of its head, how often it runs where that is known, tokens inside."""

    head: int
    turns: int | None
    inside: list[int]
    innermost: bool = True

    def counts(self) -> list[int]:
        """Tokens of the block for every limit."""
        if self.turns is None:
            return [self.head + tokens for tokens in self.inside]
        wide = self.innermost and self.turns % -WORDS == 0
        return [_of_loop(self.turns, tokens, limit, wide) for tokens, limit in zip(self.inside, UNROLLED, strict=True)]


def _of_loop(turns: int, body: int, limit: int, wide: bool) -> int:
    if turns * body <= limit or turns <= 1:
        return turns * body
    return body * (_SIDE_BY_SIDE if wide and limit == WORDS else 1) + _LOOP_TOKENS


def count_tokens(function: str) -> tuple[int, ...]:
    """Tokens of a function without comments, one figure for every limit of `UNROLLED`."""
    blocks = [_Block(0, None, [0] * len(UNROLLED))]
    for line in map(str.strip, function.splitlines()):
        if line.startswith("}") and len(blocks) > 1:
            _close(blocks)
            line = line[1:].strip()
        if line.count("{") > line.count("}"):
            blocks[-1].innermost = False
            blocks.append(_Block(len(_TOKEN.findall(line)), _turns(line), [0] * len(UNROLLED)))
        else:
            tokens = len(_TOKEN.findall(line))
            blocks[-1].inside = [before + tokens for before in blocks[-1].inside]
    while len(blocks) > 1:
        _close(blocks)
    return tuple(blocks[0].inside)


def _close(blocks: list[_Block]) -> None:
    counts = blocks.pop().counts()
    blocks[-1].inside = [before + tokens for before, tokens in zip(blocks[-1].inside, counts, strict=True)]


def _turns(line: str) -> int | None:
    loop = _LOOP.match(line)
    return None if loop is None else max(0, -((int(loop[2]) - int(loop[3])) // int(loop[4] or 1)))
