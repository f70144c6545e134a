"""A placement from outside: offsets that were kept or written by hand, checked as an allocator's are."""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.errors import UsageError
from tilewright.memory.bound import live_bound
from tilewright.memory.check import WrongPlacement, check
from tilewright.memory.packing import normalise
from tilewright.memory.problem import PlacementProblem, PlacementSolution


def given_placement(problem: PlacementProblem, offsets: Mapping[str, int], level: str) -> PlacementSolution:
    """The solution that these offsets in bytes are; UsageError where one is missing or buffers would overlap."""
    sizes = {buffer.name: buffer.size for buffer in problem.buffers}
    missing = next((name for name in sizes if name not in offsets), None)
    if missing is not None:
        raise UsageError(
            f"the memory map has no offset for '{missing}' in '{level}'",
            why=f"the plan has the buffers {', '.join(sizes)}",
        )
    unknown = next((name for name in offsets if name not in sizes), None)
    if unknown is not None:
        raise UsageError(
            f"the memory map has an offset for '{unknown}' in '{level}'",
            why=f"the plan has the buffers {', '.join(sizes)}",
        )
    own = {name: offsets[name] for name in sizes}
    peak = max((own[name] + size for name, size in sizes.items() if size), default=0)
    solution = PlacementSolution(own, peak, live_bound(normalise(problem)), "given")
    try:
        check(problem, solution)
    except WrongPlacement as error:
        raise UsageError("the memory map is wrong", why=str(error), tensor=error.where.tensor) from error
    return solution
