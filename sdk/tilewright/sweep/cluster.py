"""Workers of a Dask cluster, found by the address of its scheduler: the extra `distributed`.

Every worker needs the same tilewright, the targets' tools, and the files of the models under the same paths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from tilewright.errors import TilewrightError, ToolMissing, UsageError
from tilewright.sweep.attempt import attempt, lost

T = TypeVar("T")
R = TypeVar("R")
CONNECT_SECONDS = 10


def on_cluster(
    function: Callable[[T], R], questions: Sequence[T], address: str
) -> Iterator[tuple[int, R | TilewrightError]]:
    """Answers in the order in which they come; the scheduler itself asks again what a dead worker held."""
    try:
        from distributed import Client, as_completed
    except ImportError:
        raise ToolMissing(
            "distributed is not installed",
            why="--cluster hands the work to a Dask scheduler",
            fix="pip install 'tilewright[distributed]'",
        ) from None
    try:
        client = Client(address, timeout=CONNECT_SECONDS)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"--cluster {address}",
            why=f"no Dask scheduler answers there: {error}",
            fix="start 'dask scheduler' and 'dask worker', and give the address that it tells",
        ) from error
    with client:
        futures = [client.submit(attempt, function, question, pure=False) for question in questions]
        numbers = {future.key: index for index, future in enumerate(futures)}
        for future, answer in as_completed(futures, with_results=True, raise_errors=False):
            if future.status == "error":
                answer = lost(f"{type(answer[1]).__name__}: {answer[1]}")
            yield numbers[future.key], answer
            future.release()
