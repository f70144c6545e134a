"""The order of nodes: the one that keeps the fewest bytes alive, and the one that does where aliases move no bytes."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.platform import Feature
from tilewright.schedule import node_order
from tilewright.schedule.deployment import Deployment, alias
from tilewright.schedule.moves.move import Offer, Offers

CUT_OFF = "not every order of the nodes was looked at"


@dataclass(frozen=True)
class NodeOrder:
    """Nodes in an order in which fewer bytes of tensors are alive at once."""

    name: str = "reorder"
    stage: str = "passes"
    needs: Feature | None = None

    def propose(self, now: Deployment) -> Offers:
        """The better order, where there is one; kernels are not known yet, so live bytes decide."""
        better = node_order.reordered(now.model)
        if better.cut_off:
            yield Offer((), cut_off=CUT_OFF)
        if better.saved_bytes > 0:
            yield Offer([now.with_order(better.model)], "any", saved_bytes=better.saved_bytes)

    def added_work(self, before: Deployment, after: Deployment) -> float:
        """None: the same nodes run."""
        return 0.0


@dataclass(frozen=True)
class OrderForAliases:
    """The order that is best where operators without bytes of their own are seen as such.

    Which operators those are is known once layouts are, and layouts need an order first.
    """

    name: str = "reorder"
    stage: str = "binding"
    needs: Feature | None = Feature.ALIASING

    def propose(self, now: Deployment) -> Offers:
        """The better order, where the placed peak falls with aliases or without."""
        if "views" in now.question.request.options.disabled_passes or now.decisions.tiles is not None:
            return
        shared = alias(now.question, now.outline, None)
        names = {i.name for i in shared.instructions if i.aliasing and not i.aliasing.copies and not i.aliasing.fills}
        better = node_order.reordered(now.model, frozenset(names)) if names else None
        if better is not None and better.cut_off:
            yield Offer((), cut_off=CUT_OFF)
        if better is not None and better.saved_bytes:
            other = now.with_order(better.model)
            before, after = (_least_peak(each) for each in (now, other))
            if after < before:
                yield Offer([other], "any", saved_bytes=before - after)

    def added_work(self, before: Deployment, after: Deployment) -> float:
        """None: the same nodes run."""
        return 0.0


def _least_peak(deployment: Deployment) -> int:
    """The placed peak without aliases or with all of them, whichever is smaller."""
    placing, plan = deployment.question.placing, deployment.outline
    return min(placing.peak(each) for each in (plan, alias(deployment.question, plan, None)))
