"""Steps of optimisers, as nodes whose results are the next values of states."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tilewright.gradient.network import Network
from tilewright.model import Node

KINDS = ("sgd", "momentum", "adam")
EPSILON = 1e-8


@dataclass(frozen=True)
class Within:
    """`result = decay * target + rate * gradient`, made where the gradient is; a target of "" is the parameter."""

    target: str
    result: str
    rate: float
    decay: float


@dataclass(frozen=True)
class Optimiser:
    """`sgd`: `w -= rate * g`. `momentum`: `v = mu * v + g`, `w -= rate * v`. `adam`: Kingma and Ba, arXiv 1412.6980."""

    kind: str = "sgd"
    rate: float = 0.01
    momentum: float = 0.9
    betas: tuple[float, float] = (0.9, 0.999)

    def begin(self, network: Network) -> None:
        """What is common to all parameters: of Adam the powers of both factors."""
        if self.kind == "adam":
            for number, beta in enumerate(self.betas):
                name = f"adam/power_{number}"
                network.become_state(name, np.ones((1,), np.float32))
                network.move_state(name, "Mul", (name, network.number(beta, name)))

    def within(self, network: Network, name: str) -> Within | None:
        """How a Descent makes the step of a parameter; None where the step needs the gradient itself."""
        following = {state.past: state.present for state in network.states}
        if self.kind == "sgd":
            return Within("", following[name], -self.rate, 1.0)
        if self.kind == "momentum":
            speed = f"{name}/speed"
            return Within(speed, following[speed], 1.0, self.momentum)
        return None

    def step(self, network: Network, name: str, gradient: str) -> None:
        """The next value of a parameter, and of what the optimiser keeps of it."""
        if self.kind == "sgd":
            _descend(network, name, gradient, self.rate)
        elif self.kind == "momentum":
            speed = _kept(network, f"{name}/speed", name)
            slower = network.node("Mul", (speed, network.number(self.momentum, name)))
            moved = network.move_state(speed, "Add", (slower, gradient))
            _descend(network, name, moved, self.rate)
        else:
            self._adam(network, name, gradient)

    def _adam(self, network: Network, name: str, gradient: str) -> None:
        squares = network.node("Mul", (gradient, gradient))
        moments = list[str]()
        for number, (beta, value) in enumerate(zip(self.betas, (gradient, squares), strict=True)):
            moment = _kept(network, f"{name}/moment_{number}", name)
            old = network.node("Mul", (moment, network.number(beta, name)))
            new = network.node("Mul", (value, network.number(1 - beta, name)))
            moved = network.move_state(moment, "Add", (old, new))
            power = next(state.present for state in network.states if state.past == f"adam/power_{number}")
            moments.append(network.node("Div", (moved, network.node("Sub", (network.number(1, name), power)))))
        below = network.node("Add", (network.node("Sqrt", (moments[1],)), network.number(EPSILON, name)))
        _descend(network, name, network.node("Div", (moments[0], below)), self.rate)


def _kept(network: Network, name: str, like: str) -> str:
    tensor = network.tensor(like)
    network.become_state(name, np.zeros(tensor.shape, tensor.dtype.numpy))
    return name


def _descend(network: Network, name: str, direction: str, rate: float) -> None:
    """`name - rate * direction`; where that is one product of matrices it is added within the product.

    So no gradient is stored, but the operands of the product live until the old weights are no longer read. A gradient
    that is smaller than the larger of them is stored instead.
    """
    product = _product(network, direction)
    if product is not None:
        node, shape = product
        alpha = node.attributes.get("alpha", 1.0)
        assert isinstance(alpha, int | float), "alpha is a number"
        attributes = {**node.attributes, "alpha": -rate * float(alpha), "beta": 1.0}
        if network.tensor(name).shape == shape:
            network.move_state(name, "Gemm", (*node.inputs[:2], name), attributes)
            return
        flat = network.node("Reshape", (name, network.constant(np.asarray(shape, np.int64))))
        moved = network.node("Gemm", (*node.inputs[:2], flat), attributes)
        whole = network.constant(np.asarray(network.tensor(name).shape, np.int64))
        network.move_state(name, "Reshape", (moved, whole))
        return
    scaled = network.node("Mul", (direction, network.number(rate, name)))
    network.move_state(name, "Sub", (name, scaled))


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
