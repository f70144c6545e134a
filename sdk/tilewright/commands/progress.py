"""How far long work is: on a terminal, with rich where it is installed, on standard error; silent anywhere else."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.progress import Progress

    from tilewright.compile import Compiled
    from tilewright.pipeline import Compiler


_PARTS: Mapping[str, int] = {
    "frontend": 1, "passes": 8, "binding": 15, "tiling": 30, "plan": 45, "memory": 55, "codegen": 85, "build": 90,
    "run": 95,
}  # fmt: skip
"""Per cent of the time of usual networks that lies before each stage; a search that asks again goes never back."""


@contextmanager
def stages(quiet: bool) -> Iterator[Callable[[str], None]]:
    """Tells which stage runs. Call what this gives with the name of each stage that begins."""
    console = None if quiet else _console()
    if console is None:
        yield silent
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    done = TextColumn("{task.percentage:>3.0f} %")
    columns = [SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), done, TimeElapsedColumn()]
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as bar, _logged(bar):
        task = bar.add_task("starting", total=100)
        part = 0

        def begins(stage: str) -> None:
            nonlocal part
            part = max(part, _PARTS.get(stage, part))
            bar.update(task, completed=part, description=_plain(stage))

        yield begins


@contextmanager
def steps(total: int, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Counts steps that are done. Call what this gives with a word on each; a single step is not worth a bar."""
    console = None if quiet or total < 2 else _console()
    if console is None:
        yield silent
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = [BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn()]
    with Progress(*columns, TextColumn("{task.description}"), console=console, transient=True) as bar, _logged(bar):
        task = bar.add_task("", total=total)
        yield lambda step: bar.update(task, advance=1, description=_plain(step))


@contextmanager
def _logged(bar: Progress) -> Iterator[None]:
    """Lets the log stand above a bar: it is written to the stream that the bar has put in the place of its own."""
    handlers = [one for one in logging.getLogger("tilewright").handlers if isinstance(one, logging.StreamHandler)]
    before = [handler.setStream(sys.stderr) for handler in handlers]
    try:
        yield
    finally:
        for handler, stream in zip(handlers, before, strict=True):
            if stream is not None:
                handler.setStream(stream)


def silent(step: object) -> None:
    """Hears what nobody watches."""


def watched(tell: Callable[[str], None]) -> Compiler[Compiled] | None:
    """The SDK's pipeline, telling each stage that begins to the log and to `tell`; None where that is `silent`."""
    if tell is silent:
        return None
    from tilewright.compile import compiler, progress

    def both() -> Callable[[str], None]:
        log = progress()

        def tell_both(stage: str) -> None:
            log(stage)
            tell(stage)

        return tell_both

    changed = compiler.copy()
    changed.dependency_overrides[progress] = both
    return changed


def _console() -> Any | None:
    """The console of standard error, None where no one watches it or rich is not there; it obeys NO_COLOR itself."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        return None
    try:
        from rich.console import Console
    except ImportError:
        return None
    return Console(stderr=True, highlight=False)


def _plain(text: str) -> str:
    """A name without what rich or a terminal would take for a command."""
    return "".join(c if c.isprintable() else "?" for c in text).replace("[", "\\[")
