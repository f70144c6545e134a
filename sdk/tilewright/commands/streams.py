"""Standard output and standard error when nobody reads them, when they are closed, or when their disk is full.

What a command found out does not depend on who reads it: a reader that went away, or a stream that was closed from the
start, changes no exit code. A disk that is full does: what was asked for is not there.
"""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import suppress
from io import TextIOWrapper
from typing import TextIO

from tilewright.errors import UsageError


def open_streams() -> None:
    """Give the three standard descriptors something to lead to, and let every name be shown."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free descriptor, which is this one
    for name, descriptor in (("stdout", 1), ("stderr", 2)):
        if getattr(sys, name) is None:
            setattr(sys, name, open(descriptor, "w", encoding="utf-8", closefd=False))
        stream = getattr(sys, name)
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a name may hold what the terminal cannot show


def terminal_width() -> int | None:
    """Columns of the terminal that reads, or what COLUMNS says; None where a file or a program reads."""
    if "COLUMNS" not in os.environ and not sys.stdout.isatty():
        return None
    return max(shutil.get_terminal_size().columns, 40)


def say(text: str) -> None:
    """Write to standard output and see it gone; UsageError where it cannot be written, silence where nobody reads."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        _drop(sys.stdout)
    except (OSError, ValueError) as error:  # ValueError: it was closed since
        _drop(sys.stdout)
        raise UsageError(
            "cannot write to standard output",
            why=getattr(error, "strerror", None) or str(error),
            fix="let it lead to a place that can be written",
        ) from error


def complain(text: str) -> None:
    """Write to standard error, as far as that is possible."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError):
        _drop(sys.stderr)


def _drop(stream: TextIO) -> None:
    """Lead a stream to nowhere, with what it still holds: Python would try again at its end, and fail."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
        stream.flush()
