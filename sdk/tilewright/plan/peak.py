"""Kernels whose scratch would raise the peak give way to kernels that need none.

A fast kernel may want working memory. Where that fits beside what is alive, it costs nothing; at the peak it costs
bytes that the network would not need otherwise. `--optimize speed` takes it all the same.
"""

from __future__ import annotations

from collections.abc import Callable

from tilewright.binding.candidates import Refusals
from tilewright.binding.graph import BoundGraph
from tilewright.plan.build import build
from tilewright.plan.liveness import storages
from tilewright.plan.plan import TiledGraph

ROUNDS = 8


def within_peak(graph: BoundGraph, rebind: Callable[[Refusals], BoundGraph]) -> BoundGraph:
    """The graph bound anew until no kernel's scratch raises the peak that has an alternative."""
    refused: dict[tuple[str, str], str] = {}
    for _ in range(ROUNDS):
        found = {key: why for key, why in over_peak(graph).items() if key not in refused}
        if not found:
            break
        refused |= found
        graph = rebind(refused)
    return graph


def over_peak(graph: BoundGraph) -> dict[tuple[str, str], str]:
    """(node, kernel) to a sentence, for every kernel whose scratch raises the peak and that another could replace."""
    if not any(b.kernel is not None and b.kernel.scratch(graph.operands(b)) for b in graph.nodes):
        return {}
    plan = build(TiledGraph(graph, {}), constants=False)
    alive = [0] * max(len(plan.instructions), 1)
    for storage in storages(plan):
        for time in range(storage.first, storage.last + 1):
            alive[time] += storage.size_bytes
    peak = max(alive)
    others = {
        b.call.node.name: any(c.refusal is None and c.kernel is not b.kernel for c in b.candidates)
        for b in graph.nodes
        if b.kernel is not None
    }
    found: dict[tuple[str, str], str] = {}
    for instruction in plan.instructions:
        excess = alive[instruction.index] + instruction.scratch_bytes - peak
        if instruction.scratch_bytes and excess > 0 and others.get(instruction.name, False):
            found[instruction.name, instruction.kernel.name] = (
                f"its {instruction.scratch_bytes} bytes of scratch would raise the peak by {excess}"
            )
    return found
