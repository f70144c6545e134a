"""Chains where they pay: nodes at the peak are computed band by band, as long as the placed peak falls.

What that costs in instructions (rows that move, rows computed twice) may be a share of the network's work, as for
recomputing; chains that turn out not to lower the peak are dropped again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tilewright.binding.check import check
from tilewright.binding.graph import BoundNode
from tilewright.memory.heights import moments_at_peak
from tilewright.platform import Feature
from tilewright.rows.links import Links, with_chains
from tilewright.schedule.decisions import RowChain
from tilewright.schedule.deployment import Deployment
from tilewright.schedule.moves.move import Offer, Offers
from tilewright.schedule.moves.recompute import SHARES

SMALL = 400
"""Up to so many nodes every chain at the peak is priced by itself; beyond that, many of them together."""
TRIED = 400
"""Chains that are priced one by one at most."""
MADE = 3_000
"""Paths of a large network for which chains are made."""


@dataclass(frozen=True)
class RowChains:
    """Runs of nodes that pass rows to one another."""

    name: str = "row_chains"
    stage: str = "binding"
    needs: Feature | None = Feature.ROW_CHAINS

    def propose(self, now: Deployment) -> Offers:
        """Chains at the peak within the share of work that `--optimize` allows, then fewer where that is as good."""
        request = now.question.request
        if request.platform.copies or request.options.program is not None:
            return
        chains = _Chains(now, SHARES[request.options.optimize])
        start, offers = now, chains.singly if len(now.bound.nodes) <= SMALL else chains.together
        while True:
            better = yield Offer(offers(now), "towards", against=now, work=chains.added)
            if better is now:
                break
            now = better
        for chain in sorted(chains.taken(now), key=chains.added_by, reverse=True):
            rest = [other for other in chains.taken(now) if other is not chain]
            now = yield Offer([chains.deployed(rest)], "no higher", against=now)
        if now is not start:
            check(now.graph)
            yield Offer([now], "lower", exact=True)

    def added_work(self, before: Deployment, after: Deployment) -> float:
        """Instructions that the chains need more than their nodes apart."""
        return _Chains(before, 0.0).added(after)


class _Chains:
    """The chains of one bound graph."""

    def __init__(self, start: Deployment, share: float) -> None:
        self.start = start
        request = start.question.request
        self.links = Links(start.bound, request.kernels, start.question.order)
        self.apart = {bound.call.node.name: _cost(bound) for bound in start.bound.nodes}
        self.most_added = share * sum(self.apart.values())
        self.paths = list(self.links.paths())
        self.made: dict[tuple[str, ...], list[BoundNode]] = {}
        self.tried = 0

    def taken(self, now: Deployment) -> tuple[BoundNode, ...]:
        """The chains of a deployment."""
        return tuple(bound for bound in now.graph.nodes if bound.parts)

    def added(self, now: Deployment) -> float:
        """Instructions that its chains need more than their nodes apart."""
        return sum(map(self.added_by, self.taken(now)))

    def added_by(self, chain: BoundNode) -> float:
        """Instructions that one chain needs more than its nodes apart."""
        return _cost(chain) - sum(self.apart[part.call.node.name] for part in chain.parts)

    def deployed(self, chains: Sequence[BoundNode]) -> Deployment:
        """The network with these chains."""
        decided = [RowChain(tuple(p.call.node.name for p in chain.parts), chain.rows) for chain in chains]
        return self.start.with_row_chains(decided, with_chains(self.start.bound, chains))

    def singly(self, now: Deployment) -> Iterator[Deployment]:
        """The chains taken, with one more that computes something at the peak in the place of those it meets."""
        at_peak, taken = _names_at(now, moments_at_peak(now.placed)), self.taken(now)
        for path in self.paths:
            if at_peak.isdisjoint(path):
                continue
            rest = _apart_from(path, taken)
            for chain in self._made(path):
                if self.tried >= TRIED:
                    return
                if chain not in taken and sum(map(self.added_by, (*rest, chain))) <= self.most_added:
                    self.tried += 1
                    yield self.deployed((*rest, chain))

    def together(self, now: Deployment) -> Iterator[Deployment]:
        """The chains taken, with one for every moment at the peak that some chain seems to lower."""
        taken, at_peak = self.taken(now), _names_at(now, moments_at_peak(now.placed))
        room = self.most_added - sum(map(self.added_by, taken))
        covered: set[str] = {part.call.node.name for chain in taken for part in chain.parts}
        chosen = list(taken)
        live = _Live(self.start, now)
        for path in self.paths:
            if at_peak.isdisjoint(path) or not covered.isdisjoint(path):
                continue
            if path not in self.made and len(self.made) >= MADE:
                break
            fitting = [chain for chain in self._made(path) if self.added_by(chain) <= room]
            best = min(fitting, key=lambda chain: (live.with_chain(chain), self.added_by(chain)), default=None)
            if best is not None and live.with_chain(best) < now.peak:
                chosen.append(best)
                covered.update(path)
                room -= max(0.0, self.added_by(best))
        if len(chosen) > len(taken):
            yield self.deployed(chosen)

    def _made(self, path: tuple[str, ...]) -> list[BoundNode]:
        if path not in self.made:
            self.made[path] = self.links.chains(path)
        return self.made[path]


class _Live:
    """Bytes alive at every instruction of a deployment, for an estimate of what a chain leaves of them."""

    def __init__(self, start: Deployment, now: Deployment) -> None:
        self.start, plan = start, now.placed.plan
        self.at = {i.name: i.index for i in plan.instructions}
        self.regions = {region.name: region for region in now.placed.regions if region.kind != "scratch"}
        change = [0] * (len(plan.instructions) + 2)
        for region in self.regions.values():
            change[region.first] += region.size
            change[min(region.last, len(plan.instructions)) + 1] -= region.size
        self.bytes_at = [sum(change[:1])]
        for step in change[1:]:
            self.bytes_at.append(self.bytes_at[-1] + step)

    def with_chain(self, chain: BoundNode) -> int:
        """Bytes alive while the chain runs: at its last node, with its operands, without what lies inside of it."""
        assert chain.kernel is not None
        time = self.at[chain.parts[-1].call.node.name]
        alive = self.bytes_at[time] + chain.kernel.scratch(self.start.bound.operands(chain))
        for tensor in chain.call.inputs:
            region = self.regions.get(tensor.name) if tensor is not None else None
            if region is not None and not region.first <= time <= region.last:
                alive += region.size
        for part in chain.parts[:-1]:
            for tensor in part.call.outputs:
                region = self.regions.get(tensor.name)
                if region is not None and region.first <= time <= region.last:
                    alive -= region.size
        return alive


def _apart_from(path: Sequence[str], taken: Sequence[BoundNode]) -> list[BoundNode]:
    return [chain for chain in taken if {part.call.node.name for part in chain.parts}.isdisjoint(path)]


def _names_at(now: Deployment, moments: Sequence[int]) -> set[str]:
    calls = [now.placed.plan.instructions[time].call for time in moments]
    return {each.node.name for call in calls for each in call.chain or (call,)}


def _cost(bound: BoundNode) -> float:
    return 0.0 if bound.kernel is None else bound.kernel.cost(bound.call)
