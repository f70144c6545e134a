"""Layers cut by hand: tiles, copies, buffers, bytes and cycles, counted with a pencil."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from tilewright.graphs.tiled import run as run_tiled
from tilewright.layout import Layout
from tilewright.plan.build import build
from tilewright.plan.execute import run as run_whole
from tilewright.plan.plan import ExecutionPlan
from tilewright.platform import Call, Operands
from tilewright.tiling.check import check
from tilewright.tiling.expand import expand
from tilewright.tiling.front import front_of
from tilewright.tiling.options import chains, works_of
from tilewright.tiling.schedule import TileSchedule, TileStep
from tilewright.tiling.stages import work_of
from tilewright.tiling.subject import Subject, subject_of
from tilewright.tiling.tiled_graph import TiledGraph
from tilewright.tiling.walk import Cut, walk
from tiling.cutting import conv_call, kernel, levels, subject, unary_call
from tiling.networks import graph_of
from tiling.test_front import simulated_cycles
from tiling.test_schedule_rules import played

X_ROW, Y_ROW, WEIGHTS = 12 * 8, 12 * 8, 8 * 8 * 9 + 8 * 4 + 8 * 4
SCRATCH = 2 * 8 * 8 * 9


def cut(asked: Subject, sizes: dict[str, int], double: bool = False) -> tuple[Cut, TileSchedule]:
    """A tiling as it is counted, and its schedule, which the checker has taken."""
    found = walk(asked, sizes, tuple(sizes), double)
    schedule = expand(asked, found)
    check(schedule, None, 4)
    assert schedule.compute_bytes == found.compute_bytes
    assert schedule.traffic_bytes == found.traffic
    assert schedule.tiles == found.tiles == len(list(schedule.steps()))
    return found, schedule


def layer() -> Subject:
    """A 3x3 convolution of 12x12 pixels, eight channels to eight."""
    return subject([conv_call(8, 8, 12)])


def test_bands_of_rows() -> None:
    """Five, five and two rows; every band reads a row more on each side where there is one."""
    one, schedule = cut(layer(), {"oh": 5})
    steps = list(schedule.steps())
    assert [step.tiles[0]["oh"] for step in steps] == [(0, 5), (5, 10), (10, 12)]
    assert [{move.key: move.box[2] for move in step.loads}.get("0.i.x") for step in steps] == [(0, 6), (4, 11), (9, 12)]
    assert [step.stores[0].box[2] for step in steps] == [(0, 5), (5, 10), (10, 12)]
    assert [len(step.loads) for step in steps] == [4, 1, 1]
    assert one.traffic == (6 + 7 + 3) * X_ROW + 12 * Y_ROW + WEIGHTS
    assert one.compute_bytes == 7 * X_ROW + 5 * Y_ROW + WEIGHTS + SCRATCH
    assert {*schedule.depth.values()} == {1}


def test_second_buffers_for_what_moves() -> None:
    one, schedule = cut(layer(), {"oh": 5}, double=True)
    assert {key: depth for key, depth in schedule.depth.items() if depth > 1} == {"0.i.x": 2, "0.o.y": 2}
    assert one.compute_bytes == 2 * 7 * X_ROW + 2 * 5 * Y_ROW + WEIGHTS + SCRATCH
    buffers = [(step.buffers["0.i.x"], step.buffers["0.o.y"], step.buffers["0.c.w"]) for step in schedule.steps()]
    assert buffers == [(0, 0, 0), (1, 1, 0), (0, 0, 0)]
    spans = sorted((o.offset, o.offset + o.size * o.depth) for o in schedule.stages[0].operands)
    assert all(high == low for (_, high), (low, _) in pairwise(spans))
    assert schedule.stages[0].scratch_offset == spans[-1][1]


@pytest.mark.parametrize(("order", "x_loads", "w_loads"), [(("oh", "oc"), 2, 4), (("oc", "oh"), 4, 2)])
def test_the_inner_loop_loads_its_operands_again(order: tuple[str, ...], x_loads: int, w_loads: int) -> None:
    sizes = {"oh": 6, "oc": 4}
    one, schedule = cut(layer(), {name: sizes[name] for name in order})
    loads = [move.key for step in schedule.steps() for move in step.loads]
    assert (loads.count("0.i.x"), loads.count("0.c.w")) == (x_loads, w_loads)
    assert one.traffic == x_loads * 7 * X_ROW + 12 * Y_ROW + w_loads * WEIGHTS // 2
    assert one.tiles == 4


def test_a_stride_leaves_rows_out() -> None:
    """Of nine rows, four of the result's five read 0 to 3, 3 to 7 and 7 to 9."""
    _, schedule = cut(subject([conv_call(4, 4, 9, 3, 2)]), {"oh": 2})
    boxes = [step.boxes["0.i.x"] for step in schedule.steps()]
    assert [box.box[2] for box in boxes] == [(0, 4), (3, 8), (7, 9)]
    assert [(box.before[2], box.after[2]) for box in boxes] == [(1, 0), (0, 0), (0, 1)]
    assert schedule.operand("0.i.x").size == 5 * 9 * 4


@pytest.mark.parametrize("double", [False, True])
@pytest.mark.parametrize("sizes", [{"oh": 5}, {"oh": 5, "oc": 4}, {"oc": 4}, {"ow": 7, "oh": 3}])
def test_cycles_are_those_of_the_pipeline_step_by_step(sizes: dict[str, int], double: bool) -> None:
    asked = layer()
    found, schedule = cut(asked, sizes, double)
    assert abs(simulated_cycles(asked, schedule) - found.cycles) < 1


# ------------------------------------------------------------------------------------------------ chains
def chain(*calls: Call) -> Subject:
    return subject(calls or (conv_call(8, 8, 12, y="t"), unary_call("Relu", (1, 8, 12, 12))))


def test_a_stage_is_computed_where_its_tile_changes() -> None:
    """Channels of the second convolution read all of the first one's."""
    asked = chain(conv_call(8, 8, 12, 1, y="t"), conv_call(8, 8, 12, 1, x="t", name="second"))
    _, schedule = cut(asked, {"oh": 6, "oc": 4})
    assert [step.computed for step in schedule.steps()] == [(True, True), (False, True)] * 2
    _, schedule = cut(asked, {"oc": 4, "oh": 6})
    assert [step.computed for step in schedule.steps()] == [(True, True)] * 4
    _, schedule = cut(asked, {"oc": 4})
    assert [step.computed for step in schedule.steps()] == [(True, True), (False, True)]


def test_the_rules_of_a_producer_hold_for_the_chain() -> None:
    """The convolution makes channels in fours, so the Relu behind it is cut in fours."""
    assert chain().multiples == {"i1": 4}
    assert subject([unary_call("Relu", (1, 8, 12, 12))]).multiples == {}
    assert "i1" in chain().cuttable
    second = chain(conv_call(8, 8, 12, 1, y="t"), conv_call(8, 8, 12, 1, x="t", name="second"))
    assert "ic" not in second.cuttable
    assert second.multiples == {"oc": 4}


def test_a_result_in_another_order_is_not_handed_on() -> None:
    """The Relu reads its operand with channels first, the convolution leaves them last."""
    conv, relu = conv_call(8, 8, 12, y="t"), unary_call("Relu", (1, 8, 12, 12))
    last, first = Layout.channels_last((1, 8, 12, 12)), Layout.default((1, 8, 12, 12))
    works = []
    for call, layouts in ((conv, {"x": last, "t": last}), (relu, {"t": first, "y": first})):
        found = kernel(call.node.op)
        all_layouts = {**layouts, "conv_w": Layout.default((8, 8, 3, 3))}
        works.append(work_of(call, found, all_layouts, found.constants(Operands(call, all_layouts))))
    assert subject_of(works, levels()) is None
    assert subject_of(works[:1], levels()) is not None


def test_what_others_read_is_no_inside_of_a_chain() -> None:
    graph = graph_of([conv_call(8, 8, 12, y="t"), unary_call("Relu", (1, 8, 12, 12), y="u"),
                      unary_call("Gelu", (1, 8, 12, 12), name="gelu", x="u")])  # fmt: skip
    works = works_of(graph)
    assert chains(graph, works, 3) == [("conv", "unary"), ("unary", "gelu"), ("conv", "unary", "gelu")]
    assert chains(graph, works, 2) == [("conv", "unary"), ("unary", "gelu")]
    shown = replace(graph, model=replace(graph.model, outputs=("t", "y")))
    assert chains(shown, works, 3) == [("unary", "gelu")]
    shown = replace(graph, model=replace(graph.model, outputs=("u", "y")))
    assert chains(shown, works, 3) == [("conv", "unary")]
    again = unary_call("Relu", (1, 8, 12, 12), name="again", x="t", y="z")
    read_twice = graph_of([conv_call(8, 8, 12, y="t"), unary_call("Relu", (1, 8, 12, 12), y="u"), again])
    assert chains(read_twice, works_of(read_twice), 3) == []


# ------------------------------------------------------------------------------------------------ fronts
def point(compute_bytes: int, cycles: int) -> Cut:
    return Cut({}, (), False, compute_bytes, cycles, 0, 1)


def test_a_front_falls_and_keeps_its_ends() -> None:
    cuts = [point(100 + 10 * n, 1000 - 10 * n) for n in range(40)]
    assert front_of(cuts, 100) == tuple(cuts)
    thin = front_of(cuts, 5)
    assert len(thin) == 5
    assert (thin[0], thin[-1]) == (cuts[0], cuts[-1])
    assert front_of([point(100, 50), point(200, 50), point(300, 60), point(400, 40)]) == (
        point(100, 50), point(400, 40),
    )  # fmt: skip
    assert front_of([point(100, 50), replace(point(100, 60), traffic=1)]) == (point(100, 50),)
    wide = point(100, 60)
    other = replace(point(100, 59), traffic=99)
    assert front_of([wide, other]) == (wide,)
    lean, fast = replace(point(100, 50), traffic=1 << 20), replace(point(100, 51), traffic=0)
    assert front_of([lean, fast]) == (fast,)


# ------------------------------------------------------------------------------------------------ execution
def planned(calls: Sequence[Call], schedule: TileSchedule) -> ExecutionPlan:
    return build(TiledGraph(graph_of(calls), {schedule.nodes[-1]: schedule}), constants=False)


DATA = np.random.default_rng(5).integers(-100, 100, (1, 8, 12, 12)).astype(np.int8)


@pytest.mark.parametrize("sizes", [{"oh": 5}, {"oh": 5, "ow": 4}, {"oc": 4, "oh": 7}])
def test_tiles_compute_the_layer(sizes: dict[str, int]) -> None:
    call = conv_call(8, 8, 12)
    _, schedule = cut(subject([call]), sizes, double=True)
    plan = planned([call], schedule)
    np.testing.assert_array_equal(run_tiled(plan, [DATA])[0], run_whole(plan, [DATA])[0])


def test_what_is_not_loaded_is_not_there() -> None:
    """The executor plays the copies that the schedule says, so a missing one is seen in the result."""
    call = conv_call(8, 8, 12)
    _, schedule = cut(subject([call]), {"oh": 5})

    def without(step: TileStep) -> TileStep:
        return replace(step, loads=()) if step.index == 1 else step

    plan = planned([call], played(schedule, [without(step) for step in schedule.steps()]))
    assert not np.array_equal(run_tiled(plan, [DATA])[0], run_whole(plan, [DATA])[0])
