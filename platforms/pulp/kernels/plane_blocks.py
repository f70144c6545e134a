"""C of blocks of float sums: four planes of results times up to four neighbouring pixels, every tap of a row at once.

The columns of a row are known when the code is made, so a tap that would read outside of a row is not in the text, and
an input is loaded once for all pixels and taps that read it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from tilewright.platforms.pulp.kernels.float_products import Product, Value, products_text

LANES, WIDEST = 4, 4


@dataclass(frozen=True)
class Tap:
    """A column of the window: its place among the weights of a row, and the input that the first result reads."""

    weight: int
    start: int


@dataclass(frozen=True)
class Row:
    """A row of results: `count` of them, each `step` inputs behind the one before, in a row of `inputs`; they lie
    `apart` elements from each other, the first one `first` from the row's begin. Blocks have at most `widest`."""

    taps: tuple[Tap, ...]
    step: int
    inputs: int
    count: int
    apart: int = 1
    first: int = 0
    widest: int = WIDEST

    def met(self, result: int) -> tuple[int, ...]:
        """The taps that read an input for this result, by their numbers."""
        return tuple(
            number for number, tap in enumerate(self.taps) if 0 <= result * self.step + tap.start < self.inputs
        )


@dataclass(frozen=True)
class Segment:
    """Neighbouring blocks of one kind: where the first result lies, how many blocks there are, and how many before."""

    kind: int
    first: int
    blocks: int
    before: int


@dataclass(frozen=True)
class Weights:
    """Elements from the weights of a lane to those of the next, and from one term to the next; 0: the tile says it."""

    lane: int
    plane: int


@dataclass(frozen=True)
class Kind:
    """One kind of block: the taps that each of its results meets; `step` as in `Row`."""

    taps: tuple[Tap, ...]
    step: int
    met: tuple[tuple[int, ...], ...]

    @property
    def width(self) -> int:
        """Results side by side."""
        return len(self.met)

    @cached_property
    def inputs(self) -> tuple[int, ...]:
        """The inputs that are read, counted from that of the first result without a tap."""
        return tuple(sorted({at * self.step + self.taps[tap].start for at, met in enumerate(self.met) for tap in met}))

    @property
    def origin(self) -> int:
        """The first input."""
        return self.inputs[0] if self.inputs else 0

    @property
    def products(self) -> int:
        """Products of a term, of one lane."""
        return sum(map(len, self.met))


def kinds_of(row: Row) -> tuple[tuple[Kind, ...], tuple[Segment, ...]]:
    """The kinds of blocks of a row, and where they lie. Between two edges there is the kind that meets all, if only for
    no block: so rows of several lengths have the same text."""
    kinds: dict[Kind, int] = {}
    segments: list[Segment] = []
    whole = Kind(row.taps, row.step, (tuple(range(len(row.taps))),) * row.widest)
    for before, (first, width) in enumerate(_widths(row.count, row.widest)):
        kind = Kind(row.taps, row.step, tuple(row.met(first + at) for at in range(width)))
        alone = len(segments) == 1 and len(next(iter(kinds)).met) == row.widest
        if alone and whole not in (kind, *kinds) and kind not in kinds:
            kinds[whole] = 1
            segments.append(Segment(1, first, 0, before))
        number = kinds.setdefault(kind, len(kinds))
        if segments and segments[-1].kind == number:
            segments[-1] = replace(segments[-1], blocks=segments[-1].blocks + 1)
        else:
            segments.append(Segment(number, first, 1, before))
    return tuple(kinds), tuple(segments)


def _widths(count: int, widest: int) -> Iterator[tuple[int, int]]:
    """Blocks of so many results: the widest, and of what is left as wide ones as there can be."""
    many = count // widest if widest < WIDEST or count % widest in (0, 3) or count < widest else count // widest - 1
    left, first = count - widest * many, 0
    for width in (*(widest,) * many, *({5: (3, 2), 6: (3, 3)}.get(left, (left,) if left else ()))):
        yield first, width
        first += width


@dataclass(frozen=True)
class Blocks:
    """The blocks of rows that are alike. `terms` of a sum are in one turn of the inner loop, which runs over planes, or
    over rows of the window where `by_rows`; a row without edges is as long as the tile says, and has no `segments`.
    There are blocks of so many `lanes`: as many as a group has, or fours and what is left."""

    row: Row
    weights: Weights
    kinds: tuple[Kind, ...]
    segments: tuple[Segment, ...]
    terms: int
    by_rows: bool
    lanes: tuple[int, ...]

    def body(self, kind: Kind, lanes: int) -> Body:
        """The inner loop of a kind, of so many lanes."""
        if self.by_rows:
            return Body(kind, replace(self.weights, plane=0), lanes, 1, "row->w_row", "row->x_row")
        return Body(kind, self.weights, lanes, self.terms, "row->w_plane", "row->x_plane")

    def cycles(self, kind: Kind, terms: Any) -> Any:
        """Modelled cycles of a block with so many terms for each tap, on one of two cores that share a unit."""
        lanes = self.lanes[0]
        issued = (lanes * (kind.products + len(kind.taps)) + len(kind.inputs)) * 1.05 + 9 / self.terms
        return 40 + 15 * lanes + terms * max(2.25 * lanes * kind.products, issued)

    @property
    def even(self) -> bool:
        """True for rows without edges, of any length."""
        return not self.segments

    @cached_property
    def longest(self) -> int:
        """The segment of which the tile says how many blocks it has: all others have as many in rows of any length."""
        whole = [number for number, one in enumerate(self.segments) if self._meets_all(self.kinds[one.kind])]
        return max(whole or range(len(self.segments)), key=lambda number: self.segments[number].blocks)

    def _meets_all(self, kind: Kind) -> bool:
        return kind.met == (tuple(range(len(self.row.taps))),) * self.row.widest

    @property
    def middle(self) -> int:
        """Blocks of that segment."""
        return self.segments[self.longest].blocks

    @property
    def count(self) -> int:
        """Blocks of a row with edges."""
        return self.fixed + self.middle

    @property
    def fixed(self) -> int:
        """Blocks of all other segments."""
        return sum(one.blocks for number, one in enumerate(self.segments) if number != self.longest)

    def before(self, number: int) -> str:
        """C of how many blocks lie before a segment; that of the longest is `row->middle`."""
        one = self.segments[number]
        if number <= self.longest:
            return str(one.before)
        return _sum("row->middle", one.before - self.middle)

    def end(self, number: int) -> str:
        """C of how many blocks lie before the next segment."""
        one = self.segments[number]
        if number == self.longest:
            return _sum("row->middle", one.before)
        return self.before(number + 1) if number + 1 < len(self.segments) else _sum(self.before(number), one.blocks)

    def result(self, number: int) -> str:
        """C of the first result of block `block`, which is of this segment."""
        one = self.segments[number]
        width, middle = self.kinds[one.kind].width, self.kinds[self.segments[self.longest].kind].width
        if number <= self.longest:
            return _sum(_scaled(_sum("block", -one.before), width), one.first)
        first = one.first - width * (one.before - self.middle) - middle * self.middle
        if width == middle:
            return _sum(_scaled("block", width), first)
        return _sum(f"{_scaled('(block - row->middle)', width)} + {_scaled('row->middle', middle)}", first)


def lanes_of(channels: int) -> tuple[int, ...]:
    """Lanes of the blocks of so many channels: fours, and what is left of them."""
    if channels < LANES:
        return (channels,)
    return (LANES, channels % LANES) if channels % LANES else (LANES,)


def blocks_of(row: Row, weights: Weights, planes: int, window_rows: int, lanes: tuple[int, ...]) -> Blocks:
    """The blocks of rows whose sums have `planes` terms for each of at most so many rows of the window; what reads
    every input once is of any length."""
    terms = 2 if len(row.taps) == 1 and planes % 2 == 0 else 1
    by_rows = window_rows > planes
    whole = len(row.taps) == row.step == row.apart == 1 and row.count == row.inputs and not row.taps[0].start
    if whole:
        kinds = tuple(Kind(row.taps, 1, ((0,),) * width) for width in range(WIDEST, 0, -1))
        return Blocks(row, weights, kinds, (), 1 if by_rows else terms, by_rows, lanes)
    return Blocks(row, weights, *kinds_of(row), 1 if by_rows else terms, by_rows, lanes)


@dataclass(frozen=True)
class Body:
    """The text of one turn of a block's inner loop, `terms` terms of its sums, with the moves of its pointers."""

    kind: Kind
    weights: Weights
    lanes: int
    terms: int
    w_step: str
    x_step: str

    @property
    def pointers(self) -> tuple[int, ...]:
        """The first lane of every pointer."""
        return (0,) if self.weights.lane else tuple(range(self.lanes))

    @property
    def lines(self) -> tuple[str, ...]:
        """Products with the loads and the moves of pointers between them, a line for each lane and tap."""
        step = f"{self.weights.plane * self.terms}" if self.weights.plane else _times(self.terms, self.w_step)
        moves = [("x", _times(self.terms, self.x_step)), *((f"w{number}", step) for number in self.pointers)]
        return products_text(tuple(self._products()), moves)

    def _products(self) -> Iterator[Product]:
        turn, origin = 0, self.kind.origin
        for term in range(self.terms):
            for number, tap in enumerate(self.kind.taps):
                places = [at for at, met in enumerate(self.kind.met) if number in met]
                for lane in range(self.lanes if places else 0):
                    weight = Value(f"a{turn % 2}", f"w{min(lane, self.pointers[-1])}", self._weight(term, lane, tap))
                    turn += 1
                    for at in places:
                        read = at * self.kind.step + tap.start
                        offset = f"{read - origin}{_behind(term, self.x_step)}"
                        value = Value(f"b{self.kind.inputs.index(read)}", "x", offset)
                        yield Product(f"s{lane}{at}", weight, value, (term, number, lane))

    def _weight(self, term: int, lane: int, tap: Tap) -> str:
        place = lane * self.weights.lane + term * self.weights.plane + tap.weight
        return f"{place}{'' if self.weights.plane else _behind(term, self.w_step)}"


def _times(count: int, step: str) -> str:
    return f"{count} * {step}" if count > 1 else step


def _behind(count: int, step: str) -> str:
    return f" + {_times(count, step)}" if count else ""


def _sum(value: str, more: int) -> str:
    return f"{value} + {more}" if more > 0 else f"{value} - {-more}" if more else value


def _scaled(value: str, factor: int) -> str:
    grouped = f"({value})" if " " in value and not value.startswith("(") else value
    return grouped if factor == 1 else f"{grouped} * {factor}"
