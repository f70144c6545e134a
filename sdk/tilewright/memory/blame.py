"""Who is to blame for a peak: the moment, the buffers alive at it and what would do."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.errors import DoesNotFit
from tilewright.memory.problem import Buffer, PlacementProblem, PlacementSolution


@dataclass(frozen=True)
class Peak:
    """The worst moment of a placement and the buffers alive then, the largest first.

    `size` is the peak in bytes, `live` the bytes that they cover; the rest are holes and alignment.
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
    """The moment to blame for the peak of a solution: that with most bytes alive, if possible one that reaches it.

    What lies wholly in the bytes of another buffer that is alive, a view of it for instance, is not listed apart.
    """
    spans = {b.name: (solution.offsets[b.name], solution.offsets[b.name] + b.size) for b in problem.buffers}
    best, reached = Peak(0, solution.peak, 0, ()), False
    for moment in sorted({b.lower for b in problem.buffers}):
        alive = [b for b in problem.buffers if b.size and b.lower <= moment < b.upper]
        live = _covered([spans[b.name] for b in alive])
        reaches = any(spans[b.name][1] == solution.peak for b in alive)
        if (live, reaches) <= (best.live, reached):
            continue
        own: list[Buffer] = []
        for buffer in sorted(alive, key=lambda b: (-b.size, b.name)):
            low, high = spans[buffer.name]
            if not any(spans[other.name][0] <= low and high <= spans[other.name][1] for other in own):
                own.append(buffer)
        best, reached = Peak(moment, solution.peak, live, tuple(own)), reaches
    return best


def _covered(spans: list[tuple[int, int]]) -> int:
    """Bytes that at least one of the intervals covers."""
    total, end = 0, 0
    for low, high in sorted(spans):
        total += max(0, high - max(low, end))
        end = max(end, high)
    return total


def too_small(problem: PlacementProblem, solution: PlacementSolution, level: str) -> DoesNotFit:
    """The error for a peak beyond the capacity: by how much, whose fault, and the smallest size that would do."""
    capacity = problem.capacity or 0
    peak = explain(problem, solution)
    if solution.lower_bound > capacity:
        bound_text = f"no placement needs less than {solution.lower_bound}"
    else:
        bound_text = f"only {solution.lower_bound} is proved to be needed, so more search may help"
    return DoesNotFit(
        f"{level} has {capacity} bytes and {solution.peak} are needed, {solution.peak - capacity} too few",
        why=f"{peak}; {bound_text}",
        fix=f"give {level} {solution.peak} bytes or shrink one of these buffers",
        smallest={level: solution.peak},
    )
