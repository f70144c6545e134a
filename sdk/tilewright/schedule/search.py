"""One search over all moves: it prices what they offer, takes what is better, and says what came of each.

The objective is the peak of the home level. Pricing is counted in instructions that were placed, never in seconds, so
the same network gives the same code on any machine; the rest of a search that would take more is cut off and told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace

from tilewright.memory.heights import moments_at_peak
from tilewright.memory.placed import PlacedPlan
from tilewright.passes.driver import PassReport
from tilewright.schedule.deployment import Deployment
from tilewright.schedule.moves.move import Move, Offer

PRICED = 102_400
"""Instructions that may be placed in all, for prices of offers."""
EXACT = 128
"""Up to so many instructions a tie of the quick placements is decided by the exact ones."""

Stage = Callable[[str], AbstractContextManager[None]]
"""What announces and measures a stage by its name."""


@dataclass(frozen=True)
class Searched:
    """The deployment that the search ended with, what every move did, and the moves that were cut off."""

    deployment: Deployment
    reports: tuple[PassReport, ...]
    cut_off: tuple[str, ...] = ()


@dataclass(frozen=True)
class Found:
    """A deployment with its final offsets, and what every move did."""

    deployment: Deployment
    placed: PlacedPlan
    reports: tuple[PassReport, ...]


def unmeasured(name: str) -> AbstractContextManager[None]:
    """A stage that nobody measures."""
    return nullcontext()


def best_of(start: Deployment, moves: Sequence[Move], stage: Stage = unmeasured) -> Searched:
    """The deployment after all moves, one after the other; each begins where the one before it ended."""
    now, reports, purse = start, list[PassReport](), Purse(PRICED)
    for move in moves:
        with stage(move.stage):
            before = now
            now, saved_bytes = _after(move, now, purse)
            if not move.name:
                continue
            added = max(0, round(move.added_work(before, now))) if now is not before else 0
            _add(reports, PassReport(move.name, saved_bytes, now is not before, added))
    return Searched(now, tuple(reports), tuple(purse.cut_off))


def finish(searched: Searched, stage: Stage = unmeasured) -> Found:
    """The deployment placed by the allocator that was asked for; what overlapping saves is told beside the moves."""
    deployment, reports = searched.deployment, searched.reports
    with stage("memory"):
        placed = deployment.finished()
        placing = deployment.question.placing
        if placing.overlap:
            apart = replace(placing, overlap=False, in_place=True).peak(deployment.plan)
            saved_bytes = max(0, apart - placed.solution.peak)
            reports += (PassReport("overlap", saved_bytes, saved_bytes > 0),)
        return Found(deployment, placed, reports)


def _add(reports: list[PassReport], new: PassReport) -> None:
    """Write a report down; two moves of one name share one."""
    for at, old in enumerate(reports):
        if old.name == new.name:
            reports[at] = PassReport(
                old.name, old.saved_bytes + new.saved_bytes, old.changed or new.changed,
                old.added_operations + new.added_operations,
            )  # fmt: skip
            return
    reports.append(new)


@dataclass
class Purse:
    """Work that is left for prices, in instructions; `cut_off` names the moves that would have asked for more."""

    left: int
    cut_off: list[str] = field(default_factory=list)

    def pays(self, move: str, deployment: Deployment) -> bool:
        """Take the price of a deployment; False where there is not enough."""
        if self.left <= 0:
            if move not in self.cut_off:
                self.cut_off.append(move)
            return False
        self.left -= len(deployment.graph.nodes)
        return True


def _after(move: Move, start: Deployment, purse: Purse) -> tuple[Deployment, int]:
    """What a move comes to, and the bytes that it saves."""
    now, told = start, None
    offers = move.propose(start)
    offer = next(offers, None)
    while offer is not None:
        against = offer.against or now
        best = _best(move, offer, against, purse)
        if offer.against is None:
            now = best
        if offer.saved_bytes is not None and best is not against:
            told = offer.saved_bytes
        try:
            offer = offers.send(best)
        except StopIteration:
            offer = None
    if now is start:
        return now, 0
    return now, told if told is not None else max(0, start.peak - now.peak)


def _best(move: Move, offer: Offer, against: Deployment, purse: Purse) -> Deployment:
    """The best candidate where it reaches the goal, else what it is compared with."""
    best: tuple[tuple[float, ...], Deployment] | None = None
    for candidate in offer.candidates:
        if offer.goal == "any":
            return candidate
        if not purse.pays(move.name, candidate):
            break
        price = (*_price(offer, candidate), offer.work(candidate))
        if best is None or price < best[0]:
            best = (price, candidate)
    if best is None:
        return against
    here, there = _price(offer, against), best[0][:-1]
    if there < here or (offer.goal == "no higher" and there == here):
        return best[1]
    if offer.exact_ties and there == here and len(against.outline.instructions) <= EXACT:
        return best[1] if _exact_peak(best[1]) < _exact_peak(against) else against
    return against


def _price(offer: Offer, deployment: Deployment) -> tuple[int, ...]:
    if offer.exact and len(deployment.bound.nodes) <= EXACT:
        return (_exact_peak(deployment),)
    if offer.goal == "towards":
        return deployment.peak, len(moments_at_peak(deployment.placed))
    return (deployment.peak,)


def _exact_peak(deployment: Deployment) -> int:
    return deployment.question.placing.peak(deployment.placed.plan, "auto")
