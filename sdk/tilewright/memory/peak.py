"""Kernels whose scratch raises the peak give way to kernels that need none, where that makes the peak smaller.

A fast kernel may want working memory. Where that fits beside what is alive, it costs nothing; at the peak it costs
bytes. So the kernels that stand at the peak with scratch are refused and the graph is bound anew, as long as the placed
peak really falls: the alternative may keep more bytes alive than it saves. `--optimize speed` skips all this.
"""

from __future__ import annotations

from collections.abc import Callable

from tilewright.binding.candidates import Refusals
from tilewright.binding.graph import BoundGraph, Candidate
from tilewright.binding.order import Order, as_offered
from tilewright.errors import UnsupportedNode
from tilewright.memory.placed import PlacedPlan
from tilewright.memory.planner import place_plan
from tilewright.plan.build import build
from tilewright.plan.plan import TiledGraph
from tilewright.platform import Kernel, Operands

ROUNDS = 12
EXACT = 128
"""Up to so many instructions a tie of the quick placements is decided by the exact ones."""


def within_peak(graph: BoundGraph, bind: Callable[[Refusals, Order], BoundGraph], order: Order, io: str) -> BoundGraph:
    """The graph bound anew as long as a smaller peak comes of it.

    `order` bound it. The cheapest kernels may leave less room to lie over their operands than those that a platform
    prefers, so the order of preference is tried too and taken where its peak is smaller.
    """
    preferred = bind({}, as_offered)
    alike = [b.kernel for b in preferred.nodes] == [b.kernel for b in graph.nodes]
    scratch = any(b.kernel is not None and b.kernel.scratch(graph.operands(b)) for b in graph.nodes)
    if alike and not scratch:
        return graph
    best, peak = _without_scratch(graph, lambda refused: bind(refused, order), io)
    if not alike:
        other, lower = _without_scratch(preferred, lambda refused: bind(refused, as_offered), io)
        best = other if lower < peak else best
    return best


def _without_scratch(graph: BoundGraph, rebind: Callable[[Refusals], BoundGraph], io: str) -> tuple[BoundGraph, int]:
    """The graph without the kernels whose scratch stands at the peak, and the peak."""
    placed = _place(graph, io)
    refused: dict[tuple[str, str], str] = {}
    for _ in range(ROUNDS):
        found = {key: why for key, why in _at_peak(graph, placed).items() if key not in refused}
        if not found:
            break
        try:
            other = rebind({**refused, **found})
        except UnsupportedNode:
            break
        smaller = _place(other, io)
        saved = placed.solution.peak - smaller.solution.peak
        if saved == 0 and len(placed.plan.instructions) <= EXACT:
            saved = _exactly(graph, io) - _exactly(other, io)
        if saved <= 0:
            break
        refused |= found
        graph, placed = other, smaller
    return graph, placed.solution.peak


def _place(graph: BoundGraph, io: str, allocator: str = "greedy") -> PlacedPlan:
    plan = build(TiledGraph(graph, {}), constants=False)
    return place_plan(plan, graph.platform, io=io, allocator=allocator)


def _exactly(graph: BoundGraph, io: str) -> int:
    return _place(graph, io, "auto").solution.peak


def _replaces(candidate: Candidate, kernel: Kernel, operands: Operands) -> bool:
    """A kernel gives way to one of its own platform that needs less: inherited ones are many times slower."""
    other = candidate.kernel
    if candidate.refusal is not None or other is kernel or other.platform != kernel.platform:
        return False
    return other.scratch(operands) < kernel.scratch(operands)


def _at_peak(graph: BoundGraph, placed: PlacedPlan) -> dict[tuple[str, str], str]:
    """(node, kernel) to a sentence, for replaceable kernels with scratch that stand at the peak."""
    peak = placed.solution.peak
    replaceable = {
        b.call.node.name
        for b in graph.nodes
        if b.kernel is not None and any(_replaces(c, b.kernel, graph.operands(b)) for c in b.candidates)
    }
    highest = [r for r in placed.regions if placed.align >= peak - (r.offset + r.size) >= 0]
    found: dict[tuple[str, str], str] = {}
    for instruction in placed.plan.instructions:
        if not instruction.scratch_bytes or instruction.kernel.tileable or instruction.name not in replaceable:
            continue
        if any(r.first <= instruction.index <= r.last for r in highest):
            found[instruction.name, instruction.kernel.name] = (
                f"its {instruction.scratch_bytes} bytes of scratch stand at the peak of {peak} bytes"
            )
    return found
