"""What the cores and the engine do while the kernels of a tile run, as the cost model has it.

Jobs take turns as docs/new_engine.md says: two are begun, the cores finish one while the next one runs, and the one
behind that starts when they are done.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tilewright.platform import JobTimes


@dataclass(frozen=True)
class Actors:
    """Pairs of start and end in cycles from the first kernel of a tile, in order."""

    cores: tuple[int, ...] = ()
    engine: tuple[int, ...] = ()

    def then(self, other: Actors) -> Actors:
        """Both; cores that go on without a pause go on in one pair."""
        cores = self.cores + other.cores
        if self.cores and other.cores and self.cores[-1] >= other.cores[0]:
            cores = (*self.cores[:-1], *other.cores[1:])
        return Actors(cores, self.engine + other.engine)


NOTHING = Actors()


def on_cores(start: float, cycles: float) -> Actors:
    """A kernel that the cores compute."""
    return Actors((int(start), int(start + cycles)))


def in_jobs(times: JobTimes | None, start: float, cycles: float) -> Actors:
    """A kernel of jobs that takes so many cycles; both work all the time where nothing is known of its jobs."""
    if times is None:
        return Actors((int(start), int(start + cycles)), (int(start), int(start + cycles)))
    turns = list(_turns(times))
    longer = max(0.0, cycles - times.before) / max(1.0, turns[-1][3])
    at = [tuple(int(start + times.before + longer * cycle) for cycle in turn) for turn in turns]
    return Actors(tuple(c for turn in at for c in turn[2:]), tuple(c for turn in at for c in turn[:2]))


def _turns(times: JobTimes) -> Iterator[tuple[float, float, float, float]]:
    """Start and end on the engine and on the cores of every job."""
    computed, ends = 0.0, [0.0, 0.0]
    for _ in range(times.jobs):
        begun = max(computed, ends[-2])
        computed = begun + times.engine
        finished = max(computed, ends[-1])
        ends.append(finished + times.cores)
        yield begun, computed, finished, ends[-1]
