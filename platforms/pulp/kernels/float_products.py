"""C of float products in a fixed order, with the loads of what they multiply and the moves of pointers between them.

Two cores share a floating-point unit: while one loads, the other computes. Products that stand together in one run, and
their loads in another, take eight cores a seventh longer; so do moves of pointers at the end of a loop, by a twentieth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

AHEAD = 1
"""Products between a load and the first one that uses it."""


@dataclass(frozen=True)
class Value:
    """A register, and what is loaded into it: so many elements behind a pointer, a number or C."""

    name: str
    pointer: str
    offset: str

    @property
    def load(self) -> str:
        """The load as C."""
        return f"{self.name} = {self.pointer}[{self.offset}];"


@dataclass(frozen=True)
class Product:
    """Two values whose product is added to a sum; those with one `line` stand in one line of text."""

    total: str
    left: Value
    right: Value
    line: tuple[int, ...]


def products_text(products: Sequence[Product], moves: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Products with every load a little before its first use, and the moves of pointers (pointer, by what) behind the
    last load from each, a line for each run of one `line`; moves of pointers that nothing is loaded from come last."""
    loads = _loads([(one.left, one.right) for one in products])
    behind, rest = _moves(loads, moves)
    lines = list[str]()
    for _, run in groupby(enumerate(products), lambda one: one[1].line):
        words = list[str]()
        for at, one in run:
            words += [value.load for value in loads[at]]
            words.append(f"TILEWRIGHT_TIMES({one.total}, {one.left.name}, {one.right.name})")
            words += behind[at]
        lines.append(" ".join(words))
    return (*lines, *([" ".join(rest)] if rest else []))


def _moves(loads: Sequence[Sequence[Value]], moves: Sequence[tuple[str, str]]) -> tuple[list[list[str]], list[str]]:
    """The moves behind each product, one behind each as far as there are products, and those that are left."""
    behind: list[list[str]] = [[] for _ in loads]
    rest, free = list[str](), 0
    last = {value.pointer: at for at, values in enumerate(loads) for value in values}
    for pointer, by in sorted(moves, key=lambda move: last.get(move[0], len(loads))):
        free = max(free, last.get(pointer, len(loads)))
        if free < len(loads):
            behind[free].append(f"{pointer} += {by};")
            free += 1
        else:
            rest.append(f"{pointer} += {by};")
    return behind, rest


def _loads(products: Sequence[tuple[Value, ...]]) -> list[list[Value]]:
    """The values that are loaded before each product: a little before their first, and behind the last product of what
    their register held before."""
    uses: dict[Value, list[int]] = {}
    for at, values in enumerate(products):
        for value in values:
            uses.setdefault(value, []).append(at)
    loads: list[list[Value]] = [[] for _ in products]
    held: dict[str, int] = {}
    taken = 0
    for value in sorted(uses, key=lambda value: uses[value][0]):
        taken = max(taken, uses[value][0] - AHEAD, held.get(value.name, -1) + 1, 0)
        loads[taken].append(value)
        held[value.name] = uses[value][-1]
    return loads
