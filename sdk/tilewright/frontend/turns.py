"""Turns of a Loop that are decided at run time: whether one is asked for, and what it gives where it is not.

Every turn up to the bound is there. A turn that is not asked for leaves what is carried as it was, and the rows that it
gives are zeros behind those that there are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from tilewright.errors import UnsupportedNode
from tilewright.frontend.names import printable
from tilewright.frontend.raw import RawNode
from tilewright.model import Array, DType, Length, Tensor

# what a loop carries from turn to turn: whether each turn was asked for, and the results that are still to be taken
GOING, PENDING = "turns asked for", "results to take"
COUNTED = "Loop of counted turns"
"""What stands for the lengths of stacked results once they have been walked; no operator of a file has such a name."""
MOST_TURNS = 1000
"""A larger number of turns is what exporters write for none: the user has to say the most."""
_OPSETS = {"": 17}


@dataclass(frozen=True)
class End:
    """That a loop may end at its bound: `beyond` says that data asks for one more turn.

    It means something where every condition of `under` has its value. `loop` is the outermost one around it.
    """

    loop: str
    beyond: str
    under: tuple[tuple[str, bool], ...]


class Surroundings(Protocol):
    """The graph that a loop stands in, as far as it has been walked."""

    bounds: Mapping[str, int]
    used: set[str]
    ends: list[End]

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

    def measure(self, node: str, tensor: str, length: Length) -> None:
        """Note that data decides the length of an axis."""


def most_turns(node: RawNode, limit: int | None, graph: Surroundings) -> int:
    """The bound of a loop: what the user says, else the number of turns where only the condition is data.

    UnsupportedNode where there is neither.
    """
    names = [name for name in (node.name, node.inputs[0] if node.inputs else "", *node.outputs) if name in graph.bounds]
    graph.used.update(names)
    known = [graph.bounds[name] for name in names]
    known += [limit] if limit is not None and (known or limit <= MOST_TURNS) else []
    if known:
        return min(known)
    name = printable(next(filter(None, (node.name, *node.outputs))))
    raise UnsupportedNode(
        node.where(),
        why="its number of iterations is computed at run time",
        fix=f"say how often it may at the most with --bound {name}=N, or freeze the input that decides with --freeze",
        node=node.label,
        tensor=next(filter(None, node.outputs), ""),
    )


def asking(
    node: RawNode, turn: int, trips: str, condition: str, graph: Surroundings
) -> tuple[tuple[RawNode, ...], str]:
    """The nodes that say whether a turn is asked for, and their result; `trips` and `condition` where they are data."""
    before = node.attributes.get(GOING, ())
    assert isinstance(before, tuple)
    nodes, terms = list[RawNode](), list[str]()

    def add(op: str, *operands: str) -> str:
        result = graph.fresh(f"{node.label}/{turn}/asked")
        nodes.append(RawNode(result, op, operands, (result,), opsets=_OPSETS))
        return result

    scalar = graph.fresh(f"{node.label}/scalar")
    graph.add_constant(scalar, DType.I64, np.zeros(0, np.int64))
    if trips:
        made = graph.fresh(f"{node.label}/made")
        graph.add_constant(made, graph.tensors[trips].dtype, np.array(turn, graph.tensors[trips].dtype.numpy))
        terms.append(add("Greater", add("Reshape", trips, scalar), made))
    if condition:
        terms.append(add("Reshape", condition, scalar))
    while len(terms) > 1:
        terms = [add("And", terms[0], terms[1]), *terms[2:]]
    if before and terms:  # a choice, not And: then a turn that is not asked for computes no condition either
        no = graph.fresh(f"{node.label}/no")
        graph.add_constant(no, DType.BOOL, np.array(False))
        terms = [add("Where", str(before[-1]), terms[0], no)]
    if not terms:
        if before:
            return (), str(before[-1])
        terms = [graph.fresh(f"{node.label}/{turn}/asked")]
        graph.add_constant(terms[0], DType.BOOL, np.array(True))
    return tuple(nodes), terms[0]


def note_end(node: RawNode, beyond: str, graph: Surroundings) -> None:
    """Note what says that data asks for a turn beyond the bound, where the loop runs at all."""
    graph.ends.append(End(node.loop or node.label, beyond, node.under))


def telling_ends(graph: Surroundings) -> tuple[tuple[RawNode, ...], tuple[str, ...]]:
    """The nodes of one more output for every loop that may end at a bound, itself or by one inside, and their names."""
    nodes, flags = list[RawNode](), dict[str, str]()

    def add(op: str, loop: str, *operands: str) -> str:
        result = graph.fresh(f"{loop}/cut")
        nodes.append(RawNode(result, op, operands, (result,), opsets=_OPSETS))
        return result

    no, shape = graph.fresh("no turn"), graph.fresh("one element")
    if graph.ends:
        graph.add_constant(no, DType.BOOL, np.array(False))
        graph.add_constant(shape, DType.I64, np.array([1], np.int64))
    for end in graph.ends:
        flag = end.beyond
        for condition, value in reversed(end.under):  # choices, so that what is under a condition runs only then
            flag = add("Where", end.loop, condition, *((flag, no) if value else (no, flag)))
        flag = add("Reshape", end.loop, flag, shape)
        flags[end.loop] = add("Or", end.loop, flags[end.loop], flag) if end.loop in flags else flag
    names = {loop: graph.fresh(f"{loop}_cut") for loop in flags}
    nodes += [RawNode(to, "Identity", (flags[loop],), (to,), opsets=_OPSETS) for loop, to in names.items()]
    return tuple(nodes), tuple(names.values())


def taken(node: RawNode, pending: Sequence[str], carried: Sequence[str], graph: Surroundings) -> tuple[RawNode, ...]:
    """What a turn leaves, once it has been walked: its results where it was asked for, else what was carried."""
    going = node.attributes[GOING]
    made = node.attributes["results of turns"]
    assert isinstance(going, tuple)
    assert isinstance(made, tuple)
    go, nodes, given = str(going[-1]), list[RawNode](), list[str]()
    for new, old in zip(pending, carried, strict=False):
        types = [(graph.tensors[name].dtype, graph.tensors[name].shape) for name in (new, old)]
        if types[0] != types[1]:
            raise UnsupportedNode(
                node.where(),
                why="what it carries changes its shape or type, and its number of iterations depends on data",
                fix="carry tensors of a fixed shape, or freeze the input that decides with --freeze", node=node.label,
            )  # fmt: skip
        given.append(graph.fresh(f"{new}/taken"))
        nodes.append(RawNode(given[-1], "Where", (go, new, old), (given[-1],), opsets=_OPSETS))
    rows = list[str]()
    for row in pending[len(carried) :]:
        kind, zero = graph.tensors[row].dtype, graph.fresh(f"{row}/zero")
        graph.add_constant(zero, kind, np.zeros((), kind.numpy))
        rows.append(graph.fresh(f"{row}/taken"))
        nodes.append(RawNode(rows[-1], "Where", (go, row, zero), (rows[-1],), opsets=_OPSETS))
    earlier = made[: len(made) - len(rows)]
    attributes = {**node.attributes, PENDING: (), "results of turns": (*map(str, earlier), *rows)}
    rest = replace(node, inputs=(*node.inputs[:2], *given), attributes=attributes)
    return (*nodes, rest)


def turns_made(
    node: RawNode, going: Sequence[str], turns: int, stacks: Sequence[str], graph: Surroundings
) -> tuple[RawNode, ...]:
    """The nodes that count the turns that were asked for; turns before the first of `going` are made in any case."""
    known, axis = graph.fresh(f"{node.label}/known"), graph.fresh(f"{node.label}/axis")
    graph.add_constant(axis, DType.I64, np.array([0], np.int64))
    graph.add_constant(known, DType.I64, np.array([turns - len(going)], np.int64))
    nodes, rows = list[RawNode](), list[str]()
    for go in going:
        rows.append(graph.fresh(f"{go}/row"))
        nodes.append(RawNode(rows[-1], "Unsqueeze", (go, axis), (rows[-1],), opsets=_OPSETS))
    together, numbers, total, count = (
        graph.fresh(f"{stacks[0]}/{word}") for word in ("all", "numbers", "total", "count")
    )
    steps = [
        ("Concat", tuple(rows), together, {"axis": 0}), ("Cast", (together,), numbers, {"to": 7}),
        ("ReduceSum", (numbers, axis), total, {"keepdims": 1}), ("Add", (total, known), count, {}),
    ]  # fmt: skip
    nodes += [RawNode(to, op, read, (to,), attributes, opsets=_OPSETS) for op, read, to, attributes in steps]
    return (*nodes, RawNode(node.label, COUNTED, (count, *stacks), tuple(stacks), opsets=_OPSETS))


def measured_turns(node: RawNode, graph: Surroundings) -> tuple[RawNode, ...]:
    """Notes the lengths of stacked results, which have been walked."""
    count, *stacks = node.inputs
    for stack in stacks:
        graph.measure(node.label, stack, Length(0, count))
    return ()
