"""Chains where they pay: nodes at the peak are computed band by band, as long as the placed peak falls.

What that costs in instructions (rows that move, rows computed twice) may be a share of the network's work, as for
recomputing; chains that turn out not to lower the peak are dropped again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tilewright.binding.check import check
from tilewright.binding.graph import BoundGraph, BoundNode
from tilewright.binding.order import Order
from tilewright.memory.again import SHARES
from tilewright.memory.placed import PlacedPlan
from tilewright.memory.planner import place_plan
from tilewright.options import CompileOptions
from tilewright.plan.build import build
from tilewright.plan.plan import TiledGraph
from tilewright.platform import Feature, Kernel
from tilewright.rows.links import Links, with_chains

TRIED = 400
"""Placements that are tried at most."""
EXACT = 128
"""Up to so many nodes the exact allocators have the last word."""


@dataclass(frozen=True)
class Chained:
    """The graph with its chains, bytes by which the placed peak falls, and instructions added."""

    graph: BoundGraph
    saved_bytes: int
    added: int


def row_chains(graph: BoundGraph, kernels: Sequence[Kernel], order: Order, options: CompileOptions) -> Chained:
    """The graph with the chains that lower the peak, within the work that `--optimize` allows; else as it is."""
    if not graph.platform.can(Feature.ROW_CHAINS) or graph.platform.copies:
        return Chained(graph, 0, 0)
    search = _Search(graph, Links(graph, kernels, order), options)
    search.grow()
    search.prune()
    if not search.taken:
        return Chained(graph, 0, 0)
    exact = "auto" if len(graph.nodes) <= EXACT else "greedy"
    before, after = (_place(each, options, exact).solution.peak for each in (graph, search.graph))
    if after >= before:
        return Chained(graph, 0, 0)
    check(search.graph)
    return Chained(search.graph, before - after, max(0, round(search.added)))


class _Search:
    """Chains taken so far, with the graph and its peak."""

    def __init__(self, graph: BoundGraph, links: Links, options: CompileOptions) -> None:
        self.plain, self.links, self.options = graph, links, options
        self.apart = {bound.call.node.name: _cost(bound) for bound in graph.nodes}
        self.budget = SHARES[options.optimize] * sum(self.apart.values())
        self.paths = list(links.paths())
        self.chains: dict[tuple[str, ...], list[BoundNode]] = {}
        self.tried = 0
        self.taken: tuple[BoundNode, ...] = ()
        self.graph = graph
        self.placed = self._place(graph)

    @property
    def peak(self) -> int:
        """Bytes of the arena."""
        return self.placed.solution.peak

    @property
    def added(self) -> float:
        """Instructions that the chains taken need more than their nodes apart."""
        return sum(map(self._added, self.taken))

    def grow(self) -> None:
        """Take the chain that lowers the peak most, or the moments at which it is reached, one after the other."""
        while True:
            best = None
            for chains in self._candidates():
                added = sum(map(self._added, chains))
                if added > self.budget or self.tried >= TRIED:
                    continue
                graph = with_chains(self.plain, chains)
                placed = self._place(graph)
                key = (*_highest(placed), added)
                if best is None or key < best[0]:
                    best = (key, chains, graph, placed)
            if best is None or best[0][:2] >= _highest(self.placed):
                return
            _, self.taken, self.graph, self.placed = best

    def prune(self) -> None:
        """Drop chains without which the peak is no higher, those first that add most."""
        for chain in sorted(self.taken, key=self._added, reverse=True):
            rest = tuple(other for other in self.taken if other is not chain)
            graph = with_chains(self.plain, rest)
            placed = self._place(graph)
            if placed.solution.peak <= self.peak:
                self.taken, self.graph, self.placed = rest, graph, placed

    def _candidates(self) -> list[tuple[BoundNode, ...]]:
        """The chains taken, with one more that computes something at the peak in the place of those it meets."""
        calls = [self.placed.plan.instructions[time].call for time in _moments(self.placed)]
        at_peak = {each.node.name for call in calls for each in call.chain or (call,)}
        found = []
        for path in self.paths:
            if at_peak.isdisjoint(path):
                continue
            if path not in self.chains:
                self.chains[path] = self.links.chains(path)
            rest = tuple(c for c in self.taken if {p.call.node.name for p in c.parts}.isdisjoint(path))
            found += [(*rest, chain) for chain in self.chains[path] if chain not in self.taken]
        return found

    def _added(self, chain: BoundNode) -> float:
        return _cost(chain) - sum(self.apart[part.call.node.name] for part in chain.parts)

    def _place(self, graph: BoundGraph) -> PlacedPlan:
        self.tried += 1
        return _place(graph, self.options, "greedy")


def _place(graph: BoundGraph, options: CompileOptions, allocator: str) -> PlacedPlan:
    plan = build(TiledGraph(graph, {}), constants=False)
    return place_plan(
        plan, graph.platform, io=options.io, allocator=allocator, in_place="in_place" not in options.disabled_passes,
        overlap="overlap" not in options.disabled_passes,
    )  # fmt: skip


def _cost(bound: BoundNode) -> float:
    return 0.0 if bound.kernel is None else bound.kernel.cost(bound.call)


def _moments(placed: PlacedPlan) -> list[int]:
    """The instructions at which the arena is full to its peak."""
    heights = _heights(placed)
    return [time for time, height in enumerate(heights) if height >= placed.solution.peak]


def _highest(placed: PlacedPlan) -> tuple[int, int]:
    """The peak, and how many instructions reach it."""
    return placed.solution.peak, len(_moments(placed))


def _heights(placed: PlacedPlan) -> list[int]:
    heights = [0] * max(1, len(placed.plan.instructions))
    for region in placed.regions:
        for time in range(region.first, min(region.last, len(heights) - 1) + 1):
            heights[time] = max(heights[time], region.offset + -(-region.size // placed.align) * placed.align)
    return heights
