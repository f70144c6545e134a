"""Tiles: what does not fit the compute level is cut, and kernels of which no tile fits give way where they may."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.binding.candidates import Refusals
from tilewright.binding.graph import BoundGraph
from tilewright.platform import Feature
from tilewright.schedule.deployment import Deployment, level_sizes
from tilewright.schedule.moves.move import Offer, Offers
from tilewright.schedule.question import Cut
from tilewright.tiling.fall_back import tile_or_fall_back


@dataclass(frozen=True)
class Tiles:
    """How every node is cut, stacks counted; nothing is on a platform with one level."""

    name: str = ""
    stage: str = "tiling"
    needs: Feature | None = None

    def propose(self, now: Deployment) -> Offers:
        """The tiles that the solver finds; DoesNotFit where there are none."""
        yield Offer([tiled_by(now, now.question.cut)], "any")

    def added_work(self, before: Deployment, after: Deployment) -> float:
        """None: tiles compute what whole layers do."""
        return 0.0


def tiled_by(now: Deployment, cut: Cut) -> Deployment:
    """The deployment cut by a function, with other kernels where none of their tiles fits; DoesNotFit as `cut`."""
    request = now.question.request

    def rebind(refused: Refusals) -> BoundGraph:
        return now.rebound(refused).bound

    most = level_sizes(now.question)
    return now.with_tiles(tile_or_fall_back(now.graph, cut, rebind, request.levels, most, request.options.fall_back))
