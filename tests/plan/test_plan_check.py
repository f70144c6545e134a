"""Every rule of the checkers of plans and of their memory, each with a wrong example that this rule alone refuses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from graphs import node, onnx_model
from plan.plans import chain, plan_of
from tilewright.errors import TilewrightError
from tilewright.layout import Layout
from tilewright.memory.buffer_layout import BufferLayout, check_layout, compute_buffer_layout
from tilewright.plan.check import check
from tilewright.plan.plan import ExecutionPlan, Instruction, StatePair

Change = Callable[[ExecutionPlan], ExecutionPlan]


def sound() -> ExecutionPlan:
    """Slots 0 x, 1 a, 2 v (a view of a), 3 b, 4 c, 5 y; instructions Exp, Softmax, MatMul with a constant, Add."""
    nodes = [
        node("Exp", "x", "a"), node("Reshape", "a shape", "v"), node("Softmax", "v", "b"),
        node("MatMul", "b w", "c"), node("Add", "c b", "y"),
    ]  # fmt: skip
    constants = {"shape": np.array([4, 4]), "w": np.ones((4, 4), np.float32)}
    return plan_of(onnx_model(nodes, {"x": (2, 8)}, ["y"], constants), passes=False)


def instruction(plan: ExecutionPlan, index: int, **fields: object) -> ExecutionPlan:
    """The plan with one instruction changed."""
    changed = replace(plan.instructions[index], **fields)  # type: ignore[arg-type]
    return replace(plan, instructions=(*plan.instructions[:index], changed, *plan.instructions[index + 1 :]))


def swapped(plan: ExecutionPlan, a: int, b: int) -> ExecutionPlan:
    """The plan with two instructions exchanged."""
    order: list[Instruction] = list(plan.instructions)
    order[a], order[b] = replace(order[b], index=a), replace(order[a], index=b)
    return replace(plan, instructions=tuple(order))


def view_of(slot: int) -> Change:
    """Slot 2 shows another one."""
    return lambda plan: replace(
        plan, slots=tuple(replace(s, storage=(slot, 0)) if s.index == 2 else s for s in plan.slots)
    )


WRONG: list[tuple[str, Change, str]] = [
    ("a read before its write", lambda p: swapped(p, 1, 2), r"1 \('\w+'\) reads slot 3 before it is written"),
    ("a view read before its write", lambda p: swapped(p, 0, 1), r"reads slot 2 before it is written"),
    ("a slot behind the last", lambda p: instruction(p, 3, inputs=(4, 6)), r"reads slot 6, the plan has 6"),
    ("written twice", lambda p: instruction(p, 2, outputs=(1,)), r"writes slot 1, which is written already"),
    ("an input written", lambda p: instruction(p, 2, outputs=(0,)), r"writes slot 0, which is written already"),
    ("a view written", lambda p: instruction(p, 2, outputs=(2,)), r"writes slot 2, which is written already"),
    ("a view of what follows", view_of(3), r"slot 2 shows slot 3, which does not stand before it"),
    ("a view of itself", view_of(2), r"slot 2 shows slot 2, which does not stand before it"),
    ("a view of nothing", view_of(-1), r"slot 2 shows slot -1, which does not stand before it"),
    ("an output never written", lambda p: replace(p, instructions=p.instructions[:3]), "output slot 5 is never"),
    ("a constant that is not there", lambda p: instruction(p, 2, frozen=(1,)), "names a frozen slot that does not"),
    ("a constant before the first", lambda p: instruction(p, 2, frozen=(-1,)), "names a frozen slot that does not"),
    ("state of no slot", lambda p: replace(p, state=(StatePair(6, 5),)), "state 6 or its source 5 does not exist"),
    ("a source of no slot", lambda p: replace(p, state=(StatePair(0, 6),)), "state 0 or its source 6 does not exist"),
    ("state of another shape", lambda p: replace(p, state=(StatePair(0, 5),)), "state 0 cannot take the value of"),
    ("an empty group", lambda p: replace(p, groups=((1, 1),)), r"the group \[1, 1\) overlaps another"),
    ("groups that overlap", lambda p: replace(p, groups=((0, 2), (1, 3))), r"the group \[1, 3\) overlaps another"),
    ("groups out of order", lambda p: replace(p, groups=((2, 3), (0, 2))), r"the group \[0, 2\) overlaps another"),
    ("a group behind the end", lambda p: replace(p, groups=((3, 5),)), r"group \[3, 5\) overlaps another or leaves"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "sentence"), [w[1:] for w in WRONG], ids=[w[0] for w in WRONG])
def test_a_wrong_plan_is_refused(change: Change, sentence: str) -> None:
    check(sound())
    with pytest.raises(TilewrightError, match=sentence):
        check(change(sound()))


def test_state_takes_what_the_run_has_made() -> None:
    plan = sound()
    same = replace(plan, state=(StatePair(0, 1),))
    check(same)
    other = replace(same, slots=tuple(
        replace(s, tensor=replace(s.tensor, shape=(8, 2))) if s.index == 0 else s for s in same.slots
    ))  # fmt: skip
    with pytest.raises(TilewrightError, match="state 0 cannot take the value of slot 1"):
        check(other)
    nodes = [node("Exp", "x", "a"), node("Abs", "x", "b"), node("Add", "a b", "y")]
    short = plan_of(onnx_model(nodes, {"x": (2, 8)}, ["y"]), passes=False)
    unmade = replace(short, instructions=short.instructions[:1], output_slots=(1,), state=(StatePair(0, 2),))
    with pytest.raises(TilewrightError, match="state 0 cannot take the value of slot 2"):
        check(unmade)


def apart() -> tuple[ExecutionPlan, BufferLayout]:
    """Three tensors of 64 bytes made one after the other by kernels that write none over its operand."""
    plan = plan_of(chain(["LogSoftmax", "Softmax", "LogSoftmax", "Softmax"]))
    return plan, compute_buffer_layout(plan, "disjoint", 64)


def moved(layout: BufferLayout, slot: int, offset: int) -> BufferLayout:
    """The layout with one slot elsewhere."""
    return replace(layout, offsets=tuple(offset if s == slot else at for s, at in enumerate(layout.offsets)))


def test_memory_of_a_plan_is_checked() -> None:
    plan, layout = apart()
    check_layout(plan, layout)
    one, two, three = (plan.instructions[i].outputs[0] for i in range(3))
    check_layout(plan, moved(layout, three, layout.offsets[one]))
    with pytest.raises(TilewrightError, match="share bytes while both are alive"):
        check_layout(plan, moved(layout, two, layout.offsets[three]))
    with pytest.raises(TilewrightError, match=f"slots {one} and {two} share bytes while both are alive"):
        check_layout(plan, moved(replace(layout, align=1), two, layout.offsets[one] + 63))
    with pytest.raises(TilewrightError, match="is misaligned or outside"):
        check_layout(plan, moved(layout, two, layout.offsets[two] + 4))
    with pytest.raises(TilewrightError, match=r"is misaligned or outside of \d+ bytes"):
        check_layout(plan, replace(layout, total_bytes=max(layout.offsets) + 63))


def added(second: str) -> ExecutionPlan:
    """`s` of a and `second`; a is 4x4 and neither input nor output."""
    nodes = [
        node("Expand", "x shape", "a"), node("Transpose", "a", "t"), node("Exp", "t", "b"), node("Exp", "x", "c"),
        node("Add", f"a {second}", "s"), node("Softmax", "s", "y"),
    ]  # fmt: skip
    return plan_of(onnx_model(nodes, {"x": (4, 1)}, ["y", "b"], {"shape": np.array([4, 4])}), passes=False)


@pytest.mark.parametrize(("second", "may"), [("a", True), ("c", True), ("t", False)])
def test_a_result_on_an_operand_is_checked(second: str, may: bool) -> None:
    plan = added(second)
    layout = compute_buffer_layout(plan, "disjoint", 64)
    named = {slot.tensor.name: slot.index for slot in plan.slots}
    laid = moved(layout, named["s"], layout.offsets[named["a"]])
    if may:
        check_layout(plan, laid)
        return
    with pytest.raises(TilewrightError, match="share bytes while both are alive"):
        check_layout(plan, laid)


def test_a_result_may_not_start_inside_an_operand() -> None:
    plan = added("a")
    layout = compute_buffer_layout(plan, "disjoint", 64)
    named = {slot.tensor.name: slot.index for slot in plan.slots}
    with pytest.raises(TilewrightError, match="share bytes while both are alive"):
        check_layout(plan, moved(replace(layout, align=4), named["s"], layout.offsets[named["a"]] + 4))


def test_what_feeds_a_state_keeps_its_bytes() -> None:
    plan, layout = apart()
    one, _, three = (plan.instructions[i].outputs[0] for i in range(3))
    check_layout(plan, moved(layout, three, layout.offsets[one]))
    kept = replace(plan, state=(StatePair(plan.input_slots[0], one),))
    with pytest.raises(TilewrightError, match="share bytes while both are alive"):
        check_layout(kept, moved(layout, three, layout.offsets[one]))


def test_members_of_a_sweep_live_together() -> None:
    plan, layout = apart()
    one, _, three = (plan.instructions[i].outputs[0] for i in range(3))
    swept = replace(plan, groups=((0, 3),))
    check_layout(swept, layout)
    with pytest.raises(TilewrightError, match="share bytes while both are alive"):
        check_layout(swept, moved(layout, three, layout.offsets[one]))


def test_a_view_lies_where_its_bytes_are() -> None:
    """A view that starts inside of what it shows has that place in the layout too."""
    plan = sound()
    half = replace(plan.slots[2].tensor, shape=(2, 4))
    shifted = replace(plan, slots=tuple(
        replace(s, tensor=half, layout=Layout.default((2, 4)), storage=(1, 32)) if s.index == 2 else s
        for s in plan.slots
    ))  # fmt: skip
    layout = compute_buffer_layout(shifted, "disjoint", 4)
    assert layout.offsets[2] == layout.offsets[1] + 32
