"""Steps of optimisers, as nodes whose results are the next values of states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tilewright.gradient.network import Network
from tilewright.model import Node

KINDS = ("sgd", "momentum", "adam")
EPSILON = 1e-8
COUNT = "accumulate/count"
"""The state that counts the gradients added since the last step."""


@dataclass(frozen=True)
class Within:
    """`result = decay * target + rate * gradient`, made where the gradient is; a target of "" is the parameter."""

    target: str
    result: str
    rate: float
    decay: float


@dataclass(frozen=True)
class Optimiser:
    """`sgd`: `w -= rate * g`. `momentum`: `v = mu * v + g`, `w -= rate * v`. `adam`: Kingma and Ba, arXiv 1412.6980.

    `g` is the mean of `accumulate` gradients: so many calls add theirs to a state, and the last of them takes the step.
    """

    kind: str = "sgd"
    rate: float = 0.01
    momentum: float = 0.9
    betas: tuple[float, float] = (0.9, 0.999)
    accumulate: int = 1

    def begin(self, network: Network) -> None:
        """What is common to all parameters: the number of gradients that were added; of Adam the powers of factors."""
        if self.accumulate > 1:
            network.become_state(COUNT, np.zeros((1,), np.float32))
            network.move_state(COUNT, "Where", (self._due(network), network.number(0, COUNT), _counted(network)))
        if self.kind == "adam":
            for number, beta in enumerate(self.betas):
                name = f"adam/power_{number}"
                network.become_state(name, np.ones((1,), np.float32))
                self._move(network, name, "Mul", (name, network.number(beta, name)))

    def within(self, network: Network, name: str, gradient: str) -> Within | None:
        """How a Descent makes the step of a parameter; None where the step needs the gradient itself."""
        if self.accumulate > 1:
            return Within(f"{name}/sum", self._sum(network, name, gradient), 1 / self.accumulate, 1.0)
        following = {state.past: state.present for state in network.states}
        if self.kind == "sgd":
            return Within("", following[name], -self.rate, 1.0)
        if self.kind == "momentum":
            speed = f"{name}/speed"
            return Within(speed, following[speed], 1.0, self.momentum)
        return None

    def step(self, network: Network, name: str, gradient: str) -> None:
        """The next value of a parameter, and of what the optimiser keeps of it."""
        if self.accumulate > 1:
            _kept(network, f"{name}/sum", name)
            gradient = self._sum(network, name, gradient)
        if self.kind == "sgd":
            self._descend(network, name, gradient)
        elif self.kind == "momentum":
            speed = _kept(network, f"{name}/speed", name)
            slower = network.node("Mul", (speed, network.number(self.momentum, name)))
            self._descend(network, name, self._move(network, speed, "Add", (slower, gradient)))
        else:
            self._adam(network, name, gradient)
        if self.accumulate > 1:
            network.move_state(f"{name}/sum", "Where", (self._due(network), network.number(0, name), gradient))

    def _adam(self, network: Network, name: str, gradient: str) -> None:
        squares = network.node("Mul", (gradient, gradient))
        moments = list[str]()
        for number, (beta, value) in enumerate(zip(self.betas, (gradient, squares), strict=True)):
            moment = _kept(network, f"{name}/moment_{number}", name)
            old = network.node("Mul", (moment, network.number(beta, name)))
            new = network.node("Mul", (value, network.number(1 - beta, name)))
            moved = self._move(network, moment, "Add", (old, new))
            rest = network.node("Sub", (network.number(1, name), self._power(network, number)))
            moments.append(network.node("Div", (moved, rest)))
        below = network.node("Add", (network.node("Sqrt", (moments[1],)), network.number(EPSILON, name)))
        self._descend(network, name, network.node("Div", (moments[0], below)))

    def _power(self, network: Network, number: int) -> str:
        """A power of a factor as a step needs it: no zero is divided by where none is due."""
        name = f"adam/power_{number}"
        if self.accumulate > 1:
            return network.node("Mul", (name, network.number(self.betas[number], name)))
        return next(state.present for state in network.states if state.past == name)

    # ------------------------------------------------------------------------------------------- several gradients
    def _sum(self, network: Network, name: str, gradient: str) -> str:
        """The gradients that were added up to now, each divided by their number."""
        share = network.node("Mul", (gradient, network.number(1 / self.accumulate, name)))
        return network.node("Add", (f"{name}/sum", share))

    def _due(self, network: Network) -> str:
        """True in the call that takes the step."""
        return network.node("Greater", (_counted(network), network.number(self.accumulate - 0.5, COUNT)))

    def _move(self, network: Network, name: str, op: str, inputs: Sequence[str]) -> str:
        """The next value of a state: the old one where the step is not due."""
        if self.accumulate == 1:
            return network.move_state(name, op, inputs)
        return network.move_state(name, "Where", (self._due(network), network.node(op, inputs), name))

    def _descend(self, network: Network, name: str, direction: str) -> None:
        """`name - rate * direction`; where that is one product of matrices it is added within the product.

        So no gradient is stored, but the operands of the product live until the old weights are no longer read. A
        gradient that is smaller than the larger of them is stored instead.
        """
        product = _product(network, direction)
        if product is None:
            scaled = network.node("Mul", (direction, network.number(self.rate, name)))
            self._move(network, name, "Sub", (name, scaled))
            return
        node, shape = product
        alpha = node.attributes.get("alpha", 1.0)
        assert isinstance(alpha, int | float), "alpha is a number"
        attributes = {**node.attributes, "alpha": -self.rate * float(alpha), "beta": 1.0}
        if network.tensor(name).shape == shape:
            network.move_state(name, "Gemm", (*node.inputs[:2], name), attributes)
            return
        flat = network.node("Reshape", (name, network.constant(np.asarray(shape, np.int64))))
        moved = network.node("Gemm", (*node.inputs[:2], flat), attributes)
        whole = network.constant(np.asarray(network.tensor(name).shape, np.int64))
        network.move_state(name, "Reshape", (moved, whole))


def _counted(network: Network) -> str:
    return network.node("Add", (COUNT, network.number(1, COUNT)))


def _kept(network: Network, name: str, like: str) -> str:
    tensor = network.tensor(like)
    network.become_state(name, np.zeros(tensor.shape, tensor.dtype.numpy))
    return name


def _product(network: Network, direction: str) -> tuple[Node, tuple[int, ...]] | None:
    """The Gemm without an addend that makes a tensor, behind views alone, and the shape of its result."""
    writers = {output: node for node in network.nodes for output in node.outputs}
    node = writers.get(direction)
    while node is not None and node.op == "Reshape":
        node = writers.get(node.inputs[0])
    if node is None or node.op != "Gemm" or len(node.inputs) > 2:
        return None
    made = network.tensor(node.outputs[0])
    if made.elements < max(network.tensor(name).elements for name in node.inputs):
        return None
    return node, made.shape
