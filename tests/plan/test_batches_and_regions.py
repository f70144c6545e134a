"""Batch schedules and capture regions."""

from __future__ import annotations

import pytest
from graphs import node, onnx_model
from plan.plans import chain, plan_of
from tilewright.errors import UsageError
from tilewright.plan.schedule import apply_batch_schedule, capture_regions, schedule_batches

PROBE = ["Neg", "Exp", "Softmax", "Relu", "LogSoftmax", "Exp", "Tanh", "Abs", "Softmax"]


def test_groups_are_maximal_runs() -> None:
    schedule = schedule_batches(plan_of(chain(PROBE), passes=False))
    assert [(g.start, g.end) for g in schedule.groups] == [(0, 2), (5, 8)]
    assert [g.size for g in schedule.groups] == [2, 3]
    assert (schedule.group_count, schedule.coverage) == (2, 5 / 9)
    assert schedule_batches(plan_of(chain(PROBE), passes=False), min_batch_size=3).group_count == 1
    assert schedule_batches(plan_of(chain(PROBE), passes=False), min_batch_size=1).group_count == 3


def test_a_plan_without_elementwise_instructions_has_no_groups() -> None:
    schedule = schedule_batches(plan_of(chain(["Softmax", "Softmax"])))
    assert (schedule.groups, schedule.coverage) == ((), 0.0)


def test_a_region_takes_in_the_groups_at_its_border() -> None:
    plan = plan_of(chain(PROBE), passes=False)
    schedule = schedule_batches(plan)
    assert apply_batch_schedule(plan, 2, 4, schedule) == (0, 4)
    assert apply_batch_schedule(plan, 2, 5, schedule) == (0, 8)
    assert apply_batch_schedule(plan, 2, 5, schedule, non_capturable={"Tanh"}) == (0, 5)
    assert apply_batch_schedule(plan, -3, 99, schedule) == (0, 9)


def test_a_region_takes_in_several_groups_before_it() -> None:
    """Groups of other shapes stand side by side: the first one is at the border once the second one is inside."""
    nodes = [
        node("Neg", "x", "a"), node("Exp", "a", "b"), node("Neg", "z", "c"), node("Exp", "c", "d"),
        node("Softmax", "b", "y"), node("Softmax", "d", "w"),
    ]  # fmt: skip
    plan = plan_of(onnx_model(nodes, {"x": (2, 8), "z": (3, 5)}, ["y", "w"]), passes=False)
    schedule = schedule_batches(plan)
    assert [(g.start, g.end) for g in schedule.groups] == [(0, 2), (2, 4)]
    assert apply_batch_schedule(plan, 3, 6, schedule) == (0, 6)
    assert apply_batch_schedule(plan, 3, 6, schedule, non_capturable={"Neg"}) == (3, 6)
    assert apply_batch_schedule(plan, 0, 1, schedule) == (0, 4)


def test_a_sweep_has_one_order_in_memory() -> None:
    """Element i of one member is element i of the others only where all of them lie in the same order."""
    nodes = [
        node("Exp", "x", "a"), node("Transpose", "z", "t"), node("Abs", "t", "b"), node("Softmax", "a", "y"),
        node("Softmax", "b", "w"),
    ]  # fmt: skip
    plan = plan_of(onnx_model(nodes, {"x": (4, 4), "z": (4, 4)}, ["y", "w"]), passes=False)
    one, other = (plan.slots[i.outputs[0]] for i in plan.instructions[:2])
    assert one.tensor.shape == other.tensor.shape
    assert one.layout != other.layout
    assert schedule_batches(plan).groups == ()


def test_a_member_reads_no_view_of_another() -> None:
    nodes = [node("Exp", "x", "a"), node("Transpose", "a", "t"), node("Add", "x t", "b"), node("Softmax", "b", "y")]
    plan = plan_of(onnx_model(nodes, {"x": (4, 4)}, ["y"]), passes=False)
    assert [i.op_name for i in plan.instructions[:2]] == ["Exp", "Add"]
    assert schedule_batches(plan).groups == ()
    straight = plan_of(onnx_model([nodes[0], node("Add", "x a", "b"), nodes[3]], {"x": (4, 4)}, ["y"]), passes=False)
    assert [(g.start, g.end) for g in schedule_batches(straight).groups] == [(0, 2)]


def test_a_group_has_at_least_as_many_members_as_asked() -> None:
    plan = plan_of(chain(PROBE), passes=False)
    assert [(g.start, g.end) for g in schedule_batches(plan, min_batch_size=3).groups] == [(5, 8)]
    with pytest.raises(UsageError, match="a smallest group of 0 instructions"):
        schedule_batches(plan, min_batch_size=0)


def test_regions() -> None:
    plan = plan_of(chain(PROBE), passes=False)
    everything = capture_regions(plan)
    assert everything.regions == ((0, 9),)
    longest = capture_regions(plan, "longest", {"LogSoftmax"})
    assert longest.regions == ((0, 4),)  # equal to [5, 9), the first one stands
    both = capture_regions(plan, "all", {"LogSoftmax"})
    assert both.regions == ((0, 4), (5, 9))
    assert both.captured == 8
    assert both.segments == ((0, 4, 0), (4, 5, -1), (5, 9, 1))
    assert capture_regions(plan, "all", {i.op_name for i in plan.instructions}).segments == ((0, 9, -1),)
    with pytest.raises(UsageError, match="regions 'some'"):
        capture_regions(plan, "some")
