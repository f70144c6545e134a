"""A tiling solution from outside, applied: every size, order and byte is checked before a schedule is made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tilewright.binding.graph import BoundGraph
from tilewright.errors import DoesNotFit, UsageError
from tilewright.platform import MemoryLevel
from tilewright.tiling.choose import Choice
from tilewright.tiling.hierarchy import Hierarchy, hierarchy
from tilewright.tiling.options import Option, constant_bytes, works_of
from tilewright.tiling.schedule import TileSchedule
from tilewright.tiling.scheduled import scheduled
from tilewright.tiling.sitting import errands_between, reading_of, sitting_of
from tilewright.tiling.solution import NodeTiling, TilingSolution
from tilewright.tiling.stages import Work
from tilewright.tiling.subject import Subject, subject_of
from tilewright.tiling.switches import TileOptions, hierarchy_for
from tilewright.tiling.tiled_graph import TiledGraph
from tilewright.tiling.walk import walk


def apply_solution(
    graph: BoundGraph, levels: Sequence[MemoryLevel], reserved: Mapping[str, int], options: TileOptions,
    solution: TilingSolution,
) -> TiledGraph:  # fmt: skip
    """The graph cut as the solution says; `reserved` are bytes of a level that stacks take.

    UsageError where the solution says something impossible, DoesNotFit where its tiles exceed the compute level.
    """
    whole = hierarchy(graph.platform, levels, reserved)
    if whole is None:
        if solution:
            raise UsageError(
                "a tiling solution was given", why=f"platform '{graph.platform.name}' has one memory level"
            )
        return TiledGraph(graph, {})
    levels_asked = hierarchy_for(whole, options)
    works = works_of(graph)
    _covered(solution, set(works))
    chosen = []
    named: dict[str, set[str]] = {"pinned": set(), "resident": set(), "streamed": set()}
    for one in solution:
        if one.constants not in named:
            raise UsageError(
                f"constants of '{one.nodes[-1]}' are '{one.constants}'", fix="say pinned, resident or streamed"
            )
        named[one.constants] |= set(one.nodes)
    held = sum(constant_bytes(works[name], levels_asked.compute.align) for name in named["pinned"])
    sittings = []
    for one in solution:
        if one.starts:
            sittings.append(_sitting(graph, works, levels_asked, one, held))
            continue
        pinned = frozenset(one.nodes) if one.constants == "pinned" else frozenset()
        subject = subject_of([works[name] for name in one.nodes], levels_asked, pinned)
        if subject is None or (pinned and len(one.nodes) > 1):
            raise UsageError(f"{' + '.join(one.nodes)} cannot be one schedule", why="the tile of one does not follow "
                             "from that of the next, or pinned constants were asked for in a chain")  # fmt: skip
        _possible(subject, one)
        cut = walk(subject, one.sizes, one.order, one.double)
        if cut.compute_bytes + held > levels_asked.capacity:
            level = levels_asked.compute.name
            raise DoesNotFit(
                f"the given tiles of '{' + '.join(one.nodes)}' do not fit {levels_asked.capacity} bytes of '{level}'",
                why=f"they take {cut.compute_bytes + held} bytes", fix="use smaller tiles", node=one.nodes[-1],
                smallest={level: cut.compute_bytes + held},
            )  # fmt: skip
        chosen.append((Option(subject, (), pinned), cut))
    choice = Choice(tuple(chosen), frozenset(named["resident"]),
                    frozenset(named["streamed"]) if levels_asked.fetch is not None else frozenset(),
                    pinned=frozenset(named["pinned"]), sittings=tuple(sittings))  # fmt: skip
    return scheduled(graph, works, levels_asked, choice)


def _sitting(
    graph: BoundGraph, works: Mapping[str, Work], levels: Hierarchy, one: NodeTiling, pinned_bytes: int
) -> TileSchedule:
    """The nodes at one sitting; UsageError where they cannot be."""
    reading, schedule = reading_of(graph), None
    whole = not one.sizes and not one.double and one.constants == "resident" and not pinned_bytes
    errands = errands_between(one.nodes, reading) if whole else None
    if errands is not None:
        schedule = sitting_of([works[name] for name in one.nodes], reading, levels, errands, one.starts)
    if schedule is None:
        raise UsageError(
            f"{' + '.join(one.nodes)} cannot be computed at one sitting",
            why="they are no neighbours, one reads a part of what another makes, or the compute level is too small",
            fix="cut them by themselves",
        )
    return schedule


def _covered(solution: TilingSolution, expected: set[str]) -> None:
    names = [name for one in solution for name in one.nodes]
    for name in names:
        if name not in expected:
            raise UsageError(
                f"the tiling solution cuts '{name}'", why="no kernel that can be cut has that node", node=name
            )
        if names.count(name) > 1:
            raise UsageError(f"the tiling solution cuts '{name}' twice", node=name)
    for name in sorted(expected - set(names)):
        raise UsageError(f"the tiling solution does not say how to cut '{name}'", node=name)


def _possible(subject: Subject, one: NodeTiling) -> None:
    """The sizes are of loops that may be cut, in multiples that the kernel takes, and tiles have no holes."""
    where = " + ".join(one.nodes)
    if set(one.order) != set(one.sizes) or len(set(one.order)) != len(one.order):
        raise UsageError(f"the order {list(one.order)} of '{where}' does not name the loops that are cut, once each")
    for loop, size in one.sizes.items():
        if loop not in subject.cuttable:
            raise UsageError(f"loop '{loop}' of '{where}' cannot be cut", why=f"{', '.join(subject.cuttable)} can")
        step = subject.multiples.get(loop, 1)
        if not 1 <= size < subject.extents[loop] or size % step:
            raise UsageError(f"tiles of {size} along '{loop}' of '{where}'",
                             why=f"they are multiples of {step} below {subject.extents[loop]}")  # fmt: skip
    if not subject.keeps_sums(one.order):
        raise UsageError(f"the order {list(one.order)} of '{where}'",
                         why="a sum over one of these loops would leave the compute level before it is complete",
                         fix="put loops that move all results first")  # fmt: skip
    for inner, outer in subject.digits:
        if inner in one.sizes and one.sizes.get(outer, subject.extents[outer]) != 1:
            raise UsageError(f"'{inner}' of '{where}' is cut while '{outer}' is not cut to single steps")
