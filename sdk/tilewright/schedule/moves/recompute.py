"""Recompute or store, where the placed peak falls and the work that it adds is worth it to the user."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.ops.products import multiply_accumulates
from tilewright.plan.plan import Instruction
from tilewright.plan.recompute import PRICED, recompute_or_store
from tilewright.platform import Feature
from tilewright.schedule.decisions import Again
from tilewright.schedule.deployment import Deployment
from tilewright.schedule.moves.move import Offer, Offers

SHARES = {"speed": 0.0, "balanced": 0.01, "size": 0.25}
"""Of a network's work in the file, what may be added for fewer bytes, by what is optimised for."""


@dataclass(frozen=True)
class Recompute:
    """Results that are computed again for late readers."""

    name: str = "recompute"
    stage: str = "plan"
    needs: Feature | None = Feature.RECOMPUTE

    def propose(self, now: Deployment) -> Offers:
        """What lowers the live bytes within the share of work that the options allow."""
        share = SHARES[now.question.request.options.optimize] * now.question.lowered.times_lighter
        if not share:
            return
        total, added = sum(map(work, now.aliased.instructions)), self.added_work(now, now)
        better = recompute_or_store(now.plan, share * total - added, work)
        if better.cut_off:
            yield Offer((), cut_off=f"plans of more than {PRICED:,} instructions together were not priced")
        if better.repeated:
            yield Offer([now.with_again([*now.decisions.recomputed, *(Again(*pair) for pair in better.repeated)])])

    def added_work(self, before: Deployment, after: Deployment) -> float:
        """The work of what runs again."""
        return sum(map(work, after.plan.instructions)) - sum(map(work, before.aliased.instructions))


def work(instruction: Instruction) -> float:
    """Operations of one call: what its kernel estimates, at least its multiply-accumulates."""
    if instruction.aliasing is not None:
        return 0.0
    return max(instruction.kernel.cost(instruction.call), float(multiply_accumulates(instruction.call)))
