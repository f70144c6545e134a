"""Tables as rich draws them, where a person looks and rich is installed; plain text everywhere else."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from io import StringIO

_LOOKED_AT: ContextVar[bool] = ContextVar("_LOOKED_AT", default=False)
_STYLES = (("does not fit", "red"), ("error", "red"), ("missing", "red"), ("fits", "green"), ("outputs match", "green"))
"""Words that a verdict begins with."""


@contextmanager
def looked_at(by_a_person: bool) -> Iterator[None]:
    """Draws the tables that are made inside with rich, where that is installed and a person reads them."""
    token = _LOOKED_AT.set(by_a_person)
    try:
        yield
    finally:
        _LOOKED_AT.reset(token)


def drawn(rows: Sequence[Sequence[str]], right: Collection[int]) -> str | None:
    """The rows, heads first, as rich shows them on a terminal: two spaces apart, as `table` has them.

    None where nobody looks or rich is not installed. Cells are texts of their own, so no name can be a command.
    """
    if not _LOOKED_AT.get():
        return None
    try:
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text
    except ImportError:
        return None
    heads, *body = rows
    shown = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for index, head in enumerate(heads):
        shown.add_column(Text(head), justify="right" if index in right else "left", no_wrap=True)
    for row in body:
        shown.add_row(*(Text(cell, style=_style(cell, head)) for cell, head in zip(row, heads, strict=True)))
    columns = sum(max(len(row[i]) for row in rows) + 2 for i in range(len(heads)))
    out = StringIO()
    Console(file=out, force_terminal=True, width=columns, highlight=False).print(shown)
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip("\n").split("\n"))


def _style(cell: str, head: str) -> str:
    if head == "slow":
        return "yellow"
    return next((style for word, style in _STYLES if cell.startswith(word)), "")
