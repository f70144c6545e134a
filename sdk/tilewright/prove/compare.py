"""Whether a stored byte is what the operator means, for all values of all codes.

A function of one sum is computed for every value that the sum can have, a function of two codes for every pair: each
is decided, not sampled. What depends on more (the largest of a window) is asked of a solver, whose work is limited by
its own count of steps. Decisions are remembered by shape, so that a channel is decided once for all places.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tilewright.prove.book import Book
from tilewright.prove.expected import Expected, Largest
from tilewright.prove.function import Byte
from tilewright.prove.linear import Leaf
from tilewright.prove.terms import variable

Sums = npt.NDArray[np.int64]
CHUNK = 1 << 17
MOST_SUMS = 1 << 26
"""Values of one sum that are gone through."""
MOST_PAIRS = 1 << 17
SAMPLES = 4096


@dataclass(frozen=True)
class Difference:
    """Codes, by number, for which a layer stores `stored` and should store `meant`; modulo 256."""

    codes: Mapping[int, int]
    stored: int
    meant: int


@dataclass(frozen=True)
class Undecided:
    """Why nothing was decided."""

    why: str


Outcome = Difference | Undecided | None
"""None: equal for all values."""
Solver = Callable[[Book, Byte, Expected], Outcome]


class Comparison:
    """Compares bytes, remembering what was decided. `solver` is asked where there are many codes."""

    def __init__(self, book: Book, solver: Solver) -> None:
        self.book = book
        self.solver = solver
        self.decided: dict[tuple[object, ...], tuple[Outcome, tuple[int, ...]]] = {}
        self.values_tried = 0
        self.asked = 0

    def compare(self, number: int, expected: Expected) -> Outcome:
        """The code of that number against what it should be."""
        byte = self._definition(number, expected)
        one = _one_leaf(byte, expected)
        if one is not None:
            return self._over_sum(byte, expected, one)
        codes = sorted({number for leaf in (*byte.leaves, *expected.leaves) for number, _ in leaf})
        size = 1
        for code in codes[:4]:
            size *= self.book.codes.highs[code] - self.book.codes.lows[code] + 1
        if len(codes) <= 4 and size <= MOST_PAIRS and not self.book.passing(byte):
            return self._over_codes(byte, expected, codes)
        if self.book.passing(byte):
            return Undecided(
                "it passes through codes that the layer stores in between, which are compared with nothing"
            )
        difference = self._sampled(byte, expected, codes)
        if difference is not None:
            return difference
        if not isinstance(expected.rule, Largest):
            return Undecided("its sums are not those of the operator, though no input was found that tells them apart")
        return self._solved(byte, expected, codes)

    def _definition(self, number: int, expected: Expected) -> Byte:
        """The function that a code is; itself where just that is expected."""
        own = any(leaf == ((number, 1),) for leaf in expected.leaves)
        definition = self.book.definitions.get(number)
        if definition is None or own:
            return self.book.byte(variable(number))
        return definition

    def _over_sum(self, byte: Byte, expected: Expected, leaf: Leaf) -> Outcome:
        low, high = self.book.codes.range_of(leaf)
        key = (byte.shape, expected.rule, low, high, bool(byte.leaves), len(expected.leaves))
        if key not in self.decided:
            self.decided[key] = self._every_sum(byte, expected, low, high), ()
        outcome = self.decided[key][0]
        if isinstance(outcome, Difference):
            wanted = outcome.codes[-1]
            return Difference(self._codes_for(leaf, wanted), outcome.stored, outcome.meant)
        return outcome

    def _every_sum(self, byte: Byte, expected: Expected, low: int, high: int) -> Outcome:
        if high - low >= MOST_SUMS:
            return Undecided(f"its sum has {high - low + 1} values, more than are gone through")
        for start in range(low, high + 1, CHUNK):
            sums = np.arange(start, min(start + CHUNK, high + 1), dtype=np.int64)
            self.values_tried += sums.size
            stored = self.book.shapes.values(byte.shape, [sums]) & np.uint64(255)
            meant = expected.rule.codes([sums] * len(expected.leaves)).view(np.uint64) & np.uint64(255)
            wrong = np.flatnonzero(stored != meant)
            if wrong.size:
                at = int(wrong[0])
                one = np.broadcast_to(stored, sums.shape), np.broadcast_to(meant, sums.shape)
                return Difference({-1: int(sums[at])}, int(one[0][at]), int(one[1][at]))
        return None

    def _codes_for(self, leaf: Leaf, wanted: int) -> dict[int, int]:
        """Codes with this sum: large factors as near as they come, the two smallest by trying every pair."""
        codes = self.book.codes
        ordered = sorted(leaf, key=lambda item: -abs(item[1]))
        large, small = ordered[:-2], ordered[-2:]
        values = {number: codes.lows[number] if factor > 0 else codes.highs[number] for number, factor in large}
        middle = sum(factor * ((codes.lows[number] + codes.highs[number]) // 2) for number, factor in small)
        left = wanted - middle - sum(factor * values[number] for number, factor in large)
        for number, factor in large:
            steps = max(0, min(left // abs(factor), codes.highs[number] - codes.lows[number]))
            values[number] += steps if factor > 0 else -steps
            left -= steps * abs(factor)
        ranges = [np.arange(codes.lows[number], codes.highs[number] + 1) for number, _ in small]
        grid = [axis.reshape(-1) for axis in np.meshgrid(*ranges, indexing="ij")]
        total = sum((factor * axis for (_, factor), axis in zip(small, grid, strict=True)), np.zeros(1, np.int64))
        best = int(np.argmin(np.abs(total - (left + middle))))
        return values | {number: int(axis[best]) for (number, _), axis in zip(small, grid, strict=True)}

    def _over_codes(self, byte: Byte, expected: Expected, numbers: Sequence[int]) -> Outcome:
        place = {number: index for index, number in enumerate(numbers)}
        renamed = tuple(
            tuple((place[n], factor) for n, factor in leaf) for leaf in (*byte.leaves, (), *expected.leaves)
        )  # fmt: skip
        ranges = tuple((self.book.codes.lows[n], self.book.codes.highs[n]) for n in numbers)
        key = (byte.shape, expected.rule, renamed, ranges)
        if key not in self.decided:
            grid = np.meshgrid(*(np.arange(low, high + 1) for low, high in ranges), indexing="ij")
            columns = {number: axis.reshape(-1).astype(np.int64) for number, axis in zip(numbers, grid, strict=True)}
            self.values_tried += next(iter(columns.values())).size if columns else 1
            self.decided[key] = self._on(byte, expected, columns), tuple(numbers)
        outcome, first = self.decided[key]
        if isinstance(outcome, Difference):
            renamed_codes = {numbers[first.index(n)]: value for n, value in outcome.codes.items()}
            return Difference(renamed_codes, outcome.stored, outcome.meant)
        return outcome

    def _on(self, byte: Byte, expected: Expected, columns: Mapping[int, Sums]) -> Outcome:
        """Both functions on these values of the codes."""
        size = next(iter(columns.values())).size if columns else 1
        stored = self.book.shapes.values(byte.shape, [_sum(leaf, columns) for leaf in byte.leaves]) & np.uint64(255)
        meant = expected.rule.codes([_sum(leaf, columns) for leaf in expected.leaves]).view(np.uint64) & np.uint64(255)
        stored, meant = np.broadcast_to(stored, size), np.broadcast_to(meant, size)
        wrong = np.flatnonzero(stored != meant)
        if not wrong.size:
            return None
        at = int(wrong[0])
        return Difference({n: int(values[at]) for n, values in columns.items()}, int(stored[at]), int(meant[at]))

    def _sampled(self, byte: Byte, expected: Expected, numbers: Sequence[int]) -> Outcome:
        """A difference among drawn codes, None where there is none."""
        if expected.leaves and isinstance(expected.rule, Largest) and self._known(byte, expected, numbers):
            return None
        draw = np.random.default_rng(len(numbers))
        lows, highs = ([side[n] for n in numbers] for side in (self.book.codes.lows, self.book.codes.highs))
        values = draw.integers(lows, highs, (SAMPLES, len(numbers)), endpoint=True)
        values[0], values[1] = lows, highs
        return self._on(byte, expected, {n: np.ascontiguousarray(values[:, i]) for i, n in enumerate(numbers)})

    def _key(self, byte: Byte, expected: Expected, numbers: Sequence[int]) -> tuple[object, ...]:
        place = {number: index for index, number in enumerate(numbers)}
        renamed = tuple(tuple((place[n], factor) for n, factor in leaf) for leaf in byte.leaves)
        ranges = tuple((self.book.codes.lows[n], self.book.codes.highs[n]) for n in numbers)
        return ("solver", byte.shape, expected.rule, renamed, ranges)

    def _known(self, byte: Byte, expected: Expected, numbers: Sequence[int]) -> bool:
        return self._key(byte, expected, numbers) in self.decided

    def _solved(self, byte: Byte, expected: Expected, numbers: Sequence[int]) -> Outcome:
        key = self._key(byte, expected, numbers)
        if key not in self.decided:
            self.asked += 1
            self.decided[key] = self.solver(self.book, byte, expected), tuple(numbers)
        outcome, first = self.decided[key]
        if isinstance(outcome, Difference):
            codes = {numbers[first.index(n)]: value for n, value in outcome.codes.items()}
            return Difference(codes, outcome.stored, outcome.meant)
        return outcome


def _one_leaf(byte: Byte, expected: Expected) -> Leaf | None:
    """The only sum that both depend on; None where there are others."""
    leaves = {*byte.leaves, *expected.leaves}
    return leaves.pop() if len(leaves) == 1 else None


def _sum(leaf: Leaf, columns: Mapping[int, Sums]) -> Sums:
    total: Sums = np.zeros(next(iter(columns.values())).shape, np.int64)
    for number, factor in leaf:
        total = total + factor * columns[number]
    return total
