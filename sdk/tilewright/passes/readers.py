"""Who reads the old value of a state comes before who writes the new one, where the order is free."""

from __future__ import annotations

import heapq
from collections.abc import Iterator

from tilewright.model import Model, Node, State

name = "readers"


def apply(model: Model) -> Model:
    """The nodes in an order that is as near to theirs as that allows."""
    if not model.states:
        return model
    order = _Order(model)
    for state in model.states:
        for writer in order.writers(state):
            for reader in order.readers.get(state.past, ()):
                order.precede(reader, writer)
    nodes = tuple(model.nodes[at] for at in order.sorted())
    return model if nodes == model.nodes else model.replace(nodes=nodes)


class _Order:
    """What must come before what, by the nodes' places: whoever makes an operand, and whatever was asked for."""

    def __init__(self, model: Model) -> None:
        self.nodes = model.nodes
        self.made = {name: at for at, node in enumerate(model.nodes) for name in node.outputs if name}
        self.readers: dict[str, list[int]] = {}
        self.after: list[set[int]] = [set() for _ in model.nodes]
        for at, node in enumerate(model.nodes):
            for name in filter(None, node.inputs):
                self.readers.setdefault(name, []).append(at)
                if name in self.made:
                    self.after[self.made[name]].add(at)

    def writers(self, state: State) -> Iterator[int]:
        """The node that makes the next value, and those that make what it may be written over, back to the old one."""
        at = self.made.get(state.present)
        while at is not None:
            yield at
            node: Node = self.nodes[at]
            at = self.made.get(node.inputs[0]) if node.inputs and state.past not in node.inputs else None

    def precede(self, reader: int, writer: int) -> None:
        """The reader before the writer, unless it needs what the writer makes."""
        if reader != writer and not self._leads(writer, reader):
            self.after[reader].add(writer)

    def _leads(self, start: int, end: int) -> bool:
        seen, waiting = {start}, [start]
        while waiting:
            at = waiting.pop()
            if at == end:
                return True
            new = self.after[at] - seen
            seen |= new
            waiting += new
        return False

    def sorted(self) -> list[int]:
        """The places in an order that keeps all of it; of those that may come next the first."""
        before = [0] * len(self.nodes)
        for followers in self.after:
            for at in followers:
                before[at] += 1
        ready = [at for at, count in enumerate(before) if not count]
        order = list[int]()
        while ready:
            at = heapq.heappop(ready)
            order.append(at)
            for follower in self.after[at]:
                before[follower] -= 1
                if not before[follower]:
                    heapq.heappush(ready, follower)
        return order
