"""Products of the backward half as Descents: no gradient of weights is stored, and what was kept becomes its gradient.

A Descent stands for ordinary nodes: those of the gradient of the operand, with what is added to it and the mask of the
Relu before, and those of the step of the weights. They are kept beside it, for the file and for other runtimes.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tilewright.frontend.names import unique
from tilewright.gradient.differentiate import TakenBack
from tilewright.gradient.network import Network
from tilewright.gradient.optimisers import Within
from tilewright.model import Attribute, Model, Node, Tensor
from tilewright.ops.relayout import DOMAIN
from tilewright.passes import dead

DESCENT = "Descent"


@dataclass(frozen=True)
class Learning:
    """A product, and how a Descent makes the step of its weights."""

    product: TakenBack
    step: Within


@dataclass(frozen=True)
class Fused:
    """A step with Descents, and by their names the nodes of `origin`, a step without any, that they stand for."""

    model: Model
    origin: Model
    written: Mapping[str, tuple[Node, ...]]

    def plain(self, model: Model) -> Model:
        """`model`, which is the step with other nodes before its Descents, as nodes of the standard alone."""
        first = {node.name: node for node in self.model.nodes}
        nodes, tensors = list[Node](), {**self.origin.tensors, **model.tensors}
        taken = set(tensors)
        made: dict[str, Node] = {}
        for node in model.nodes:
            if node.name not in self.written:
                nodes.append(node)
                continue
            names = dict(zip(first[node.name].inputs, node.inputs, strict=True))
            for one in self.written[node.name]:
                own = replace(one, inputs=tuple(names.get(name, name) for name in one.inputs))
                if made.get(own.name) == own:  # two Descents read it
                    continue
                if own.name in made:
                    own = _renamed(own, len(nodes), names, tensors, taken)
                made[own.name] = own
                nodes.append(own)
        constants = {**self.origin.constants, **model.constants}
        return dead.apply(model.replace(nodes=tuple(nodes), tensors=tensors, constants=constants))


def _renamed(node: Node, number: int, names: dict[str, str], tensors: dict[str, Tensor], taken: set[str]) -> Node:
    """A node that is written a second time, from other operands."""
    for name in node.outputs:
        names[name] = unique(f"{name}/again", taken)
        tensors[names[name]] = replace(tensors[name], name=names[name])
    return replace(node, name=f"{node.name}/again_{number}", outputs=tuple(names[name] for name in node.outputs))


@dataclass
class _Chain:
    """What becomes of the gradient that a product makes: other products and a gradient that are added, and a mask."""

    result: str
    parts: list[Learning]
    add: str = ""
    masked: bool = False


def _factors(one: Learning) -> tuple[float, float]:
    return one.step.rate, one.step.decay


class _Step:
    """A step of ordinary nodes: who writes and who reads what."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.writers = {name: node for node in model.nodes for name in node.outputs if name}
        self.place = {node.name: at for at, node in enumerate(model.nodes)}
        self.readers: dict[str, list[Node]] = {}
        for node in model.nodes:
            for name in dict.fromkeys(node.inputs):
                self.readers.setdefault(name, []).append(node)

    def followed(self, first: Learning, others: Sequence[Learning]) -> _Chain:
        """The chain behind the gradient of a product's operand."""
        product = first.product
        chain = _Chain(product.dx if product.dx in self.writers else "", [first])
        while chain.result and not chain.masked and (node := self._only_reader(chain.result)) is not None:
            if not self._taken_in(chain, node, others):
                break
            chain.result = node.outputs[0]
        return chain

    def _only_reader(self, name: str) -> Node | None:
        readers = self.readers.get(name, [])
        one = len(readers) == 1 and readers[0].inputs.count(name) == 1 and name not in self.model.outputs
        return readers[0] if one else None

    def _taken_in(self, chain: _Chain, node: Node, others: Sequence[Learning]) -> bool:
        """True where a Descent can do what a node does to the gradient."""
        x = chain.parts[0].product.x
        tensors, at = self.model.tensors, node.inputs.index(chain.result)
        if tensors[node.outputs[0]].shape != tensors[x].shape or node.domain or node.clamp is not None:
            return False
        if node.op == "Reshape" and at == 0:
            return True
        if node.op == "Where" and at == 1:
            chain.masked = self._is_mask(node, x)
            return chain.masked
        if node.op != "Add" or tensors[chain.result].shape != tensors[x].shape:
            return False
        other = node.inputs[1 - at]
        fellow = next((o for o in others if o.product.dx == other and o.product.x == x), None)
        alike = fellow is not None and _factors(fellow) == _factors(chain.parts[0])
        if fellow is not None and alike and fellow not in chain.parts and self._only_reader(other) is node:
            chain.parts.append(fellow)
            return True
        if chain.add or tensors[other].shape != tensors[x].shape:
            return False
        chain.add = other
        return True

    def _is_mask(self, node: Node, x: str) -> bool:
        """True for `Where(x > 0, gradient, 0)`."""
        mask, zero = self.writers.get(node.inputs[0]), self.model.constants.get(node.inputs[2])
        if mask is None or mask.op != "Greater" or mask.inputs[0] != x or zero is None or zero.any():
            return False
        limit = self.model.constants.get(mask.inputs[1])
        return limit is not None and limit.size == 1 and not limit.any()

    def earliest(self, node: Node) -> int:
        """The place of a node; a mask that reads an operand last stands right behind its other readers."""
        at = self.place[node.name]
        if node.op != "Greater":
            return at
        others = [self.place[one.name] for one in self.readers[node.inputs[0]] if one is not node]
        return min(at, max(others, default=at))

    def cone(self, outputs: Sequence[str], inputs: Sequence[str]) -> tuple[Node, ...]:
        """The nodes that make the outputs of the inputs, in order."""
        wanted, making = list(outputs), dict[str, Node]()
        while wanted:
            node = self.writers.get(wanted.pop())
            if node is not None and node.name not in making:
                making[node.name] = node
                wanted += [name for name in node.inputs if name not in inputs]
        return tuple(sorted(making.values(), key=lambda node: self.place[node.name]))


def with_descents(model: Model, network: Network, learning: Sequence[Learning]) -> Fused:
    """The step of a training, written into `network`, with its products taken back by Descents."""
    step, left = _Step(model), [one for one in learning if one.step.result in model.tensors]
    nodes, places, written = list[Node](), dict[str, int](), dict[str, tuple[Node, ...]]()
    while left:
        chain = step.followed(left[0], left[1:])
        left = [one for one in left if one not in chain.parts]
        node = _node(network, chain, len(nodes))
        outputs = [name for name in node.outputs if name]
        nodes.append(node)
        places[node.name] = max(step.place[step.writers[name].name] for name in outputs)
        written[node.name] = step.cone(outputs, node.inputs)
    gone = {step.writers[name].name for node in nodes for name in node.outputs if name}
    others = [(step.earliest(node), node) for node in model.nodes if node.name not in gone]
    ordered = _sorted([*others, *((places[node.name], node) for node in nodes)])
    return Fused(dead.apply(model.replace(nodes=ordered)), model, written)


def _node(network: Network, chain: _Chain, number: int) -> Node:
    inputs, outputs = [chain.parts[0].product.x, chain.add], [chain.result]
    windows, turned = tuple[int, ...](), tuple[int, ...]()
    for one in chain.parts:
        product, step = one.product, one.step
        inputs += [product.w, product.dy, step.target]
        outputs.append(step.result)
        windows, turned = windows + product.window.numbers, (*turned, int(product.window.turned))
    first = chain.parts[0].step
    attributes: dict[str, Attribute] = {
        "windows": windows, "turned": turned, "rate": first.rate, "decay": first.decay, "masked": int(chain.masked)
    }  # fmt: skip
    name = unique(f"descent_{number}", {node.name for node in network.nodes})
    return Node(name, DESCENT, tuple(inputs), tuple(outputs), attributes, DOMAIN)


def _sorted(placed: Sequence[tuple[int, Node]]) -> tuple[Node, ...]:
    """The nodes in the order of their places, as far as each stands behind what it reads."""
    writers = {name: at for at, (_, node) in enumerate(placed) for name in node.outputs if name}
    waiting = [{writers[name] for name in node.inputs if name in writers} for _, node in placed]
    behind: list[list[int]] = [[] for _ in placed]
    for at, before in enumerate(waiting):
        for one in before:
            behind[one].append(at)
    ready = [(placed[at][0], at) for at, before in enumerate(waiting) if not before]
    heapq.heapify(ready)
    nodes = list[Node]()
    while ready:
        _, at = heapq.heappop(ready)
        nodes.append(placed[at][1])
        for one in behind[at]:
            waiting[one].discard(at)
            if not waiting[one]:
                heapq.heappush(ready, (placed[one][0], one))
    return tuple(nodes)
