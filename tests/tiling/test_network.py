"""Whole networks: one choice for all nodes, everything fits, refusals say why."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import pytest
from conftest import NetworkFiles
from tilewright.errors import DoesNotFit
from tilewright.memory.planner import place_plan
from tilewright.plan.build import build
from tilewright.plan.check import check as check_plan
from tilewright.schedule.tile import tile
from tilewright.tiling.switches import TileOptions
from tilewright.tiling.tiled_graph import TiledGraph
from tiling.cutting import PLATFORM
from tiling.networks import bound, chain_of_convolutions, dense_and_gelu, sized

KIB = 1024
Find = Callable[[str], NetworkFiles]


def moved(tiled: TiledGraph) -> int:
    return sum(schedule.traffic_bytes for schedule in tiled.schedules.values())


def cycles(tiled: TiledGraph) -> int:
    return sum(schedule.cycles for schedule in tiled.schedules.values())


@pytest.mark.parametrize("kib", [64, 32, 16])
def test_a_network_fits_the_fast_memory(network: Find, kib: int) -> None:
    graph = bound(network("resnet8_int8").model)
    tiled = tile(graph, sized(kib * KIB))
    assert tiled.compute_bytes <= kib * KIB
    tileable = {b.call.node.name for b in graph.nodes if b.kernel is not None and b.kernel.tileable}
    assert {*tiled.schedules, *tiled.fused} == tileable
    assert any(schedule.double for schedule in tiled.schedules.values())
    plan = build(tiled)
    check_plan(plan)
    placed = place_plan(plan, graph.platform)
    assert placed.level == "l2"
    assert placed.arena_bytes <= 512 * KIB
    assert {plan.slots[s].local for s in placed.slot_offsets} == {False}


def test_the_same_network_is_cut_the_same_way(network: Find) -> None:
    graph = bound(network("resnet8_int8").model)
    assert tile(graph, sized(32 * KIB)) == tile(graph, sized(32 * KIB))


def test_one_level_needs_no_schedules(network: Find) -> None:
    graph = bound(network("digits_int8").model)
    flat = replace(graph, platform=replace(PLATFORM, copies=[]))
    assert tile(flat).schedules == {}


def test_more_fast_memory_never_costs_cycles(network: Find) -> None:
    graph = bound(network("resnet8_int8").model)
    found = [cycles(tile(graph, sized(kib * KIB), options=TileOptions(pin=False))) for kib in (16, 32, 64)]
    assert found[0] >= found[1] * 0.999
    assert found[1] >= found[2] * 0.999


def test_too_little_fast_memory_names_node_rules_and_size(network: Find) -> None:
    graph = bound(network("resnet8_int8").model)
    with pytest.raises(DoesNotFit) as caught:
        tile(graph, sized(8 * KIB))
    text = str(caught.value)
    assert "does not fit 8192 bytes of 'l1'" in text
    assert "loop 'ic' is never cut (a sum stays in one register from the first tap to the last)" in text
    assert caught.value.code == 4
    smallest = caught.value.smallest["l1"]
    assert f"give 'l1' at least {smallest} bytes" in text
    assert tile(graph, sized(smallest)).compute_bytes <= smallest
    with pytest.raises(DoesNotFit):
        tile(graph, sized(smallest - 4))


def test_too_little_home_memory_names_the_moment(network: Find) -> None:
    graph = bound(network("resnet8_int8").model)
    with pytest.raises(DoesNotFit) as caught:
        tile(graph, sized(64 * KIB, 24 * KIB))
    assert caught.value.smallest["l2"] > 24 * KIB
    assert "bytes are needed in it; at node" in str(caught.value)


def test_constants_stream_where_home_memory_is_short(network: Find) -> None:
    graph = bound(network("resnet8_int8").model)
    roomy = tile(graph, sized(64 * KIB, 512 * KIB))
    short = tile(graph, sized(32 * KIB, 90 * KIB))
    assert not roomy.streamed
    assert short.streamed
    placed = place_plan(build(short), graph.platform)
    assert placed.arena_bytes <= 90 * KIB


def test_stacks_are_taken_off_first(network: Find) -> None:
    graph = bound(network("resnet8_int8").model)
    tiled = tile(graph, sized(32 * KIB), reserved={"l1": 8 * KIB})
    assert tiled.compute_bytes <= 24 * KIB


def test_tables_count() -> None:
    graph = chain_of_convolutions(4)
    plain, counted = (tile(graph, sized(16 * KIB), options=TileOptions(table_bytes_per_tile=n)) for n in (0, 200))
    assert counted.compute_bytes <= 16 * KIB
    assert all(s.table_bytes == 200 * s.tiles for s in counted.schedules.values())
    assert sum(s.tiles for s in counted.schedules.values()) <= sum(s.tiles for s in plain.schedules.values())


def test_a_dense_layer_and_its_activation_are_fused() -> None:
    graph = dense_and_gelu(197, 192, 768)
    fused = tile(graph, sized(128 * KIB), options=TileOptions(pin=False))
    assert len(fused.schedules) == 1
    assert len(next(iter(fused.schedules.values())).stages) == 2
    assert moved(fused) == 336_576
    apart = tile(graph, sized(4096 * KIB, 8192 * KIB), options=TileOptions(fuse=False, pin=False))
    assert moved(apart) == 639_168
    assert moved(fused) <= 0.53 * moved(apart)
    plan = build(fused)
    assert [slot.tensor.name for slot in plan.slots if slot.local] == ["t"]
    assert place_plan(plan, graph.platform).arena_bytes < 197 * 768 + 197 * 192 + 192 * 768 + 4 * 768


def test_bytes_first_where_asked() -> None:
    graph = chain_of_convolutions(1)
    lean = tile(graph, sized(32 * KIB), options=TileOptions(objective="bytes", pin=False))
    fast = tile(graph, sized(32 * KIB), options=TileOptions(pin=False))
    assert moved(lean) <= moved(fast)
    assert cycles(lean) >= cycles(fast)


@pytest.mark.parametrize(("layers", "seconds"), [(30, 5.0), (60, 15.0)])
def test_time_of_long_networks(layers: int, seconds: float) -> None:
    graph = chain_of_convolutions(layers)
    start = time.process_time()
    tiled = tile(graph, sized(32 * KIB))
    assert time.process_time() - start < seconds
    assert tiled.compute_bytes <= 32 * KIB
