"""What the section on MISRA C:2012 says, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class RuleFindings:
    """The places at which one rule of MISRA C:2012 is not followed, by file and line, and why that stays.

    `record` is the number of the deviation that covers them, empty where none does.
    """

    rule: str
    category: Literal["mandatory", "required", "advisory"]
    places: tuple[str, ...]
    reason: str
    record: str = ""


@dataclass(frozen=True)
class DeviationRecord:
    """A deviation from a required rule: where it holds, why, and what keeps it safe."""

    number: str
    rule: str
    where: str
    reason: str
    safe: str


@dataclass(frozen=True)
class Misra:
    """What cppcheck's addon finds in the generated C under the macros of the target's compiler.

    `open` counts departures from mandatory rules, and from required ones that no record covers.
    """

    tool: str
    files: tuple[str, ...]
    mandatory: int
    required: int
    advisory: int
    findings: tuple[RuleFindings, ...]
    unchecked: tuple[str, ...]
    missing: str = ""
    open: int = 0
    records: tuple[DeviationRecord, ...] = ()
