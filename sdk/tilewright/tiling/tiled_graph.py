"""The tiled graph: what tiling gives and the plan takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tilewright.binding.graph import BoundGraph
from tilewright.tiling.schedule import TileSchedule


@dataclass(frozen=True)
class TiledGraph:
    """A bound graph with a tile schedule by node name; nodes that run whole have none.

    A fused chain has one schedule, under its last node's name; `fused` maps its other nodes to that name. `homes` maps
    tensors to the level that they lie in (a tensor that only lives inside a chain: ""), `constant_homes` maps
    (node, constant) to the level that the constant is copied to from where it rests: once, when the network is set up,
    or before every run of its node if the node is in `streamed`. All are empty where there is one level. `home` is the
    level of activations, "" for the compute level; `compute_bytes` is what schedules and pinned constants take of that,
    `stack_bytes` what stacks take beside them.
    """

    graph: BoundGraph
    schedules: Mapping[str, TileSchedule]
    fused: Mapping[str, str] = field(default_factory=dict)
    homes: Mapping[str, str] = field(default_factory=dict)
    constant_homes: Mapping[tuple[str, str], str] = field(default_factory=dict)
    streamed: frozenset[str] = frozenset()
    home: str = ""
    compute_bytes: int = 0
    stack_bytes: int = 0
