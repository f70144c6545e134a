"""What may be chosen of a network's nodes: one node alone, one with its constants pinned, or a fused chain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from tilewright.binding.graph import BoundGraph, BoundNode
from tilewright.tiling.front import front_of, walked
from tilewright.tiling.hierarchy import Hierarchy, align_up
from tilewright.tiling.stages import Work, work_of
from tilewright.tiling.subject import Subject, subject_of
from tilewright.tiling.walk import Cut, Objective

MOST_POINTS = 30


@dataclass(frozen=True)
class Option:
    """Nodes that run as one schedule, and the front of their tilings. `pinned` nodes keep constants in compute."""

    subject: Subject
    cuts: tuple[Cut, ...]
    pinned: frozenset[str] = frozenset()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the nodes, in order."""
        return self.subject.names


@dataclass
class Fronts:
    """Fronts by what they depend on, so that equal layers are enumerated once."""

    capacity: int
    objective: Objective
    most: int = MOST_POINTS

    def __post_init__(self) -> None:
        """Nothing is known yet."""
        self._known: dict[object, tuple[Cut, ...]] = {}

    def of(self, subject: Subject, limit: int | None = None) -> tuple[Cut, ...]:
        """The front of a subject; empty where nothing fits, or where nothing could cost less than `limit`."""
        key = (limit, signature(subject))
        if key not in self._known:
            cuts = walked(subject, self.capacity, limit, self.objective)
            self._known[key] = front_of(cuts, self.most, self.objective)
        return self._known[key]


def signature(subject: Subject) -> object:
    """Everything that a subject's tilings depend on; names of nodes and tensors are no part of it."""
    parts: list[object] = []
    for work, stage in zip(subject.works, subject.stages, strict=True):
        node = work.call.node
        parts.append((work.kernel.platform, work.kernel.name, node.op, repr(sorted(node.attributes.items(), key=str))))
        parts.append((tuple(stage.extents.items()), tuple(stage.feeds.items()), work.rules))
        for o in stage.operands:
            parts.append((o.key, o.kind, o.index, o.shape, o.bits, o.axes, o.home, tuple(map(str, o.accesses))))
    return tuple(parts)


def works_of(graph: BoundGraph) -> dict[str, Work]:
    """What may be cut, by node name; nodes whose kernel is never cut are no part of it."""
    works = {}
    for bound in graph.nodes:
        kernel = bound.kernel
        if kernel is not None and kernel.tileable:
            constants = kernel.constants(graph.operands(bound))
            works[bound.call.node.name] = work_of(bound.call, kernel, graph.layouts, constants)
    return works


def constant_bytes(work: Work, align: int) -> int:
    """Bytes of a node's constants, each aligned."""
    total = 0
    for operand in work.stage.operands:
        if operand.kind == "constant":
            box = tuple((0, size) for size in operand.shape)
            total += int(align_up(operand.bytes_of(box), align))
    return total


def chains(graph: BoundGraph, works: Mapping[str, Work], longest: int) -> list[tuple[str, ...]]:
    """Runs of at most so many neighbouring nodes whose results only the next one reads, the shorter ones first."""
    order = [bound for bound in graph.nodes if bound.kernel is not None]
    readers = _readers(graph)
    chains = []
    for length in range(2, longest + 1):
        for start in range(len(order) - length + 1):
            run = order[start : start + length]
            names = tuple(bound.call.node.name for bound in run)
            if all(name in works for name in names) and all(_feeds(readers, a, b) for a, b in pairwise(run)):
                chains.append(names)
    return chains


def _readers(graph: BoundGraph) -> dict[str, int]:
    """How often each tensor is read, a view and a network output counting as readers."""
    count = dict.fromkeys(graph.model.outputs, 1)
    for bound in graph.nodes:
        for name in bound.call.node.inputs:
            count[name] = count.get(name, 0) + 1
    return count


def _feeds(readers: Mapping[str, int], producer: BoundNode, consumer: BoundNode) -> bool:
    """True where the only result of one node is read by the other alone."""
    if len(producer.call.outputs) != 1:
        return False
    name = producer.call.outputs[0].name
    return readers.get(name, 0) == 1 and name in consumer.call.node.inputs


def options_of(
    graph: BoundGraph, works: Mapping[str, Work], levels: Hierarchy, fronts: Fronts, fuse: bool = True,
    pin: bool = True, tight: bool = False,
) -> list[Option]:  # fmt: skip
    """Every option worth offering to the solver: pinned and fused ones only where they cost less than without.

    `tight` says that the home level does not hold everything at once, so that fusing may be needed to fit.
    """
    options: list[Option] = []
    best: dict[str, int] = {}
    for name, work in works.items():
        alone = subject_of([work], levels)
        assert alone is not None
        cuts = fronts.of(alone)
        options.append(Option(alone, cuts))
        if cuts:
            best[name] = cuts[-1].cost(fronts.objective)
        size = constant_bytes(work, levels.compute.align)
        if pin and size and size < levels.capacity:
            subject = subject_of([work], levels, frozenset([name]))
            assert subject is not None
            subject.known.update(alone.known)  # its other operands are cut alike
            cuts = tuple(c for c in fronts.of(subject) if c.compute_bytes + size <= levels.capacity)
            if cuts and cuts[-1].cost(fronts.objective) < best.get(name, 1 << 62):
                options.append(Option(subject, cuts, frozenset([name])))
    return options + (_fused(graph, works, levels, fronts, best, tight) if fuse else [])


def _fused(
    graph: BoundGraph, works: Mapping[str, Work], levels: Hierarchy, fronts: Fronts, best: Mapping[str, int],
    tight: bool,
) -> list[Option]:  # fmt: skip
    """Chains that cost less than their nodes alone; where the home level is `tight`, all that there are.

    A longer chain is looked at only where a shorter one in it was taken.
    """
    options: list[Option] = []
    known: set[tuple[str, ...]] = set()
    for names in chains(graph, works, levels.costs.together):
        if len(names) > 2 and not known & {names[1:], names[:-1]}:
            continue
        subject = subject_of([works[name] for name in names], levels)
        apart = sum(best.get(name, 1 << 62) for name in names)
        cuts = fronts.of(subject, None if tight else apart) if subject is not None else ()
        if subject is not None and cuts and (cuts[-1].cost(fronts.objective) < apart or tight):
            options.append(Option(subject, cuts))
            known.add(names)
    return options
