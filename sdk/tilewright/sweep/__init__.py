"""Many questions at once, on processes of this machine or on a cluster: answers come as they are there.

    for index, answer in answers(function, questions, Place(jobs=4)):
        ...

`function` and what it takes and gives must be picklable. A question whose worker dies is asked again on another, three
times at most; then, and where the function itself raises, the answer is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tilewright.errors import TilewrightError

T = TypeVar("T")
R = TypeVar("R")
TRIES = 3


@dataclass(frozen=True)
class Place:
    """Where questions are answered: `jobs` processes here, or the workers of the Dask scheduler at `cluster`."""

    jobs: int = 1
    cluster: str = ""


def answers(
    function: Callable[[T], R], questions: Sequence[T], place: Place
) -> Iterator[tuple[int, R | TilewrightError]]:
    """Each answer with the number of its question, in the order in which they come."""
    if place.cluster:
        from tilewright.sweep.cluster import on_cluster

        yield from on_cluster(function, questions, place.cluster)
    elif place.jobs > 1 and len(questions) > 1:
        from tilewright.sweep.processes import on_processes

        yield from on_processes(function, questions, min(place.jobs, len(questions)))
    else:
        for index, question in enumerate(questions):
            yield index, function(question)


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
            fix="ask it alone, with -v, for the traceback",
        )


def lost(why: str) -> TilewrightError:
    """The answer to a question whose worker died every time."""
    return TilewrightError(
        f"a worker died {TRIES} times over the same question", why=why, fix="ask it alone, or with more memory"
    )
