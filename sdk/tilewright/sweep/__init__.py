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
