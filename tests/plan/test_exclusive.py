"""What never runs in one call lies in one place: branches of an If over each other, turns of a Loop in place."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from frontend.test_loops import asked
from graphs import node, onnx_model
from on_host import kernels_here, run_on_host, text_of
from onnx import helper
from tilewright.binding.guards import Guard, chooses
from tilewright.codegen.choices import left_to_do
from tilewright.conformance.subject import load_and_pass, place
from tilewright.errors import TilewrightError
from tilewright.memory.check_guards import check_guards
from tilewright.memory.placed import PlacedPlan
from tilewright.memory.planner import place_plan
from tilewright.plan.exclusive import Use, Value, pauses, stretches
from tilewright.plan.plan import Instruction
from tilewright.plugins import platform

RANDOM = np.random.default_rng(3)
CONSTANTS = {
    "w": RANDOM.normal(size=(8, 8)).astype(np.float32) / 4,
    "wide": RANDOM.normal(size=(8, 32)).astype(np.float32) / 4,
    "back": RANDOM.normal(size=(32, 8)).astype(np.float32) / 4,
    "zero": np.float32(0),
}
THEN = [("MatMul", "x wide", "a1"), ("Tanh", "a1", "a2"), ("MatMul", "a2 back", "a3"), ("LogSoftmax", "a3", "then_y")]
ELSE = [("MatMul", "x w", "b1"), ("MatMul", "b1 w", "b2"), ("MatMul", "b2 w", "b3"), ("Neg", "b3", "else_y")]


def network(*sides: str) -> onnx.ModelProto:
    """A question that chooses between two sides, or the question and one side alone, and a product behind it."""
    nodes = [node("ReduceSum", "x", "sum", "sum", keepdims=0), node("Greater", "sum zero", "positive", "question")]
    chosen = {"then": [node(*each, each[2]) for each in THEN], "else": [node(*each, each[2]) for each in ELSE]}
    if len(sides) == 2:
        branches = {
            f"{side}_branch": helper.make_graph(
                chosen[side], side, [], [helper.make_tensor_value_info(f"{side}_y", 1, [8, 8])]
            )
            for side in sides
        }
        nodes.append(node("If", "positive", "taken", "choice", **branches))
    else:
        nodes += [*chosen[sides[0]], node("Identity", f"{sides[0]}_y", "taken", "side")]
    made = onnx_model([*nodes, node("MatMul", "taken w", "y", "last")], {"x": [8, 8]}, ["y"], CONSTANTS)
    made.graph.output[0].type.tensor_type.elem_type = 1
    return made


def placed_on(name: str, proto: onnx.ModelProto, bounds: dict[str, int] | None = None) -> PlacedPlan:
    placed = place(load_and_pass(proto, "m", bounds=bounds), platform(name), kernels_here(name))
    if name != "cuda":
        check_guards(placed)
    return placed


def test_an_arena_with_both_branches_is_the_larger_of_both() -> None:
    plans = (placed_on("generic", network(*sides)).plan for sides in (("then", "else"), ("then",), ("else",)))
    both, *alone = (place_plan(plan, platform("generic"), allocator="auto").arena_bytes for plan in plans)
    condition = 16
    assert max(alone) <= both <= max(alone) + condition


@pytest.mark.parametrize("name", ["generic", "pulp", "cuda"])
def test_both_outcomes_in_c_are_those_of_onnx_runtime(name: str, tmp_path: Path) -> None:
    proto = network("then", "else")
    placed = placed_on(name, proto)
    x = RANDOM.normal(size=(8, 8)).astype(np.float32)
    inputs = [abs(x), -abs(x), abs(x)]
    (found,) = run_on_host([placed], [[[one] for one in inputs]], tmp_path)
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    for (got,), given in zip(found, inputs, strict=True):
        np.testing.assert_allclose(got.reshape(8, 8), session.run(None, {"x": given})[0], rtol=1e-4, atol=1e-5)
    assert (name == "cuda") or text_of(placed).count("!= 0) {") >= 2, "the branch that is not taken runs"


def test_turns_of_a_loop_leave_what_they_carry_in_place_and_move_nothing() -> None:
    few, many = (placed_on("generic", asked("n - x"), {"loop": bound}) for bound in (2, 9))
    assert few.arena_bytes <= many.arena_bytes <= few.arena_bytes + 16 * 9  # a condition a turn
    left = [left_to_do(many, i) for i in many.plan.instructions if i.name.endswith("/out/taken")]
    assert len(left) == 9
    assert left[:-1] == [None] * 8, "a turn moves what it carries"


def test_a_choice_of_which_one_side_lies_in_place_moves_the_other_alone() -> None:
    placed = placed_on("generic", network("then", "else"))
    (choice,) = [i for i in placed.plan.instructions if chooses(i.call)]
    yes, no = choice.inputs[1:]
    (asked_first,) = {guard.slot for guard in left_to_do(_apart(placed, no, choice), choice) or ()}
    assert left_to_do(_apart(placed, no, choice), choice) == frozenset({Guard(asked_first, False)})
    assert left_to_do(_apart(placed, yes, choice), choice) == frozenset({Guard(asked_first, True)})


def _apart(placed: PlacedPlan, side: int, choice: Instruction) -> PlacedPlan:
    """Both sides where the choice lies, but for one of them."""
    at = placed.slot_offsets[choice.outputs[0]]
    together = dict.fromkeys(choice.inputs[1:], at) | {side: at + 4096}
    return replace(placed, slot_offsets={**placed.slot_offsets, **together})


def test_a_side_that_always_runs_does_not_lie_over_the_other() -> None:
    nodes = [
        node("ReduceMax", "x", "most", "most", keepdims=0),
        node("Greater", "most zero", "positive", "question"),
        node("Exp", "x", "old", "old"),
        node("Tanh", "old", "new", "new"),
        node("Where", "positive new old", "taken", "choice"),
        node("MatMul", "taken w", "y", "last"),
        node("ReduceSum", "new", "sum", "sum", keepdims=0),
    ]
    placed = placed_on("generic", onnx_model(nodes, {"x": [8, 8]}, ["y", "sum"], CONSTANTS))
    (choice,) = [i for i in placed.plan.instructions if chooses(i.call)]
    assert len({placed.slot_offsets[slot] for slot in choice.inputs[1:]}) == 2


def test_the_checker_knows_which_calls_meet() -> None:
    placed = placed_on("generic", network("then", "else"))
    slots = {placed.plan.slots[i.outputs[0]].tensor.name: i.outputs[0] for i in placed.plan.instructions}
    over = {name: next(slot for tensor, slot in slots.items() if tensor.endswith(name)) for name in ("a1", "b2", "sum")}
    together = {**placed.slot_offsets, over["b2"]: placed.slot_offsets[over["a1"]]}
    check_guards(replace(placed, slot_offsets=together))
    onto_condition = {**placed.slot_offsets, over["a1"]: placed.slot_offsets[slots["positive"]]}
    with pytest.raises(TilewrightError, match="guards: 'positive' has been overwritten by 'choice/a1' when 'choice/"):
        check_guards(replace(placed, slot_offsets=onto_condition))
    onto_input = {**placed.slot_offsets, over["sum"]: placed.slot_offsets[placed.plan.input_slots[0]]}
    with pytest.raises(TilewrightError, match="guards: 'x' has been overwritten by 'sum' when 'choice/a1' reads it"):
        check_guards(replace(placed, slot_offsets=onto_input))


def test_a_value_matters_only_where_a_call_can_still_read_it() -> None:
    yes, no = frozenset({Guard(7, True)}), frozenset({Guard(7, False)})
    value, always = Value(0, yes, (Use(5, yes),)), frozenset[Guard[int]]()
    needed = value.needed((yes, always, no, no, always, always))
    assert needed == {0, 1, 4, 5}
    assert pauses([needed], 0, 5) == ((2, 4),)
    assert pauses([needed, frozenset({2})], 0, 5) == ((3, 4),)
    assert stretches(0, 5, ((2, 4),)) == ((0, 2), (4, 6))
