"""What is to be deployed and how: the lowered network, the request, and the functions that the stages call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from tilewright.binding.answers import Answers
from tilewright.binding.candidates import by_operator
from tilewright.binding.graph import BoundGraph
from tilewright.binding.order import Order, Orders
from tilewright.memory.placing import Placing
from tilewright.model import Model
from tilewright.passes.driver import PassReport, products_of
from tilewright.schedule.request import Request
from tilewright.tiling.tiled_graph import TiledGraph

Cut = Callable[[BoundGraph], TiledGraph]
"""What cuts a bound graph into tiles; DoesNotFit where a level is too small."""


@dataclass(frozen=True)
class Lowered:
    """A network as it was loaded, as binding takes it, and what the passes between did."""

    loaded: Model
    model: Model
    passes: tuple[PassReport, ...] = ()

    @cached_property
    def times_lighter(self) -> float:
        """How many times the products are those of the file: shares of a network's work are shares of the file's."""
        saved = sum(each.saved_products for each in self.passes)
        return 1.0 + saved / max(1, products_of(self.model)) if saved else 1.0


@dataclass(frozen=True)
class Question:
    """A lowered network for a request. `orders` sort the kernels of a model's nodes, `cut` tiles.

    `allocator` places in the end, with `effort` as scale of its work (1.0 is about a second per search).
    """

    request: Request
    lowered: Lowered
    orders: Orders
    cut: Cut
    allocator: str = "auto"
    effort: float = 1.0

    @cached_property
    def order(self) -> Order:
        """What sorts the kernels that accept a node of the network."""
        return self.orders(self.lowered.model)

    @cached_property
    def answers(self) -> Answers:
        """What the kernels say of the network's nodes."""
        return Answers(by_operator(self.request.kernels))

    @cached_property
    def placing(self) -> Placing:
        """How every plan of the network is placed."""
        return Placing.of(self.request.platform, self.request.options)
