"""Layers that are computed band by band: what lies between them is found among the codes that the run has stored.

A chain keeps no tensor between its layers whole, but every code that it stores there has its definition in the book.
One that is the very sum that an element should be, and the same function of it for all values, is that element.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tilewright.ops.operator import Call
from tilewright.prove.book import Book
from tilewright.prove.compare import Comparison, Difference, Outcome
from tilewright.prove.expected import Expected
from tilewright.prove.linear import Leaf
from tilewright.prove.meaning import NotAttempted, Numbers, eight_bits, expectations


@dataclass(frozen=True)
class NotFound(Exception):
    """An element between two layers that the run has stored nowhere as it should be; `outcome` is what was nearest."""

    tensor: str
    element: int
    outcome: Outcome

    @property
    def why(self) -> str:
        """The sentence."""
        told = f"element {self.element} of '{self.tensor}', between its layers, "
        if isinstance(self.outcome, Difference):
            return told + f"can be {self.outcome.stored} and should be {self.outcome.meant}, modulo 256"
        return told + "is stored nowhere as a function of the sum that it should be"


def last_of(chain: Sequence[Call], operands: Mapping[str, Numbers], comparison: Comparison) -> list[list[Expected]]:
    """What the last layer's results should be, by the codes that those before it have stored.

    NotAttempted where a layer has no meaning here, NotFound where one has not stored what it should.
    """
    numbers, stored = dict(operands), _by_leaves(comparison.book)
    for call in chain[:-1]:
        result = call.outputs[0]
        if not eight_bits(result) or len(call.outputs) > 1:
            raise NotAttempted(f"'{result.name}' is {result.dtype.value}, no code of eight bits")
        elements = [
            _found(meant, (result.name, at), stored, comparison)
            for at, meant in enumerate(expectations(call, _read(call, numbers))[0])
        ]
        numbers[result.name] = np.asarray(elements, np.int64).reshape(result.shape)
    return expectations(chain[-1], _read(chain[-1], numbers))


def _read(call: Call, numbers: Mapping[str, Numbers]) -> list[Numbers | None]:
    return [None if t is None or i in call.constants else numbers.get(t.name) for i, t in enumerate(call.inputs)]


def _by_leaves(book: Book) -> dict[frozenset[Leaf], list[int]]:
    """Stored codes by the sums that they are functions of."""
    stored = dict[frozenset[Leaf], list[int]]()
    for number, byte in book.definitions.items():
        stored.setdefault(frozenset(byte.leaves), []).append(number)
    return stored


def _found(
    meant: Expected, where: tuple[str, int], stored: Mapping[frozenset[Leaf], list[int]], comparison: Comparison
) -> int:  # fmt: skip
    """The number of the code that an element is."""
    book, outcome = comparison.book, None
    if _is_moved(meant, book):
        return meant.leaves[0][0][0]
    for number in stored.get(frozenset(meant.leaves), ()):
        outcome = comparison.compare(number, meant)
        if outcome is None:
            low, high = meant.rule.limits
            book.codes.narrow(number, max(low, book.codes.lows[number]), min(high, book.codes.highs[number]))
            book.held.add(number)
            return number
    raise NotFound(*where, outcome)


def _is_moved(meant: Expected, book: Book) -> bool:
    """True for a code that is handed on as it is."""
    if len(meant.leaves) != 1 or len(meant.leaves[0]) != 1 or meant.leaves[0][0][1] != 1:
        return False
    low, high = book.codes.range_of(meant.leaves[0])
    every = np.arange(low, high + 1, dtype=np.int64)
    return bool((meant.rule.codes([every]) == every).all())
