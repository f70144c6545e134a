"""Categories of the rules of MISRA C:2012 by number, and why the generated code departs from some of them.

Numbers and categories only; the text of the rules is MISRA's and stands in its document.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Category = Literal["mandatory", "required", "advisory"]

MANDATORY = frozenset("9.1 12.5 13.6 17.3 17.4 17.6 19.1 21.13 21.17 21.18 21.19 21.20 22.2 22.4 22.5 22.6".split())
ADVISORY = frozenset(
    "1.2 2.3 2.4 2.5 2.6 2.7 4.2 5.9 8.7 8.9 8.11 8.13 10.5 11.4 11.5 12.1 12.3 12.4 13.3 13.4 15.1 15.4 15.5 17.5 "
    "17.8 18.4 18.5 19.2 20.1 20.5 20.10 21.12".split()
)

REASONS: Mapping[str, str] = {
    "2.2": "a factor of 1 or an offset of 0 is a number of this layer in the kernel's formula; the compiler removes it",
    "2.3": "the type of an array of one or minus one element is how C99 refuses a memory that is too small",
    "2.4": "a tag or type of a shared source that this network does not need",
    "2.5": "a macro of the header is for the application, or for a build that sets another one",
    "2.7": "kernels of one form have one list of parameters, whether a layer needs all of them or not",
    "8.11": "the declaration stands for the definition below it, whose bound it repeats",
    "8.14": "operands that do not overlap are said to be apart, which lets compilers make vectors",
    "10.1": "signed values are shifted right by a number of the channel, which gcc and clang define to round down",
    "10.3": "a comparison, 0 or 1, is kept as int; pointers step by a constant",
    "10.4": "a small constant meets an unsigned operand and takes its type; the value is the same",
    "10.6": "both arms of the choice are small constants, which any of the types holds",
    "10.8": "the composite expression is limited to what the wider type holds before it is brought to it",
    "11.5": "the arena is bytes; a tensor in it is aligned to its type by the plan, which an independent checker holds",
    "11.8": "the record that a core takes its operands from is const, not what its pointers point to",
    "12.1": "products bind more than sums in index expressions, as in the formula that they are printed from",
    "12.3": "several variables of one register block are declared and stepped together",
    "13.3": "a pointer steps over what it reads in the expression that reads it",
    "14.1": "the loop ends at a pointer, which the checker takes for a float by what it points to",
    "14.4": "the condition is an int that is 0 or 1, or flags of which one is asked",
    "15.5": "what the caller gave is checked first, and a wrong value returns its error at once",
    "15.6": "one statement, a loop or a call, is the body of the loop around it",
    "15.7": "what no arm takes stays as it is",
    "17.7": "memcpy and memset return their first argument, which is known",
    "17.8": "a parameter is stepped in place of a copy of it",
    "18.4": "rows and windows are addressed by pointers that step, within bounds that the plan proves",
    "19.2": "the bits of a float are read and written through a union, which C99 defines",
    "21.15": "bytes are moved into a word and out of it as they are, for which memcpy is the defined way",
    "20.1": "the header is included where the platform's macros are known",
    "20.7": "the argument is a name, a type or part of a string, which parentheses would break",
    "20.10": "names of instructions and types are made of parts",
}
"""Why a departure stays, by rule; a rule that stands nowhere here has no reason, and the evidence says so."""


def category(rule: str) -> Category:
    """The category of a rule; those that are neither mandatory nor advisory are required."""
    return "mandatory" if rule in MANDATORY else "advisory" if rule in ADVISORY else "required"
