"""Tilings found against every tiling there is, and the figures that the fused chain and the 3x3 layer must reach."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise, permutations, product

import pytest
from tilewright.platform import Call, TileCosts
from tilewright.tiling.check import check
from tilewright.tiling.expand import expand
from tilewright.tiling.front import best_within, front_of, walked
from tilewright.tiling.schedule import TileSchedule
from tilewright.tiling.subject import Subject
from tilewright.tiling.walk import Cut, walk
from tiling.cutting import conv_call, matmul_call, subject, unary_call

KIB = 1024


def every_tiling(asked: Subject, capacity: int) -> list[Cut]:
    """All sizes, orders and depths, not only the canonical ones."""
    found = []
    sizes = {
        n: [s for s in range(1, asked.extents[n] + 1) if s % asked.multiples.get(n, 1) == 0] for n in asked.cuttable
    }
    for chosen in product(*sizes.values()):
        cut = {n: s for n, s in zip(sizes, chosen, strict=True) if s < asked.extents[n]}
        for order in permutations(cut):
            for double in (False, True) if order else (False,):
                one = walk(asked, cut, order, double)
                if one.compute_bytes <= capacity:
                    found.append(one)
    return found


def simulated_cycles(asked: Subject, schedule: TileSchedule) -> float:
    """The pipeline played step by step from the schedule that codegen gets; shares nothing with `walk`."""
    costs, steps = asked.hierarchy.costs, list(schedule.steps())
    first_always = min(s for s in range(len(schedule.stages)) if all(step.computed[s] for step in steps))
    late = 2 if schedule.double else 1
    lists = [[0.0, 0.0, 0.0] for _ in range(len(steps) + late)]
    total, hidden = float(costs.layer), []
    for step in steps:
        beside = 0.0
        for number, tile in enumerate(step.tiles):
            if step.computed[number]:
                cost = asked.cycles(number, {n: high - low for n, (low, high) in tile.items()})
                cost += costs.kernel if number + 1 < len(step.tiles) else 0
                total, beside = (total, beside + cost) if number >= first_always else (total + cost, beside)
        hidden.append(beside)
        for way, at, moves, engine in (
            (1, step.index, step.loads, asked.hierarchy.load),
            (2, step.index + late, step.stores, asked.hierarchy.store),
        ):
            for move in moves:
                lists[at][0] += engine.setup_cycles * move.transfer.commands(engine.ranks)
                lists[at][way] += engine.burst_cycles * move.transfer.bursts
                lists[at][way] += -(-move.size_bytes // engine.bytes_per_cycle)
    times = [start + (max(load, store) if costs.both_ways else load + store) for start, load, store in lists]
    if not schedule.double:
        return total + sum(hidden) + sum(times) + costs.tile * len(steps)
    total += times[0] + times[-1] + costs.tile_beside * len(steps)
    return total + sum(max(*pair) for pair in zip(hidden, times[1:-1], strict=True))


@pytest.mark.parametrize("seed", range(6))
def test_within_half_a_percent_of_every_tiling(seed: int) -> None:
    draw = random.Random(seed)
    taps, group = draw.choice([1, 3]), draw.choice([1, 1, 8])
    call = conv_call(8, 8, draw.choice([6, 7, 9]), taps, draw.choice([1, 2]), group)
    asked = subject([call])
    capacity = draw.choice([900, 1500, 2500])
    oracle = every_tiling(asked, capacity)
    found = walked(asked, capacity)
    if not oracle:
        assert not found
        return
    assert min(c.cycles for c in found) <= 1.005 * min(c.cycles for c in oracle)
    assert min(c.traffic for c in found) == min(c.traffic for c in oracle)


@pytest.mark.parametrize(
    ("calls", "capacity"),
    [
        ([conv_call()], 16),
        ([conv_call(stride=2)], 16),
        ([conv_call(taps=1, stride=2)], 8),
        ([conv_call(32, 32, 16, 3, 1, 32)], 8),
        ([matmul_call(40, 24, 48), unary_call("Gelu", (40, 48))], 4),
        ([conv_call(16, 16, y="t"), conv_call(16, 16, x="t", name="second")], 32),
        ([conv_call(8, 8, 12, y="t"), conv_call(8, 8, 12, x="t", y="u", name="b"), unary_call("Relu", (1, 8, 12, 12),
          x="u")], 8),
    ],
)  # fmt: skip
@pytest.mark.parametrize("costs", [TileCosts(), TileCosts(300, 90, 110, 60, both_ways=True)])
def test_schedules_are_what_the_walk_counted(calls: list[Call], capacity: int, costs: TileCosts) -> None:
    asked = subject(calls)
    asked = replace(asked, hierarchy=replace(asked.hierarchy, costs=costs))
    cuts = [cut for cut in walked(asked, capacity * KIB) if cut.tiles <= 64]
    assert cuts
    for cut in cuts[:: max(1, len(cuts) // 6)]:
        schedule = expand(asked, cut)
        check(schedule, capacity * KIB, 4)
        assert schedule.compute_bytes == cut.compute_bytes <= capacity * KIB
        assert abs(simulated_cycles(asked, schedule) - cut.cycles) < 1


@pytest.mark.parametrize("kib", [24, 32, 48, 64, 96, 128])
def test_every_byte_moves_once_where_it_can(kib: int) -> None:
    cuts = walked(subject([conv_call()]), kib * KIB)
    assert min(cut.traffic for cut in cuts) == 54_016


def test_below_that_size_borders_are_loaded_again() -> None:
    assert min(cut.traffic for cut in walked(subject([conv_call()]), 16 * KIB)) == 57_216


@pytest.mark.parametrize("kib", [16, 24, 32, 64])
def test_cycles_of_the_layer_that_was_searched_exhaustively(kib: int) -> None:
    oracle = {16: 294_430, 24: 292_190, 32: 292_190, 64: 291_592}
    best = best_within(walked(subject([conv_call()]), kib * KIB), kib * KIB)
    assert best is not None
    assert best.cycles <= 1.005 * oracle[kib]
    assert best.double


def test_a_fused_chain_moves_half_the_bytes() -> None:
    unfused = [subject([matmul_call(197, 192, 768)]), subject([unary_call("Gelu", (197, 768))])]
    once = sum(min(c.traffic for c in walked(one, 1 << 30)) for one in unfused)
    fused = best_within(walked(subject([matmul_call(197, 192, 768), unary_call("Gelu", (197, 768))]), 128 * KIB),
                        128 * KIB)  # fmt: skip
    assert once == 639_168
    assert fused is not None
    assert fused.traffic == 336_576
    assert fused.traffic <= 0.53 * once


def test_the_front_falls_and_is_thin() -> None:
    front = front_of(walked(subject([conv_call()]), 64 * KIB), 8)
    assert 2 <= len(front) <= 8
    assert all(a.compute_bytes < b.compute_bytes and a.cycles > b.cycles for a, b in pairwise(front))


def test_one_buffer_where_copies_do_not_overlap() -> None:
    for cut in walked(subject([conv_call()]), 32 * KIB):
        schedule = expand(subject([conv_call()]), cut)
        for stage in schedule.stages:
            for operand in stage.operands:
                once = not schedule.moving[operand.key]
                assert operand.depth == 1 or (cut.double and not once)


def test_multiples_hold_for_all_tiles_but_the_last() -> None:
    for cut in walked(subject([conv_call(16, 20)]), 16 * KIB):
        assert cut.sizes.get("oc", 20) % 4 == 0
