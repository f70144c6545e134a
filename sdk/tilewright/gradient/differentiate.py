"""The gradient of one number by tensors of a network, written behind it as ordinary nodes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import numpy as np

from tilewright.errors import UnsupportedError, UnsupportedNode
from tilewright.frontend.names import quoted
from tilewright.gradient.derived import derived
from tilewright.gradient.network import Network
from tilewright.model import Node
from tilewright.ops.facts import DescentWindow
from tilewright.ops.operator import Adjoint, Call

Finished = Callable[[str, str], None]
"""Called with a tensor and its gradient as soon as that is complete: what is done with it stands right there."""


@dataclass(frozen=True)
class TakenBack:
    """A product of operand `x` with weights `w` that are learnt, its window, the gradient `dy` of its result, and what
    that makes of it: the gradient of the operand, "" where none is asked for, and of the weights."""

    x: str
    w: str
    dy: str
    window: DescentWindow
    dx: str
    dw: str


def differentiate(network: Network, loss: str, wanted: Collection[str], finished: Finished) -> tuple[TakenBack, ...]:
    """Write the gradients of `loss`, of one element, by the tensors `wanted`; the products that were taken back.

    UnsupportedError where the loss is no number, or does not depend on one of them; UnsupportedNode where an operator
    between has no gradient.
    """
    tensor = network.tensor(loss)
    if tensor.elements != 1 or not tensor.dtype.is_float:
        raise UnsupportedError(
            f"the loss {quoted(loss)} is {tensor.dtype.value}{list(tensor.shape)}",
            why="a gradient is taken of one number", fix="name an output of one floating-point element", tensor=loss,
        )  # fmt: skip
    forward = list(network.nodes)
    path = _path(forward, loss, wanted)
    for name in wanted:
        if name not in path.reached or not any(name in node.inputs for node in path.nodes):
            raise UnsupportedError(
                f"the loss does not depend on {quoted(name)}", fix="leave it out of --update", tensor=name
            )
    seed = network.constant(np.ones(tensor.shape, tensor.dtype.numpy))
    gradients = {loss: seed}
    products = list[TakenBack]()
    left = {name: sum(name in node.inputs for node in path.nodes) for name in wanted}
    for node in reversed(path.nodes):
        products += _pass(network, node, gradients, path.reached)
        for name in dict.fromkeys(node.inputs):
            if name in left:
                left[name] -= 1
                if not left[name]:
                    if name not in gradients:
                        raise UnsupportedError(
                            f"no gradient flows to {quoted(name)}", why="only indices or statistics are read of it",
                            fix="leave it out of --update", tensor=name,
                        )  # fmt: skip
                    finished(name, gradients[name])
    return tuple(one for one in products if one.w in wanted)


@dataclass(frozen=True)
class _Path:
    """The nodes between the wanted tensors and the loss, in order, and every tensor that depends on a wanted one."""

    nodes: tuple[Node, ...]
    reached: frozenset[str]


def _path(nodes: list[Node], loss: str, wanted: Collection[str]) -> _Path:
    reached = set(wanted)
    for node in nodes:
        if reached.intersection(node.inputs):
            reached.update(name for name in node.outputs if name)
    needed, chosen = {loss}, list[Node]()
    for node in reversed(nodes):
        if needed.intersection(node.outputs) and reached.intersection(node.inputs):
            chosen.append(node)
            needed.update(name for name in node.inputs if name)
    return _Path(tuple(reversed(chosen)), frozenset(reached))


def _pass(network: Network, node: Node, gradients: dict[str, str], reached: Collection[str]) -> tuple[TakenBack, ...]:
    """The gradients of a node's results, passed on to those of its operands that anything wanted depends on."""
    made = dict[int, str]()
    current = next(one for one in network.nodes if one.name == node.name)
    for result, name in enumerate(node.outputs):
        if name not in gradients:
            continue
        call = network.call(current)
        adjoint = Adjoint(call, gradients[name], network)
        for index, operand in reversed(list(enumerate(node.inputs))):  # weights first: then the operand may go
            if operand in reached and network.tensor(operand).dtype.is_float:
                part = _part(adjoint, index, result)
                if part:
                    made[index] = part
                    known = gradients.get(operand)
                    gradients[operand] = part if known is None else network.node("Add", (known, part))
    return _taken_back(network, current, gradients, made)


def _taken_back(
    network: Network, node: Node, gradients: Mapping[str, str], made: Mapping[int, str]
) -> tuple[TakenBack, ...]:
    """The product that a node is, where a Descent knows its window."""
    call = network.call(node)
    rule = None if call.operator is None else call.operator.descent
    window = rule(call) if rule is not None and 1 in made and node.clamp is None else None
    if window is None:
        return ()
    x, w = node.inputs[:2]
    return (TakenBack(x, w, gradients[node.outputs[0]], window, made.get(0, ""), made[1]),)


def _part(adjoint: Adjoint, index: int, result: int) -> str:
    call = adjoint.call
    rule = None if call.operator is None else call.operator.gradient
    if rule is not None and result == 0 and call.node.clamp is None:
        return rule(adjoint, index)
    part = derived(adjoint, index, result) if call.node.clamp is None else None
    if part is None:
        raise no_gradient(call)
    return part


def no_gradient(call: Call) -> UnsupportedNode:
    """The error for a node that gradients do not pass."""
    return UnsupportedNode(
        f"node {quoted(call.node.name)} ({call.node.op}) has no gradient", why="its operator has no rule for it",
        fix="update only parameters behind it with --update", node=call.node.name,
    )  # fmt: skip
