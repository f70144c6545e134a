"""From a value to the text of a page: Mako templates, the style and the script of this folder in it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright.report.build import Report
from tilewright.report.page.page import page_of

if TYPE_CHECKING:
    from mako.lookup import TemplateLookup

FOLDER = Path(__file__).parent


def render(report: Report) -> str:
    """The page of one report; the same report gives the same bytes."""
    return fill("report.html.mako", "page.js", page=page_of(report))


def fill(template: str, script: str, **values: object) -> str:
    """A template with what it shows; everything that it prints is escaped but the style, the script and the data."""
    found = _lookup().get_template(template)
    text: str = found.render_unicode(style=_file("page.css"), script=_file(script), **values)
    return text


@cache
def _lookup() -> TemplateLookup:
    from mako.lookup import TemplateLookup

    return TemplateLookup(directories=[str(FOLDER)], default_filters=["h"], strict_undefined=True)


@cache
def _file(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")
