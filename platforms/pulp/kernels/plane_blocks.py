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
REACH = 2040
"""Bytes that a load reaches behind its pointer."""


@dataclass(frozen=True)
class Tap:
    """A column of the window: its place among the weights of a row, and the input that the first result reads."""

    weight: int
    start: int


@dataclass(frozen=True)
class Row:
    """A row of results: `count` of them, each `step` inputs behind the one before, in a row of `inputs`; they lie
    `apart` elements from each other, the first one `first` from the row's begin."""

    taps: tuple[Tap, ...]
    step: int
    inputs: int
    count: int
    apart: int = 1
    first: int = 0

    def met(self, result: int) -> tuple[int, ...]:
        """The taps that read an input for this result, by their numbers."""
        return tuple(
            number for number, tap in enumerate(self.taps) if 0 <= result * self.step + tap.start < self.inputs
        )

    def reach(self, tap: int) -> tuple[int, int]:
        """The first result that meets a tap, and the one behind the last."""
        met = [result for result in range(self.count) if tap in self.met(result)]
        return (met[0], met[-1] + 1) if met else (0, 0)


@dataclass(frozen=True)
class Segment:
    """Neighbouring blocks of one kind: where the first result lies, and how many blocks there are."""

    kind: int
    first: int
    blocks: int


@dataclass(frozen=True)
class Weights:
    """How weights lie: `lane` elements from a lane to the next, `plane` from a term to the next, 0 where the tile says
    it."""

    lane: int
    plane: int

    def pointers(self, most: int) -> tuple[int, ...]:
        """The first lane of every pointer, where `most` elements are read behind a lane's first."""
        each = next(n for n in (4, 2, 1) if ((n - 1) * self.lane + most) * 4 <= REACH or n == 1)
        return tuple(range(0, LANES, each))


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
        """Products of a term, of all lanes."""
        return LANES * sum(map(len, self.met))


def kinds_of(row: Row) -> tuple[tuple[Kind, ...], tuple[Segment, ...]]:
    """The kinds of blocks of a row, and where they lie."""
    kinds: dict[Kind, int] = {}
    segments: list[Segment] = []
    for first, width in _widths(row.count):
        kind = Kind(row.taps, row.step, tuple(row.met(first + at) for at in range(width)))
        number = kinds.setdefault(kind, len(kinds))
        if segments and segments[-1].kind == number:
            segments[-1] = Segment(number, segments[-1].first, segments[-1].blocks + 1)
        else:
            segments.append(Segment(number, first, 1))
    return tuple(kinds), tuple(segments)


def _widths(count: int) -> Iterator[tuple[int, int]]:
    """Blocks of so many results: fours, and of what is left as wide ones as there can be."""
    fours = count // WIDEST if count % WIDEST in (0, 3) or count < WIDEST else count // WIDEST - 1
    left, first = count - WIDEST * fours, 0
    for width in (*(WIDEST,) * fours, *({5: (3, 2), 6: (3, 3)}.get(left, (left,) if left else ()))):
        yield first, width
        first += width


@dataclass(frozen=True)
class Blocks:
    """The blocks of rows that are alike. `terms` of a sum are in one turn of the inner loop, which runs over planes, or
    over rows of the window where `by_rows`; a row without edges is as long as the tile says, and has no `segments`."""

    row: Row
    weights: Weights
    kinds: tuple[Kind, ...]
    segments: tuple[Segment, ...]
    terms: int
    by_rows: bool
    single: bool

    def body(self, kind: Kind) -> Body:
        """The inner loop of a kind."""
        if self.by_rows:
            return Body(kind, replace(self.weights, plane=0), 1, "row->w_row", "row->x_row")
        return Body(kind, self.weights, self.terms, "row->w_plane", "row->x_plane")

    def cycles(self, kind: Kind, terms: Any) -> Any:
        """Modelled cycles of a block with so many terms for each tap, on one of two cores that share a unit."""
        issued = (kind.products + 4 * len(kind.taps) + len(kind.inputs)) * 1.05 + 9 / self.terms
        return 100 + terms * max(2.25 * kind.products, issued)

    @property
    def even(self) -> bool:
        """True for rows without edges, of any length."""
        return not self.segments

    @property
    def places(self) -> tuple[tuple[int, int, int, int], ...]:
        """Of every segment the blocks before it, its own, its first result and the results of a block."""
        before, places = 0, list[tuple[int, int, int, int]]()
        for one in self.segments:
            places.append((before, one.blocks, one.first, self.kinds[one.kind].width))
            before += one.blocks
        return tuple(places)

    @property
    def count(self) -> int:
        """Blocks of a row with edges."""
        return sum(one.blocks for one in self.segments)


def blocks_of(row: Row, weights: Weights, planes: int, window_rows: int, *, single: bool) -> Blocks:
    """The blocks of rows whose sums have `planes` terms for each of at most so many rows of the window; what reads
    every input once is of any length."""
    terms = 2 if len(row.taps) == 1 and planes % 2 == 0 else 1
    by_rows = window_rows > planes
    whole = len(row.taps) == row.step == row.apart == 1 and row.count == row.inputs and not row.taps[0].start
    if whole:
        kinds = tuple(Kind(row.taps, 1, ((0,),) * width) for width in range(WIDEST, 0, -1))
        return Blocks(row, weights, kinds, (), 1 if by_rows else terms, by_rows, single)
    return Blocks(row, weights, *kinds_of(row), 1 if by_rows else terms, by_rows, single)


@dataclass(frozen=True)
class Body:
    """The text of one turn of a block's inner loop, `terms` terms of its sums, with the moves of its pointers."""

    kind: Kind
    weights: Weights
    terms: int
    w_step: str
    x_step: str

    @cached_property
    def pointers(self) -> tuple[int, ...]:
        """See `Weights.pointers`."""
        most = max((tap.weight for tap in self.kind.taps), default=0) + (self.terms - 1) * self.weights.plane
        return self.weights.pointers(most)

    @property
    def lines(self) -> tuple[str, ...]:
        """Products with the loads between them, a line for each lane and tap, then the pointers move."""
        fixed = self.weights.plane * self.terms
        step = f"{fixed}" if fixed else _times(self.terms, self.w_step)
        moves = [f"w{number} += {step};" for number in self.pointers]
        moves.append(f"x += {_times(self.terms, self.x_step)};")
        return (*products_text(tuple(self._products())), " ".join(moves))

    def _products(self) -> Iterator[Product]:
        turn, origin = 0, self.kind.origin
        for term in range(self.terms):
            for number, tap in enumerate(self.kind.taps):
                places = [at for at, met in enumerate(self.kind.met) if number in met]
                for lane in range(LANES if places else 0):
                    weight = Value(f"a{turn % 2}", self._weight(term, lane, tap))
                    turn += 1
                    for at in places:
                        read = at * self.kind.step + tap.start
                        source = f"x[{read - origin}{_behind(term, self.x_step)}]"
                        value = Value(f"b{self.kind.inputs.index(read)}", source)
                        yield Product(f"s{lane}{at}", weight, value, (term, number, lane))

    def _weight(self, term: int, lane: int, tap: Tap) -> str:
        pointer = max(first for first in self.pointers if first <= lane)
        place = (lane - pointer) * self.weights.lane + term * self.weights.plane + tap.weight
        return f"w{pointer}[{place}{'' if self.weights.plane else _behind(term, self.w_step)}]"


def _times(count: int, step: str) -> str:
    return f"{count} * {step}" if count > 1 else step


def _behind(count: int, step: str) -> str:
    return f" + {_times(count, step)}" if count else ""
