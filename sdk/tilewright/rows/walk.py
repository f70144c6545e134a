"""The order in which a chain computes its rows, walked step by step as the generated code does.

The last node asks for its rows, some at a time; each call asks the node before for the rows that it reads. Rows that
a later call reads again move to the start of their window. A last call that would leave the tensor starts earlier and
computes some rows twice.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from tilewright.rows.bands import ALIKE, RowMap


@dataclass(frozen=True)
class WalkedNode:
    """One node of the chain: `rows` of `height` are computed by a call, `reads` says what of the node before."""

    reads: RowMap
    rows: int
    height: int

    def place(self, row: int) -> int:
        """The first row of the call that is to make row `row`."""
        return min(row, self.height - self.rows)


@dataclass(frozen=True)
class Made:
    """A call: node number, and its first row."""

    number: int
    row: int


@dataclass(frozen=True)
class Walk:
    """Every call in order; per node rows that its window holds at most (the last has none), and rows moved in it.

    `alike` tells for each node but the last whether the next one reads just the rows that one call of it makes.
    """

    calls: tuple[Made, ...]
    held: tuple[int, ...]
    moved: tuple[int, ...]
    alike: tuple[bool, ...]

    def count(self, number: int) -> int:
        """Calls of a node."""
        return sum(call.number == number for call in self.calls)


class _Window:
    """Rows of one node between it and the next."""

    def __init__(self, first: int) -> None:
        self.first, self.made, self.held, self.moved = first, 0, 0, 0


def walk(steps: Sequence[WalkedNode]) -> Walk | None:
    """The walk of a chain; None where a call would need rows that have left their window, or skip some."""
    windows = [_Window(-after.reads.before) for after in steps[1:]]
    alike = tuple(
        after.reads == ALIKE and (step.rows, step.height) == (after.rows, after.height)
        for step, after in itertools.pairwise(steps)
    )
    calls: list[Made] = []

    def call(number: int, row: int) -> bool:
        """One call, with the rows before it; False where the windows do not serve it."""
        if number and not (call(number - 1, row) if alike[number - 1] else bring(number, row)):
            return False
        calls.append(Made(number, row))
        return True

    def bring(number: int, row: int) -> bool:
        window, before, step = windows[number - 1], steps[number - 1], steps[number]
        top = step.reads.first(row)
        if top < window.first or top > window.made:
            return False
        window.moved += max(0, window.made - top) if top > window.first else 0
        window.first = top
        end = min(top + step.reads.count(step.rows), before.height)
        while window.made < end:
            at = before.place(window.made)
            if at < window.first or not call(number - 1, at):
                return False
            window.made = at + before.rows
            window.held = max(window.held, window.made - window.first)
        window.held = max(window.held, step.reads.count(step.rows))
        return True

    last = steps[-1]
    for row in range(0, last.height, last.rows):
        if not call(len(steps) - 1, last.place(row)):
            return None
    held = tuple(step.rows if same else w.held for step, w, same in zip(steps, windows, alike, strict=False))
    return Walk(tuple(calls), held, tuple(window.moved for window in windows), alike)
