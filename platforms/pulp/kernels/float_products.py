"""C of float products in a fixed order, with the loads of what they multiply between them.

Two cores share a floating-point unit: while one loads, the other computes. Products that stand together in one run, and
their loads in another, take eight cores a seventh longer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

AHEAD = 2
"""Products between a load and the first one that uses it."""


@dataclass(frozen=True)
class Value:
    """A register and the C of what is loaded into it."""

    name: str
    source: str


@dataclass(frozen=True)
class Product:
    """Two values whose product is added to a sum; those with one `line` stand in one line of text."""

    total: str
    left: Value
    right: Value
    line: tuple[int, ...]


def products_text(products: Sequence[Product]) -> Iterator[str]:
    """Products with every load a little before its first use, a line for each run of one `line`."""
    loads = _loads([(one.left, one.right) for one in products])
    for _, run in groupby(enumerate(products), lambda one: one[1].line):
        yield " ".join(
            " ".join(
                [
                    *(f"{value.name} = {value.source};" for value in loads[at]),
                    f"TILEWRIGHT_TIMES({one.total}, {one.left.name}, {one.right.name})",
                ]
            )
            for at, one in run
        )


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
