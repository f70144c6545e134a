"""Questions for the workers of a sweep: some answer, some raise, some end their worker."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from tilewright.errors import DoesNotFit


def double(number: int) -> int:
    return 2 * number


def slow_first(number: int) -> int:
    time.sleep(1.0 if number == 0 else 0.0)
    return number


def refuse(number: int) -> int:
    if number == 1:
        raise DoesNotFit("too large", why="it is", fix="shrink it", smallest={"ram": 7})
    if number == 2:
        raise ZeroDivisionError("by nothing")
    return number


def die(number: int) -> int:
    if number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def die_once(mark: str) -> str:
    """Ends its worker the first time, as one that ran out of memory; answers the second time."""
    file = Path(mark)
    if file.name.startswith("deadly") and not file.exists():
        file.write_text("seen")
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.05)
    return file.name
