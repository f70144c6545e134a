"""When a result takes the bytes of an operand: only where every reading of them comes before the writing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
from graphs import node, onnx_model
from plan.plans import plan_of
from tilewright.compile import compile_model, run_model, write
from tilewright.graphs.runner import PlanRunner
from tilewright.graphs.state import add_kv_pair
from tilewright.memory.buffer_layout import compute_buffer_layout
from tilewright.memory.planner import place_plan
from tilewright.options import CompileOptions, RunOptions
from tilewright.plan.liveness import last_use, storages
from tilewright.plan.plan import ExecutionPlan
from tilewright.plugins import platform
from tilewright.target import load_target

PLACES = np.repeat(np.array([[1], [2], [3], [0]]), 4, axis=1)


def between(
    nodes: Sequence[onnx.NodeProto],
    constants: Mapping[str, object] | None = None,
    also: Sequence[str] = (),
    inputs: Mapping[str, Sequence[int]] | None = None,
) -> ExecutionPlan:
    """`nodes` make s of a, a 4x4 tensor; neither of both is an input or an output of the network."""
    around = [node("Expand", "x shape", "a", "first"), *nodes, node("ReduceSum", "s axes", "y", "last", keepdims=0)]
    values = {"shape": np.array([4, 4]), "axes": np.array([0, 1]), **(constants or {})}
    return plan_of(onnx_model(around, {"x": (4, 1), **(inputs or {})}, ["y", *also], values), passes=False)


def together(plan: ExecutionPlan, *names: str) -> bool:
    """True where tensors of these names have the same bytes."""
    slots = {slot.tensor.name: slot.index for slot in plan.slots}
    return any({slots[name] for name in names} <= set(found.members) for found in storages(plan))


def test_a_result_takes_the_bytes_of_an_operand_that_dies() -> None:
    assert together(between([node("Exp", "a", "s")]), "a", "s")
    assert together(between([node("Add", "a a", "s")]), "a", "s")
    ones = {"places": PLACES, "ones": np.ones((4, 4), np.float32)}
    assert together(between([node("ScatterElements", "a places ones", "s")], ones), "a", "s")


def test_what_is_read_a_second_time_in_another_order_is_left_alone() -> None:
    """The kernel promises to read a before it writes s there; of the transposed view of a it promises that too, but
    in the order of the view."""
    plan = between([node("Transpose", "a", "t"), node("Add", "a t", "s")])
    assert together(plan, "a", "t")
    assert not together(plan, "a", "s")


def test_what_is_read_a_second_time_without_a_promise_is_left_alone() -> None:
    plan = between([node("ScatterElements", "a places a", "s", axis=0)], {"places": PLACES})
    assert plan.instructions[1].kernel.in_place(plan.instructions[1].call) == ((0, 0),)
    assert not together(plan, "a", "s")


def test_a_scatter_of_its_own_data_as_c(tmp_path: Path) -> None:
    nodes = [
        node("Relu", "x", "b", "relu"), node("Concat", "b b", "a", "double", axis=1),
        node("ScatterElements", "a places a", "s", "turn", axis=0), node("ReduceSum", "s axes", "y", "sum", keepdims=0),
    ]  # fmt: skip
    constants = {"places": np.tile(PLACES, 2), "axes": np.array([1])}
    onnx.save(onnx_model(nodes, {"x": (4, 4)}, ["y"], constants), tmp_path / "net.onnx")
    target = load_target("host")
    found = compile_model(tmp_path / "net.onnx", CompileOptions(), target)
    project = tmp_path / "project"
    project.mkdir()
    write(found, project)
    report = run_model(found, target, RunOptions(reference=False), project)
    assert report.run is not None
    assert report.run.match


def test_what_lives_on_is_left_alone() -> None:
    later = [node("Exp", "a", "b"), node("Add", "a b", "s")]
    assert not together(between(later), "a", "b")
    assert not together(between([node("Exp", "a", "s")], also=["a"]), "a", "s")


def test_a_smaller_operand_is_left_alone() -> None:
    """No kernel promises this; a result would reach behind the operand's bytes."""
    plan = between([node("Exp", "a", "s")])
    few = [replace(s, tensor=replace(s.tensor, shape=(2, 4))) if s.tensor.name == "a" else s for s in plan.slots]
    assert together(plan, "a", "s")
    assert not together(replace(plan, slots=tuple(few)), "a", "s")


def test_an_output_does_not_lie_in_an_input() -> None:
    """A caller may fill the inputs of the next run while it reads the outputs of this one."""
    alone = plan_of(onnx_model([node("Exp", "x", "y")], {"x": (4, 4)}, ["y"]), passes=False)
    assert not together(alone, "x", "y")
    assert len(storages(alone)) == 2


def test_memory_of_the_caller_is_not_written() -> None:
    nodes = [node("Exp", "x", "a"), node("Softmax", "a", "b"), node("ReduceSum", "b axes", "y")]
    plan = plan_of(onnx_model(nodes, {"x": (4, 4)}, ["y"], {"axes": np.array([0])}), passes=False)
    assert together(plan, "x", "a")
    apart = storages(plan, pinned=frozenset(plan.input_slots))
    assert next(found for found in apart if found.root == plan.input_slots[0]).members == plan.input_slots


def test_an_overlap_is_for_one_reading() -> None:
    """A kernel proves how far its result may start inside one operand; of a second reading it knows nothing."""
    plan = between([node("MatMul", "a a", "s")])
    product = plan.instructions[1]
    assert product.inputs[0] == product.inputs[1]
    claimed = replace(product, overlaps=((0, 0, 0),))
    placed = place_plan(replace(plan, instructions=(plan.instructions[0], claimed, *plan.instructions[2:])),
                        platform("generic"))  # fmt: skip
    assert placed.problem.overlaps == ()


def test_an_overlap_is_for_an_operand_that_dies() -> None:
    nodes = [node("Softmax", "a", "b", axis=0), node("Softmax", "b", "c"), node("Add", "b c", "s")]
    plan = between(nodes)
    claimed = tuple(replace(i, overlaps=((0, 0, 0),)) if i.index == 2 else i for i in plan.instructions)
    placed = place_plan(replace(plan, instructions=claimed), platform("generic"), in_place=False)
    assert placed.problem.overlaps == ()
    dying = tuple(replace(i, overlaps=((0, 0, 0),)) if i.index == 1 else i for i in plan.instructions)
    placed = place_plan(replace(plan, instructions=dying), platform("generic"), in_place=False)
    assert [(o.earlier, o.later, o.gap) for o in placed.problem.overlaps] == [("slot1", "slot2", 0)]


def running_total() -> ExecutionPlan:
    """`total` is a state fed by `next`, which nothing reads after the second of many instructions."""
    nodes = [node("Softmax", "x", "a"), node("Add", "total x", "next"), node("Add", "a next", "b")]
    nodes += [node("Softmax", "b", "c"), node("Softmax", "c", "d", axis=0), node("Softmax", "d", "e")]
    nodes += [node("ReduceSum", "e axes", "y", keepdims=0)]
    model = onnx_model(nodes, {"total": (4, 4), "x": (4, 4)}, ["y", "next"], {"axes": np.array([0])})
    return add_kv_pair(plan_of(model, passes=False), "total", "next", keep_output=False)


def test_what_feeds_a_state_lives_to_the_end() -> None:
    plan = running_total()
    assert plan.output_names == ("y",)
    (pair,) = plan.state
    last = len(plan.instructions) - 1
    lives = {member: found for found in storages(plan) for member in found.members}
    assert lives[pair.source].last == last
    assert (lives[pair.state].first, lives[pair.state].last) == (0, last)
    assert lives[pair.state].members == (pair.state,)
    x = np.full((4, 4), 2.0, np.float32)
    runner = PlanRunner(plan, copy=True)
    runner.preallocate_buffers("packed")
    assert runner.arena is not None
    for count in range(1, 4):
        runner.arena.reset("poison")
        runner.run(x)
        runner.prepare_slots(x)
        total = runner.scratch_slot(pair.state)
        assert total is not None
        assert np.array_equal(total, np.full((4, 4), 2.0 * count))


def test_a_state_is_not_written_by_a_result() -> None:
    """The last instruction reads the state, which is copied to only when the outputs have been read."""
    nodes = [node("Softmax", "x", "next"), node("Exp", "total", "y")]
    model = onnx_model(nodes, {"total": (4, 4), "x": (4, 4)}, ["y", "next"])
    plan = add_kv_pair(plan_of(model, passes=False), "total", "next", keep_output=False)
    assert plan.instructions[-1].op_name == "Exp"
    assert not together(plan, "total", "y")


def test_packed_state_is_checked_apart() -> None:
    """The layout's checker counts the life of what feeds a state by itself."""
    layout = compute_buffer_layout(running_total(), "packed", 16)
    assert layout.total_bytes > 0


def test_the_last_use_of_an_output_is_not_its_last_reader() -> None:
    plan = between([node("Exp", "a", "b"), node("Softmax", "b", "s")], also=["b"])
    named = {slot.tensor.name: slot.index for slot in plan.slots}
    uses = last_use(plan)
    assert any(named["b"] in instruction.inputs for instruction in plan.instructions)
    assert uses[named["b"]] == -1
    assert uses[named["a"]] == 1
    assert uses[named["s"]] == 3
    told: list[int] = []
    PlanRunner(plan, on_last_use=lambda slot, size: told.append(slot)).run(np.ones((4, 1), np.float32))
    assert named["b"] not in told


def test_a_view_keeps_the_bytes_alive() -> None:
    nodes = [node("Reshape", "a flat", "v"), node("LogSoftmax", "a", "b"), node("LogSoftmax", "v", "c"),
             node("Reshape", "c square", "d"), node("Add", "b d", "s")]  # fmt: skip
    plan = between(nodes, {"flat": np.array([16]), "square": np.array([4, 4])})
    lives = {plan.slots[m].tensor.name: found for found in storages(plan) for m in found.members}
    assert together(plan, "a", "v")
    assert lives["a"].last == 2
    assert lives["b"].root != lives["a"].root
