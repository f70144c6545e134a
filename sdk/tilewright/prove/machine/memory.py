"""The memory of the symbolic machine: bytes that are numbers, unknown codes, or parts of a term."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field

from tilewright.prove.machine.gave_up import GaveUp
from tilewright.prove.terms import Piece, Term, Value, join

KNOWN, SYMBOLIC, STALE = 0, 1, 2
"""What a byte's mark says: a number, a term, or what an earlier call left there."""
ZEROS = tuple(bytes(size) for size in range(17))


@dataclass
class Region:
    """Bytes from `start` on; `marks` say what each of them is."""

    start: int
    data: bytearray
    marks: bytearray
    writable: bool

    @property
    def end(self) -> int:
        """The address behind it."""
        return self.start + len(self.data)


@dataclass
class Undo:
    """What stood where an arm of a branch has written: (address, data, marks, terms)."""

    entries: list[tuple[int, bytes, bytes, list[tuple[Term, int] | None]]] = field(default_factory=list)


class Memory:
    """Regions that do not overlap. `keep` turns a stored byte that is a term into what is held for it."""

    def __init__(self, regions: list[Region], keep: Callable[[Term], Value], stale: Callable[[], Term]) -> None:
        self.regions = sorted(regions, key=lambda region: region.start)
        self.starts = [region.start for region in self.regions]
        self.terms: dict[int, tuple[Term, int]] = {}
        self.keep = keep
        self.stale = stale
        self.undo: Undo | None = None
        self.look_up: Callable[[Term, int], Value] | None = None

    def region(self, address: int, size: int) -> Region:
        """The region of these bytes."""
        place = bisect_right(self.starts, address) - 1
        if place >= 0:
            region = self.regions[place]
            if address + size <= region.start + len(region.data):
                return region
        raise GaveUp(f"an access to {address:#x}, where the image has nothing")

    def load(self, address: Value, size: int) -> Value:
        """The value of `size` bytes."""
        if not isinstance(address, int):
            if self.look_up is None:
                raise GaveUp("a load from an address that depends on the inputs")
            return self.look_up(address, size)
        region = self.region(address, size)
        at = address - region.start
        if region.marks[at : at + size] == ZEROS[size]:
            return int.from_bytes(region.data[at : at + size], "little")
        return self._load_terms(region, address, size)

    def _load_terms(self, region: Region, address: int, size: int) -> Value:
        at = address - region.start
        if region.marks[at] == SYMBOLIC:
            term, place = self.terms[address]
            if place == 0 and term.size == size and self._is_whole(region, address, term):
                return term
        pieces: list[Piece] = []
        for here in range(address, address + size):
            mark = region.marks[here - region.start]
            if mark == STALE:
                self._put(region, here, self.stale(), 0)
                mark = SYMBOLIC
            if mark == SYMBOLIC:
                term, place = self.terms[here]
                pieces.append((term if term.size == 1 else Term("sub", (term, place), 1), 1))
            else:
                pieces.append((region.data[here - region.start], 1))
        return join(pieces)

    def _is_whole(self, region: Region, address: int, term: Term) -> bool:
        for place in range(1, term.size):
            if region.marks[address + place - region.start] != SYMBOLIC:
                return False
            other, at = self.terms[address + place]
            if other is not term or at != place:
                return False
        return True

    def store(self, address: Value, value: Value, size: int) -> None:
        """Write `size` bytes."""
        if not isinstance(address, int):
            raise GaveUp("a store to an address that depends on the inputs")
        region = self.region(address, size)
        if not region.writable:
            raise GaveUp(f"a store to {address:#x}, which is read-only")
        if self.undo is not None:
            self._remember(region, address, size)
        at = address - region.start
        if isinstance(value, int):
            region.data[at : at + size] = value.to_bytes(size, "little")
            region.marks[at : at + size] = ZEROS[size]
        elif value.op == "cat":
            place = address
            for part, width in value.args:
                self._store_part(region, place, part, width)
                place += width
        else:
            self._store_part(region, address, value, size)

    def _store_part(self, region: Region, address: int, part: Value, size: int) -> None:
        if size == 1 and isinstance(part, Term) and part.op != "var":
            part = self.keep(part)
        at = address - region.start
        if isinstance(part, int):
            region.data[at : at + size] = part.to_bytes(size, "little")
            region.marks[at : at + size] = bytes(size)
            return
        for place in range(size):
            self._put(region, address + place, part, place)

    def _put(self, region: Region, address: int, term: Term, place: int) -> None:
        region.marks[address - region.start] = SYMBOLIC
        self.terms[address] = (term, place)

    def byte(self, address: int) -> Value:
        """One byte."""
        return self.load(address, 1)

    def mark_stale(self, address: int, size: int) -> None:
        """Forget what bytes hold."""
        region = self.region(address, size)
        at = address - region.start
        region.marks[at : at + size] = bytes([STALE]) * size

    def _remember(self, region: Region, address: int, size: int) -> None:
        assert self.undo is not None
        at = address - region.start
        old = [self.terms.get(here) for here in range(address, address + size)]
        data, marks = bytes(region.data[at : at + size]), bytes(region.marks[at : at + size])
        self.undo.entries.append((address, data, marks, old))

    def taken_back(self, undo: Undo) -> dict[int, Value]:
        """Restore what stood before; the bytes that had been written, by address."""
        self.undo = None
        written = {
            here: self.byte(here) for address, data, *_ in undo.entries for here in range(address, address + len(data))
        }
        for address, data, marks, terms in reversed(undo.entries):
            region = self.region(address, len(data))
            at = address - region.start
            region.data[at : at + len(data)] = data
            region.marks[at : at + len(data)] = marks
            for place, term in enumerate(terms):
                if term is not None:
                    self.terms[address + place] = term
        return written
