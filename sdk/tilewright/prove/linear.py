"""Linear forms: what a value is as a whole number plus multiples of unknown codes.

A sum of products of a layer is one of these for every input at once. A form holds modulo 2^(8 size), so that it needs
no bound on the sums; where bits are cut off or a sign is extended, the ranges of the codes decide whether the form
stays what it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

from tilewright.prove.terms import Term, Value, mask, signed

Atom = int | Term
"""The number of an unknown code, or a term that is not linear."""
Leaf = tuple[tuple[int, int], ...]
"""A sum over codes without common factor: (code's number, factor), by number."""


@dataclass
class Codes:
    """The unknown codes of a run by number: the least and the largest value that each may have."""

    lows: list[int]
    highs: list[int]

    def fresh(self, low: int, high: int) -> int:
        """The number of a new one."""
        self.lows.append(low)
        self.highs.append(high)
        return len(self.lows) - 1

    def narrow(self, number: int, low: int, high: int) -> None:
        """What was proved of a code's range."""
        self.lows[number], self.highs[number] = low, high

    def range_of(self, leaf: Leaf) -> tuple[int, int]:
        """The least and the largest sum."""
        low = high = 0
        for number, factor in leaf:
            ends = factor * self.lows[number], factor * self.highs[number]
            low, high = low + min(ends), high + max(ends)
        return low, high


@dataclass(frozen=True)
class Linear:
    """`constant + sum of factor * atom`, modulo 2^(8 size), factors in two's complement."""

    constant: int
    factors: dict[Atom, int]
    size: int

    def bounds(self, codes: Codes) -> tuple[int, int] | None:
        """The least and the largest value over all codes, not reduced; None where an atom is no code."""
        low = high = signed(self.constant, self.size)
        for atom, factor in self.factors.items():
            if not isinstance(atom, int):
                return None
            ends = factor * codes.lows[atom], factor * codes.highs[atom]
            low, high = low + min(ends), high + max(ends)
        return low, high


class Collector:
    """Collects linear forms, each term once."""

    def __init__(self, codes: Codes) -> None:
        self.codes = codes
        self.known: dict[int, tuple[Term, Linear]] = {}
        self.unsigned: dict[int, Term] = {}

    def linear(self, term: Term) -> Linear:
        """The form of a term; its only atom is the term itself where that is not linear."""
        collected = self.known.get(id(term))
        if collected is not None:
            return collected[1]
        form = self._collect(term)
        self.known[id(term)] = (term, form)
        return form

    def _collect(self, whole: Term) -> Linear:
        factors: dict[Atom, int] = {}
        constant, stack = 0, list[tuple[Value, int]]([(whole, 1)])
        while stack:
            term, factor = stack.pop()
            if isinstance(term, int):
                constant += factor * term
                continue
            op = term.op
            if op == "+":
                stack += [(term.args[0], factor), (term.args[1], factor)]
                continue
            if op == "*":
                stack.append((term.args[1], factor * term.args[0]))
                continue
            if op == "sext" and term.args[0].op == "var":
                atom = term.args[0].args[0]
                if self.codes.highs[atom] < 128:
                    factors[atom] = factors.get(atom, 0) + factor
                    continue
            elif op == "var":
                factors[term.args[0]] = factors.get(term.args[0], 0) + factor
                continue
            inner = self._inside(term)
            if inner is None:
                factors[term] = factors.get(term, 0) + factor
                continue
            constant += factor * inner[0]
            for each, count in inner[1].items():
                factors[each] = factors.get(each, 0) + factor * count
        return _reduced(constant, factors, whole.size)

    def _inside(self, term: Term) -> tuple[int, dict[Atom, int]] | None:
        """What an operation other than a sum is as a form; None where it is no linear one."""
        op = term.op
        if op == "sext":
            return self._extended(term.args[0], True)
        if op == "cat":
            return self._joined(term)
        if op == "sub":
            form, start = self.linear(term.args[0]), term.args[1]
            return self._lowest(form, term.size) if start == 0 else self._divided(form, 8 * start)
        if op in ("sar", "shr") and isinstance(term.args[1], int):
            form, bits = self.linear(term.args[0]), term.args[1]
            parts = self._divided(form, bits)
            if parts is None:
                return None
            low, high = self._ends(parts)
            width = 8 * form.size - bits
            fits = -(1 << width - 1) <= low and high < 1 << width - 1 if op == "sar" else 0 <= low and high < 1 << width
            return parts if fits else None
        return None

    def shifted(self, term: Term, bits: int) -> Linear:
        """The form of a term of which only the bits from `bits` on count: without what lies below and never reaches
        them, such as the lower of two sums in the halves of a word."""
        form = self.linear(term)
        ends = {(factor & -factor).bit_length() - 1 for factor in form.factors.values()}
        for end in sorted((end for end in ends if 0 < end <= bits), reverse=True):
            parts = self._divided(form, end)
            if parts is not None:
                return _reduced(parts[0] << end, {atom: factor << end for atom, factor in parts[1].items()}, form.size)
        return form

    def _lowest(self, form: Linear, size: int) -> tuple[int, dict[Atom, int]]:
        """The form for its lowest bytes alone, in which a value without a sign is the one with it."""
        constant, factors = form.constant, dict[Atom, int]()
        for atom, factor in form.factors.items():
            inner = Linear(0, {atom: 1}, size)
            if not isinstance(atom, int) and atom.op == "zext" and size <= atom.args[0].size:
                inner = self.linear(atom.args[0])
            constant += factor * inner.constant
            for each, count in inner.factors.items():
                factors[each] = factors.get(each, 0) + factor * count
        return constant, factors

    def _divided(self, form: Linear, bits: int) -> tuple[int, dict[Atom, int]] | None:
        """The form without its lowest bits, where what lies in these never reaches the bits above."""
        unit = 1 << bits
        above, low = dict[Atom, int](), form.constant % unit
        high = low
        for atom, factor in form.factors.items():
            whole, rest = divmod(factor, unit)
            if whole:
                above[atom] = whole
            if rest:
                least, most = self._range(atom)
                low, high = low + rest * least, high + rest * most
        return (signed(form.constant, form.size) >> bits, above) if 0 <= low and high < unit else None

    def _range(self, atom: Atom) -> tuple[int, int]:
        """The least and the largest value of an atom."""
        if isinstance(atom, int):
            return self.codes.lows[atom], self.codes.highs[atom]
        return (0, mask(atom.args[0].size)) if atom.op == "zext" else (-(1 << 256), 1 << 256)

    def _ends(self, parts: tuple[int, dict[Atom, int]]) -> tuple[int, int]:
        """The bounds of a form; an impossible pair where an atom is no code."""
        return Linear(signed(parts[0] & mask(16), 16), parts[1], 16).bounds(self.codes) or (-(1 << 256), 1 << 256)

    def _extended(self, inner: Term, with_sign: bool) -> tuple[int, dict[Atom, int]] | None:
        """A narrower form in more bytes, where no value of it leaves them."""
        if inner.op == "var":
            low, high = self.codes.lows[inner.args[0]], self.codes.highs[inner.args[0]]
            return (0, {inner.args[0]: 1}) if (high < 128 if with_sign else low >= 0) else None
        form = self.linear(inner)
        constant = signed(form.constant, form.size)
        bounds = form.bounds(self.codes)
        if bounds is None:
            return None
        least, most = (-(1 << 8 * inner.size - 1), 1 << 8 * inner.size - 1) if with_sign else (0, 1 << 8 * inner.size)
        if not with_sign and bounds[1] < 0:
            constant, bounds = constant + most, (bounds[0] + most, bounds[1] + most)
        return (constant, form.factors) if least <= bounds[0] and bounds[1] < most else None

    def _joined(self, term: Term) -> tuple[int, dict[Atom, int]] | None:
        """Bytes side by side: every part but the highest must be no less than 0."""
        constant, factors, at = 0, dict[Atom, int](), 0
        for part, width in term.args:
            highest = at + width == term.size
            if isinstance(part, int):
                constant += part << 8 * at
            else:
                inner = self._part(part, highest)
                constant += inner[0] << 8 * at
                for atom, factor in inner[1].items():
                    factors[atom] = factors.get(atom, 0) + (factor << 8 * at)
            at += width
        alone = len(factors) == 1 and not constant and next(iter(factors)) is term
        return None if alone else (constant, factors)

    def _part(self, part: Term, highest: bool) -> tuple[int, dict[Atom, int]]:
        if highest:
            form = self.linear(part)
            return form.constant, form.factors
        inner = self._extended(part, False)
        if inner is not None:
            return inner
        atom = self.unsigned.get(id(part))
        if atom is None:
            atom = self.unsigned[id(part)] = Term("zext", (part,), 8)
        return 0, {atom: 1}


def _reduced(constant: int, factors: dict[Atom, int], size: int) -> Linear:
    wide = mask(size)
    half = 1 << 8 * size - 1
    used: dict[Atom, int] = {}
    for atom, factor in factors.items():
        if not -half <= factor < half:
            factor = signed(factor & wide, size)
        if factor:
            used[atom] = factor
    return Linear(constant & wide, used, size)


def primitive(factors: dict[int, int]) -> tuple[int, Leaf]:
    """The common factor of a sum over codes, its sign that of the first code, and the sum without it."""
    items = sorted(factors.items())
    common = gcd(*factors.values())
    if items[0][1] < 0:
        common = -common
    if common == 1:
        return 1, tuple(items)
    return common, tuple((number, factor // common) for number, factor in items)
