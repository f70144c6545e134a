"""Sums and products in printed C, without factors of one and terms of zero (MISRA C:2012, rule 2.2)."""

from __future__ import annotations


def times(value: str, factor: int) -> str:
    """`value * factor`; `value` is an operand that binds as tightly as a product."""
    if factor == 0:
        return "0"
    return value if factor == 1 else f"{value} * {factor}"


def plus(value: str, offset: int) -> str:
    """`value + offset`, a negative offset taken away, an empty `value` standing for zero."""
    if value in ("", "0"):
        return str(offset)
    return f"{value} {'+' if offset > 0 else '-'} {abs(offset)}" if offset else value


def added(*terms: str) -> str:
    """The sum of terms, without those of zero; "0" where none is left."""
    return " + ".join(term for term in terms if term not in ("", "0")) or "0"


def grouped(value: str) -> str:
    """A sum as an operand of a product."""
    return f"({value})" if " " in value else value
