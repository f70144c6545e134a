"""How plans are placed in one compilation: the options that every placement of it obeys, said once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tilewright.memory.placed import PlacedPlan
from tilewright.memory.planner import least_peak, place_plan
from tilewright.options import CompileOptions, InputOutput
from tilewright.plan.plan import ExecutionPlan
from tilewright.platform import Platform


@dataclass(frozen=True)
class Placing:
    """`io` says whose memory inputs and outputs are; `in_place` and `overlap` what results may lie over."""

    platform: Platform
    io: InputOutput = "arena"
    in_place: bool = True
    overlap: bool = True

    @staticmethod
    def of(platform: Platform, options: CompileOptions) -> Placing:
        """As the options ask."""
        left_out = options.disabled_passes
        return Placing(platform, options.io, "in_place" not in left_out, "overlap" not in left_out)

    def place(
        self,
        plan: ExecutionPlan,
        allocator: str = "greedy",
        effort: float = 1.0,
        given: Mapping[str, int] | None = None,
    ) -> PlacedPlan:
        """The plan with an offset for every byte; by default quickly."""
        return place_plan(
            plan, self.platform, io=self.io, allocator=allocator, in_place=self.in_place, overlap=self.overlap,
            effort=effort, given=given,
        )  # fmt: skip

    def peak(self, plan: ExecutionPlan, allocator: str = "greedy") -> int:
        """Bytes of the home level that the placed plan takes."""
        return self.place(plan, allocator).solution.peak

    def least(self, plan: ExecutionPlan) -> tuple[int, int]:
        """Bytes that no placement of the plan stays below, and at how many instructions at least they are in use."""
        return least_peak(plan, self.platform, io=self.io, in_place=self.in_place, overlap=self.overlap)

    def outside(self, plan: ExecutionPlan) -> frozenset[int]:
        """Slots whose memory is the caller's."""
        return frozenset((*plan.input_slots, *plan.output_slots)) if self.io != "arena" else frozenset()
