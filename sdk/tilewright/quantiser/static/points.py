"""Where a network gets codes: which tensors, which of them share a scale, and which lie inside of one operator.

Everything follows from what operators say of codes (`ops/codes.py`), so that each operator with an integer form finds
codes on all sides and none is rounded where the integer form would not round: between a sum and its limits, a product
and its bias, and inside of what becomes one table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tilewright.model import DType, Model, Node
from tilewright.ops.codes import Exponentials, Interpolates, Moves, Normalises, Products
from tilewright.ops.registry import codes_of
from tilewright.passes.quantise.kinds import computes, moves, products
from tilewright.quantiser.static.inside import inside


@dataclass(frozen=True)
class Group:
    """Tensors that share one scale, called by the first. `sources` are those whose values are measured: the others
    hold some of the same. `probabilities` where all are results of Softmax, whose codes are steps of 1/256.
    """

    name: str
    tensors: tuple[str, ...]
    sources: tuple[str, ...]
    probabilities: bool = False


@dataclass(frozen=True)
class Weighted:
    """A sum of products with constant weights: operand 1 of `node` in codes with a scale per index of `axis`.

    `bias` is its third operand, `addend` the constant of an Add that takes the place of one; "" without. `result` is
    what holds the sum with either, and `channel` the axis of it that counts output channels.
    """

    node: str
    weights: str
    axis: int | None
    bias: str
    addend: str
    result: str
    channel: int


@dataclass(frozen=True)
class Points:
    """What is coded: groups of activations, and weights, both in the network's order."""

    groups: tuple[Group, ...]
    weighted: tuple[Weighted, ...]

    @property
    def group_of(self) -> dict[str, Group]:
        """The group of every coded tensor."""
        return {name: group for group in self.groups for name in group.tensors}


def points_of(model: Model) -> Points:
    """Where the network gets codes."""
    hidden = inside(model)
    weighted = weighted_of(model, hidden)
    weights, hidden = {(one.node, 1) for one in weighted}, hidden | {one.addend for one in weighted}
    union = _Union()
    coded = set[str]()
    for node in model.nodes:
        moved = moves(node)
        if moved is not None and (names := _moved(model, node, moved)):
            union.join(names)
        elif integer_form(node):
            for place, name in enumerate(node.inputs):
                if _operand(model, node, place) and (node.name, place) not in weights and name not in hidden:
                    coded.add(union.root(name))
            coded.update(union.root(name) for name in node.outputs if _real(model, name) and name not in hidden)
    members = dict[str, list[str]]()
    for name in _in_order(model):
        members.setdefault(union.root(name), []).append(name)
    wanted = {union.root(name) for name in coded}
    writers = model.producers()
    groups = [_group(names, writers) for root, names in members.items() if root in wanted]
    return Points(tuple(groups), weighted)


def weighted_of(model: Model, hidden: frozenset[str]) -> tuple[Weighted, ...]:
    """Every sum of products with constant weights; `hidden` are the tensors inside of operators."""
    readers = model.consumers()
    return tuple(
        _weighted(model, node, readers[node.outputs[0]][0] if node.outputs[0] in hidden else None)
        for node in model.nodes if integer_form(node) and has_weights(model, node)
    )  # fmt: skip


def integer_form(node: Node) -> bool:
    """True where the operator computes codes in this form."""
    fact = codes_of(node)
    if isinstance(fact, Products) and fact.factors is not None:
        return all(node.attributes.get(factor, 1.0) == 1.0 for factor in fact.factors)
    return computes(node)


def has_weights(model: Model, node: Node) -> bool:
    """True for a sum of products of which operand 1 is constant, and operand 0 is not."""
    if products(node) is None or len(node.inputs) < 2 or model.tensors[node.inputs[0]].dtype is not DType.F32:
        return False
    return node.inputs[1] in model.constants and node.inputs[0] not in model.constants


def _weighted(model: Model, node: Node, reader: Node | None) -> Weighted:
    fact, weights = products(node), node.inputs[1]
    assert fact is not None
    rank = len(model.tensors[weights].shape)
    grouped = fact.in_groups and node.attributes.get("group", 1) != 1
    axis = None if grouped or rank < 2 else fact.weight_axis(node, rank)
    bias = node.inputs[2] if fact.takes_bias and len(node.inputs) > 2 else ""
    addend, result = "", node.outputs[0]
    if reader is not None and reader.op == "Add":
        addend = next((name for name in reader.inputs if name in model.constants), "")
        result = reader.outputs[0]
    given = bias if bias in model.constants else ""
    return Weighted(node.name, weights, axis, given, addend, result, fact.result_axis)


def _operand(model: Model, node: Node, place: int) -> bool:
    """True where the operand is one of the numbers that are computed with: no bias, no shape, no factor."""
    name = node.inputs[place]
    if not name or not _real(model, name) or (products(node) is not None and place > 1):
        return False
    if isinstance(codes_of(node), Normalises | Interpolates) and place > 0:
        return False
    return name not in model.constants or model.tensors[name].elements > 1


def _real(model: Model, name: str) -> bool:
    return bool(name) and model.tensors[name].dtype is DType.F32


def _moved(model: Model, node: Node, moved: Moves) -> list[str]:
    names = [node.inputs[place] for place in moved.data_of(node) if node.inputs[place]]
    return [name for name in (*names, *moved.results_of(node)) if _real(model, name)]


def _in_order(model: Model) -> Iterable[str]:
    made = (name for node in model.nodes for name in (*node.inputs, *node.outputs))
    return (name for name in dict.fromkeys((*model.inputs, *made)) if name and _real(model, name))


def _group(names: list[str], writers: Mapping[str, Node]) -> Group:
    sources = [name for name in names if name not in writers or moves(writers[name]) is None]
    made = [codes_of(writers[name]) if name in writers else None for name in sources]
    return Group(names[0], tuple(names), tuple(sources), all(isinstance(fact, Exponentials) for fact in made))


class _Union:
    """Sets of names that grow together; the first name of a set stands for it."""

    def __init__(self) -> None:
        self._parents: dict[str, str] = {}

    def root(self, name: str) -> str:
        """The name that stands for the set of this one."""
        while (parent := self._parents.get(name, name)) != name:
            name = parent
        return name

    def join(self, names: list[str]) -> None:
        """All of them are in one set from now on."""
        first = self.root(names[0])
        for name in names[1:]:
            self._parents[self.root(name)] = first
