"""Everything that is chosen for a network on a target, as one frozen value; nothing that follows from it.

What a deployment computes from these is always the same, so the value is also its state on disk.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tilewright.tiling.solution import TilingSolution


@dataclass(frozen=True)
class RowChain:
    """Nodes that are computed together, `rows` rows of the last at a time; with `single_rows` the nodes before it make
    one row a call, else about as many as a call of the next reads anew.
    """

    nodes: tuple[str, ...]
    rows: int
    single_rows: bool = False


@dataclass(frozen=True)
class Again:
    """An instruction that runs a second time, right before the instruction `before`, for that and all later readers."""

    node: str
    before: str


@dataclass(frozen=True)
class Decisions:
    """`order` names the nodes as they run (none: as the model has them), `kernels` the kernel of each node.

    Views have none there, nor have copies that binding puts in. `aliased` are the instructions whose operands and
    results share bytes, `recomputed` those that run twice. `states_in_place` are the states whose next value is
    written over the last one, by name (None: all of which that is proved). `tiles` say how nodes are cut (None: not
    decided, so nothing is), with the stacks in the compute level where `stacks_beside`. `offsets` are bytes by name of
    a buffer; None leaves them to the allocator.
    """

    order: tuple[str, ...] = ()
    kernels: Mapping[str, str] = field(default_factory=dict)
    row_chains: tuple[RowChain, ...] = ()
    tiles: TilingSolution | None = None
    stacks_beside: bool = False
    aliased: frozenset[str] = frozenset()
    recomputed: tuple[Again, ...] = ()
    states_in_place: frozenset[str] | None = None
    offsets: Mapping[str, int] | None = None
