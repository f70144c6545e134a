"""Store or compute again: what a step keeps of its forward half for the backward one, against work.

A result of the forward half is either kept until the backward half has read it, or computed a second time right before
that, from what is kept or computed again itself (Griewank and Walther, ACM TOMS 26, 2000; Chen and others, arXiv
1604.06174). What was computed again is kept for all that read it later, or is made afresh for each of them: then it
can be written over by what is made of it. Which ones is chosen greedily by live bytes at the worst moment, one price
after the other, within a limit of work. Bytes are those of a plan without in-place writes but of results that lie over
what they are computed of, so they are a guide for the choice alone: what a step needs is what the planner places.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from tilewright.frontend.names import unique
from tilewright.gradient.pairs import paired
from tilewright.gradient.pooled import pooled
from tilewright.model import Model, Node, Tensor
from tilewright.ops.operator import Call, Kind
from tilewright.ops.registry import call_of, find

CROWDED = 16
"""The power to which the bytes of a moment count: high enough that the worst decide, and that all of them count."""

PAIRED = 48
"""Of so many results all pairs are looked at."""

SIGNS = 0.02
"""What planes in signs take of the time of a plain step, beside multiply-accumulates: they win where they save more."""


@dataclass(frozen=True)
class Recomputation:
    """The step with some results computed twice; `work` is that of the plain step times so much.

    In `apart` layers that are taken back together are two nodes.
    """

    model: Model
    apart: Model
    repeated: tuple[str, ...]
    work: float


def recomputations(model: Model, forward: int, limit: float) -> Iterator[Recomputation]:
    """The step as it is, then with more and more results computed twice, each in fewer live bytes.

    The first `forward` nodes are the forward half; `limit` times the work of the plain step is the most.
    """
    model = model.replace(nodes=_early(model, forward))
    search = _Search(model, forward)
    yield search.made(NOTHING)
    if limit > 1:
        with_signs = _Search(model, forward, signs=True)
        offers = [(one, choice) for one in (search, with_signs) for choice in one.choices(limit)]
        yield from _fewer(offers, search.price(NOTHING).peak)


def _fewer(offers: Sequence[tuple[_Search, _Choice]], peak: int) -> Iterator[Recomputation]:
    """The offers that need fewer bytes than each with less work; signs count as a little work."""

    def asks(offer: tuple[_Search, _Choice]) -> float:
        search, choice = offer
        return search.price(choice).added + SIGNS * search.plain * search.signs

    for search, choice in sorted(offers, key=asks):
        if search.price(choice).peak < peak:
            peak = search.price(choice).peak
            yield search.made(choice)


@dataclass(frozen=True)
class _Choice:
    """Results that are computed again, and those of them that are made afresh for every reader."""

    repeated: frozenset[str] = frozenset()
    afresh: frozenset[str] = frozenset()


NOTHING = _Choice()


@dataclass(frozen=True)
class _Price:
    """Live bytes at the worst moment, `crowding` of all moments in which the worst count most, and work done twice."""

    peak: int
    crowding: float
    added: float


class _Search:
    """One step: which results could be computed again, and what a choice of them costs in bytes and in work."""

    def __init__(self, model: Model, forward: int, *, signs: bool = False) -> None:
        self.model, self.forward, self.signs = model, forward, signs
        self.producer = {name: node for node in model.nodes[:forward] for name in node.outputs if name}
        late = {name for node in model.nodes[forward:] for name in node.inputs}
        self.twins: dict[str, Tensor] = {}
        self._taken = set(model.tensors)
        self._names: dict[tuple[str, int], str] = {}
        self._origin = {node.name: node.name for node in model.nodes}
        self._repeatable = {
            name for name, node in self.producer.items() if len(node.outputs) == 1 and name not in model.outputs
        }
        self.candidates = tuple(
            name
            for name in self.producer
            if name in self._repeatable & late and model.tensors[name].size_bytes >= self._worth(model)
        )
        self._passing = frozenset(self._repeatable) - late
        """What the backward half never reads: made again where something behind it is, not kept for that."""
        self._work = {node.name: _work(model, node) for node in model.nodes}
        self.plain = self.work(model.nodes)
        self._sliding = frozenset(node.name for node in model.nodes[:forward] if _slides(model, node))
        self._prices: dict[_Choice, _Price] = {}
        self._in_pairs = frozenset[str]()
        self._in_pairs = frozenset(name for name in self.candidates if self._is_in_pair(name))
        self._scale = max(self._alive(model.nodes))

    def _is_in_pair(self, name: str) -> bool:
        """True for what lies between two layers that are taken back together where it is made again."""
        nodes = self.nodes(_Choice(frozenset({name})))
        together, _ = paired(self.model, nodes, {**self.model.tensors, **self.twins})
        return len(together) < len(nodes)

    @staticmethod
    def _worth(model: Model) -> int:
        """Results smaller than this share of the largest one are kept in any case."""
        return max(tensor.size_bytes for tensor in model.tensors.values()) // 64

    def better(self, chosen: _Choice, most: float) -> _Choice | None:
        """The choice with one step more, or two where one does not help, that makes moments least crowded for its
        work; None where none does."""
        steps = [step for name in self.candidates for step in _further(chosen, name)]
        for count in (1, 2):
            if count == 2 and len(steps) > PAIRED:
                break
            offers = self._offers(chosen, (_joined(some) for some in combinations(steps, count)), most)
            if offers:
                return max(offers, key=lambda offer: offer[0])[1]
        return None

    def _offers(self, chosen: _Choice, choices: Iterable[_Choice], most: float) -> list[tuple[float, _Choice]]:
        now, offers = self.price(chosen), []
        for choice in choices:
            price = self.price(choice)
            if price.crowding < now.crowding and price.added <= most:
                offers.append(((now.crowding - price.crowding) / max(price.added - now.added + 1, 1), choice))
        return offers

    def made(self, chosen: _Choice) -> Recomputation:
        """The step with these results computed twice."""
        tensors = {**self.model.tensors, **self.twins}
        apart = self.model.replace(nodes=self.nodes(chosen), tensors=tensors)
        nodes, more = self._together(apart.nodes, tensors)
        model = apart.replace(nodes=nodes, tensors={**tensors, **more})
        work = 1 + self.price(chosen).added / max(self.plain, 1)
        return Recomputation(model, apart, tuple(sorted(chosen.repeated)), work)

    def choices(self, limit: float) -> Iterator[_Choice]:
        """One choice after the other, each with fewer bytes at the worst moment, within `limit` times the work."""
        best = chosen = NOTHING
        while (better := self.better(chosen, self.plain * (limit - 1))) is not None:
            chosen = better
            if self.price(chosen).peak < self.price(best).peak:
                best = chosen
                yield best

    def _together(
        self, nodes: Sequence[Node], tensors: Mapping[str, Tensor]
    ) -> tuple[tuple[Node, ...], dict[str, Tensor]]:
        """Layers that are taken back as pairs, the last one's planes as signs; tensors that they need more."""
        pairs, between = paired(self.model, nodes, tensors)
        if not self.signs:
            return pairs, between
        made, signs = pooled(self.model, pairs, {**tensors, **between})
        return made, between | signs

    def price(self, chosen: _Choice) -> _Price:
        """What a choice costs."""
        if chosen not in self._prices:
            nodes = self.nodes(chosen)
            alive = self._alive(nodes)
            crowding = sum((size / self._scale) ** CROWDED for size in alive)
            self._prices[chosen] = _Price(max(alive), crowding, self.work(nodes) - self.plain)
        return self._prices[chosen]

    def work(self, nodes: Sequence[Node]) -> float:
        """Multiply-accumulates of nodes; elements of those that make none count a little."""
        return sum(self._work.get(self._origin[node.name], 0.0) for node in nodes)

    def nodes(self, chosen: _Choice) -> tuple[Node, ...]:
        """All nodes in order, each chosen result made again right before the first backward node that reads it.

        What is made afresh is there for the next reader as well where both layers are taken back as a pair.
        """
        order, twin_of = list(self.model.nodes[: self.forward]), dict[str, str]()
        again, passing = self._passing | chosen.repeated, self._passing | chosen.afresh
        late = self.model.nodes[self.forward :]
        reads = [again.intersection(node.inputs) for node in late]
        following = frozenset[str]()
        lasting = list[frozenset[str]]()
        for read in reversed(reads):
            lasting.append(following if read & self._in_pairs else frozenset())
            following = read or following
        for node, read, needed in zip(late, reads, reversed(lasting), strict=True):
            for name in node.inputs:
                if name in read:
                    self._again(name, again, twin_of, order)
            order.append(replace(node, inputs=tuple(twin_of.get(name, name) for name in node.inputs)))
            for name in passing - needed if read else ():
                twin_of.pop(name, None)
        return tuple(order)

    def _again(self, name: str, again: Collection[str], twin_of: dict[str, str], order: list[Node]) -> None:
        """Makes a result again, and first what it is made of; `twin_of` has what there is already."""
        if name not in again or name in twin_of:
            return
        node = self.producer[name]
        for source in node.inputs:
            self._again(source, again, twin_of, order)
        number = sum(self._origin[one.name] == node.name for one in order)
        twin_of[name] = self._twin(name, number)
        own = node.name + _behind(number)
        self._origin[own] = node.name
        inputs = tuple(twin_of.get(source, source) for source in node.inputs)
        order.append(replace(node, name=own, inputs=inputs, outputs=(twin_of[name],)))

    def _twin(self, name: str, number: int) -> str:
        """The name of a result that is made once more."""
        if (name, number) not in self._names:
            twin = unique(name + _behind(number), self._taken)
            self._names[name, number] = twin
            self.twins[twin] = replace(self.model.tensors[name], name=twin)
        return self._names[name, number]

    def _alive(self, nodes: Sequence[Node]) -> list[int]:
        tensors = {**self.model.tensors, **self.twins}
        together, more = self._together(nodes, tensors)
        sliding = {node.name for node in together if self._origin.get(node.name) in self._sliding}
        return _alive({**tensors, **more}, self.model, together, sliding)


def _behind(number: int) -> str:
    """What stands behind the name of what is made again."""
    return "/again" if number == 1 else f"/again_{number}"


def _further(chosen: _Choice, name: str) -> list[_Choice]:
    """The choices in which one result is kept for less time."""
    afresh = _Choice(chosen.repeated | {name}, chosen.afresh | {name})
    if name in chosen.repeated:
        return [afresh] if name not in chosen.afresh else []
    return [_Choice(chosen.repeated | {name}, chosen.afresh), afresh]


def _joined(choices: Sequence[_Choice]) -> _Choice:
    """What is in any of them."""
    return _Choice(
        frozenset[str]().union(*(choice.repeated for choice in choices)),
        frozenset[str]().union(*(choice.afresh for choice in choices)),
    )


def _early(model: Model, forward: int) -> tuple[Node, ...]:
    """The nodes, with what makes little of a result, e.g. the mask of a Relu, where that is first read backwards."""
    late = list(model.nodes[forward:])
    for node in model.nodes[forward:]:
        read = [name for name in node.inputs if name and name not in model.constants]
        if len(read) != 1 or 4 * sum(model.tensors[name].size_bytes for name in node.outputs) > _bytes(model, read[0]):
            continue
        place = next(at for at, other in enumerate(late) if read[0] in (*other.inputs, *other.outputs))
        if read[0] not in late[place].outputs:
            late.remove(node)
            late.insert(place, node)
    return (*model.nodes[:forward], *late)


def _bytes(model: Model, name: str) -> int:
    return model.tensors[name].size_bytes


def _call(model: Model, node: Node) -> Call:
    known = {at: model.constants[name] for at, name in enumerate(node.inputs) if name in model.constants}
    inputs = [model.tensors[name] if name else None for name in node.inputs]
    return call_of(node, inputs, [model.tensors[name] for name in node.outputs if name], known, model.opset)


def _slides(model: Model, node: Node) -> bool:
    """True for a window that slides by one and leaves the shape: rows of results lie over rows that were copied."""
    call = _call(model, node)
    if call.operator is None or call.operator.descent is None or call.operator.window is None:
        return False
    return call.shape() == call.outputs[0].shape and set(call.operator.window(call).strides) == {1}


def _work(model: Model, node: Node) -> float:
    call = _call(model, node)
    if _is_view(node):
        return 0.0
    if call.operator is not None and call.operator.products is not None:
        return float(call.operator.products(call))
    products = [nest.points for nest in call.nests if nest.body.name == "mul" and nest.combine.name == "add"]
    return float(sum(products)) or sum(tensor.elements for tensor in call.outputs) / 4


def _alive(tensors: Mapping[str, Tensor], model: Model, nodes: Sequence[Node], sliding: Collection[str]) -> list[int]:
    """Bytes alive at every node; an elementwise result, or one of nodes that are `sliding`, takes the place of an
    operand of its size that dies there."""
    root: dict[str, str] = {}
    last: dict[str, int] = {}
    for at, node in enumerate(nodes):
        view = _is_view(node)
        for name in node.outputs:
            root[name] = root.get(node.inputs[0], node.inputs[0]) if view else name
        for name in (*node.inputs, *node.outputs):
            last[root.get(name, name)] = at
    outside = {*model.inputs, *model.constants, *(root.get(name, name) for name in model.outputs)}
    alive, moments = 0, list[int]()
    held = dict[str, int]()
    for at, node in enumerate(nodes):
        dying = [name for name in {root.get(name, name) for name in node.inputs} if last[name] == at and name in held]
        for name in node.outputs:
            if not name or root[name] != name or name in outside:
                continue
            size = tensors[name].size_bytes
            heir = next(
                (one for one in dying if held[one] == size and _overwrites(node, name, one, root, sliding)), None
            )
            if heir is not None:
                dying.remove(heir)
                held.pop(heir)
            else:
                alive += size
            held[name] = size
        moments.append(alive)
        for name in [*dying, *(one for one in node.outputs if one in held and last[one] == at)]:
            alive -= held.pop(name)
    return moments


def _is_view(node: Node) -> bool:
    operator = find(node.op, node.domain)
    return operator is not None and operator.kind is Kind.VIEW


def _overwrites(node: Node, result: str, operand: str, root: Mapping[str, str], sliding: Collection[str]) -> bool:
    """True where a result may lie over an operand."""
    if node.name in sliding:
        return operand == root.get(node.inputs[0], node.inputs[0])
    operator = find(node.op, node.domain)
    if operator is not None and operator.replaces is not None:
        places = {before for before, after in operator.replaces(node) if node.outputs[after] == result}
        return operand in {root.get(node.inputs[at], node.inputs[at]) for at in places}
    return operator is not None and (operator.overwrites or operator.batchable or operator.sketch == "unary")
