"""Loops whose turns are known at compile time become their turns, one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

import numpy as np

from tilewright.errors import UnsupportedNode
from tilewright.frontend.expand import instantiate
from tilewright.frontend.names import printable
from tilewright.frontend.opset import invalid
from tilewright.frontend.raw import Body, RawAttribute, RawNode
from tilewright.model import Array, DType

# what a loop carries from turn to turn; no attribute of a file has such a name, the checker knows those of a Loop
_TURN, _MADE = "turns made", "results of turns"


class Surroundings(Protocol):
    """The graph that a loop stands in, as far as it has been walked."""

    @property
    def constants(self) -> Mapping[str, Array]:
        """Values that are known, by the name of their tensor."""

    def add_constant(self, name: str, dtype: DType, array: Array) -> None:
        """Note a constant."""

    def fresh(self, name: str) -> str:
        """A tensor name that nothing has yet."""


def unrolled(node: RawNode, graph: Surroundings) -> tuple[RawNode, ...]:
    """The nodes of the next turn with the rest of the loop behind them, or what the loop gives where it has ended.

    The condition of a turn is known once the turn before it has been walked. UnsupportedNode where it, or the number
    of turns, is computed at run time.
    """
    body = node.attributes.get("body")
    if not isinstance(body, Body):
        raise invalid(node, "attribute 'body' is missing")
    trips, condition, *carried = (*node.inputs, "", "")[: max(2, len(node.inputs))]
    scans = len(body.outputs) - 1 - len(carried)
    if len(body.inputs) != 2 + len(carried) or scans < 0 or len(node.outputs) > len(carried) + scans:
        why = f"its body takes {len(body.inputs)} and gives {len(body.outputs)} tensors, {len(carried)} are carried"
        raise invalid(node, why)
    turn, made = node.attributes.get(_TURN, 0), node.attributes.get(_MADE, ())
    assert isinstance(turn, int)
    assert isinstance(made, tuple)
    before = tuple(str(name) for name in made)
    limit = _known(node, trips, "the number of its turns", graph)
    if (limit is not None and turn >= limit) or _known(node, condition, "the condition of its turns", graph) == 0:
        return _ended(node, carried, before, scans, graph)
    if turn == 0:
        body = _with_constants_once(node, body, graph)
    count, going = graph.fresh(f"{node.label}/turn"), graph.fresh(f"{node.label}/going")
    graph.add_constant(count, DType.I64, np.array(turn, np.int64))
    graph.add_constant(going, DType.BOOL, np.array(True))
    results = tuple(graph.fresh(f"{node.label}/{turn}/{name}") for name in body.outputs)
    call = RawNode(f"{node.label}/{turn}", "Loop", (count, going, *carried), results)
    nodes, _ = instantiate(body, call, {}, graph.fresh)
    state: dict[str, RawAttribute] = {_TURN: turn + 1, _MADE: (*before, *results[1 + len(carried) :])}
    rest = replace(
        node,
        attributes={"body": body, **state},
        inputs=(trips, results[0] if condition else "", *results[1 : 1 + len(carried)]),
    )
    return (*nodes, rest)


def _known(node: RawNode, name: str, what: str, graph: Surroundings) -> int | None:
    """The value of a scalar operand, None where it is omitted."""
    if not name:
        return None
    value = graph.constants.get(name)
    if value is None:
        fix = "export the model without control flow, or freeze the input that decides with --freeze"
        raise UnsupportedNode(node.where(), why=f"{what} is computed at run time", fix=fix, node=node.label)
    if value.size != 1 or value.dtype.kind not in "biu":
        raise invalid(node, f"{what} is no whole number")
    return int(value.reshape(-1)[0])


def _with_constants_once(node: RawNode, body: Body, graph: Surroundings) -> Body:
    """The body with its constants in the graph around it, so that all turns share them."""
    scope = dict(body.scope)
    for name, value in body.constants.items():
        scope[name] = graph.fresh(f"{node.label}/{name}")
        graph.add_constant(scope[name], value.dtype, value.array)
    return replace(body, constants={}, scope=scope)


def _ended(
    node: RawNode, carried: list[str], made: tuple[str, ...], scans: int, graph: Surroundings
) -> tuple[RawNode, ...]:
    """What was carried, and the results of all turns along a new first axis."""
    opsets = {"": 17}
    found = [
        RawNode(f"{node.label}/{target}", "Identity", (source,), (target,), opsets=opsets)
        for source, target in zip(carried, node.outputs, strict=False)
        if target
    ]
    for index, target in enumerate(node.outputs[len(carried) :]):
        parts = made[index::scans]
        if target and not parts:
            why, fix = f"it makes no turn, so '{printable(target)}' has no elements", "remove the loop"
            raise UnsupportedNode(node.where(), why=why, fix=fix, node=node.label)
        if not target:
            continue
        first = graph.fresh(f"{node.label}/first axis")
        graph.add_constant(first, DType.I64, np.zeros(1, np.int64))
        whole = [graph.fresh(f"{part}/row") for part in parts]
        found += [
            RawNode(row, "Unsqueeze", (part, first), (row,), opsets=opsets)
            for part, row in zip(parts, whole, strict=True)
        ]
        label = f"{node.label}/{target}"
        found.append(RawNode(label, "Concat", tuple(whole), (target,), {"axis": 0}, opsets=opsets))
    return tuple(found)
