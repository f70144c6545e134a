"""Kernels that give way where none of their tiles fits the compute level: to lesser tiles, or to one core without any.

Such a layer may be many times slower, so it is an error by default wherever a larger compute level would do. A kernel
gives way where not even all that the target has would be enough, where it cuts nothing and says so, or where the user
allows it everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tilewright.binding.candidates import Refusals
from tilewright.binding.graph import BoundGraph, BoundNode, Refusal
from tilewright.errors import DoesNotFit, UnsupportedNode
from tilewright.options import FallBack
from tilewright.platform import Kernel, MemoryLevel
from tilewright.tiling.explain import Conflict, conflict
from tilewright.tiling.hierarchy import hierarchy
from tilewright.tiling.options import works_of
from tilewright.tiling.tiled_graph import TiledGraph

SLOWER_FROM = 2.0
"""Times the kernel that gave way from which the one in its place is told to be slower."""


def tile_or_fall_back(
    graph: BoundGraph,
    cut: Callable[[BoundGraph], TiledGraph],
    rebind: Callable[[Refusals], BoundGraph],
    levels: Sequence[MemoryLevel],
    most: Mapping[str, int | None],
    when: FallBack,
) -> TiledGraph:
    """The graph cut; kernels of which no tile fits are refused and the graph is bound anew, where `when` lets them.

    `most` are bytes that the target has of each level. Raises DoesNotFit of `cut` where one may not give way.
    """
    refused: dict[tuple[str, str], Refusal] = {}
    while True:
        try:
            return cut(graph)
        except DoesNotFit as error:
            refusals = _refusals(graph, levels, most, when)
            if not refusals:
                raise _with_advice(error, graph, levels, when) from None
            refused |= refusals
            try:
                graph = rebind(refused)
            except UnsupportedNode:
                raise error from None


def gave_way(graph: BoundGraph) -> dict[str, str]:
    """By node the first kernel that gave way to a slower one, with the sentence why."""
    names = {}
    for bound in graph.nodes:
        large = (candidate for candidate in bound.candidates if candidate.too_large)
        if (first := next(large, None)) is not None and not _as_fast(bound, first.kernel):
            names[bound.call.node.name] = f"{first.kernel.name}: {first.refusal}"
    return names


def _as_fast(bound: BoundNode, first: Kernel) -> bool:
    """Whether a kernel of the same platform took the node that costs less than `SLOWER_FROM` times the first."""
    if bound.kernel is None or bound.kernel.platform != first.platform:
        return False
    cost, least = (kernel.declared_cost(bound.call) for kernel in (bound.kernel, first))
    return cost is not None and least is not None and cost < SLOWER_FROM * least


def _refusals(
    graph: BoundGraph, levels: Sequence[MemoryLevel], most: Mapping[str, int | None], when: FallBack
) -> dict[tuple[str, str], Refusal]:
    """Kernels that have no tile that fits, with the sentence; none where one of them may not give way."""
    whole = hierarchy(graph.platform, levels)
    if whole is None or when == "never":
        return {}
    name, refusals = whole.compute.name, dict[tuple[str, str], Refusal]()
    for work in works_of(graph).values():
        conflicting = conflict(work, whole)
        if conflicting is None:
            continue
        if when == "needed" and not work.kernel.gives_way and not _hopeless(conflicting, most.get(name)):
            return {}
        why = f"its smallest tile takes {conflicting.smallest:,} bytes and '{name}' has {whole.capacity:,}"
        refusals[work.name, work.kernel.name] = Refusal(why, too_large=True)
    return refusals


def _hopeless(conflict: Conflict, most: int | None) -> bool:
    """True where all that the target has of the level would not be enough."""
    return most is not None and conflict.smallest > most


def _with_advice(error: DoesNotFit, graph: BoundGraph, levels: Sequence[MemoryLevel], when: FallBack) -> DoesNotFit:
    """The error with the other way out, where a kernel without tiles would take the node."""
    whole = hierarchy(graph.platform, levels)
    node = next((bound for bound in graph.nodes if bound.call.node.name == error.where.node), None)
    if whole is None or node is None or whole.compute.name not in error.smallest or when == "always":
        return error
    others = [c.kernel for c in node.candidates if c.refusal is None and c.kernel is not node.kernel]
    if not others:
        return error
    fix = f"{error.fix}, or let a slower kernel take it with --fall-back always"
    return DoesNotFit(error.what, why=error.why, fix=fix, node=error.where.node, smallest=error.smallest)
