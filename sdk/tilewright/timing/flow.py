"""Ways through a function: its loops, where ways meet, and which of two places lies further on.

Dominators as in Cooper, Harvey and Kennedy, A Simple, Fast Dominance Algorithm, 2001. Calls are passed over; what
leaves the function leads to `EXIT`. Loops with several entries are none here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tilewright.timing.lift import Instruction

EXIT = -1
INSIDE = 1024
"""Places of one instruction; a place is `address * INSIDE + operation`."""
Graph = Mapping[int, Iterable[int]]


@dataclass(frozen=True)
class Loop:
    """A natural loop: the place where it is entered, and all places in it."""

    header: int
    body: frozenset[int]


@dataclass(frozen=True)
class Flow:
    """Places in an order in which ways go through them but for turns of loops, those of a loop side by side; those
    where several ways come in; and of each place in a loop the innermost one."""

    order: Mapping[int, int]
    meetings: frozenset[int]
    innermost: Mapping[int, Loop] = field(default_factory=dict)
    live: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """Words of registers that are read later, by place."""

    @property
    def loops(self) -> list[Loop]:
        """Every loop that holds some place first, by its header."""
        by_header = {loop.header: loop for loop in self.innermost.values()}
        return [by_header[header] for header in sorted(by_header)]

    def around(self, one: int) -> list[Loop]:
        """The loops that a place lies in, the outermost first."""
        return sorted((loop for loop in self.loops if one in loop.body), key=lambda loop: -len(loop.body))


def place(address: int, operation: int = 0) -> int:
    """The number of a place."""
    return address * INSIDE + operation


def address_of(of: int) -> int:
    """The instruction of a place."""
    return of // INSIDE


def relative(value: int) -> int:
    """How many operations a branch inside of an instruction goes on; negative to go back."""
    value &= 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value


def places_inside(instruction: Instruction) -> frozenset[int]:
    """Operations of an instruction at which ways begin or meet, its first aside; its end where one leads there."""
    starts = set[int]()
    for at, each in enumerate(instruction.operations):
        if each.name in ("BRANCH", "CBRANCH") and each.inputs[0].space == "const":
            starts.add(at + relative(each.inputs[0].offset))
        if each.name == "CBRANCH":
            starts.add(at + 1)
    return frozenset(one for one in starts if 0 < one < len(instruction.operations))


def edges(
    instructions: Sequence[Instruction], low: int, end: int, jumps: Mapping[int, Iterable[int]]
) -> dict[int, set[int]]:
    """Where each place of a function from `low` to `end` leads; computed `jumps` as far as they were seen."""
    present = {one.address for one in instructions}
    graph: dict[int, set[int]] = {}

    def outside(address: int) -> int:
        return place(address) if low <= address < end and address in present else EXIT

    for one in instructions:
        starts, now, closed = places_inside(one), place(one.address), False
        graph[now] = set()
        for at, each in enumerate(one.operations):
            if at in starts:
                if not closed:
                    graph[now].add(place(one.address, at))
                now, closed = place(one.address, at), False
                graph[now] = set()
            if closed:
                continue
            if each.name in ("BRANCH", "CBRANCH"):
                target = each.inputs[0]
                inside = at + relative(target.offset)
                if target.space != "const":
                    graph[now].add(outside(target.offset))
                elif inside >= len(one.operations):
                    graph[now].add(outside(one.end))
                else:
                    graph[now].add(place(one.address, inside))
                closed = each.name == "BRANCH"
            elif each.name in ("RETURN", "BRANCHIND"):
                graph[now].update(outside(address) for address in jumps.get(one.address, ()))
                closed = True
                if each.name == "RETURN" or not graph[now]:
                    graph[now].add(EXIT)
        if not closed:
            graph[now].add(outside(one.end))
    return graph


def flow_of(graph: Graph, entry: int, live: Mapping[int, tuple[int, ...]]) -> Flow:
    """Loops of a function, where its ways meet, and their order; `live` registers are known."""
    backward: dict[int, set[int]] = {EXIT: set()}
    for source, targets in graph.items():
        for target in targets:
            backward.setdefault(target, set()).add(source)
    innermost = _innermost(graph, backward, dominators(graph, entry))
    meetings = frozenset(target for target, sources in backward.items() if target != EXIT and len(sources) > 1)
    order = reversed(_order(graph, entry, innermost))
    return Flow({one: number for number, one in enumerate(order)}, meetings, innermost, live)


def dominators(graph: Graph, root: int) -> dict[int, int]:
    """The immediate dominator of each place that can be reached from `root`; of that one itself."""
    order = _order(graph, root)
    height = {one: number for number, one in enumerate(order)}
    before: dict[int, list[int]] = {one: [] for one in order}
    for source in order:
        for target in graph.get(source, ()):
            before[target].append(source)
    above = {root: root}
    changed = True
    while changed:
        changed = False
        for one in reversed(order[:-1]):
            known = [each for each in before[one] if each in above]
            new = known[0]
            for other in known[1:]:
                new = _common(above, height, new, other)
            if above.get(one) != new:
                above[one] = new
                changed = True
    return above


def _common(above: Mapping[int, int], height: Mapping[int, int], a: int, b: int) -> int:
    while a != b:
        while height[a] < height[b]:
            a = above[a]
        while height[b] < height[a]:
            b = above[b]
    return a


def _order(graph: Graph, root: int, innermost: Mapping[int, Loop] | None = None) -> list[int]:
    """What can be reached, each behind all that it leads to, but for loops; `root` last.

    Where loops are known, what lies behind a loop comes before all that is in it.
    """
    loops = innermost or {}

    def onward(one: int) -> Iterator[int]:
        body = loops[one].body if one in loops else frozenset()
        return iter(sorted(graph.get(one, ()), key=lambda target: (target in body, target)))

    order, seen = list[int](), {root}
    stack: list[tuple[int, Iterator[int]]] = [(root, onward(root))]
    while stack:
        one, rest = stack[-1]
        for target in rest:
            if target not in seen:
                seen.add(target)
                stack.append((target, onward(target)))
                break
        else:
            order.append(one)
            stack.pop()
    return order


def _innermost(graph: Graph, backward: Mapping[int, set[int]], above: Mapping[int, int]) -> dict[int, Loop]:
    bodies: dict[int, set[int]] = {}
    for source, targets in graph.items():
        for header in targets:
            if header != EXIT and source in above and _dominates(above, header, source):
                bodies.setdefault(header, {header}).update(_body(header, source, backward))
    innermost: dict[int, Loop] = {}
    for header in sorted(bodies, key=lambda one: (-len(bodies[one]), one)):
        loop = Loop(header, frozenset(bodies[header]))
        innermost.update(dict.fromkeys(loop.body, loop))
    return innermost


def _dominates(above: Mapping[int, int], upper: int, one: int) -> bool:
    while one != upper and above[one] != one:
        one = above[one]
    return one == upper


def _body(header: int, source: int, backward: Mapping[int, set[int]]) -> set[int]:
    body, waiting = {header}, [source]
    while waiting:
        one = waiting.pop()
        if one not in body:
            body.add(one)
            waiting += backward.get(one, ())
    return body
