"""From a value to the text of a page: Mako templates, the style and the scripts of this folder in it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright.report.build import Report
from tilewright.report.envelope import Row
from tilewright.report.page.comparison import comparison_of
from tilewright.report.page.front import QuantisedFront, front_page
from tilewright.report.page.matrix import matrix_of
from tilewright.report.page.page import page_of

if TYPE_CHECKING:
    from mako.lookup import TemplateLookup

FOLDER = Path(__file__).parent


def render_page(report: Report) -> str:
    """The page of one report; the same report gives the same bytes."""
    return _fill("report.html.mako", ("base", "look", "graph", "maps", "table", "find"), page=page_of(report))


def render_rows(rows: Sequence[Row]) -> str:
    """The page of a sweep; of one row with a report, that report's page."""
    if len(rows) == 1 and rows[0].report is not None:
        return render_page(rows[0].report)
    return _fill("matrix.html.mako", ("base", "matrix", "table"), page=matrix_of(rows))


def render_difference(old: Report, new: Report) -> str:
    """The page of two reports side by side."""
    return _fill("comparison.html.mako", ("base", "maps", "table", "comparison"), page=comparison_of(old, new))


def render_front(front: QuantisedFront) -> str:
    """The page of the choices between which `quantize --budget` took one."""
    return _fill("front.html.mako", (), page=front_page(front))


def _fill(template: str, scripts: Sequence[str], page: object) -> str:
    """A template with what it shows; all that it prints is escaped but the style, the scripts and the data."""
    page_template = _lookup().get_template(template)
    script = "".join(_file(f"{name}.js") for name in scripts)
    text: str = page_template.render_unicode(style=_file("page.css"), script=script, page=page)
    return text


@cache
def _lookup() -> TemplateLookup:
    from mako.lookup import TemplateLookup

    return TemplateLookup(directories=[str(FOLDER)], default_filters=["h"], strict_undefined=True)


@cache
def _file(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")
