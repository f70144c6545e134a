"""The search goes round: moves see what later moves opened, until nothing gets better or the work is spent.

A move that offers an early decision leaves the later ones open; its candidates take over those that the search holds,
as far as they still can be followed, and are priced with them. What comes of a move is kept where the peak falls, or
where it stays and the estimated instructions fall. Instructions are added for bytes, of constants too, under
`--optimize size` alone: what may be added by default, the moves have had in the first round.

Only where nothing is cut into tiles: a tiling is solved for the whole network, and not priced by what changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from tilewright.passes.driver import PassReport
from tilewright.schedule.deployment import Deployment, alias
from tilewright.schedule.moves.move import Move
from tilewright.schedule.moves.recompute import work
from tilewright.schedule.search import EXACT, Purse, Searched, Stage, after, exact_peak, merged, unmeasured

PRICED_AGAIN = 25_600
"""Instructions that may be placed for prices in all rounds behind the first."""


def go_round(searched: Searched, moves: Sequence[Move], stage: Stage = unmeasured) -> Searched:
    """What the moves still make of a deployment that each of them has had once."""
    now, reports, purse = searched.deployment, list(searched.reports), Purse(PRICED_AGAIN)
    request = now.question.request
    last = _last_that_decided(now, moves)
    if request.platform.copies or request.options.program is not None:
        return searched
    at_rest = dict.fromkeys(range(last, len(moves)), now)
    while True:
        before = now
        for place, move in enumerate(moves):
            if move.stage not in ("binding", "plan") or at_rest.get(place) is now:
                continue
            with stage(move.stage):
                other, saved_bytes, cut_off = after(move, now, purse, partial(carried, now))
                if other is not now and better(other, now):
                    added = max(0, round(_work(other) - _work(now)))
                    reports.append(PassReport(move.name, saved_bytes, True, added))
                    now = other
                if cut_off:
                    reports.append(PassReport(move.name, 0, False, 0, cut_off))
                at_rest[place] = now
        if now is before:
            return Searched(now, merged(reports))


def _last_that_decided(now: Deployment, moves: Sequence[Move]) -> int:
    """The place of the last move that something was taken of; those before it have not seen it."""
    decided = now.decisions
    taken = {"row_chains": decided.row_chains, "views": decided.aliased, "recompute": decided.recomputed}
    return max((place for place, move in enumerate(moves) if taken.get(move.name)), default=0)


def better(other: Deployment, now: Deployment) -> bool:
    """Fewer bytes, or as many with fewer instructions; where size is the aim, fewer bytes of constants before these."""
    exact = max(len(each.plan.instructions) for each in (other, now)) <= EXACT
    peaks = [exact_peak(each) if exact else each.peak for each in (other, now)]
    constants = [0, 0]
    if other.question.request.options.optimize == "size":
        constants = [sum(slot.constant.size_bytes for slot in each.plan.frozen_slots) for each in (other, now)]
    elif _work(other) > _work(now):
        return False
    return (peaks[0], constants[0], _work(other)) < (peaks[1], constants[1], _work(now))


def _work(deployment: Deployment) -> float:
    return sum(map(work, deployment.plan.instructions))


def carried(held: Deployment, candidate: Deployment) -> Deployment:
    """The candidate with what it leaves open as it is held, as far as that can be followed."""
    if candidate.decisions.tiles is None:
        if candidate.bound is not held.bound:
            candidate = candidate.with_possible_chains(held.decisions.row_chains)
        candidate = candidate.with_tiles(candidate.question.cut(candidate.graph))
        shared = alias(candidate.question, candidate.planned, held.decisions.aliased)
        if shared is not candidate.planned:
            candidate = candidate.with_aliases(shared)
    if held.decisions.recomputed and not candidate.decisions.recomputed:
        return candidate.with_possible_again(held.decisions.recomputed)
    return candidate
