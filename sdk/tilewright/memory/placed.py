"""The placed plan: an offset for every byte that the plan needs at run time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tilewright.memory.problem import PlacementProblem, PlacementSolution
from tilewright.plan.liveness import Storage
from tilewright.plan.plan import ExecutionPlan


@dataclass(frozen=True)
class Region:
    """Bytes [offset, offset + size) of a level, live in instructions first..last. `kind` as in report.json."""

    name: str
    level: str
    offset: int
    size: int
    first: int
    last: int
    kind: str


@dataclass(frozen=True)
class PlacedPlan:
    """A plan with its arena. `slot_offsets` maps slots to arena offsets (absent: the caller's memory),
    `scratch_offsets` maps instructions to the offset of their scratch, `frozen_offsets` maps constants that are
    copied into the level to the offset of their copy. `state_offsets` maps slots that lie in memory which is kept
    from call to call to bytes from its start; that memory of `state_bytes` lies beside the arena, in the same level.
    """

    plan: ExecutionPlan
    level: str
    io: str
    arena_bytes: int
    align: int
    slot_offsets: Mapping[int, int]
    scratch_offsets: Mapping[int, int]
    storages: tuple[Storage, ...]
    regions: tuple[Region, ...]
    problem: PlacementProblem
    solution: PlacementSolution
    live_set: int
    lower_bound: int
    frozen_offsets: Mapping[int, int] = field(default_factory=dict)
    state_offsets: Mapping[int, int] = field(default_factory=dict)
    state_bytes: int = 0
