"""The order of operators that keeps the fewest bytes alive: exact over what may be done so far, a beam beyond that.

After Ahn et al., SERENITY (MLSys 2020): the bytes alive depend only on the set of nodes done, so the best order is a
path through these sets whose worst step is smallest.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tilewright.errors import UsageError

EXACT_STEPS = 40_000  # nodes tried by the exact search per unit of effort
BEAM_STEPS = 60_000  # and by the beam
WORK = 4  # of every limit: units of work per step, where a unit is a node tried in a narrow network


@dataclass(frozen=True)
class OrderNode:
    """A node that reads and writes tensors by name and needs `scratch` bytes while it runs.

    A tensor lives from its first writer to the last node that names it. `in_place` pairs (read, written): where the
    read tensor dies at this node, the written one may lie on its bytes.
    """

    name: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    scratch: int = 0
    in_place: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class OrderProblem:
    """Nodes in the model's order and the bytes of every tensor; `kept` tensors live to the end.

    Tensors that no node writes are inputs: they live from the beginning.
    """

    nodes: tuple[OrderNode, ...]
    sizes: Mapping[str, int]
    kept: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Order:
    """Node names in an order whose `peak` bytes alive are the smallest possible where `proved`.

    `model_peak` is what the given order needs; `lower_bound` is proved for every order. `cut_off` says that the work
    limit ended the search before it had tried what it could.
    """

    nodes: tuple[str, ...]
    peak: int
    model_peak: int
    lower_bound: int
    proved: bool
    cut_off: bool = False


@dataclass(frozen=True, slots=True)
class _State:
    """What is done as a bit set, bytes alive after it, the worst step so far, nodes that are ready."""

    done: int
    live: int
    peak: int
    ready: tuple[int, ...]


def reorder(problem: OrderProblem, *, effort: float = 1.0) -> Order:
    """The best order that the work limit allows; the given order where none is better. Deterministic.

    Raises UsageError for a cycle, an unknown tensor or a tensor both read and written by one node.
    """
    graph = _Graph(problem)
    names = [node.name for node in problem.nodes]
    model_peak = graph.walk(range(len(names))) if graph.in_order else None
    best = list(range(len(names))) if graph.in_order else _any_order(graph)
    peak = graph.walk(best)
    least = graph.widest_node()
    bound = max(least, graph.kept_bytes())
    exact, complete = None, False
    if peak > bound:
        exact, complete = _exact(graph, peak, least, int(effort * EXACT_STEPS))
    cut_off = peak > bound and not complete
    if exact is None and cut_off:
        exact = _beam(graph, peak, least, int(effort * BEAM_STEPS))
    if exact is not None:
        best, peak = exact, graph.walk(exact)
    proved = complete or peak == bound
    return Order(
        tuple(names[index] for index in best),
        peak,
        peak if model_peak is None else model_peak,
        peak if proved else bound,
        proved,
        cut_off and not proved,
    )


def peak_of(problem: OrderProblem, order: Sequence[str]) -> int:
    """Most bytes alive at once in an order of all nodes; UsageError where it runs a node before what it reads."""
    graph = _Graph(problem)
    places = {node.name: index for index, node in enumerate(problem.nodes)}
    return graph.walk([places[name] for name in order])


class _Graph:
    """The problem in numbers: nodes by index, sets of nodes as bits."""

    def __init__(self, problem: OrderProblem) -> None:
        self.nodes = problem.nodes
        self.sizes = problem.sizes
        self.kept = problem.kept
        self.writers: dict[str, int] = {}
        self.users: dict[str, int] = {}
        for index, node in enumerate(self.nodes):
            self._check(node)
            for name in node.writes:
                self.writers[name] = self.writers.get(name, 0) | 1 << index
            for name in (*node.reads, *node.writes):
                self.users[name] = self.users.get(name, 0) | 1 << index
        self.before = [0] * len(self.nodes)
        for index, node in enumerate(self.nodes):
            for name in node.reads:
                self.before[index] |= self.writers.get(name, 0)
        self.after: list[list[int]] = [[] for _ in self.nodes]
        for index, before in enumerate(self.before):
            for earlier in _bits(before):
                self.after[earlier].append(index)
        self.in_order = all(before < 1 << index for index, before in enumerate(self.before))
        self.results = [tuple(dict.fromkeys(node.writes)) for node in self.nodes]
        self.written = [sum(self.sizes[name] for name in names) for names in self.results]
        self.alone = [
            all(self.writers[name] == 1 << index for name in names) for index, names in enumerate(self.results)
        ]

    def start(self) -> _State:
        """Nothing done: the inputs are alive."""
        inputs = [name for name in self.users if name not in self.writers]
        live = sum(self.sizes[name] for name in inputs)
        ready = tuple(index for index, before in enumerate(self.before) if before == 0)
        return _State(0, live, live, ready)

    def step(self, state: _State, index: int) -> _State:
        """The state after one more node."""
        node, results = self.nodes[index], self.results[index]
        done = state.done | 1 << index
        born = self.written[index]
        if not self.alone[index]:
            born = sum(self.sizes[name] for name in results if not self.writers[name] & state.done)
        dying = {name for name in node.reads if self._dies(name, done)}
        saved = 0
        taken: set[str] = set()
        for read, written in node.in_place:
            if read in dying and not {read, written} & taken and not self.writers[written] & state.done:
                saved += min(self.sizes[read], self.sizes[written])
                taken |= {read, written}
        at_once = state.live + born + node.scratch - saved
        freed = sum([self.sizes[name] for name in dying])
        freed += sum([self.sizes[name] for name in results if self._dies(name, done)])
        place = state.ready.index(index)
        opened = [other for other in self.after[index] if self.before[other] & ~done == 0]
        ready = (*state.ready[:place], *state.ready[place + 1 :], *opened)
        return _State(done, state.live + born - freed, max(state.peak, at_once), ready)

    def work(self, state: _State) -> int:
        """What one step from a state costs: sets of nodes and lists of ready ones are copied, long ones for longer."""
        return 1 + len(state.ready) // 64 + len(self.nodes) // 4096

    def walk(self, order: Sequence[int]) -> int:
        """Most bytes alive in a whole order, by counting what is left of each tensor's users."""
        missing = [before.bit_count() for before in self.before]
        left = {name: users.bit_count() for name, users in self.users.items()}
        written: set[str] = set()
        live = peak = self.start().live
        for index in order:
            node, results = self.nodes[index], self.results[index]
            if missing[index]:
                raise UsageError(f"node '{node.name}' comes before what it reads or comes twice")
            missing[index] = -1
            for name in {*node.reads, *results}:
                left[name] -= 1
            dying = {name for name in node.reads if not left[name] and name not in self.kept}
            fresh = [name for name in results if name not in written]
            saved, taken = 0, set[str]()
            for operand, result in node.in_place:
                if operand in dying and not {operand, result} & taken and result not in written:
                    saved += min(self.sizes[operand], self.sizes[result])
                    taken |= {operand, result}
            born = sum(self.sizes[name] for name in fresh)
            peak = max(peak, live + born + node.scratch - saved)
            gone = (*dying, *(name for name in results if not left[name] and name not in self.kept))
            live += born - sum(self.sizes[name] for name in gone)
            written.update(results)
            for other_index in self.after[index]:
                missing[other_index] -= 1
        if len(order) != len(self.nodes):
            raise UsageError(f"the order has {len(order)} nodes", why=f"the graph has {len(self.nodes)}")
        return peak

    def steps(self, state: _State, least: int, left: int) -> tuple[list[tuple[int, _State]], int]:
        """The nodes to try next with the states after them, and the work that finding them took: none beyond `left`.

        A ready node that adds nothing to what stays alive nor to the worst step is the only one: running it first loses
        nothing. The later it ran, the less it could change, and every other step finds at most as much alive after it.
        """
        tried: list[tuple[int, _State]] = []
        work, each = 0, self.work(state)
        for index in state.ready:
            work += each
            if work > left:
                return [], work
            after = self.step(state, index)
            tried.append((index, after))
            if after.live <= state.live and after.peak <= max(state.peak, least):
                return tried[-1:], work
        return tried, work

    def kept_bytes(self) -> int:
        """Bytes alive at the end of every order."""
        return sum(self.sizes[name] for name in self.kept if name in self.users)

    def widest_node(self) -> int:
        """Bytes that some node needs by itself in every order."""
        best = self.start().live
        for index, node in enumerate(self.nodes):
            names = {*node.reads, *node.writes}
            saved = sum(min(self.sizes[read], self.sizes[written]) for read, written in node.in_place)
            best = max(best, sum(self.sizes[name] for name in names) + node.scratch - min(saved, self.written[index]))
        return best

    def _dies(self, name: str, done: int) -> bool:
        return name not in self.kept and self.users[name] & ~done == 0

    def _check(self, node: OrderNode) -> None:
        for name in (*node.reads, *node.writes):
            if name not in self.sizes:
                raise UsageError(f"node '{node.name}' names '{name}'", why="no size is given for it", node=node.name)
            if self.sizes[name] < 0:
                raise UsageError(f"tensor '{name}' has {self.sizes[name]} bytes", why="a size cannot be negative")
        for name in node.reads:
            if name in node.writes:
                raise UsageError(f"node '{node.name}' both reads and writes '{name}'", node=node.name)
        for read, written in node.in_place:
            if read not in node.reads or written not in node.writes:
                raise UsageError(
                    f"node '{node.name}' cannot put '{written}' on '{read}'",
                    why="it reads or writes no such tensor",
                    node=node.name,
                )


def _exact(graph: _Graph, ceiling: int, least: int, steps: int) -> tuple[list[int] | None, bool]:
    """The best order below `ceiling` and whether the search was complete; the set with the mildest worst step first."""
    start = graph.start()
    came: dict[int, tuple[int, int]] = {}
    best = {0: start.peak}
    heap: list[tuple[int, int, int, _State]] = [(start.peak, 0, 0, start)]
    everything, counter, left = (1 << len(graph.nodes)) - 1, 0, WORK * steps
    while heap:
        _, _, _, state = heapq.heappop(heap)
        if state.done == everything:
            return _path(came, everything), True
        if best[state.done] < state.peak:
            continue
        tried, work = graph.steps(state, least, left)
        left -= work
        for index, after in tried:
            counter += 1
            if after.peak >= ceiling or best.get(after.done, ceiling) <= after.peak:
                continue
            best[after.done] = after.peak
            came[after.done] = (state.done, index)
            heapq.heappush(heap, (after.peak, -after.done.bit_count(), counter, after))
        if counter > steps or left < 0:
            return None, False
    return None, True


def _beam(graph: _Graph, ceiling: int, least: int, steps: int) -> list[int] | None:
    """An order below `ceiling` by keeping only the most promising sets of each size; None where it finds none.

    Where more nodes are ready than the work limit allows for, fewer sets are kept; none where even one is too much.
    """
    width = max(4, steps // (4 * len(graph.nodes)))
    left = WORK * steps
    level = {0: graph.start()}
    came: dict[int, tuple[int, int]] = {}
    for number in range(len(graph.nodes)):
        following: dict[int, _State] = {}
        share = left // (len(graph.nodes) - number)
        for state in level.values():
            tried, work = graph.steps(state, least, left)
            left, share = left - work, share - work
            if left < 0:
                return None
            for index, after in tried:
                rival = following.get(after.done)
                if after.peak < ceiling and (rival is None or after.peak < rival.peak):
                    following[after.done] = after
                    came[after.done] = (state.done, index)
            if share <= 0:
                break
        level = dict(sorted(following.items(), key=lambda entry: (entry[1].peak, entry[1].live))[:width])
    return _path(came, (1 << len(graph.nodes)) - 1) if level else None


def _path(came: Mapping[int, tuple[int, int]], done: int) -> list[int]:
    """The nodes in the order in which they led to a set."""
    order = []
    while done:
        done, index = came[done]
        order.append(index)
    return order[::-1]


def _any_order(graph: _Graph) -> list[int]:
    """A topological order; UsageError names the nodes of a cycle."""
    state, order = graph.start(), []
    while state.ready:
        index = min(state.ready)
        order.append(index)
        state = graph.step(state, index)
    if len(order) < len(graph.nodes):
        waiting = next(index for index in range(len(graph.nodes)) if not state.done >> index & 1)
        path = [waiting]
        while True:
            waiting = next(earlier for earlier in _bits(graph.before[waiting]) if not state.done >> earlier & 1)
            if waiting in path:
                cycle = [*path[path.index(waiting) :], waiting][::-1]
                raise UsageError(f"the nodes {' -> '.join(graph.nodes[i].name for i in cycle)} form a cycle")
            path.append(waiting)
    return order


def _bits(number: int) -> Iterator[int]:
    """The places of the ones in a number."""
    while number:
        low = number & -number
        yield low.bit_length() - 1
        number ^= low
