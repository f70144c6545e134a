"""States in tiles: written over the last value where no tile loads what one before has stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from graphs import node, onnx_model
from tilewright.compile import Compiled, compile_model, write
from tilewright.errors import TilewrightError
from tilewright.memory.check_states import _port, check_states
from tilewright.memory.placed import PlacedPlan
from tilewright.options import CompileOptions, StateWish
from tilewright.plan.aliasing.states import settle_states
from tilewright.plan.execute import first_value, run_slots
from tilewright.plan.tile_order import loads_before_stores
from tilewright.run.build import build
from tilewright.run.simulate import execute
from tilewright.target import load_target
from tilewright.tiling.schedule import TileCopy, TileSchedule, TileStep
from tiling.test_schedule_check import tampered

CALLS, WINDOW = 4, (1, 8, 10, 33)


def _window(newest_first: bool) -> list[onnx.NodeProto]:
    """A window of ten frames that moves on by one."""
    low, high, order = ("n0", "n9", "x s") if newest_first else ("n1", "n99", "s x")
    return [node("Slice", f"h {low} {high} axis", "s", "cut"), node("Concat", order, "h_out", "join", axis=2)]


DECAY = [node("Mul", "h half", "m", "decay"), node("Add", "m x", "h_out", "add")]


def _compiled(nodes: Sequence[onnx.NodeProto], frames: int, folder: Path, l1: int = 4096) -> Compiled:
    values = {f"n{value}": np.array([value]) for value in (0, 1, 9, 99)}
    values |= {"axis": np.array([2]), "half": np.array([0.5], np.float32)}
    end = node("ReduceSum", "h_out", "y", "end", keepdims=0)
    given = {"x": (*WINDOW[:2], frames, WINDOW[3]), "h": WINDOW}
    more = ["t"] * any("t" in one.output for one in nodes)
    onnx.save(onnx_model([*nodes, end], given, ["y", "h_out", *more], values), folder / "n.onnx")
    options = CompileOptions(state=StateWish((("h", "h_out"),)), level_sizes={"l1": l1})
    return compile_model(folder / "n.onnx", options, load_target("qemu_pulp"))


@pytest.mark.parametrize(
    ("nodes", "frames"), [(_window(False), 1), (_window(True), 1), (DECAY, 10)], ids=["window", "newest first", "decay"]
)  # fmt: skip
def test_tiles_write_over_the_state_that_they_read(nodes: list[onnx.NodeProto], frames: int, tmp_path: Path) -> None:
    compiled = _compiled(nodes, frames, tmp_path)
    assert [pair.in_place for pair in compiled.plan.state] == [True]
    assert max(i.schedule.tiles for i in compiled.plan.instructions if i.schedule is not None) > 1
    _run(compiled, tmp_path)


def test_a_window_that_reaches_into_the_tile_before_keeps_its_state_apart(tmp_path: Path) -> None:
    nodes = [node("MaxPool", "h", "h_out", "pool", kernel_shape=[3, 3], pads=[1] * 4), node("Neg", "x", "t", "turn")]
    compiled = _compiled(nodes, 10, tmp_path)
    (schedule,) = (i.schedule for i in compiled.plan.instructions if i.name == "pool")
    assert schedule is not None
    assert "ow" in schedule.order
    assert [pair.in_place for pair in compiled.plan.state] == [False]
    _run(compiled, tmp_path)


CUT = [node("Slice", "h n1 n9 axis", "s", "cut"), node("Add", "h x", "h_out", "add"), node("Neg", "s", "t", "turn")]


LATER = [*DECAY, node("Sub", "h_out h", "t", "change")]


@pytest.mark.parametrize("nodes", [DECAY, CUT, LATER], ids=["decay", "a part read for itself", "a copy read on"])
def test_at_a_sitting_a_state_is_written_when_all_have_read_it(nodes: list[onnx.NodeProto], tmp_path: Path) -> None:
    compiled = _compiled(nodes, 10, tmp_path, 65536)
    assert any(i.schedule is not None and i.schedule.starts for i in compiled.plan.instructions)
    assert [pair.in_place for pair in compiled.plan.state] == [True]
    _run(compiled, tmp_path)


def test_a_later_stage_of_a_sitting_may_load_what_one_before_has_stored(tmp_path: Path) -> None:
    plan = _compiled(CUT, 10, tmp_path, 65536).plan
    (schedule,) = (i.schedule for i in plan.instructions if i.schedule is not None and i.schedule.starts)
    stages = {stage.node: stage for stage in schedule.stages}
    later = replace(schedule, stages=(stages["add"], stages["cut"], stages["turn"]))
    assert loads_before_stores(schedule, ("cut", 0), ("add", 0))
    assert not loads_before_stores(later, ("cut", 0), ("add", 0))


def _run(compiled: Compiled, tmp_path: Path) -> None:
    """Some calls on a played cluster, as NumPy computes them."""
    board, plan = load_target("qemu_pulp"), compiled.plan
    write(compiled, tmp_path / "project")
    draw, shape = np.random.default_rng(0), plan.slots[plan.input_slots[0]].tensor.shape
    calls = [draw.standard_normal(shape).astype(np.float32) for _ in range(CALLS)]
    states, wanted = [first_value(plan, pair) for pair in plan.state], []
    for call in calls:
        slots = run_slots(plan, [call], states)
        states = [slots[pair.source] for pair in plan.state]
        wanted.append((slots[plan.output_slots[0]], states[0]))
    for number, flags in enumerate(((), ("-DTW_DMA_EARLY",))):  # copies as late, and as early, as they may be
        image = build(
            tmp_path / "project", compiled.artifacts.interface, board, tmp_path / f"{number}", extra_flags=flags
        )
        steps = execute(image, [calls[0].tobytes()], more=[[call.tobytes()] for call in calls[1:]]).steps
        for step, (y, state) in zip(steps, wanted, strict=True):
            assert step.state[: state.nbytes] == state.tobytes()
            np.testing.assert_allclose(np.frombuffer(step.outputs[0], np.float32), y.reshape(-1), rtol=1e-4)


def _everything(schedule: TileSchedule) -> Callable[[TileStep], TileStep]:
    """Every tile loads the whole state, as if it needed all of it."""
    (state,) = (one for one in schedule.stages[0].operands if (one.kind, one.index) == ("input", 0))
    box = tuple((0, size) for size in state.shape)

    def whole(copy: TileCopy) -> TileCopy:
        return replace(copy, box=box, transfer=state.transfer(box)) if copy.key == state.key else copy

    return lambda step: replace(step, loads=tuple(whole(copy) for copy in step.loads))


def _last_not_stored(schedule: TileSchedule) -> Callable[[TileStep], TileStep]:
    return lambda step: replace(step, stores=() if step.index == schedule.tiles - 1 else step.stores)


def _planted(found: PlacedPlan, plant: Callable[[TileSchedule], Callable[[TileStep], TileStep]]) -> PlacedPlan:
    def changed(schedule: TileSchedule | None) -> TileSchedule | None:
        return None if schedule is None else tampered(schedule, plant(schedule))

    instructions = tuple(replace(i, schedule=changed(i.schedule)) for i in found.plan.instructions)
    return replace(found, plan=replace(found.plan, instructions=instructions))


@pytest.mark.parametrize(
    ("plant", "fault"),
    [
        (_everything, "is overwritten by a tile of 'join' when a later one loads it"),
        (_last_not_stored, "is not stored whole by the tiles of 'join'"),
    ],
)
def test_the_checker_follows_tiles(
    plant: Callable[[TileSchedule], Callable[[TileStep], TileStep]], fault: str, tmp_path: Path
) -> None:
    found = _compiled(_window(False), 1, tmp_path).placed
    check_states(found)
    with pytest.raises(TilewrightError, match=fault):
        check_states(_planted(found, plant))


def test_a_buffer_that_one_stage_leaves_to_the_next_is_its_result_and_the_next_ones_operand(tmp_path: Path) -> None:
    plan = _compiled(DECAY, 10, tmp_path, 16384).plan
    (schedule,) = (i.schedule for i in plan.instructions if i.schedule is not None and len(i.schedule.stages) == 2)
    handed = {_port(stage, one) for stage in schedule.stages for one in stage.operands if one.kind == "local"}
    assert handed == {("decay", "output", 0), ("add", "input", 0)}


def test_a_tile_that_loads_what_one_before_has_stored_forbids_one_place(tmp_path: Path) -> None:
    found = _compiled(_window(False), 1, tmp_path).placed
    settled = settle_states(_planted(found, _everything).plan)
    assert [pair.in_place for pair in settled.plan.state] == [False]
    assert settled.copied[0].why == "'join' may write an element of the new value before it reads the old one"


def _row_beside_a_sitting(folder: Path) -> PlacedPlan:
    """A row is written into a state during a sitting: one stage copies the state before, another one behind it."""
    nodes = [
        node("Neg", "x", "row", "turn"), node("Mul", "h c", "old", "fade"),
        node("ScatterND", "h places row", "h_out", "write"), node("Abs", "old", "o", "other"),
        node("Mul", "h_out c", "m", "scale"), node("Add", "m o", "y", "sum"),
    ]  # fmt: skip
    given = {"x": [1, 16], "h": [8, 16], "places": [1, 1]}
    model = onnx_model(nodes, given, ["y", "h_out"], {"c": np.ones((8, 16), np.float32)})
    model.graph.input[2].type.tensor_type.elem_type = onnx.TensorProto.INT64
    onnx.save(model, folder / "n.onnx")
    options = CompileOptions(state=StateWish((("h", "h_out"),)), level_sizes={"l1": 65536})
    return compile_model(folder / "n.onnx", options, load_target("qemu_pulp")).placed


@pytest.mark.parametrize(
    ("after", "start", "fault"),
    [(1, 2, ""), (1, 1, "when its copy starts for 'scale'"), (2, 2, "when its copy starts for 'scale'"),
     (0, 2, "when it must be there for 'fade'")],
    ids=["as planned", "a copy one step early", "a writer one step late", "a writer before a copy is done"],
)  # fmt: skip
def test_the_checker_plays_copies_that_start_ahead(after: int, start: int, fault: str, tmp_path: Path) -> None:
    found = _row_beside_a_sitting(tmp_path)
    last = found.plan.instructions[-1]
    assert last.schedule is not None
    (errand,) = last.schedule.errands
    (key,) = (one for one, moment in last.schedule.starts.items() if moment >= 0)
    assert (errand.after, last.schedule.starts[key]) == (1, 2)
    schedule = replace(
        last.schedule, errands=(replace(errand, after=after),), starts={**last.schedule.starts, key: start}
    )
    instructions = (*found.plan.instructions[:-1], replace(last, schedule=schedule))
    planted = replace(found, plan=replace(found.plan, instructions=instructions))
    if not fault:
        check_states(planted)
        return
    with pytest.raises(TilewrightError, match=fault):
        check_states(planted)


def test_the_checker_sees_a_stage_that_copies_what_one_before_has_stored(tmp_path: Path) -> None:
    found = _compiled(CUT, 10, tmp_path, 65536).placed
    (number,) = (i.index for i in found.plan.instructions if i.schedule is not None and i.schedule.starts)
    instruction = found.plan.instructions[number]
    assert instruction.schedule is not None
    stages = {stage.node: stage for stage in instruction.schedule.stages}
    later = replace(instruction.schedule, stages=(stages["add"], stages["cut"], stages["turn"]))
    instructions = list(found.plan.instructions)
    instructions[number] = replace(instruction, schedule=later)
    check_states(found)
    with pytest.raises(TilewrightError, match="'h' does not hold its value when it must be there for 'cut'"):
        check_states(replace(found, plan=replace(found.plan, instructions=tuple(instructions))))
