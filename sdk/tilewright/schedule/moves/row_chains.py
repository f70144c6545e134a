"""Chains where they pay: nodes at the peak are computed band by band, as long as the placed peak falls.

What that costs in instructions (rows that move, rows computed twice) may be a share of the network's work, as for
recomputing; chains that turn out not to lower the peak are dropped again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from tilewright.binding.graph import BoundNode
from tilewright.memory.heights import heights, moments_at_peak
from tilewright.ops.operator import Call
from tilewright.platform import Feature
from tilewright.rows.chain import reads_of
from tilewright.rows.check import check
from tilewright.rows.links import Links, with_chains
from tilewright.schedule.decisions import RowChain
from tilewright.schedule.deployment import Deployment
from tilewright.schedule.moves.move import Offer, Offers
from tilewright.schedule.moves.recompute import SHARES

SMALL = 128
"""Up to so many nodes every chain at the peak is priced by itself; beyond that, many of them together."""
TRIED = 1_600
"""Chains that are priced one by one at most."""
MADE = 3_000
"""Forms of paths of a large network that are priced; nodes of the same operator and shapes are of one form."""


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
        start, small = now, len(now.bound.nodes) <= SMALL
        offers = chains.singly if small else chains.together
        while True:
            better = yield Offer(offers(now), "towards", against=now, work=chains.added)
            if better is now:
                break
            now = better
        for rest in chains.fewer(now, one_by_one=small):
            now = yield Offer([rest(now)], "no higher", against=now)
        if chains.left_out:
            yield Offer((), cut_off=chains.left_out, against=now)
        if now is not start:
            check(now.graph)
            yield Offer([now], "lower", exact=True)

    def added_work(self, before: Deployment, after: Deployment) -> float:
        """Instructions that the chains need more than their nodes apart."""
        return sum(_added_by(bound) for bound in after.graph.nodes if bound.parts)


class _Chains:
    """The chains of one bound graph."""

    def __init__(self, start: Deployment, share: float) -> None:
        self.start = start
        request = start.question.request
        self.links = Links(start.bound, request.kernels, start.question.order)
        work = sum(bound.cost for bound in start.bound.nodes)
        self.most_added = share * start.question.lowered.times_lighter * work
        self.paths = list(self.links.paths())
        self.through: dict[str, list[tuple[str, ...]]] = {}
        for path in self.paths:
            for name in path:
                self.through.setdefault(name, []).append(path)
        self.made: dict[tuple[str, ...], list[BoundNode]] = {}
        self.whole: dict[tuple[tuple[str, ...], int, bool], BoundNode | None] = {}
        self.tried, self.left_out = 0, ""

    def taken(self, now: Deployment) -> tuple[BoundNode, ...]:
        """The chains of a deployment."""
        return tuple(bound for bound in now.graph.nodes if bound.parts)

    def added(self, now: Deployment) -> float:
        """Instructions that its chains need more than their nodes apart."""
        return sum(map(_added_by, self.taken(now)))

    def deployed(self, chains: Sequence[BoundNode]) -> Deployment:
        """The network with these chains."""
        decided = [
            RowChain(tuple(p.call.node.name for p in chain.parts), chain.rows, chain.single_rows) for chain in chains
        ]
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
                    self.left_out = f"more than {TRIED:,} chains were not tried"
                    return
                if chain not in taken and sum(map(_added_by, (*rest, chain))) <= self.most_added:
                    self.tried += 1
                    yield self.deployed((*rest, chain))

    def together(self, now: Deployment) -> Iterator[Deployment]:
        """The chains taken, with one for every moment at the peak; nothing where some moment would stay as it is.

        Whether a chain lowers a moment is an estimate from the bytes that are alive there. Two ways of spending what
        may be added are offered: the cheapest chain everywhere, and the best one that each moment's share pays.
        """
        live = _Live(now)
        for thrifty in (True, False):
            chains = self._for_all(now, live, thrifty=thrifty)
            if chains:
                yield self.deployed(chains)

    def _for_all(self, now: Deployment, live: _Live, *, thrifty: bool) -> list[BoundNode]:
        """The chains taken, with one for every moment at the peak; none where one moment cannot be lowered."""
        chosen = {chain.call.node.name: chain for chain in self.taken(now)}
        room = self.most_added - sum(map(_added_by, chosen.values()))
        covered = {part.call.node.name for chain in chosen.values() for part in chain.parts}
        moments = moments_at_peak(now.placed)
        for done, time in enumerate(moments):
            call = now.placed.plan.instructions[time].call
            names = [part.node.name for part in call.chain] or [call.node.name]
            if call.node.name in covered:
                continue
            old = chosen.pop(call.node.name, None)
            covered.difference_update(names)
            room += _added_by(old) if old is not None else 0.0
            options = self._lowering(names, covered, live, live.bytes_at[time])
            best = self._best(options, room, room / (len(moments) - done), thrifty=thrifty)
            if best is None:
                return []
            chosen[best.call.node.name] = best
            covered.update(part.call.node.name for part in best.parts)
            room -= _added_by(best)
        return list(chosen.values())

    def _best(self, options: list[_Lowering], room: float, share: float, *, thrifty: bool) -> BoundNode | None:
        """The cheapest chain, or the best one that the share pays; None where none can be, or is worth the room."""
        while options:
            best = _cheapest(options) if thrifty else _affordable(options, share) or _cheapest(options)
            if best is None or best.added > room:
                return None
            key = best.path, best.rows, best.single_rows
            if key not in self.whole:
                self.whole[key] = self.links.chain(best.path, best.rows, single_rows=best.single_rows)
            if (chain := self.whole[key]) is not None:
                return chain
            options.remove(best)
        return None

    def _lowering(self, names: Sequence[str], covered: set[str], live: _Live, below: int) -> list[_Lowering]:
        """The chains through one of these nodes, and none that is covered, that leave fewer bytes alive."""
        lowerings = []
        for path in dict.fromkeys(path for name in names for path in self.through.get(name, ())):
            if not covered.isdisjoint(path):
                continue
            if self.links.priced >= MADE:
                self.left_out = f"chains of more than {MADE:,} forms were not priced"
                break
            calls = [self.links.bound[name].call for name in path]
            alive, apart = live.with_chain(calls), sum(self.links.bound[name].cost for name in path)
            for price in self.links.prices(path):
                if alive + price.scratch_bytes < below:
                    bytes_alive, added = alive + price.scratch_bytes, price.cost - apart
                    lowerings.append(_Lowering(bytes_alive, added, path, price.rows, price.single_rows))
        return lowerings

    def fewer(self, now: Deployment, *, one_by_one: bool) -> Iterator[Callable[[Deployment], Deployment]]:
        """What leaves chains out: those that add most first, or at once all whose nodes apart stay below the peak."""
        if one_by_one:
            for chain in sorted(self.taken(now), key=_added_by, reverse=True):
                yield partial(self._without, (chain,))
            return
        before = heights(self.start.placed)
        at = {instruction.name: instruction.index for instruction in self.start.placed.plan.instructions}
        idle = [
            chain for chain in self.taken(now)
            if all(before[at[part.call.node.name]] < now.peak for part in chain.parts if part.call.node.name in at)
        ]  # fmt: skip
        if idle:
            yield partial(self._without, idle)

    def _without(self, left_out: Sequence[BoundNode], now: Deployment) -> Deployment:
        return self.deployed([chain for chain in self.taken(now) if chain not in left_out])

    def _made(self, path: tuple[str, ...]) -> list[BoundNode]:
        if path not in self.made:
            self.made[path] = self.links.chains(path)
        return self.made[path]


@dataclass(frozen=True)
class _Lowering:
    """A chain of the nodes of a path, with the bytes that it leaves alive and the instructions that it adds."""

    alive: int
    added: float
    path: tuple[str, ...]
    rows: int
    single_rows: bool


def _cheapest(options: Sequence[_Lowering]) -> _Lowering | None:
    """The chain that adds least."""
    return min(options, key=lambda option: (option.added, len(option.path), option.alive), default=None)


def _affordable(options: Sequence[_Lowering], room: float) -> _Lowering | None:
    """The chain that leaves the fewest bytes alive among those that add no more than there is room for."""
    fitting = [option for option in options if option.added <= room]
    return min(fitting, key=lambda option: (option.alive, len(option.path), option.added), default=None)


class _Live:
    """Bytes alive at every instruction of a deployment, for an estimate of what a chain leaves of them."""

    def __init__(self, now: Deployment) -> None:
        plan = now.placed.plan
        self.at = {part.node.name: i.index for i in plan.instructions for part in i.call.chain or (i.call,)}
        self.regions = {region.name: region for region in now.placed.regions if region.kind != "scratch"}
        change = [0] * (len(plan.instructions) + 2)
        for region in self.regions.values():
            change[region.first] += region.size
            change[min(region.last, len(plan.instructions)) + 1] -= region.size
        self.bytes_at = [sum(change[:1])]
        for step in change[1:]:
            self.bytes_at.append(self.bytes_at[-1] + step)

    def with_chain(self, calls: Sequence[Call]) -> int:
        """Bytes alive while a chain runs: at its last node, with its operands, without what lies inside of it."""
        time = self.at[calls[-1].node.name]
        alive = self.bytes_at[time]
        for name in reads_of(calls):
            region = self.regions.get(name)
            if region is not None and not region.first <= time <= region.last:
                alive += region.size
        for call in calls[:-1]:
            for tensor in call.outputs:
                region = self.regions.get(tensor.name)
                if region is not None and region.first <= time <= region.last:
                    alive -= region.size
        return alive


def _apart_from(path: Sequence[str], taken: Sequence[BoundNode]) -> list[BoundNode]:
    return [chain for chain in taken if {part.call.node.name for part in chain.parts}.isdisjoint(path)]


def _names_at(now: Deployment, moments: Sequence[int]) -> set[str]:
    calls = [now.placed.plan.instructions[time].call for time in moments]
    return {each.node.name for call in calls for each in call.chain or (call,)}


def _added_by(chain: BoundNode) -> float:
    """Instructions that a chain needs more than its nodes apart."""
    return chain.cost - sum(part.cost for part in chain.parts)
