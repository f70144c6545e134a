"""One path runs a plan, however it is asked; slots have fixed places and tell when they are read for the last time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from graphs import node, onnx_model
from plan.plans import chain, plan_of, random_inputs
from tilewright.errors import UsageError
from tilewright.graphs.dead import eliminate_dead
from tilewright.graphs.runner import PlanRunner
from tilewright.graphs.state import add_kv_pair
from tilewright.plan.execute import run_slots
from tilewright.plan.liveness import last_use
from tilewright.plan.schedule import schedule_batches

OPS = ["Relu", "Add", "Exp", "Softmax", "Mul", "Neg"]


def test_lookups_by_index_have_bounds() -> None:
    plan = plan_of(chain(OPS))
    assert plan.instruction_count == len(plan.instructions)
    assert plan.instruction_op_name(0) == plan.instructions[0].op_name
    assert plan.instruction_output_index(0) == plan.instructions[0].outputs[0]
    assert plan.slot_count == len(plan.slot_shapes)
    assert plan.slot_shapes[plan.output_slot] == (2, 8)
    assert plan.instructions[3].extra_args == plan.instructions[3].call.node.attributes
    for index in (-1, plan.instruction_count):
        with pytest.raises(IndexError):
            plan.instruction_op_name(index)


@pytest.mark.parametrize("policy", [None, "packed", "disjoint"])
def test_every_way_to_run_gives_the_same(policy: Any) -> None:
    plan = plan_of(chain(OPS))
    inputs = random_inputs(plan)
    expected = run_slots(plan, inputs)[plan.output_slot]
    runner = PlanRunner(plan, copy=True)
    if policy is not None:
        runner.preallocate_buffers(policy)
        assert runner.arena is not None
        runner.arena.reset("poison")
    assert runner.has_preallocated_buffers is (policy is not None)
    ways: list[Callable[[], tuple[Any, ...]]] = [
        lambda: runner.run(*inputs),
        lambda: runner.run_instructions(*inputs),
        lambda: runner.run_batched(schedule_batches(plan), *inputs),
    ]
    for way in ways:
        assert np.array_equal(way()[0], expected)
    runner.prepare_slots(*inputs)
    for at in range(plan.instruction_count):
        runner.run_instruction_range(at, at + 1)
    assert np.array_equal(runner.output_tensors()[0], expected)


def test_addresses_do_not_move() -> None:
    plan = plan_of(chain(OPS))
    runner = PlanRunner(plan)
    runner.preallocate_buffers("disjoint")
    places = []
    for seed in range(3):
        runner.run(*random_inputs(plan, seed))
        values = [runner.scratch_slot(i.outputs[0]) for i in plan.instructions]
        places.append([value.ctypes.data for value in values if value is not None])
    assert places[0] == places[1] == places[2]


def test_results_are_shared_unless_copied() -> None:
    plan = plan_of(chain(["Relu", "Exp"]))
    for copy in (False, True):
        runner = PlanRunner(plan, copy=copy)
        runner.preallocate_buffers()
        (first,) = runner.run(*random_inputs(plan, 1))
        before = first.copy()
        runner.run(*random_inputs(plan, 2))
        assert np.array_equal(first, before) is copy


def test_groups_are_one_dispatch() -> None:
    plan = plan_of(chain(["Relu", "Exp", "Softmax", "Neg", "Exp"]))
    runner = PlanRunner(plan)
    schedule = schedule_batches(plan)
    runner.run_batched(schedule, *random_inputs(plan))
    assert runner.dispatches == plan.instruction_count - schedule.batched_count + schedule.group_count
    with pytest.raises(UsageError, match="the schedule is for 5 instructions: the plan has 1"):
        PlanRunner(plan_of(chain(["Relu"]))).run_batched(schedule, *random_inputs(plan))


def test_what_is_asked_wrongly_is_said() -> None:
    plan = plan_of(chain(OPS))
    runner = PlanRunner(plan)
    with pytest.raises(UsageError, match="the plan takes 1 inputs: 0 were given"):
        runner.run()
    with pytest.raises(UsageError, match=r"slot 0 is int8\[3\]: the plan says float32\[2, 8\]"):
        runner.run(np.zeros(3, np.int8))
    with pytest.raises(IndexError, match=r"instructions \[0, 99\) of 6"):
        runner.run_instruction_range(0, 99)
    runner.prepare_slots(*random_inputs(plan))
    with pytest.raises(UsageError, match=r"instruction 3 \(Softmax\) reads slot 3, which holds nothing"):
        runner.run_instruction_range(3, 4)
    assert runner.scratch_slot(3) is None
    with pytest.raises(IndexError):
        runner.scratch_slot(99)


def test_a_megakernel_stands_in_for_the_loop_only() -> None:
    plan = plan_of(chain(["Relu"]))
    (x,) = inputs = random_inputs(plan)
    runner = PlanRunner(plan)
    runner.set_megakernel_fn(lambda given: [given[0] * 2])
    assert np.array_equal(runner.run(x)[0], x * 2)
    with pytest.raises(UsageError, match="the plan takes 1 inputs: 0 were given"):
        runner.run()
    assert np.array_equal(runner.run_instructions(x)[0], np.maximum(x, 0))
    runner.set_megakernel_fn(None)
    assert np.array_equal(runner.run(*inputs)[0], np.maximum(x, 0))


def test_last_use_is_told_once_per_slot() -> None:
    plan = plan_of(chain(OPS))
    told: list[tuple[int, int]] = []
    PlanRunner(plan, on_last_use=lambda slot, size: told.append((slot, size))).run(*random_inputs(plan))
    uses = last_use(plan)
    assert [slot for slot, _ in told] == sorted((s for s, t in enumerate(uses) if t >= 0), key=lambda s: uses[s])
    assert uses[plan.input_slots[0]] == uses[plan.output_slot] == -1
    assert {size for _, size in told} == {64}


def counter() -> Any:
    """A network with a state: `total' = total + x`, `y = total' * 2`."""
    nodes = [node("Add", "total x", "next", "add"), node("Mul", "next two", "y", "double")]
    return onnx_model(nodes, {"total": (3,), "x": (3,)}, ["y", "next"], {"two": np.float32(2)})


def test_state_is_two_slots_and_a_copy() -> None:
    plan = add_kv_pair(plan_of(counter(), passes=False), "total", "next", keep_output=False)
    assert len(plan.input_slots) == 1
    assert plan.output_names == ("y",)
    for prepare in (False, True):
        runner = PlanRunner(plan, copy=True)
        if prepare:
            runner.preallocate_buffers()
        one = np.ones(3, np.float32)
        assert [runner.run(one)[0][0] for _ in range(3)] == [2, 4, 6]
        restore = runner.snapshot_state()
        assert runner.run(one)[0][0] == 8
        restore()
        assert runner.run(one)[0][0] == 8
        runner.reset_stateful()
        assert runner.run(one)[0][0] == 2


def test_a_state_is_a_value_of_its_own() -> None:
    """What a run has made for the state is not changed by the next run's results in the same memory."""
    plan = add_kv_pair(plan_of(counter(), passes=False), "total", "next")
    runner = PlanRunner(plan)
    runner.preallocate_buffers()
    runner.run(np.ones(3, np.float32))
    assert runner.arena is not None
    runner.arena.reset("poison")
    assert np.array_equal(runner.run(np.ones(3, np.float32))[0], np.full(3, 4, np.float32))


def test_a_run_starts_from_nothing() -> None:
    plan = plan_of(chain(["Relu", "Softmax"]))
    runner = PlanRunner(plan)
    runner.run(*random_inputs(plan))
    assert runner.scratch_slot(plan.output_slot) is not None
    runner.prepare_slots(*random_inputs(plan, 1))
    assert runner.scratch_slot(plan.output_slot) is None


def test_what_feeds_a_state_is_not_dead() -> None:
    nodes = [node("Add", "total x", "next", "add"), node("Exp", "x", "y", "exp")]
    model = onnx_model(nodes, {"total": (3,), "x": (3,)}, ["y", "next"])
    plan = add_kv_pair(plan_of(model, passes=False), "total", "next", keep_output=False)
    found = eliminate_dead(plan)
    assert found.removed == ()
    assert found.plan.state == plan.state


def test_state_must_fit() -> None:
    plan = plan_of(counter(), passes=False)
    with pytest.raises(UsageError, match="'nothing' is no input of the plan: its inputs are total, x"):
        add_kv_pair(plan, "nothing", "next")
    with pytest.raises(UsageError, match="'nothing' is no tensor of the plan"):
        add_kv_pair(plan, "total", "nothing")


def test_dead_instructions_go_with_their_slots() -> None:
    nodes = [
        node("Relu", "x", "a", "live"), node("Exp", "x", "b", "dead"), node("Neg", "b", "c", "dead_too"),
        node("Tanh", "a", "y", "last"),
    ]  # fmt: skip
    plan = plan_of(onnx_model(nodes, {"x": (4,)}, ["y"]), passes=False)
    from dataclasses import replace

    kept = replace(plan)
    found = eliminate_dead(kept)
    inputs = random_inputs(plan)
    assert np.array_equal(PlanRunner(found.plan).run(*inputs)[0], PlanRunner(plan).run(*inputs)[0])
    wider = plan_of(onnx_model(nodes, {"x": (4,)}, ["y", "c"]), passes=False)
    cut = replace(wider, output_slots=wider.output_slots[:1], output_names=("y",))
    found = eliminate_dead(cut)
    assert found.removed == ("dead", "dead_too")
    assert [i.name for i in found.plan.instructions] == ["live", "last"]
    assert found.plan.slot_count == cut.slot_count - 2
    assert np.array_equal(PlanRunner(found.plan).run(*inputs)[0], PlanRunner(cut).run(*inputs)[0])
    assert eliminate_dead(found.plan).plan is found.plan
