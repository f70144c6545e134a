"""If: the branch that is taken where that is known, else both branches and a choice of their results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from tilewright.errors import UnsupportedNode
from tilewright.frontend.expand import instantiate
from tilewright.frontend.opset import invalid
from tilewright.frontend.raw import Body, RawNode
from tilewright.model import Array, DType, Tensor

JOINED = "If of both"
"""The node that chooses; no operator of a file has such a name."""


class Surroundings(Protocol):
    """The graph that the node stands in, as far as it has been walked."""

    notes: list[str]

    @property
    def tensors(self) -> Mapping[str, Tensor]:
        """Types of tensors by name."""

    @property
    def constants(self) -> Mapping[str, Array]:
        """Values that are known, by the name of their tensor."""

    def add_constant(self, name: str, dtype: DType, array: Array) -> None:
        """Note a constant."""

    def fresh(self, name: str) -> str:
        """A tensor name that nothing has yet."""


def branched(node: RawNode, graph: Surroundings) -> tuple[RawNode, ...]:
    """The nodes of the branch that is taken; where that is decided at run time, those of both, and the choice."""
    branches = [node.attributes.get(name) for name in ("then_branch", "else_branch")]
    condition = graph.constants.get(node.inputs[0]) if node.inputs else None
    if condition is not None and condition.size == 1:
        return _instantiated(branches[0 if condition.reshape(-1)[0] else 1], node, node.outputs, node.under, graph)
    if not node.inputs:
        raise invalid(node, "its condition is missing")
    results = [tuple(graph.fresh(f"{node.label}/{name}") for name in node.outputs) for _ in branches]
    nodes = [
        _instantiated(body, node, names, (*node.under, (node.inputs[0], taken)), graph)
        for body, names, taken in zip(branches, results, (True, False), strict=True)
    ]
    choice = RawNode(node.name, JOINED, (node.inputs[0], *results[0], *results[1]), node.outputs, opsets=node.opsets)
    return (*nodes[0], *nodes[1], choice)


def _instantiated(
    body: object,
    node: RawNode,
    outputs: tuple[str, ...],
    under: tuple[tuple[str, bool], ...],
    graph: Surroundings,
) -> tuple[RawNode, ...]:
    if not isinstance(body, Body):
        raise invalid(node, "a branch is missing")
    call = RawNode(node.name, node.op, (), outputs, loop=node.loop, under=under)
    nodes, constants = instantiate(body, call, {}, graph.fresh)
    for name, value in constants.items():
        graph.add_constant(name, value.dtype, value.array)
    return nodes


def joined(node: RawNode, graph: Surroundings) -> tuple[RawNode, ...]:
    """A Where for each result, once the results of both branches are known; they must be of one type and shape."""
    condition, *results = node.inputs
    count = len(node.outputs)
    scalar, shape = graph.fresh(f"{node.label}/condition"), graph.fresh(f"{node.label}/shape")
    graph.add_constant(shape, DType.I64, np.zeros(0, np.int64))
    opsets = {"": 17}
    nodes = [RawNode(f"{node.label}/condition", "Reshape", (condition, shape), (scalar,), opsets=opsets)]
    for one, other, target in zip(results[:count], results[count:], node.outputs, strict=True):
        types = [(graph.tensors[name].dtype, graph.tensors[name].shape) for name in (one, other)]
        if types[0] != types[1]:
            why = "its condition is computed at run time, and its branches give results of different shapes or types"
            fix = "export the model without control flow, or freeze the input that decides with --freeze"
            raise UnsupportedNode(f"node '{node.label}' (If)", why=why, fix=fix, node=node.label)
        nodes.append(RawNode(f"{node.label}/{target}", "Where", (scalar, one, other), (target,), opsets=opsets))
    graph.notes.append(
        f"node '{node.label}' (If): its condition is computed at run time, so both branches are in the code"
    )
    return tuple(nodes)
