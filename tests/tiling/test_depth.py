"""Two buffers are chosen only where the model says that they are faster than the best schedule with one.

By how much is the platform's: what its model cannot tell apart counts as no gain. What holds in the simulator's cycles,
see tests/pulp/test_gvsoc.py.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pytest
from conftest import NetworkFiles
from tilewright.platform import Call, Copy
from tilewright.schedule.tile import tile
from tilewright.tiling import front
from tilewright.tiling.front import best_within
from tilewright.tiling.hierarchy import Hierarchy, hierarchy
from tilewright.tiling.options import works_of
from tilewright.tiling.stages import Work
from tilewright.tiling.subject import Subject, subject_of
from tilewright.tiling.walk import BYTES_PER_CYCLE, Cut, cost_of, walk
from tiling.cutting import conv_call, levels, matmul_call, unary_call, work
from tiling.networks import of_l1, on_pulp

KIB = 1024
NETWORKS = ("ad_int8", "dscnn_int8", "resnet8_int8", "vww_int8")


def random_layer(draw: random.Random) -> Call:
    """A convolution, a matrix product or an activation that some of the sizes asked for do not hold whole."""
    kind = draw.choice(["conv", "apart", "matmul", "unary"])
    if kind == "matmul":
        return matmul_call(draw.randrange(1, 80), draw.randrange(4, 200), 4 * draw.randrange(1, 60))
    if kind == "unary":
        return unary_call("Relu", (draw.randrange(1, 80), draw.randrange(8, 300)))
    channels, size = 4 * draw.randrange(1, 9), draw.randrange(4, 25)
    taps, stride = draw.choice([1, 3]), draw.choice([1, 2])
    if kind == "apart":
        return conv_call(channels, channels, size, taps, stride, channels)
    return conv_call(channels, 4 * draw.randrange(1, 9), size, taps, stride)


def layers(seed: int) -> list[Work]:
    draw = random.Random(seed)
    return [work(random_layer(draw)) for _ in range(10)]


def asked(one: Work, there: Hierarchy) -> Subject:
    found = subject_of([one], there)
    assert found is not None
    return found


def one_buffer(copy: Copy) -> Copy:
    return replace(copy, asynchronous=False)


def slower_than_single(works: Sequence[Work], there: Hierarchy) -> list[str]:
    """Layers whose chosen tiling takes two buffers and more cycles than the best tiling with one.

    The single ones come from a search of their own, for engines that do not run beside the cores. Cycles that the
    platform doubts count; what is chosen may take as many cycles more as the bytes weigh that it moves less.
    """
    alone = replace(there, load=one_buffer(there.load), store=one_buffer(there.store))
    found = []
    for one in works:
        chosen = best_within(front.walked(asked(one, there), there.capacity), there.capacity)
        single = best_within(front.walked(asked(one, alone), there.capacity), there.capacity)
        if chosen is None or single is None or not chosen.double:
            continue
        assert not single.double
        exact = walk(asked(one, there), chosen.sizes, chosen.order, chosen.double)
        saved = max(0, single.traffic - exact.traffic)
        if exact.cycles + exact.doubted > single.cycles + saved / BYTES_PER_CYCLE:
            found.append(one.call.node.name)
    return found


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kib", [4, 16, 64])
def test_two_buffers_are_never_slower_on_random_layers(seed: int, kib: int) -> None:
    assert slower_than_single(layers(seed), levels(kib * KIB)) == []


@pytest.mark.parametrize("doubt", [0.02, 0.1, 1.0])
def test_two_buffers_must_promise_more_than_the_model_is_off(doubt: float) -> None:
    there = levels(4 * KIB)
    there = replace(there, costs=replace(there.costs, doubt=doubt))
    works = [one for seed in range(2) for one in layers(seed)]
    assert slower_than_single(works, there) == []
    cuts = [best_within(front.walked(asked(one, there), there.capacity), there.capacity) for one in works]
    assert any(cut is not None and cut.double for cut in cuts) == (doubt < 0.5)
    assert all(cut.doubted == int(cut.cycles * doubt) or not cut.double for cut in cuts if cut is not None)


def test_random_layers_choose_both_depths() -> None:
    there = levels(4 * KIB)
    cuts = [best_within(front.walked(asked(one, there), 4 * KIB), 4 * KIB) for seed in range(4) for one in layers(seed)]
    assert {cut.double for cut in cuts if cut is not None} == {False, True}


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("kib", [64, 32, 16, 8])
def test_two_buffers_are_never_slower_in_a_network(network: Callable[[str], NetworkFiles], name: str, kib: int) -> None:
    graph = on_pulp(network(name).model)
    there = hierarchy(graph.platform, of_l1(kib * KIB))
    assert there is not None
    assert slower_than_single(list(works_of(graph).values()), there) == []
    slow = replace(graph.platform, copies=[one_buffer(copy) for copy in graph.platform.copies])
    chosen, single = tile(graph, of_l1(kib * KIB)), tile(replace(graph, platform=slow), of_l1(kib * KIB))
    assert not any(schedule.double for schedule in single.schedules.values())
    costs = [
        sum(cost_of(schedule.cycles, schedule.traffic_bytes, "cycles") for schedule in tiled.schedules.values())
        for tiled in (chosen, single)
    ]
    assert costs[0] <= costs[1] * 1.0002


def test_a_model_that_flatters_two_buffers_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def flattered(subject: Subject, sizes: Mapping[str, int], order: tuple[str, ...], double: bool) -> Cut:
        found = walk(subject, sizes, order, double)
        return replace(found, cycles=found.cycles // 2) if double else found

    monkeypatch.setattr(front, "walk", flattered)
    assert slower_than_single(layers(0), levels(16 * KIB))
