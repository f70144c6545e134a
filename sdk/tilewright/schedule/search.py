"""One search over all moves: it prices what they offer, takes what is better, and says what came of each.

The objective is the peak of the home level. Pricing is counted in instructions that were placed, never in seconds, so
the same network gives the same code on any machine; the rest of a search that would take more is cut off and told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace

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
    """The deployment that the search ended with, and what every move did."""

    deployment: Deployment
    reports: tuple[PassReport, ...]


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
            now, saved_bytes, cut_off = after(move, now, purse)
            if not move.name:
                continue
            added = max(0, round(move.added_work(before, now))) if now is not before else 0
            reports.append(PassReport(move.name, saved_bytes, now is not before, added, cut_off))
    return Searched(now, merged(reports))


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


def merged(reports: Iterable[PassReport]) -> tuple[PassReport, ...]:
    """The reports in order; those of one name share one."""
    by_name: dict[str, PassReport] = {}
    for new in reports:
        old = by_name.get(new.name, PassReport(new.name, 0, False))
        sentences = dict.fromkeys(text for text in (old.cut_off, new.cut_off) if text)
        by_name[new.name] = PassReport(
            new.name, old.saved_bytes + new.saved_bytes, old.changed or new.changed,
            old.added_operations + new.added_operations, "; ".join(sentences),
        )  # fmt: skip
    return tuple(by_name.values())


@dataclass
class Purse:
    """Work that is left for prices, in instructions of the deployments that are priced."""

    left: int
    refused: bool = False

    def pays(self, deployment: Deployment) -> bool:
        """Take the price of a deployment; False where there is not enough."""
        if self.left <= 0:
            self.refused = True
            return False
        self.left -= len(deployment.graph.nodes)
        return True


Carry = Callable[[Deployment], Deployment]
"""What gives a candidate those of the decisions held that it leaves open."""


def after(
    move: Move, start: Deployment, purse: Purse, carry: Carry = lambda candidate: candidate
) -> tuple[Deployment, int, str]:
    """What a move comes to, the bytes that it saves, and what it leaves out."""
    now, told, left_out = start, None, dict[str, None]()
    offers = move.propose(start)
    offer = next(offers, None)
    while offer is not None:
        against = offer.against or now
        purse.refused = False
        best = _best(offer, against, purse, carry)
        if purse.refused:
            left_out["the work for prices was spent"] = None
        if offer.cut_off:
            left_out[offer.cut_off] = None
        if offer.against is None:
            now = best
        if offer.saved_bytes is not None and best is not against:
            told = offer.saved_bytes
        try:
            offer = offers.send(best)
        except StopIteration:
            offer = None
    cut_off = "; ".join(left_out)
    if now is start:
        return now, 0, cut_off
    return now, told if told is not None else max(0, start.peak - now.peak), cut_off


def _best(offer: Offer, against: Deployment, purse: Purse, carry: Carry) -> Deployment:
    """The best candidate where it reaches the goal, else what it is compared with."""
    best: tuple[tuple[float, ...], Deployment] | None = None
    held: tuple[float, ...] = ()
    for candidate in map(carry, offer.candidates):
        if offer.goal == "any":
            return candidate
        if not purse.pays(candidate):
            break
        if offer.goal == "towards":
            held = held or _price(offer, against)
            if (*candidate.least, offer.work(candidate)) >= (held if best is None else min(held, best[0])):
                continue  # however it is placed, it is no better
        price = (*_price(offer, candidate), offer.work(candidate))
        if best is None or price < best[0]:
            best = (price, candidate)
    if best is None:
        return against
    price_now, best_price = _price(offer, against), best[0][:-1]
    if best_price < price_now or (offer.goal == "no higher" and best_price == price_now):
        return best[1]
    if offer.exact_ties and best_price == price_now and len(against.outline.instructions) <= EXACT:
        return best[1] if exact_peak(best[1]) < exact_peak(against) else against
    return against


def _price(offer: Offer, deployment: Deployment) -> tuple[int, ...]:
    if offer.exact and len(deployment.bound.nodes) <= EXACT:
        return (exact_peak(deployment),)
    if offer.goal == "towards":
        return deployment.peak, len(moments_at_peak(deployment.placed))
    return (deployment.peak,)


def exact_peak(deployment: Deployment) -> int:
    """The peak that the exact allocators reach."""
    return deployment.question.placing.peak(deployment.placed.plan, "auto")
