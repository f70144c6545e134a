"""The solver's choice against every choice there is, on networks of a few layers."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest
from tilewright.plan.build import build
from tilewright.schedule.tile import network_of
from tilewright.tiling.choose import Live, Network, choose
from tilewright.tiling.hierarchy import whole_copy_cycles
from tilewright.tiling.options import Fronts, Option, options_of, works_of
from tilewright.tiling.subject import subject_of
from tilewright.tiling.tiled_graph import TiledGraph
from tilewright.tiling.walk import BYTES_PER_CYCLE, Cut
from tiling.cutting import conv_call, levels, matmul_call, unary_call
from tiling.networks import chain_of_convolutions, graph_of

Taken = list[tuple[Option, Cut]]


def network(seed: int) -> Network:
    draw = random.Random(seed)
    graphs = [
        lambda: chain_of_convolutions(3),
        lambda: graph_of([matmul_call(40, 24, 64), unary_call("Relu", (40, 64))]),
        lambda: graph_of([conv_call(8, 8, 12, y="a", name="one"), unary_call("Relu", (1, 8, 12, 12), x="a", y="b"),
                          conv_call(8, 8, 12, x="b", name="two")]),
    ]  # fmt: skip
    graph = graphs[seed % len(graphs)]()
    there = levels(draw.choice([6, 12]) * 1024, 1 << 20)
    works = works_of(graph)
    fronts = Fronts(there.capacity, "cycles", 3)
    offered = options_of(graph, works, there, fronts, tight=True)
    plan = build(TiledGraph(graph, {}), constants=False)
    found = network_of(works, offered, plan, there, "cycles")
    floor = max(live.size_bytes for live in found.live) * 2
    return replace(found, home_capacity=draw.randrange(floor, floor + sum(found.constants.values()) + 3000))


def covers(asked: Network, names: list[str]) -> Iterator[Taken]:
    """Every way to cover the nodes by options and tilings."""
    if not names:
        yield []
        return
    for option in asked.options:
        if option.names[0] == names[0]:
            for rest in covers(asked, [name for name in names if name not in option.names]):
                for cut in option.cuts:
                    yield [(option, cut), *rest]


def cheapest(asked: Network) -> int | None:
    """The least cost over all covers and all places of constants."""
    best: int | None = None
    names = sorted(asked.times, key=lambda name: asked.times[name])
    for taken in covers(asked, names):
        pinned = {name for option, _ in taken for name in option.pinned}
        held = sum(asked.constants[name] for name in pinned)
        if any(cut.compute_bytes + held > asked.levels.capacity for _, cut in taken):
            continue
        free = [name for name in asked.constants if name not in pinned]
        for bits in range(1 << len(free)):
            streamed = {name for i, name in enumerate(free) if bits >> i & 1}
            if fits(asked, taken, streamed, set(free) - streamed):
                cost = sum(cut.cost() for _, cut in taken) + sum(waiting(asked, name) for name in streamed)
                best = cost if best is None else min(best, cost)
    return best


def fits(asked: Network, taken: Taken, streamed: set[str], resident: set[str]) -> bool:
    local = {stage.local().tensor for option, _ in taken for stage in option.subject.stages[:-1]}  # type: ignore[union-attr]
    for moment in range(max(asked.times.values()) + 1):
        alive = sum(x.size_bytes for x in asked.live if x.tensor not in local and x.first <= moment <= x.last)
        alive += sum(asked.constants[name] for name in resident)
        alive += sum(asked.constants[n] for n in streamed if asked.times[n] - 1 <= moment <= asked.times[n])
        if alive > asked.home_capacity:
            return False
    return True


def waiting(asked: Network, name: str) -> int:
    fetch = asked.levels.fetch
    assert fetch is not None
    hidden = [
        option.cuts[-1].cycles // len(option.names)
        for option in asked.options
        if option.cuts and any(asked.times[n] == asked.times[name] - 1 for n in option.names)
    ]
    wait = max(0, whole_copy_cycles(fetch, asked.constants[name]) - max(hidden, default=0))
    return wait * BYTES_PER_CYCLE


@pytest.mark.parametrize("seed", range(9))
def test_the_choice_is_the_cheapest(seed: int) -> None:
    asked = network(seed)
    oracle, choice = cheapest(asked), choose(asked)
    if oracle is None:
        assert choice is None
        return
    assert choice is not None
    assert choice.cost <= oracle * 1.0002
    assert choice.proved
    assert choice.bound <= choice.cost


# ------------------------------------------------------------------------------- small questions, answered by hand
def cut(compute_bytes: int, cycles: int) -> Cut:
    return Cut({}, (), False, compute_bytes, cycles, 0, 1)


def by_hand(
    options: dict[str, list[Cut]], pinned: dict[str, list[Cut]], constants: dict[str, int], l1: int, l2: int
) -> Network:
    """Nodes one after the other, each with tilings alone and with its constants pinned; 100 bytes are always alive."""
    there = levels(l1, 1 << 20)
    works = works_of(graph_of([
        conv_call(4, 4, 4, 1, name=name, x=f"t{place}", y=f"t{place + 1}") for place, name in enumerate(options)
    ]))  # fmt: skip
    subjects = {name: subject_of([works[name]], there) for name in options}
    offered = [Option(subjects[n], tuple(cuts)) for n, cuts in options.items()]  # type: ignore[arg-type]
    offered += [Option(subjects[n], tuple(c), frozenset([n])) for n, c in pinned.items()]  # type: ignore[arg-type]
    live = (Live("x", 100, 0, len(options) - 1),)
    times = {name: place for place, name in enumerate(options)}
    return Network(tuple(offered), times, live, {}, constants, there, home_capacity=l2)


@pytest.mark.parametrize(("l1", "kept"), [(1200, ["a"]), (1196, []), (900, [])])
def test_pinned_constants_take_bytes_from_every_node(l1: int, kept: list[str]) -> None:
    """Pinned, a is ten times as fast, but b's fast tiling needs what a's constants would hold."""
    asked = by_hand({"a": [cut(500, 1000)], "b": [cut(600, 5000), cut(900, 100)]}, {"a": [cut(300, 100)]}, {"a": 300},
                    l1, 1 << 20)  # fmt: skip
    choice = choose(asked)
    assert choice is not None
    assert sorted(choice.pinned) == kept
    assert [c.compute_bytes for _, c in choice.taken][1] == 900
    assert all(c.compute_bytes + 300 * len(kept) <= l1 for _, c in choice.taken)


@pytest.mark.parametrize(("l2", "resident"), [(1300, 3), (1299, 1), (900, 1), (899, 0), (500, 0)])
def test_resident_constants_take_bytes_at_every_moment(l2: int, resident: int) -> None:
    """Three nodes with 400 bytes of constants each: those that stay lie there while the others' are fetched."""
    asked = by_hand({n: [cut(100, 10)] for n in "abc"}, {}, dict.fromkeys("abc", 400), 1000, l2)
    choice = choose(asked)
    assert choice is not None
    assert len(choice.resident) == resident
    assert len(choice.streamed) == 3 - resident


def test_a_streamed_constant_takes_its_bytes_while_its_node_runs() -> None:
    asked = by_hand({n: [cut(100, 10)] for n in "ab"}, {}, {"a": 400, "b": 400}, 1000, 499)
    assert choose(asked) is None


def test_constants_that_cost_most_to_fetch_stay() -> None:
    asked = by_hand({n: [cut(100, 10)] for n in "abc"}, {}, {"a": 200, "b": 600, "c": 100}, 1000, 940)
    choice = choose(asked)
    assert choice is not None
    assert (choice.resident, choice.streamed) == (frozenset("b"), frozenset("ac"))
    assert asked.levels.fetch is not None
    fetched = sum(whole_copy_cycles(asked.levels.fetch, size) for size in (200, 100))
    assert choice.cost == fetched * BYTES_PER_CYCLE + sum(c.cost() for _, c in choice.taken)


def test_where_everything_has_room_nothing_is_streamed() -> None:
    asked = by_hand({n: [cut(100, 10), cut(200, 5)] for n in "ab"}, {}, {"a": 400, "b": 400}, 1000, 900)
    choice = choose(asked)
    assert choice is not None
    assert (choice.resident, choice.streamed) == (frozenset("ab"), frozenset())
    assert [c.cycles for _, c in choice.taken] == [5, 5]
    assert choice.cost == sum(c.cost() for _, c in choice.taken)
