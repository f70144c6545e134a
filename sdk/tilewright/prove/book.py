"""The codes of one run: which function of which sums each of them is."""

from __future__ import annotations

from tilewright.prove.function import Byte, Shapes
from tilewright.prove.linear import Codes
from tilewright.prove.machine.gave_up import GaveUp
from tilewright.prove.terms import Term, Value, subtract, variable

LEAST, MOST = -128, 127
MOST_ENTRIES = 1 << 16


class Book:
    """Numbers every code that a layer stores; equal functions of equal sums are one code."""

    def __init__(self) -> None:
        self.codes = Codes([], [])
        self.shapes = Shapes()
        self.definitions: dict[int, Byte] = {}
        self.numbers: dict[tuple[int, tuple[object, ...]], int] = {}
        self.stale: set[int] = set()
        self.held: set[int] = set()

    def fresh(self, low: int = LEAST, high: int = MOST) -> int:
        """A code that may be anything."""
        return self.codes.fresh(low, high)

    def left_over(self) -> Term:
        """A byte that nobody wrote in this run."""
        number = self.fresh()
        self.stale.add(number)
        return variable(number)

    def byte(self, value: Value) -> Byte:
        """The function that a byte is."""
        return self.shapes.byte(value, self.codes)

    def keep(self, term: Term) -> Value:
        """What memory holds for a stored byte: a sum over codes as it is, any other function as a code of its own."""
        byte = self.byte(term)
        node = self.shapes.nodes[byte.shape]
        if node[0] == "number":
            return int(node[2])
        if node[0] == "sum" and not node[5]:
            leaf = byte.leaves[0]
            plain = len(leaf) == 1 and node[2] == 0 and node[4] * leaf[0][1] == 1
            return variable(leaf[0][0]) if plain else term
        return variable(self.define(byte))

    def define(self, byte: Byte) -> int:
        """The number of a function of sums."""
        key = (byte.shape, byte.leaves)
        known = self.numbers.get(key)
        if known is None:
            known = self.numbers[key] = self.fresh()
            self.definitions[known] = byte
        return known

    def number(self, value: Value) -> int:
        """The number of a code that memory holds."""
        if isinstance(value, Term) and value.op == "var":
            return int(value.args[0])
        return self.define(self.byte(value))

    def passing(self, byte: Byte) -> bool:
        """True where a byte depends on codes that are no element of a tensor, but functions of such elements."""
        used = {number for leaf in byte.leaves for number, _ in leaf}
        return any(number in self.definitions and number not in self.held for number in used)

    def addresses(self, address: Term) -> tuple[int, Term, list[int]]:
        """The lowest address that a term may be, the term above it, and all it may be; GaveUp where there are many."""
        byte = self.shapes.word(address, self.codes)
        if len(byte.leaves) != 1:
            raise GaveUp("a load from an address that depends on several sums")
        low, high = self.codes.range_of(byte.leaves[0])
        if high - low >= MOST_ENTRIES:
            raise GaveUp("a load from one of very many addresses")
        places = sorted({int(each) for each in self.shapes.over(byte.shape, low, high)})
        if places[-1] - places[0] >= MOST_ENTRIES:
            raise GaveUp("a load from one of very many addresses")
        above = subtract(address, places[0], address.size)
        assert isinstance(above, Term)
        return places[0], above, places
