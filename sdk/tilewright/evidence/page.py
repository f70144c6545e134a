"""The evidence as one self-contained page; everything that it prints is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright.evidence.document import SECTIONS, Bounds, Evidence
from tilewright.evidence.verdict import problems, remarks

if TYPE_CHECKING:
    from mako.template import Template

FOLDER = Path(__file__).parent
SHOWN = 12
"""Places of one rule, and nodes of one operator, that are shown; the JSON has all."""


def render(evidence: Evidence) -> str:
    """The text of the page; the same evidence gives the same bytes."""
    text: str = _template().render_unicode(
        e=evidence, problems=problems(evidence), remarks=remarks(evidence), style=_style(), few=few, ratio=ratio,
        real=real, number=number, sections=SECTIONS,
    )  # fmt: skip
    return text


def few(items: Sequence[object], count: int = SHOWN) -> str:
    """The first of many, and how many more there are."""
    shown = ", ".join(str(item) for item in items[:count])
    return shown + (f" and {len(items) - count} more" if len(items) > count else "")


def real(value: float | None) -> str:
    """A bound as a page shows it."""
    return "not known" if value is None else f"{value:.3g}"


def number(value: int | None) -> str:
    """A count with its thousands apart."""
    return "not known" if value is None else f"{value:,}"


def ratio(bounds: Bounds, value: float | None) -> str:
    """How many times the observed error a bound is."""
    if value is None or not bounds.observed:
        return ""
    return f"{value / bounds.observed:,.0f} times the observed"


@cache
def _template() -> Template:
    from mako.template import Template

    return Template(filename=str(FOLDER / "page.html.mako"), default_filters=["h"], strict_undefined=True)


@cache
def _style() -> str:
    return (FOLDER / "page.css").read_text(encoding="utf-8")
