"""One question on a worker: its answer, or the error that stands for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from tilewright.errors import TilewrightError

T = TypeVar("T")
R = TypeVar("R")
TRIES = 3


def attempt(function: Callable[[T], R], question: T) -> R | TilewrightError:
    """The answer, or what the function raised as one of our errors: it must reach the process that asked."""
    try:
        return function(question)
    except TilewrightError as error:
        return error
    except Exception as error:
        return TilewrightError(
            "a question of the sweep failed",
            why=f"{type(error).__name__}: {error}",
            fix="check it by itself with -v to see the traceback",
        )


def lost(why: str) -> TilewrightError:
    """The answer to a question whose worker died every time."""
    return TilewrightError(
        f"a worker died {TRIES} times over the same question", why=why, fix="check it by itself, or with more memory"
    )
