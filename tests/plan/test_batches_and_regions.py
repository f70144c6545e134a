"""Batch schedules and capture regions."""

from __future__ import annotations

import pytest
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
