"""Einsum of three or more operands: one of two after the other, the pair with the fewest products first."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from math import prod
from string import ascii_letters

from tilewright.frontend.splits.parts import Parts

Term = tuple[str, str]
"""The name of an operand and the letters of its axes."""


def _spread(parts: Parts, terms: list[str], right: str) -> tuple[list[str], str]:
    """The terms and the result with letters in the place of an ellipsis, counted from its end."""
    axes = [len(parts.shape(index)) - len(term.replace("...", "")) for index, term in enumerate(terms)]
    widest = max((count for count, term in zip(axes, terms, strict=True) if "..." in term), default=0)
    spare = "".join(letter for letter in ascii_letters if letter not in "".join((*terms, right)))[:widest]
    written = [term.replace("...", spare[widest - count :]) for count, term in zip(axes, terms, strict=True)]
    return written, right.replace("...", spare)


def _implied(terms: list[str]) -> str:
    """The result of an equation without one: the ellipsis, then what stands once, in order."""
    every = "".join(terms).replace("...", "")
    dots = "..." if any("..." in term for term in terms) else ""
    return dots + "".join(letter for letter in sorted(set(every)) if every.count(letter) == 1)


def _kept(pair: tuple[Term, Term], terms: list[Term], right: str) -> str:
    """Letters of a pair that the others or the result name."""
    others = right + "".join(letters for each in terms if each not in pair for letters in each[1])
    return "".join(dict.fromkeys(letter for letter in pair[0][1] + pair[1][1] if letter in others))


def _einsum(parts: Parts) -> None:
    """Nothing for two operands, and for what is no equation, which the operator itself refuses."""
    left, arrow, right = parts.text("equation").replace(" ", "").partition("->")
    written, count = left.split(","), len(parts.node.inputs)
    if count < 3 or len(written) != count:
        return
    written, right = _spread(parts, written, right if arrow else _implied(written))
    if any(len(letters) != len(parts.shape(index)) for index, letters in enumerate(written)):
        return
    extents: dict[str, int] = {}
    for index, letters in enumerate(written):
        for letter, size in zip(letters, parts.shape(index), strict=True):
            extents[letter] = max(extents.get(letter, 1), size)
    terms = [(parts.input(index), letters) for index, letters in enumerate(written)]
    while len(terms) > 2:
        pair = min(combinations(terms, 2), key=lambda each: _products(each, extents))
        letters = _kept(pair, terms, right)
        made = parts.op("Einsum", pair[0][0], pair[1][0], equation=f"{pair[0][1]},{pair[1][1]}->{letters}")
        terms = [each for each in terms if each not in pair] + [(made, letters)]
    (first, one), (second, other) = terms
    parts.op("Einsum", first, second, into=parts.output(0), equation=f"{one},{other}->{right}")


def _products(pair: tuple[Term, Term], extents: Mapping[str, int]) -> int:
    return prod(extents[letter] for letter in set(pair[0][1] + pair[1][1]))


SPLITS = {("", "Einsum"): _einsum}
