"""Cycles of kernels go to the layers whose work the cores had: spans here are drawn, none comes of a simulator."""

from __future__ import annotations

from pathlib import Path

from tilewright.compile import compile_model
from tilewright.options import CompileOptions
from tilewright.plan.plan import Instruction
from tilewright.run.counts import Span
from tilewright.run.tile_profile import with_tiles
from tilewright.target import load_target

DIGITS = Path(__file__).parents[1] / "models" / "digits_int8" / "model.onnx"


def spans_of(instruction: Instruction, durations: list[int]) -> list[Span]:
    """Kernels one behind the other, with a copy before each and the whole layer at the end."""
    spans, now = [], 0
    for cycles in durations:
        spans += [Span(instruction.index, "copy", now, 5), Span(instruction.index, "kernel", now + 5, cycles)]
        now += 5 + cycles
    return [*spans, Span(instruction.index, "layer", 0, now)]


def test_layers_at_one_sitting_have_the_cycles_of_their_own_turns() -> None:
    done = compile_model(DIGITS, CompileOptions(), load_target("gvsoc_pulp_open"))
    by_name = {one.name: one for one in done.plan.instructions}
    last = max(done.plan.instructions, key=lambda one: len(one.schedule.stages) if one.schedule else 0)
    assert last.schedule is not None
    stages = last.schedule.stages
    turns = [(stage.node, phase) for stage in stages for phase in range(by_name[stage.node].kernel.phases)]
    assert len(last.schedule.stages) > 1
    assert last.schedule.tiles == 1
    durations = [1000 + 10**at % 977 for at in range(len(turns))]
    layers = with_tiles(done.report.layers, done.plan, spans_of(last, durations))
    own = {
        stage.node: sum(cycles for (node, _), cycles in zip(turns, durations, strict=True) if node == stage.node)
        for stage in last.schedule.stages
    }
    assert {row.name: row.kernel_cycles for row in layers if row.kernel_cycles is not None} == own


def test_no_layer_has_cycles_where_spans_are_missing() -> None:
    done = compile_model(DIGITS, CompileOptions(), load_target("gvsoc_pulp_open"))
    last = max(done.plan.instructions, key=lambda one: len(one.schedule.stages) if one.schedule else 0)
    layers = with_tiles(done.report.layers, done.plan, spans_of(last, [1000]))
    assert {row.kernel_cycles for row in layers} == {None}
