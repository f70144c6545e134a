"""`--html` of the verbs that answer with reports: one page, written before any error is told."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright.commands.common import path

if TYPE_CHECKING:
    from tilewright.report.envelope import Row


def add_html(parser: argparse.ArgumentParser) -> None:
    """`--html`."""
    parser.add_argument("--html", metavar="FILE", type=path, help="write one self-contained page to look at")


def write_rows(file: Path | None, rows: Sequence[Row]) -> None:
    """The page of one report, or the matrix of several, where a file is named."""
    if file is None:
        return
    from tilewright.output.staged import write_text
    from tilewright.report.page.render import render_rows

    write_text(file, render_rows(rows))
