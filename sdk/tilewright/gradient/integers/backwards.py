"""Gradients in codes through a network on codes, by what operators say of codes: products, means, moves, tables."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tilewright.errors import UnsupportedError, UnsupportedNode
from tilewright.frontend.names import quoted
from tilewright.gradient.integers.codes import OPEN, Codes, added, mask_limits, masked
from tilewright.gradient.integers.layers import Learnt, layer_of, take_back
from tilewright.gradient.integers.moves import moved, spread_mean, to_largest
from tilewright.gradient.integers.tables import passed_table
from tilewright.gradient.network import Network
from tilewright.model import Node
from tilewright.ops.codes import Converts, Mean, Moves, Pairwise, Products, Table
from tilewright.ops.operator import Call, Kind
from tilewright.ops.registry import find


@dataclass
class Backwards:
    """One way back: the nodes between what learns and the scores, and the gradients that are known by now.

    `done` are results whose gradients come masked already.
    """

    network: Network
    path: Sequence[Node]
    reached: Collection[str]
    learnt: Mapping[str, Learnt]
    rate: float
    parts: dict[str, list[Codes]] = field(default_factory=dict)
    done: set[str] = field(default_factory=set)

    def run(self, seeds: Mapping[str, Codes]) -> None:
        """Write everything: `seeds` are the gradients of the scores, by the names of their codes.

        Scores at an end of their range still learn: the loss draws them back.
        """
        for name, gradient in seeds.items():
            self.give(name, gradient)
            self.done.add(name)
        for node in reversed(self.path):
            call = self.network.call(node)
            for name in node.outputs:
                if name in self.parts:
                    self._pass(call, name, self._whole(call, name))

    def give(self, name: str, gradient: Codes | None) -> None:
        """A gradient for a tensor, where anything that learns is behind it."""
        if gradient is not None and name in self.reached:
            self.parts.setdefault(name, []).append(gradient)

    def _whole(self, call: Call, name: str) -> Codes:
        """All that came of a result, where that lies within its limits."""
        gradient = added(self.network, self.parts.pop(name))
        limits = mask_limits(call)
        if limits == OPEN or name in self.done or isinstance(call.codes, Table):
            return gradient
        return masked(self.network, gradient, name, limits)

    def _pass(self, call: Call, result: str, gradient: Codes) -> None:
        passing = _PASSING.get("Lookup" if call.node.op == "Lookup" else type(call.codes).__name__)
        made = None if passing is None else passing(self, call, result, gradient)
        if made is None:
            raise UnsupportedNode(
                f"node {quoted(call.node.name)} ({call.node.op}) has no gradient in integers",
                why="of codes, products, means, moves, sums of two and functions of one have",
                fix="update only parameters behind it with --update, or train the float network", node=call.node.name,
            )  # fmt: skip
        for index, part in made.items():
            self.give(call.tensor(index).name, part)

    def shown(self, name: str) -> tuple[str, tuple[int, int]]:
        """The result of which a tensor shows the elements, and the limits within which a gradient passes both, where
        nothing else reads either; else the tensor itself and no limits."""
        at = name
        while True:
            readers = [node for node in self.path if at in node.inputs]
            writer = next((node for node in self.network.nodes if at in node.outputs), None)
            if len(readers) != 1 or readers[0].inputs.count(at) != 1 or writer is None:
                return name, OPEN
            operator = find(writer.op, writer.domain)
            if operator is None or operator.kind is not Kind.VIEW or writer.op == "Transpose":
                break
            at = writer.inputs[0]
        return at, mask_limits(self.network.call(writer))


Parts = Mapping[int, Codes]
"""Gradients by the places of their operands."""


def _product(back: Backwards, call: Call, result: str, gradient: Codes) -> Parts | None:
    learnt, x = back.learnt.get(call.node.name, Learnt()), call.tensor(0).name
    if call.tensor(1).name in back.reached and not learnt.weights:
        return None
    wanted, limits = x in back.reached, OPEN
    if wanted:
        source, limits = back.shown(x)
        if limits != OPEN:
            back.done.add(source)
    layer = layer_of(back.network, call)
    made = take_back(back.network, layer, gradient, learnt, back.rate, limits if wanted else None)
    return {} if made is None else {0: made}


def _mean(back: Backwards, call: Call, result: str, gradient: Codes) -> Parts | None:
    source, limits = back.shown(call.tensor(0).name)
    whole = back.network.tensor(source).shape == call.shape()
    made = spread_mean(back.network, call, gradient, (source, limits if whole else OPEN))
    if made is not None and made.masked:
        back.done.add(source)
    return None if made is None else {0: made.gradient}


def _move(back: Backwards, call: Call, result: str, gradient: Codes) -> Parts | None:
    fact = call.codes
    assert isinstance(fact, Moves)
    if call.node.op == "Relu":
        return {0: gradient}
    if fact.compares:
        made = to_largest(back.network, call, gradient)
        return None if made is None else {0: made}
    return _moved(back, call, gradient, fact.data_of(call.node), call.node.outputs.index(result))


def _moved(back: Backwards, call: Call, gradient: Codes, operands: Iterable[int], place: int) -> Parts | None:
    parts = dict[int, Codes]()
    for index in operands:
        if call.tensor(index).name in back.reached:
            codes = moved(back.network, call, gradient.codes, index, place)
            if codes is None:
                return None
            if codes:
                parts[index] = Codes(codes, gradient.exponent, gradient.factor)
    return parts


def _pair(back: Backwards, call: Call, result: str, gradient: Codes) -> Parts | None:
    """A sum or a difference passes its gradient on."""
    return _moved(back, call, gradient, (0, 1), 0)


def _table(back: Backwards, call: Call, result: str, gradient: Codes) -> Parts | None:
    return passed_table(back.network, call, gradient)


def _same(back: Backwards, call: Call, result: str, gradient: Codes) -> Parts | None:
    """Codes of another scale stand for the same numbers."""
    both = call.tensor(0).quantisation is not None and call.outputs[0].quantisation is not None
    return {0: gradient} if both else None


Passing = Callable[[Backwards, Call, str, Codes], Parts | None]
_PASSING: Mapping[str, Passing] = {
    Products.__name__: _product, Mean.__name__: _mean, Moves.__name__: _move, Pairwise.__name__: _pair,
    Table.__name__: _table, Converts.__name__: _same, "Lookup": _table,
}  # fmt: skip


def path_of(
    nodes: Sequence[Node], scores: Collection[str], learning: Collection[str]
) -> tuple[tuple[Node, ...], frozenset[str]]:
    """The nodes between what learns and the scores, in order, and all that depends on what learns."""
    reached = set(learning)
    for node in nodes:
        if reached.intersection(node.inputs):
            reached.update(name for name in node.outputs if name)
    if not reached.intersection(scores):
        raise UnsupportedError("the loss does not depend on what is updated", fix="name other parameters with --update")
    needed, chosen = set(scores), list[Node]()
    for node in reversed(nodes):
        if needed.intersection(node.outputs) and reached.intersection(node.inputs):
            chosen.append(node)
            needed.update(name for name in node.inputs if name)
    return tuple(reversed(chosen)), frozenset(reached)
