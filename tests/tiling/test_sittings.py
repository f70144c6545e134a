"""Neighbours at one sitting: chosen where it is faster, the same from decisions, every rule broken by hand is seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import pytest
from tilewright.errors import UsageError
from tilewright.schedule.tile import tile
from tilewright.tiling.apply import apply_solution
from tilewright.tiling.check import ScheduleFault, check
from tilewright.tiling.hierarchy import hierarchy
from tilewright.tiling.options import works_of
from tilewright.tiling.schedule import Errand, Operand, TileSchedule
from tilewright.tiling.sitting import reading_of, sitting_of
from tilewright.tiling.solution import NodeTiling, solution_of
from tilewright.tiling.switches import TileOptions
from tilewright.tiling.tiled_graph import TiledGraph
from tiling.networks import of_l1, on_pulp

KIB = 1024
Network = Callable[[str], "Files"]


class Files(Protocol):
    """What the fixture `network` finds."""

    @property
    def model(self) -> Path: ...


def tiled(network: Network, name: str, kib: int = 56, *, sit: bool = True) -> TiledGraph:
    return tile(on_pulp(network(name).model), of_l1(kib * KIB), options=TileOptions(sit=sit))


def sittings_of(graph: TiledGraph) -> list[TileSchedule]:
    return [schedule for schedule in graph.schedules.values() if schedule.starts]


def longest(graph: TiledGraph) -> TileSchedule:
    return max(sittings_of(graph), key=lambda schedule: len(schedule.stages))


@pytest.mark.parametrize("name", ["ad_int8", "resnet8_int8"])
def test_what_sits_together_is_faster_and_leaves_less_at_home(network: Network, name: str) -> None:
    together, alone = tiled(network, name), tiled(network, name, sit=False)
    assert sittings_of(together)
    assert not sittings_of(alone)
    cycles = [sum(schedule.cycles for schedule in graph.schedules.values()) for graph in (together, alone)]
    assert cycles[0] < cycles[1]
    for schedule in sittings_of(together):
        made = [o for stage in schedule.stages for o in stage.operands if o.kind == "local" and o.index < 0]
        assert all(together.homes[operand.tensor] == "" for operand in made)


@pytest.mark.parametrize("name", ["ad_int8", "dscnn_int8"])
@pytest.mark.parametrize("kib", [24, 12])
def test_buffers_are_inside_the_level(network: Network, name: str, kib: int) -> None:
    for schedule in sittings_of(tiled(network, name, kib)):
        ends = [operand.offset + operand.size for stage in schedule.stages for operand in stage.operands]
        assert max(ends) + schedule.table_bytes <= schedule.compute_bytes <= kib * KIB


def test_copies_start_ahead(network: Network) -> None:
    schedule = longest(tiled(network, "ad_int8"))
    assert any(start < int(key.partition(".")[0]) - 1 for key, start in schedule.starts.items())


def test_a_part_of_what_lies_there_whole_is_not_read(network: Network) -> None:
    """A convolution of one tap in two leaves out the last row and column of what the one before has made."""
    graph = on_pulp(network("resnet8_int8").model)
    works, levels = works_of(graph), hierarchy(graph.platform)
    assert levels is not None
    strided = next(work for work in works.values() if work.call.integers("strides", (1, 1)) == (2, 2)
                   and work.call.shape(1)[2:] == (1, 1))  # fmt: skip
    reading = reading_of(graph)
    source = next(w for w in works.values() if w.call.outputs[0].name == reading.root(strided.call.tensor(0).name))
    assert sitting_of([strided], reading, levels) is not None
    assert sitting_of([source], reading, levels) is not None
    assert sitting_of([source, strided], reading, levels) is None


def test_decisions_give_the_same_sittings(network: Network) -> None:
    graph = tiled(network, "dscnn_int8")
    again = apply_solution(graph.graph, of_l1(56 * KIB), {}, TileOptions(), solution_of(graph))
    assert again.schedules == graph.schedules
    assert again.homes == graph.homes


@pytest.mark.parametrize("change", ["every other node", "cut", "second buffers", "late copies"])
def test_impossible_sittings_are_refused(network: Network, change: str) -> None:
    graph = tiled(network, "ad_int8")
    solution = list(solution_of(graph))
    one = solution.pop(next(place for place, each in enumerate(solution) if each.starts))
    nodes = one.nodes[::2] if change == "every other node" else one.nodes
    sizes = {"n": 8} if change == "cut" else {}
    starts = dict.fromkeys(one.starts, 0) if change == "late copies" else one.starts
    solution.append(NodeTiling(nodes, sizes, tuple(sizes), change == "second buffers", starts=starts))
    solution += [NodeTiling((name,), {}, (), False) for name in one.nodes if name not in nodes]
    with pytest.raises(UsageError, match="cannot be computed at one sitting"):
        apply_solution(graph.graph, of_l1(56 * KIB), {}, TileOptions(), tuple(solution))


# ------------------------------------------------------------------------------------------------ faults that are seen
def changed(schedule: TileSchedule, pick: Callable[[int, Operand], bool], **fields: object) -> TileSchedule:
    """The sitting with every picked operand changed."""
    stages = tuple(
        replace(stage, operands=tuple(replace(o, **fields) if pick(n, o) else o for o in stage.operands))  # type: ignore[arg-type]
        for n, stage in enumerate(schedule.stages)
    )
    return replace(schedule, stages=stages)


def overlapping(schedule: TileSchedule) -> TileSchedule:
    """A result in the place of the weights of its own stage."""
    stage = schedule.stages[2]
    weights = next(o for o in stage.operands if o.kind == "constant")
    key = next(o.key for o in stage.operands if o.index < 0)
    return changed(schedule, lambda _, o: o.key == key, offset=weights.offset)


def begun(schedule: TileSchedule, stage: int, start: int) -> TileSchedule:
    """The sitting with the copies of one stage started elsewhere."""
    starts = {key: start if key.startswith(f"{stage}.") else old for key, old in schedule.starts.items()}
    return replace(schedule, starts=starts)


def reads(number: int, operand: Operand) -> bool:
    return number == 4 and operand.kind == "local" and operand.index >= 0


FAULTS: dict[str, tuple[Callable[[TileSchedule], TileSchedule], str]] = {
    "overlap": (overlapping, "overlap"),
    "copies that start too late": (lambda s: begun(s, 3, 3), "is copied from stage 3 on"),
    "copies over what is still read": (lambda s: replace(s, starts=dict.fromkeys(s.starts, -1)), "overlap"),
    "a copy that nobody knows of": (lambda s: replace(s, starts={**s.starts, "9.c.w": 0}), "when they start"),
    "a result that nobody has made": (lambda s: changed(s, reads, key="9.i.x"), "nothing has"),
    "a result read elsewhere": (lambda s: changed(s, reads, offset=0), "lies at"),
    "a result that is not stored": (
        lambda s: changed(s, lambda _, o: o.kind == "output", kind="local", index=-1), "claims to move",
    ),
    "an errand that reads what is not stored": (
        lambda s: replace(s, errands=(Errand("e", 2, frozenset({_made(s, 1)}), frozenset()),)), "not stored by then",
    ),
    "an errand whose result was copied before": (
        lambda s: replace(s, errands=(Errand("e", 2, frozenset(), frozenset({_copied(s)})),)), "before 'e' writes it",
    ),
}  # fmt: skip


def _made(schedule: TileSchedule, stage: int) -> str:
    return next(o.tensor for o in schedule.stages[stage].operands if o.kind == "local" and o.index < 0)


def _copied(schedule: TileSchedule) -> str:
    return next(o.tensor for o in schedule.stages[0].operands if o.kind == "input")


@pytest.mark.parametrize("fault", FAULTS)
def test_broken_sittings_are_seen(network: Network, fault: str) -> None:
    sound = longest(tiled(network, "ad_int8"))
    check(sound, 56 * KIB, 8)
    change, words = FAULTS[fault]
    with pytest.raises(ScheduleFault, match=words):
        check(change(sound), 56 * KIB, 8)
