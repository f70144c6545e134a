"""Views where they pay: parts that share bytes are tied together, which may cost more room than the copies did."""

from __future__ import annotations

from tilewright.memory.planner import place_plan
from tilewright.options import CompileOptions
from tilewright.plan.plan import ExecutionPlan
from tilewright.plan.sharing import with_sharing
from tilewright.platform import Platform


def smaller_with_views(plan: ExecutionPlan, platform: Platform, options: CompileOptions) -> tuple[ExecutionPlan, int]:
    """The plan with views and the bytes by which the placed peak falls; without them where the peak would grow.

    For `--optimize speed` the copies go even then.
    """
    level = next(found for found in platform.memory if found.name == (plan.home or platform.compute_in))
    outside = frozenset((*plan.input_slots, *plan.output_slots)) if options.io == "caller" else frozenset()
    shared = with_sharing(plan, level.align, outside)
    if shared is plan:
        return plan, 0
    before, after = (_peak(each, platform, options) for each in (plan, shared))
    if after > before and options.optimize != "speed":
        return plan, 0
    return shared, max(0, before - after)


def _peak(plan: ExecutionPlan, platform: Platform, options: CompileOptions) -> int:
    disabled = options.disabled_passes
    placed = place_plan(
        plan, platform, io=options.io, allocator="greedy", in_place="in_place" not in disabled,
        overlap="overlap" not in disabled,
    )  # fmt: skip
    return placed.solution.peak
