"""Bytes as functions of linear forms: their shape, written once for all elements that share it, and their values.

What a layer stores is a function of few sums: a requantisation of one, a limit, a lookup. `Shapes` gives the function
without the sums a number, equal for equal functions, so that what is proved of one element is proved of all that
differ in their sums alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tilewright.prove.linear import Atom, Codes, Collector, Leaf, Linear, primitive
from tilewright.prove.machine.gave_up import GaveUp
from tilewright.prove.terms import Term, Value, mask

Words = npt.NDArray[np.uint64]
Sums = npt.NDArray[np.int64]
Node = tuple[Any, ...]
"""An operation of a shape: its name, the bytes of its result, and numbers of shapes or plain numbers."""


@dataclass(frozen=True, eq=False)
class Byte:
    """A stored byte: the number of its shape, and the sums that it is a function of."""

    shape: int
    leaves: tuple[Leaf, ...]


class Shapes:
    """Numbers shapes, and computes them."""

    def __init__(self) -> None:
        self.numbers: dict[Node, int] = {}
        self.nodes: list[Node] = []

    def number(self, node: Node) -> int:
        """The number of a node, a new one where it is new."""
        known = self.numbers.get(node)
        if known is None:
            known = self.numbers[node] = len(self.nodes)
            self.nodes.append(node)
        return known

    def byte(self, value: Value, codes: Codes) -> Byte:
        """The function that a value of one byte is."""
        reading = _Reading(self, Collector(codes))
        shape = reading.shape(value, 1)
        return Byte(shape, tuple(reading.leaves))

    def word(self, value: Term, codes: Codes) -> Byte:
        """The function that a value of any size is."""
        reading = _Reading(self, Collector(codes))
        shape = reading.shape(value, value.size)
        return Byte(shape, tuple(reading.leaves))

    def over(self, shape: int, low: int, high: int) -> Words:
        """The values of a function of one sum from `low` to `high`."""
        return self.values(shape, [np.arange(low, high + 1, dtype=np.int64)])

    def values(self, shape: int, sums: Sequence[Sums]) -> Words:
        """The values of a shape for these values of its leaves."""
        return _Evaluation(self.nodes, sums).value(shape)


class _Reading:
    """One byte while its shape is read."""

    def __init__(self, shapes: Shapes, collector: Collector) -> None:
        self.shapes = shapes
        self.collector = collector
        self.leaves: list[Leaf] = []
        self.places: dict[Leaf, int] = {}
        self.known: dict[int, int] = {}
        self.held: list[Term] = []

    def shape(self, value: Value, size: int) -> int:
        if isinstance(value, int):
            return self.shapes.number(("number", size, value))
        known = self.known.get(id(value))
        if known is None:
            known = self.known[id(value)] = self._shape(value)
            self.held.append(value)
        return known

    def _shape(self, term: Term) -> int:
        number = self.shapes.number
        if term.op in ("+", "*", "var", "sext", "cat", "sub", "sar", "shr"):
            form = self.collector.linear(term)
            if not _is_itself(form, term):
                return self._sum(form.constant, form.factors, form.size)
        if term.op == "sub":
            inner = term.args[0]
            return number(("sub", term.size, self.shape(inner, inner.size), term.args[1]))
        if term.op == "cat":
            parts = tuple((self.shape(part, width), width) for part, width in term.args)
            return number(("cat", term.size, parts))
        if term.op in ("sext", "zext", "not"):
            inner = term.args[0]
            return number((term.op, term.size, self.shape(inner, inner.size), inner.size))
        if term.op == "sat":
            return number(("sat", term.size, self.shape(term.args[0], term.size), *term.args[1:]))
        if term.op == "table":
            return number(("table", term.size, self.shape(term.args[0], term.args[0].size), term.args[1]))
        if term.op == "ite":
            condition, first, second = term.args
            arms = (self.shape(condition, 1), self.shape(first, term.size), self.shape(second, term.size))
            return number(("ite", term.size, *arms))
        if not term.args:
            raise GaveUp("a value of a register that nothing has set")
        narrow = term.args[2] if len(term.args) > 2 else term.size
        inner, second = term.args[0], self.shape(term.args[1], narrow)
        if term.op in ("shr", "sar") and isinstance(term.args[1], int) and isinstance(inner, Term):
            form = self.collector.shifted(inner, term.args[1])
            first = self._form(inner, form)
        else:
            first = self.shape(inner, narrow)
        return number((term.op, term.size, first, second, narrow))

    def _form(self, term: Term, form: Linear) -> int:
        """A term by a form of it; by its operation where it is no sum."""
        return (
            self.shape(term, term.size) if _is_itself(form, term) else self._sum(form.constant, form.factors, form.size)
        )

    def _sum(self, constant: int, factors: dict[Atom, int], size: int) -> int:
        codes = {atom: factor for atom, factor in factors.items() if isinstance(atom, int)}
        others = [(factor, self.shape(atom, atom.size)) for atom, factor in factors.items() if isinstance(atom, Term)]
        if not codes and not others:
            return self.shapes.number(("number", size, constant))
        place, common = -1, 0
        if codes:
            common, leaf = primitive(codes)
            place = self.places.setdefault(leaf, len(self.leaves))
            if place == len(self.leaves):
                self.leaves.append(leaf)
        return self.shapes.number(("sum", size, constant, place, common, tuple(sorted(others))))


def _is_itself(form: Linear, term: Term) -> bool:
    """True for the form of a term that is not linear."""
    return len(form.factors) == 1 and term in form.factors and not form.constant


def _signed(words: Words, size: int) -> Sums:
    spare = np.uint64(64 - 8 * size)
    return (words << spare).view(np.int64) >> np.int64(spare)


class _Evaluation:
    """One shape computed over arrays."""

    def __init__(self, nodes: Sequence[Node], sums: Sequence[Sums]) -> None:
        self.nodes = nodes
        self.sums = sums
        self.known: dict[int, Words] = {}

    def value(self, shape: int) -> Words:
        values = self.known.get(shape)
        if values is None:
            node = self.nodes[shape]
            values = self.known[shape] = self._compute(node) & np.uint64(mask(node[1]))
        return values

    def _compute(self, node: Node) -> Words:
        op = node[0]
        if op == "number":
            return np.uint64(node[2]) * np.ones(1, np.uint64)
        if op == "sum":
            total = np.full(1, node[2], np.uint64)
            if node[3] >= 0:
                total = total + self.sums[node[3]].view(np.uint64) * np.uint64(node[4] & mask(8))
            for factor, shape in node[5]:
                total = total + self.value(shape) * np.uint64(factor & mask(8))
            return total
        if op == "sub":
            return self.value(node[2]) >> np.uint64(8 * node[3])
        if op == "cat":
            return self._joined(node[2])
        if op == "sext":
            return _signed(self.value(node[2]), node[3]).view(np.uint64)
        if op == "zext":
            return self.value(node[2])
        if op == "not":
            return np.where(self.value(node[2]) != 0, np.uint64(0), np.uint64(1))
        if op == "sat":
            limited = np.clip(_signed(self.value(node[2]), node[1]), node[3], node[4])
            return limited.astype(np.int64).view(np.uint64)
        if op == "table":
            return np.asarray(node[3], np.uint64)[self.value(node[2]).astype(np.int64)]
        if op == "ite":
            return np.where(self.value(node[2]) != 0, self.value(node[3]), self.value(node[4]))
        return OPERATIONS[op](self.value(node[2]), self.value(node[3]), node[4])

    def _joined(self, parts: Sequence[tuple[int, int]]) -> Words:
        total, at = np.zeros(1, np.uint64), 0
        for shape, width in parts:
            total = total | self.value(shape) << np.uint64(8 * at)
            at += width
        return total


Operation = Callable[[Words, Words, int], Words]


def _truth(flags: npt.NDArray[np.bool_]) -> Words:
    return flags.astype(np.uint64)


def _shift(a: Words, b: Words, left: bool) -> Words:
    near = np.minimum(b, np.uint64(63))
    moved = a << near if left else a >> near
    return np.where(b < 64, moved, np.uint64(0))


def _quotient(a: Words, b: Words, size: int) -> Words:
    x, y = _signed(a, size), _signed(b, size)
    whole = np.abs(x) // np.maximum(np.abs(y), 1)
    return np.where(y == 0, np.int64(-1), np.where((x < 0) == (y < 0), whole, -whole)).view(np.uint64)


OPERATIONS: Mapping[str, Operation] = {
    "mul": lambda a, b, n: a * b,
    "and": lambda a, b, n: a & b, "or": lambda a, b, n: a | b, "xor": lambda a, b, n: a ^ b,
    "band": lambda a, b, n: a & b, "bor": lambda a, b, n: a | b, "bxor": lambda a, b, n: a ^ b,
    "shl": lambda a, b, n: _shift(a, b, True), "shr": lambda a, b, n: _shift(a, b, False),
    "sar": lambda a, b, n: (_signed(a, n) >> np.minimum(b, np.uint64(63)).astype(np.int64)).view(np.uint64),
    "eq": lambda a, b, n: _truth(a == b), "ne": lambda a, b, n: _truth(a != b),
    "ult": lambda a, b, n: _truth(a < b), "ule": lambda a, b, n: _truth(a <= b),
    "slt": lambda a, b, n: _truth(_signed(a, n) < _signed(b, n)),
    "sle": lambda a, b, n: _truth(_signed(a, n) <= _signed(b, n)),
    "carry": lambda a, b, n: _truth((a + b) & np.uint64(mask(n)) < a),
    "scarry": lambda a, b, n: ((a ^ (a + b)) & (b ^ (a + b))) >> np.uint64(8 * n - 1) & np.uint64(1),
    "sborrow": lambda a, b, n: ((a ^ b) & (a ^ (a - b))) >> np.uint64(8 * n - 1) & np.uint64(1),
    "udiv": lambda a, b, n: np.where(b == 0, np.uint64(mask(n)), a // np.maximum(b, np.uint64(1))),
    "urem": lambda a, b, n: np.where(b == 0, a, a % np.maximum(b, np.uint64(1))),
    "sdiv": _quotient,
    "srem": lambda a, b, n: (
        _signed(a, n) - _quotient(a, b, n).view(np.int64) * _signed(b, n)
    ).view(np.uint64),
}  # fmt: skip
"""Operations of two operands of `n` bytes each."""
