"""Layouts: what is left out, what may share bytes, and that a wrong one is caught."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from graphs import node, onnx_model
from hypothesis import given, settings
from hypothesis import strategies as st
from plan.plans import chain, plan_of, random_inputs
from tilewright.errors import TilewrightError, UsageError
from tilewright.graphs.runner import PlanRunner
from tilewright.memory.buffer_layout import BufferArena, check_layout, compute_buffer_layout, layout_of
from tilewright.memory.planner import place_plan
from tilewright.plan.execute import run_slots
from tilewright.plan.schedule import schedule_batches, with_groups
from tilewright.plugins import platform


def test_inputs_are_left_out_and_views_share() -> None:
    nodes = [node("Neg", "x", "a", "s"), node("Reshape", "a shape", "b", "r"), node("Exp", "b", "y", "e")]
    plan = plan_of(onnx_model(nodes, {"x": (2, 8)}, ["y"], {"shape": np.array([16])}))
    layout = compute_buffer_layout(plan, "disjoint", 64)
    (x,) = plan.input_slots
    assert (layout.offsets[x], layout.sizes[x]) == (-1, 0)
    view = next(slot for slot in plan.slots if slot.storage is not None)
    assert view.storage is not None
    assert layout.offsets[view.index] == layout.offsets[view.storage[0]] >= 0
    assert all(offset % 64 == 0 for offset in layout.offsets if offset >= 0)
    assert layout.total_bytes == 128


def test_a_scalar_has_bytes() -> None:
    plan = plan_of(onnx_model([node("Exp", "x", "a", "e"), node("Neg", "a", "y", "n")], {"x": ()}, ["y"]))
    layout = compute_buffer_layout(plan, "disjoint", 1)
    assert sorted(layout.sizes) == [0, 4, 4]


def test_resnet8_int8_needs_its_live_set(network: Callable[[str], Any]) -> None:
    plan = plan_of(network("resnet8_int8").model, "cuda")  # its kernels need no working memory
    packed, disjoint = (compute_buffer_layout(plan, policy) for policy in ("packed", "disjoint"))
    assert packed.total_bytes == 49_152
    assert disjoint.total_bytes > 2 * packed.total_bytes
    runner = PlanRunner(plan)
    runner.preallocate_buffers("packed")
    assert runner.arena is not None
    for seed in range(2):
        inputs = random_inputs(plan, seed)
        runner.arena.reset("poison")
        values = run_slots(plan, inputs)
        for got, slot in zip(runner.run(*inputs), plan.output_slots, strict=True):
            assert np.array_equal(got, values[slot])


def test_a_placed_plan_is_a_layout(network: Callable[[str], Any]) -> None:
    plan = plan_of(network("digits_int8").model)
    placed = place_plan(plan, platform("generic"))
    layout = layout_of(placed)
    assert layout.total_bytes == placed.arena_bytes
    assert {s: o for s, o in enumerate(layout.offsets) if o >= 0} == dict(placed.slot_offsets)


def test_overlaps_are_caught() -> None:
    plan = plan_of(chain(["LogSoftmax"] * 3))
    layout = compute_buffer_layout(plan, "disjoint")
    first, second = (plan.instructions[i].outputs[0] for i in (0, 1))
    offsets = list(layout.offsets)
    offsets[second] = offsets[first]
    with pytest.raises(TilewrightError, match="share bytes while both are alive"):
        check_layout(plan, replace(layout, offsets=tuple(offsets)))
    offsets[second] = layout.offsets[second] + 3
    with pytest.raises(TilewrightError, match="misaligned"):
        check_layout(plan, replace(layout, offsets=tuple(offsets)))


def test_a_group_lives_as_one_instruction() -> None:
    """Operands of a group's first member live until its last, else a wider result would lie on them."""
    nodes = [
        node("Softmax", "x", "a", "s"), node("QuantizeLinear", "a scale zero", "q", "q"),
        node("DequantizeLinear", "q scale zero", "f", "d"), node("Exp", "f", "g", "e"), node("Softmax", "g", "y", "t"),
    ]  # fmt: skip
    constants = {"scale": np.float32(0.1), "zero": np.int8(0)}
    plan = plan_of(onnx_model(nodes, {"x": (2, 256)}, ["y"], constants), passes=False)
    schedule = schedule_batches(plan)
    grouped = with_groups(plan, schedule)
    layout = compute_buffer_layout(grouped)
    check_layout(grouped, layout)
    if grouped.groups:
        low, high = grouped.groups[0]
        read = {s for s in grouped.instructions[low].inputs if s >= 0 and layout.offsets[s] >= 0}
        made = {i.outputs[0] for i in grouped.instructions[low:high]}
        for a in read:
            for b in made:
                apart = layout.offsets[a] + layout.sizes[a] <= layout.offsets[b]
                assert apart or layout.offsets[b] + layout.sizes[b] <= layout.offsets[a]


@settings(max_examples=25)
@given(st.lists(st.sampled_from(["Relu", "Add", "Exp", "Softmax", "Mul", "Neg"]), min_size=1, max_size=9))
def test_random_chains_run_in_packed_memory(ops: list[str]) -> None:
    plan = plan_of(chain(ops))
    inputs = random_inputs(plan)
    runner = PlanRunner(with_groups(plan, schedule_batches(plan)))
    runner.preallocate_buffers("packed")
    assert runner.arena is not None
    runner.arena.reset("poison")
    with np.errstate(all="ignore"):
        expected = run_slots(plan, inputs)[plan.output_slot]
        assert np.array_equal(runner.run(*inputs)[0], expected, equal_nan=True)


def test_the_arena_gets_sets_and_resets() -> None:
    plan = plan_of(chain(["Softmax", "Exp"]))
    arena = BufferArena(plan, compute_buffer_layout(plan, "disjoint"))
    assert len(arena) == plan.slot_count
    first, second = (i.outputs[0] for i in plan.instructions)
    value = np.arange(16, dtype=np.float32).reshape(2, 8)
    arena.set(first, value)
    arena.set(second, value, freeze=True)
    assert np.array_equal(arena.value(first), value)
    arena.reset()
    assert not arena.get(first).any()
    assert np.array_equal(arena.value(second), value)
    arena.reset("poison")
    assert set(arena.get(first).view(np.uint8)) == {0xA5}
    assert np.array_equal(arena.value(second), value)
    with pytest.raises(UsageError, match=r"slot \d takes float32\[2, 8\]: int8\[2\] was given"):
        arena.set(first, np.zeros(2, np.int8))
    with pytest.raises(IndexError):
        arena.get(99)
    with pytest.raises(UsageError, match="reset to 'sand'"):
        arena.reset("sand")  # type: ignore[arg-type]


def test_choices_that_are_not_there() -> None:
    plan = plan_of(chain(["Relu"]))
    with pytest.raises(UsageError, match="layout policy 'loose'"):
        compute_buffer_layout(plan, "loose")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="an alignment of 48 bytes"):
        compute_buffer_layout(plan, align=48)
