"""Who is to blame for a peak: the moment, the buffers alive at it and what would do."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.errors import DoesNotFit
from tilewright.memory.problem import Buffer, PlacementProblem, PlacementSolution


@dataclass(frozen=True)
class Peak:
    """The moment at which a placement reaches its peak and the buffers alive then, the largest first.

    `size` is the peak in bytes, `live` the bytes of the buffers alive; the rest are holes, alignment and shared bytes.
    """

    moment: int
    size: int
    live: int
    buffers: tuple[Buffer, ...]

    def __str__(self) -> str:
        """One sentence: the moment and its largest buffers with their bytes."""
        named = ", ".join(f"'{buffer.name}' {buffer.size}" for buffer in self.buffers[:4])
        more = f" and {len(self.buffers) - 4} more" if len(self.buffers) > 4 else ""
        return f"at step {self.moment} these are alive: {named}{more} ({self.live} bytes together)"


def explain(problem: PlacementProblem, solution: PlacementSolution) -> Peak:
    """The moment to blame for the peak of a solution: among those at which it is reached, that with most bytes alive.

    Views are listed under the buffer that they show where that one is alive too.
    """
    shown = {view.name: view.of for view in problem.views}
    tops = [b for b in problem.buffers if b.size and solution.offsets[b.name] + b.size == solution.peak]
    moments = sorted({b.lower for top in tops for b in problem.buffers if top.lower <= b.lower < top.upper})
    best = Peak(0, solution.peak, 0, ())
    for moment in moments:
        alive = {b.name: b for b in problem.buffers if b.size and b.lower <= moment < b.upper}
        if not any(top.name in alive for top in tops):
            continue
        own = sorted((b for b in alive.values() if shown.get(b.name) not in alive), key=lambda b: (-b.size, b.name))
        live = sum(b.size for b in own)
        if live > best.live:
            best = Peak(moment, solution.peak, live, tuple(own))
    return best


def too_small(problem: PlacementProblem, solution: PlacementSolution, level: str) -> DoesNotFit:
    """The error for a peak beyond the capacity: by how much, whose fault, and the smallest size that would do."""
    capacity = problem.capacity or 0
    peak = explain(problem, solution)
    if solution.lower_bound > capacity:
        known = f"no placement needs less than {solution.lower_bound}"
    else:
        known = f"only {solution.lower_bound} is proved to be needed, so more search may help"
    return DoesNotFit(
        f"{level} has {capacity} bytes and {solution.peak} are needed, {solution.peak - capacity} too few",
        why=f"{peak}; {known}",
        fix=f"give {level} {solution.peak} bytes or shrink one of these buffers",
        smallest={level: solution.peak},
    )
