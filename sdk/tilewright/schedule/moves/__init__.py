"""The moves of the search, one idea each, in the order in which they are tried."""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.schedule.moves.aliases import Aliases
from tilewright.schedule.moves.kernels import ScratchAtPeak
from tilewright.schedule.moves.move import Move, Offer, Offers
from tilewright.schedule.moves.order import NodeOrder, OrderForAliases
from tilewright.schedule.moves.recompute import Recompute
from tilewright.schedule.moves.row_chains import RowChains
from tilewright.schedule.moves.tiles import Tiles
from tilewright.schedule.request import Request

MOVES: tuple[Move, ...] = (
    NodeOrder(), OrderForAliases(), ScratchAtPeak(), RowChains(), Tiles(), Aliases(), Recompute(),
)  # fmt: skip


def allowed(moves: Sequence[Move], request: Request) -> tuple[Move, ...]:
    """Those that the platform's code can be, and that the options do not leave out."""
    left_out = request.options.disabled_passes
    return tuple(
        move for move in moves if move.name not in left_out and (move.needs is None or request.platform.can(move.needs))
    )


__all__ = ["MOVES", "Move", "Offer", "Offers", "allowed"]
