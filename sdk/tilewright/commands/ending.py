"""SIGTERM and SIGHUP end a command as Ctrl-C does: what it had begun to write is removed, then the signal kills it."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from tilewright.output.unfinished import remove_living


class Ended(BaseException):
    """A signal asks the process to end; what is unfinished is cleaned up while this passes."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(number)


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """In this block the signals raise `Ended`, and kill the process once all is cleaned up. Ignored ones stay so."""
    if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [n for n in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(n) is signal.SIG_DFL]
    for number in numbers:
        signal.signal(number, _raise)
    try:
        yield
    except Ended as ended:
        remove_living()
        signal.signal(ended.number, signal.SIG_DFL)
        os.kill(os.getpid(), ended.number)
        raise
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)


def _raise(number: int, frame: FrameType | None) -> None:
    for other in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(other, signal.SIG_IGN)  # once is enough
    raise Ended(number)
