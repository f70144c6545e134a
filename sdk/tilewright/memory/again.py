"""Recompute or store, where the placed peak falls and the work that it adds is worth it to the user."""

from __future__ import annotations

from tilewright.memory.planner import place_plan
from tilewright.ops.products import multiply_accumulates
from tilewright.options import CompileOptions
from tilewright.plan.plan import ExecutionPlan, Instruction
from tilewright.plan.recompute import recompute_or_store
from tilewright.platform import Platform

SHARES = {"speed": 0.0, "balanced": 0.01, "size": 0.25}
"""Of a network's work, what may be added for fewer bytes, by what is optimised for."""


def recomputed(plan: ExecutionPlan, platform: Platform, options: CompileOptions) -> tuple[ExecutionPlan, int, int]:
    """The plan with instructions that run twice, bytes by which the placed peak falls, and operations added.

    The same plan and zeros where nothing falls.
    """
    share = SHARES[options.optimize]
    if not share:
        return plan, 0, 0
    total = sum(work(instruction) for instruction in plan.instructions)
    found = recompute_or_store(plan, share * total, work)
    if found.plan is plan:
        return plan, 0, 0
    disabled = options.disabled_passes
    before, after = (
        place_plan(
            each, platform, io=options.io, allocator="greedy", in_place="in_place" not in disabled,
            overlap="overlap" not in disabled,
        ).solution.peak
        for each in (plan, found.plan)
    )  # fmt: skip
    return (found.plan, before - after, round(found.added_cost)) if after < before else (plan, 0, 0)


def work(instruction: Instruction) -> float:
    """Operations of one call: what its kernel estimates, at least its multiply-accumulates."""
    if instruction.aliasing is not None:
        return 0.0
    return max(instruction.kernel.cost(instruction.call), float(multiply_accumulates(instruction.call)))
