"""Many intervals at once: which of them meet a given one, and how much they cover over time; nearly linear."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass


class Shelves:
    """Intervals [start, end) with a number each; those of one shelf are of nearly one length.

    Where the intervals of a shelf lie apart, a question costs one look per shelf and one per interval that is found.
    """

    def __init__(self) -> None:
        self._shelves: dict[int, list[tuple[int, int, int]]] = {}

    def add(self, start: int, end: int, key: int) -> None:
        """Put an interval in."""
        insort(self._shelves.setdefault((end - start).bit_length(), []), (start, end, key))

    def remove(self, start: int, end: int, key: int) -> None:
        """Take out one that was put in."""
        shelf = self._shelves[(end - start).bit_length()]
        del shelf[bisect_left(shelf, (start, end, key))]

    def meeting(self, start: int, end: int) -> list[int]:
        """The numbers of all intervals that share a point with [start, end)."""
        met = []
        for bits, shelf in self._shelves.items():
            longest = 1 << bits
            for low, high, key in shelf[bisect_left(shelf, (start - longest, 0, 0)) : bisect_left(shelf, (end, 0, 0))]:
                if high > start and low < high:
                    met.append(key)
        return met


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes [start, end) of a home that are in use in the moments [lower, upper)."""

    home: int
    start: int
    end: int
    lower: int
    upper: int


def changes(spans: Iterable[Span]) -> dict[int, int]:
    """By how many bytes what is in use grows at a moment; what several spans of one home share counts once."""
    homes: dict[int, list[Span]] = {}
    for span in spans:
        homes.setdefault(span.home, []).append(span)
    change: dict[int, int] = {}
    for group in homes.values():
        for size, lower, upper in _apart(group):
            change[lower] = change.get(lower, 0) + size
            change[upper] = change.get(upper, 0) - size
    return change


def covered(spans: Sequence[Span]) -> dict[int, int]:
    """Bytes in use at every moment at which a span begins, as `changes` counts them."""
    change, births = changes(spans), {span.lower for span in spans}
    total_from, total = dict[int, int](), 0
    for moment in sorted({*change, *births}):
        total += change.get(moment, 0)
        if moment in births:
            total_from[moment] = total
    return total_from


def _apart(group: list[Span]) -> Iterator[tuple[int, int, int]]:
    """(bytes, first moment, end) of one home's spans, cut so that no byte comes twice at one moment."""
    if len(group) == 1:
        yield group[0].end - group[0].start, group[0].lower, group[0].upper
        return
    edges = sorted((at, index) for index, span in enumerate(group) for at in (span.start, span.end))
    inside: set[int] = set()
    for place, (at, index) in enumerate(edges[:-1]):
        inside ^= {index}
        size = edges[place + 1][0] - at
        if size:
            end = None
            for lower, upper in sorted((group[i].lower, group[i].upper) for i in inside):
                if end is None or upper > end:
                    yield size, lower if end is None else max(lower, end), upper
                    end = upper
