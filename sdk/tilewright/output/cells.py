"""Cells of CSV files. Names come from strangers' models: none of them may be a formula or a second row to a reader."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

_FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")


def shown(name: str) -> str:
    """A name as a cell of text: one that a spreadsheet would take for a formula and run has an apostrophe before it."""
    return "'" + name if _FORMULA.match(name) else name


def meant(cell: str) -> str:
    """The name that `shown` made a cell of."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def csv_text(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """The text of a file: texts as `shown`, numbers as they are, None as an empty cell."""
    cells = [[shown(cell) if isinstance(cell, str) else cell for cell in row] for row in rows]
    returns = any("\r" in cell for row in cells for cell in row if isinstance(cell, str))  # csv leaves them bare
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC if returns else csv.QUOTE_MINIMAL)
    writer.writerow(heads)
    writer.writerows(cells)
    return stream.getvalue()
