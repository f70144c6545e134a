"""How much a figure may grow from one report to the next, for `diff --fail-on ram=+2%,cycles=+5%`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from tilewright.errors import DoesNotFit, UsageError
from tilewright.report.build import Report
from tilewright.report.text import number

_LIMIT = re.compile(r"\+(\d{1,12}(?:\.\d{1,6})?)(%?)", re.ASCII)
_RUN = ("instructions", "cycles", "stack_bytes", "text_bytes")


@dataclass(frozen=True)
class Limit:
    """What a figure may grow by: per cent of the earlier one, or so many units."""

    amount: Fraction
    share: bool
    text: str

    def allows(self, old: int, new: int) -> bool:
        """True where the step from `old` to `new` is within the limit."""
        return new - old <= (old * self.amount / 100 if self.share else self.amount)


def parse_limits(text: str) -> dict[str, Limit]:
    """Limits by the name of their figure; UsageError for a text that says none."""
    limits: dict[str, Limit] = {}
    for part in text.split(","):
        name, equals, limit = part.strip().rpartition("=")
        match = _LIMIT.fullmatch(limit)
        if not (name and equals and match):
            raise UsageError(
                f"--fail-on {text}", why=f"'{part.strip()}' is no limit", fix="write for example ram=+2%,flash=+512"
            )
        limits[name] = Limit(Fraction(match[1]), match[2] == "%", limit)
    return limits


def figures(report: Report) -> dict[str, int]:
    """What can be limited: the bytes that each level needs, the run's figures, multiply-accumulates.

    Cycles are those that were counted, else those of the core's table, else those of the cost model.
    """
    by_name = {name: level.total for name, level in report.memory.items()} | {"macs": report.model.macs}
    run = report.run
    if run is not None:
        by_name |= {name: value for name in _RUN if (value := getattr(run, name)) is not None}
        if run.cycles is None and run.modelled_cycles is not None:
            by_name["cycles"] = run.modelled_cycles
    modelled = sum(layer.modelled_cycles or 0 for layer in report.layers)
    if modelled:
        by_name.setdefault("cycles", modelled)
    return by_name


def grown(old: Report, new: Report, limits: Mapping[str, Limit]) -> DoesNotFit | None:
    """The error for figures that grew beyond their limits; UsageError for one that a report does not have."""
    before, after = figures(old), figures(new)
    beyond = []
    for name, limit in limits.items():
        for which, report_figures in (("earlier", before), ("later", after)):
            if name not in report_figures:
                raise UsageError(
                    f"--fail-on {name}={limit.text}",
                    why=f"the {which} report has no figure '{name}'",
                    fix=f"its figures are {', '.join(report_figures)}",
                )
        if not limit.allows(before[name], after[name]):
            beyond.append(f"{name} from {number(before[name])} to {number(after[name])}, {limit.text} allowed")
    if not beyond:
        return None
    return DoesNotFit(
        f"'{new.model.name}' grew beyond its limits", why="; ".join(beyond), fix="look at what changed, or raise them"
    )
