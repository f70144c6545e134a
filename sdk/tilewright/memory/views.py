"""Views where they pay: parts that share bytes are tied together, which may cost more room than the copies did."""

from __future__ import annotations

from collections.abc import Callable

from tilewright.binding.graph import BoundGraph
from tilewright.memory.planner import place_plan
from tilewright.model import Model
from tilewright.options import CompileOptions
from tilewright.passes import reorder
from tilewright.plan.aliasing.apply import with_aliasing
from tilewright.plan.build import build
from tilewright.plan.plan import ExecutionPlan, TiledGraph
from tilewright.platform import Feature, Platform

TRIED = 32
"""Views that are tried one by one where all together cost bytes."""


def ordered_for_views(
    graph: BoundGraph, model: Model, rebind: Callable[[Model], BoundGraph], options: CompileOptions
) -> tuple[BoundGraph, Model, int]:
    """The graph and model in the order that is best where views move no bytes, and what that saves; else as they were.

    Which operators are views is known once layouts are, and layouts need an order first.
    """
    if {reorder.name, "views"} & options.disabled_passes or not graph.platform.can(Feature.ALIASING):
        return graph, model, 0
    plan, shared = _plans(graph, options)
    names = {i.name for i in shared.instructions if i.aliasing and not i.aliasing.copies and not i.aliasing.fills}
    if not names:
        return graph, model, 0
    changed, expected = reorder.apply(model, frozenset(names))
    if not expected:
        return graph, model, 0
    other = rebind(changed)
    before = min(_peak(each, graph.platform, options) for each in (plan, shared))
    after = min(_peak(each, graph.platform, options) for each in _plans(other, options))
    return (other, changed, before - after) if after < before else (graph, model, 0)


def _plans(graph: BoundGraph, options: CompileOptions) -> tuple[ExecutionPlan, ExecutionPlan]:
    """The plan of a graph without and with views."""
    plan = build(TiledGraph(graph, {}), constants=False)
    return plan, _shared(plan, graph.platform, options)


def _shared(
    plan: ExecutionPlan, platform: Platform, options: CompileOptions, only: frozenset[str] | None = None
) -> ExecutionPlan:
    level = next(found for found in platform.memory if found.name == (plan.home or platform.compute_in))
    outside = frozenset((*plan.input_slots, *plan.output_slots)) if options.io == "caller" else frozenset()
    return with_aliasing(plan, level.align, outside, only)


def smaller_with_views(plan: ExecutionPlan, platform: Platform, options: CompileOptions) -> tuple[ExecutionPlan, int]:
    """The plan with views and the bytes by which the placed peak falls; without those that would make it grow.

    For `--optimize speed` the copies go even then.
    """
    shared = _shared(plan, platform, options)
    if shared is plan:
        return plan, 0
    before, after = (_peak(each, platform, options) for each in (plan, shared))
    if after > before and options.optimize != "speed":
        shared, after = _one_by_one(plan, shared, before, platform, options)
    return shared, max(0, before - after)


def _one_by_one(
    plan: ExecutionPlan, shared: ExecutionPlan, least: int, platform: Platform, options: CompileOptions
) -> tuple[ExecutionPlan, int]:
    """The views that may be had, one after the other, without a higher peak; the plan and its peak."""
    kept, best = frozenset[str](), plan
    for name in [i.name for i in shared.instructions if i.aliasing is not None][:TRIED]:
        trial = _shared(plan, platform, options, kept | {name})
        peak = _peak(trial, platform, options)
        if peak <= least and trial is not plan:
            kept, best, least = kept | {name}, trial, peak
    return best, least


def _peak(plan: ExecutionPlan, platform: Platform, options: CompileOptions) -> int:
    disabled = options.disabled_passes
    placed = place_plan(
        plan, platform, io=options.io, allocator="greedy", in_place="in_place" not in disabled,
        overlap="overlap" not in disabled,
    )  # fmt: skip
    return placed.solution.peak
