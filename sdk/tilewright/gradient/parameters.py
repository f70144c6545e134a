"""Which constants of a network are learnt, and which of them a training updates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tilewright.errors import UsageError
from tilewright.frontend.names import nearest, quoted
from tilewright.gradient.network import Network
from tilewright.model import Node
from tilewright.ops.registry import find

LAST, BIAS, ALL = "last", "bias", "all"


@dataclass(frozen=True)
class Parameter:
    """A learnt constant; `layer` counts the layers that have any, `bias` says that it is added."""

    name: str
    layer: int
    bias: bool


def parameters(network: Network) -> tuple[Parameter, ...]:
    """The learnt constants in order: weights and biases of layers, tables of embeddings; no statistics."""
    learnt: dict[str, Parameter] = {}
    made_by = dict[str, int]()
    for node in network.nodes:
        places = _learnt(network, node, made_by)
        names = [node.inputs[place] for place in places if node.inputs[place] not in learnt]
        if not names:
            continue
        joined = node.op == "Add"
        layer = (
            made_by[_other(node, names[0])] if joined else 1 + max((one.layer for one in learnt.values()), default=-1)
        )
        for place in places:
            name = node.inputs[place]
            learnt.setdefault(name, Parameter(name, layer, joined or place == 2))
        made_by |= dict.fromkeys(node.outputs, layer)
    return tuple(learnt.values())


def _learnt(network: Network, node: Node, made_by: dict[str, int]) -> list[int]:
    """The places of a node's operands that hold learnt constants."""
    operator = find(node.op, node.domain)
    constant = [
        place
        for place, name in enumerate(node.inputs)
        if name in network.constants and network.tensor(name).dtype.is_float and network.tensor(name).elements > 1
    ]
    if operator is None or operator.gradient is None or not constant:
        return []
    if operator.torch is not None and operator.torch.layer:
        return [place for place in constant if place and place not in operator.torch.statistics]
    if node.op == "Add":  # the bias behind a product
        return [place for place in constant if node.inputs[1 - place] in made_by]
    return [place for place in constant if node.op == "Gather" and place == 0]


def _other(node: Node, name: str) -> str:
    return next(each for each in node.inputs if each != name)


def chosen(network: Network, wish: str) -> tuple[str, ...]:
    """The names that `--update` means: `last`, `bias`, `all`, or names; UsageError for one that is no parameter."""
    known = parameters(network)
    if not known:
        raise UsageError("there is nothing to train", why="no layer of the network has constant weights")
    if wish == ALL:
        return tuple(one.name for one in known)
    if wish == BIAS:
        return _some(tuple(one.name for one in known if one.bias), wish)
    if wish == LAST:
        last = max(one.layer for one in known)
        return tuple(one.name for one in known if one.layer == last)
    return _named(wish.split(","), [one.name for one in known])


def _some(names: tuple[str, ...], wish: str) -> tuple[str, ...]:
    if not names:
        raise UsageError(f"--update {wish}: the network has none", fix="use all, or name parameters")
    return names


def _named(names: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    for name in names:
        if name not in known:
            raise UsageError(f"--update: {quoted(name)} is no parameter", fix=nearest(name, known), tensor=name)
    return tuple(dict.fromkeys(names))
