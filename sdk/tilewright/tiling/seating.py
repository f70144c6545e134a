"""Which neighbouring nodes are computed at one sitting: as many as gain by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tilewright.binding.graph import BoundGraph
from tilewright.tiling.choose import Choice
from tilewright.tiling.hierarchy import Hierarchy
from tilewright.tiling.options import Option
from tilewright.tiling.schedule import TileSchedule
from tilewright.tiling.sitting import Reading, errands_between, reading_of, sitting_of
from tilewright.tiling.stages import Work
from tilewright.tiling.walk import Cut

LONGEST = 48
"""Stages of a sitting at most: what it reads and stores at home is alive for all of it."""


def seated(graph: BoundGraph, works: Mapping[str, Work], levels: Hierarchy, choice: Choice) -> Choice:
    """A choice without pinned constants, in which neighbours are computed at one sitting where that is faster."""
    reading = reading_of(graph)
    taken = sorted(choice.taken, key=lambda item: reading.at[item[0].names[0]])
    alone, sittings = list[tuple[Option, Cut]](), list[TileSchedule]()
    run: list[tuple[Option, Cut]] = []
    best: TileSchedule | None = None

    def close() -> None:
        if best is not None and best.cycles < sum(cut.cycles for _, cut in run):
            sittings.append(best)
        else:
            alone.extend(run)

    for item in taken:
        longer = _together([*run, item], works, reading, levels, choice)
        if longer is not None and (best is None or longer.cycles <= best.cycles + item[1].cycles):
            run, best = [*run, item], longer
            continue
        close()
        run, best = [item], _together([item], works, reading, levels, choice)
    close()
    return replace(choice, taken=tuple(alone), sittings=tuple(sittings))


def _together(
    run: Sequence[tuple[Option, Cut]], works: Mapping[str, Work], reading: Reading, levels: Hierarchy, choice: Choice
) -> TileSchedule | None:
    """Options as one sitting, the driver doing what lies between them; None where they cannot be."""
    names = [name for option, _ in run for name in option.names]
    if len(names) > LONGEST or choice.streamed.intersection(names):
        return None
    kernels = [works[name].kernel for name in names]
    if any(kernel.gives_jobs or kernel.methods.at_rest for kernel in kernels):
        return None
    errands = errands_between(names, reading)
    return None if errands is None else sitting_of([works[name] for name in names], reading, levels, errands)
