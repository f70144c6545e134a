"""Aliases where they pay: parts that share bytes are tied together, which may cost more room than the copies did."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.platform import Feature
from tilewright.schedule.deployment import Deployment, alias
from tilewright.schedule.moves.move import Offer, Offers

TRIED = 32
"""Aliases that are tried one by one where all together cost bytes."""


@dataclass(frozen=True)
class Aliases:
    """Concat, Split, Slice, Gather and Pad without copies."""

    name: str = "views"
    stage: str = "plan"
    needs: Feature | None = Feature.ALIASING

    def propose(self, now: Deployment) -> Offers:
        """All aliases at once; where that costs bytes, one after the other.

        For `--optimize speed` the copies go even then.
        """
        shared = alias(now.question, now.planned, None)
        names = [i.name for i in shared.instructions if i.aliasing is not None]
        if not names:
            return
        everything = now.with_aliases(shared)
        if now.question.request.options.optimize == "speed":
            yield Offer([everything], "any")
            return
        best = yield Offer([everything], "no higher")
        if best is everything:
            return
        if len(names) > TRIED:
            yield Offer((), cut_off=f"{len(names) - TRIED} of {len(names)} aliases were not tried one by one")
        for name in names[:TRIED]:
            plan = alias(now.question, now.planned, best.decisions.aliased | {name})
            if plan is not now.planned:
                best = yield Offer([now.with_aliases(plan)], "no higher")

    def added_work(self, before: Deployment, after: Deployment) -> float:
        """None: copies go."""
        return 0.0
