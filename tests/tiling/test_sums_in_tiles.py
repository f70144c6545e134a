"""Results that are sums over a loop that is cut: they stay in the compute level, and are stored once, when complete."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from tilewright.binding.graph import BoundGraph, BoundNode
from tilewright.errors import UsageError
from tilewright.graphs.tiled import run as run_tiled
from tilewright.layout import Layout
from tilewright.model import Model
from tilewright.plan.build import build
from tilewright.plan.execute import run as run_whole
from tilewright.schedule.tile import tile
from tilewright.tiling.apply import apply_solution
from tilewright.tiling.check import ScheduleFault, check
from tilewright.tiling.expand import expand
from tilewright.tiling.front import walked
from tilewright.tiling.schedule import TileSchedule, TileStep
from tilewright.tiling.solution import NodeTiling
from tilewright.tiling.switches import TileOptions
from tilewright.tiling.walk import walk
from tiling.cutting import PLATFORM, descent_call, kernel, subject
from tiling.networks import sized
from tiling.test_front import simulated_cycles
from tiling.test_schedule_rules import played, steps_of

KIB = 1024


def schedule(order: tuple[str, ...] = ("c", "ih"), double: bool = False) -> TileSchedule:
    """Eight channels in two parts, each in three bands of rows."""
    asked = subject([descent_call(8, 6, 12)])
    return expand(asked, walk(asked, {"c": 4, "ih": 4}, order, double))


def graph() -> BoundGraph:
    """The node alone, bound to the test platform's kernel."""
    call = descent_call(8, 6, 12)
    tensors = {t.name: t for t in (*call.inputs, *call.outputs) if t is not None}
    model = Model("net", (call.node,), tensors, {}, ("x", "w", "dy"), ("dx", "next"), 21)
    layouts = {name: Layout.default(tensor.shape) for name, tensor in tensors.items()}
    return BoundGraph(model, PLATFORM, (BoundNode(call, kernel("Descent")),), layouts, ("dx", "next"))


def stored(found: TileSchedule, key: str) -> list[int]:
    return [step.index for step in found.steps() for move in step.stores if move.key == key]


@pytest.mark.parametrize("double", [False, True])
def test_weights_are_stored_once_when_all_rows_have_added_to_them(double: bool) -> None:
    found = schedule(double=double)
    check(found, 64 * KIB, 4)
    assert stored(found, "0.o.dx") == [0, 1, 2, 3, 4, 5]
    assert stored(found, "0.o.next0") == [2, 5]
    buffers = [step.buffers["0.o.next0"] for step in found.steps()]
    assert buffers == ([0, 0, 0, 1, 1, 1] if double else [0] * 6)


def test_orders_in_which_a_sum_would_leave_too_early_are_not_tried() -> None:
    asked = subject([descent_call(8, 6, 12)])
    assert asked.keeps_sums(("c", "ih"))
    assert not asked.keeps_sums(("ih", "c"))
    cuts = walked(asked, 12 * KIB)
    assert {cut.order for cut in cuts if len(cut.order) > 1} == {("c", "ih")}
    for cut in cuts:
        assert abs(simulated_cycles(asked, expand(asked, cut)) - cut.cycles) < 1
    wrong = (NodeTiling(("descent",), {"c": 4, "ih": 4}, ("ih", "c"), False),)
    with pytest.raises(UsageError, match="a sum over one of these loops would leave the compute level"):
        apply_solution(graph(), sized(64 * KIB), {}, TileOptions(), wrong)


@pytest.mark.parametrize("kib", [4, 6])
def test_tiled_equals_whole(kib: int) -> None:
    plan = build(tile(graph(), sized(kib * KIB)), constants=False)
    (instruction,) = plan.instructions
    assert instruction.schedule is not None
    assert "ih" in instruction.schedule.order
    draw = np.random.default_rng(5)
    inputs = [draw.standard_normal(plan.slots[slot].tensor.shape).astype(np.float32) for slot in plan.input_slots]
    for tiled, whole in zip(run_tiled(plan, inputs), run_whole(plan, inputs), strict=True):
        np.testing.assert_allclose(tiled, whole, rtol=1e-6, atol=1e-6)


def changed(found: TileSchedule, index: int, change: Callable[[TileStep], TileStep]) -> TileSchedule:
    steps = steps_of(found)
    steps[index] = change(steps[index])
    return played(found, steps)


def without_weights(step: TileStep) -> TileStep:
    return replace(step, stores=tuple(move for move in step.stores if move.key != "0.o.next0"))


def left_behind() -> TileSchedule:
    """The second band of rows finds the other buffer."""
    found = schedule(double=True)
    return changed(found, 1, lambda step: replace(step, buffers={**step.buffers, "0.o.next0": 1}))


def stored_early() -> TileSchedule:
    """What the first band of rows has made is stored, and the sum of all as well; the claims are right."""
    found = schedule()
    early = next(move for move in steps_of(found)[2].stores if move.key == "0.o.next0")
    made = changed(found, 0, lambda step: replace(step, stores=(*step.stores, early)))
    return played(made, steps_of(made), traffic_bytes=found.traffic_bytes + early.size_bytes)


def not_permitted() -> TileSchedule:
    """The kernel does not add over rows."""
    found = schedule()
    return replace(found, stages=(replace(found.stages[0], adds=frozenset()),))


WRONG: list[tuple[Callable[[], TileSchedule], str]] = [
    (lambda: changed(schedule(), 2, without_weights), "leaves a sum of 'next' behind"),
    (lambda: changed(schedule(), 5, without_weights), "never stores its last tile of 'next'"),
    (left_behind, "tile 1 of 'descent' leaves a sum of 'next' behind"),
    (stored_early, "stores a part of 'next' twice"),
    (not_permitted, "tile 0 of 'descent' is not stored as 'next'"),
    (lambda: schedule(("ih", "c")), "stores a part of 'next' twice|leaves a sum|too early"),
]


@pytest.mark.parametrize(("wrong", "said"), WRONG)
def test_the_checker_refuses(wrong: Callable[[], TileSchedule], said: str) -> None:
    with pytest.raises(ScheduleFault, match=said):
        check(wrong(), 64 * KIB, 4)


def test_every_row_of_the_operand_is_read_once_and_rows_of_the_gradient_overlap() -> None:
    found = schedule()
    boxes = [(step.boxes["0.i.x"].box[2], step.boxes["0.i.term1"].box[2]) for step in found.steps()][:3]
    assert boxes == [((0, 4), (0, 5)), ((4, 8), (3, 9)), ((8, 12), (7, 12))]
    strided = subject([descent_call(4, 4, 9, stride=2)])
    rows = [
        (step.boxes["0.i.x"].box[2], step.boxes["0.i.term1"].box[2])
        for step in expand(strided, walk(strided, {"ih": 4}, ("ih",), False)).steps()
    ]
    assert rows == [((0, 4), (0, 3)), ((4, 8), (1, 5)), ((8, 9), (3, 5))]
