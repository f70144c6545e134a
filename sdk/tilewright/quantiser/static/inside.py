"""Tensors that the integer form of an operator never holds: they get no codes of their own.

Such are the sum before its limits (Conv and Relu), the product before its bias (MatMul and Add), and what lies between
the operators that become one table of codes (`x * Sigmoid(x)`, Gelu through Erf).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tilewright.model import Model, Node
from tilewright.ops.codes import Interpolates, Mean, Pairwise, Products, Table
from tilewright.ops.registry import codes_of
from tilewright.passes.quantise.kinds import limits


def inside(model: Model) -> frozenset[str]:
    """The names of these tensors."""
    behind = _Behind(model)
    behind.go()
    return frozenset(behind.hidden | _in_tables(model, behind))


@dataclass(frozen=True)
class _Head:
    """The operator whose result a tensor is, and what has been put behind it by now."""

    fact: object
    biased: bool
    limited: bool


class _Behind:
    """One walk that gives operators the limits and biases behind them."""

    def __init__(self, model: Model) -> None:
        self.model, self.readers = model, model.consumers()
        self.hidden: set[str] = set()
        self.heads: dict[str, _Head] = {}

    def go(self) -> None:
        """Visit every node."""
        for node in self.model.nodes:
            fact = codes_of(node)
            if limits(node) and (head := self._only(node.inputs[0])) is not None:
                self.hidden.add(node.inputs[0])
                self.heads[node.outputs[0]] = _Head(head.fact, head.biased, True)
            elif node.op == "Add" and (name := self._product(node)):
                self.hidden.add(name)
                self.heads[node.outputs[0]] = _Head(self.heads[name].fact, True, False)
            elif isinstance(fact, Products | Mean | Interpolates | Pairwise):
                biased = isinstance(fact, Products) and len(node.inputs) > 2 and bool(node.inputs[2])
                self.heads[node.outputs[0]] = _Head(fact, biased, False)

    def _only(self, name: str) -> _Head | None:
        """The head of a tensor that one node reads and nobody else."""
        if name in self.model.outputs or len(self.readers.get(name, ())) != 1:
            return None
        return self.heads.get(name)

    def _product(self, node: Node) -> str:
        """The operand of an Add that is a product without bias, where the other is one number per channel."""
        for name, other in (node.inputs, node.inputs[::-1]):
            head = self._only(name)
            if head is None or other not in self.model.constants or head.biased or head.limited:
                continue
            fact, shape, bias = head.fact, self.model.tensors[name].shape, self.model.tensors[other].shape
            if isinstance(fact, Products) and _per_channel(fact, shape, bias):
                return name
        return ""


def _per_channel(fact: Products, shape: Sequence[int], bias: Sequence[int]) -> bool:
    axis = fact.result_axis % len(shape)
    padded = (1,) * (len(shape) - len(bias)) + tuple(bias)
    return len(padded) == len(shape) and all(
        size == 1 or (place == axis and size == shape[axis]) for place, size in enumerate(padded)
    )


def _in_tables(model: Model, behind: _Behind) -> set[str]:
    """What lies between the elementwise operators of one operand, where they end in one result."""
    roots, readers = _roots(model, behind), behind.readers
    between = {
        name for name, root in roots.items()
        if name not in model.outputs and readers[name]
        and all(roots.get(node.outputs[0]) == root for node in readers[name])
    }  # fmt: skip
    ends = dict[str, frozenset[str]]()
    for node in reversed(model.nodes):
        name = node.outputs[0]
        if name in between:
            ends[name] = frozenset[str]().union(*(ends[reader.outputs[0]] for reader in readers[name]))
        elif name in roots:
            ends[name] = frozenset((name,))
    forked = {roots[name] for name in between if len(ends[name]) > 1}
    return {name for name in between if roots[name] not in forked}


def _roots(model: Model, behind: _Behind) -> Mapping[str, str]:
    """For every result of elementwise operators of one tensor and numbers, that tensor."""
    roots = dict[str, str]()
    for node in model.nodes:
        head = behind.heads.get(node.outputs[0])
        if not isinstance(codes_of(node), Table | Pairwise) or (head and not isinstance(head.fact, Pairwise)):
            continue
        operands = {
            roots.get(name, name) for name in node.inputs
            if name and not (name in model.constants and model.tensors[name].elements == 1)
        }  # fmt: skip
        if len(operands) == 1 and (root := operands.pop()) not in model.constants:
            roots[node.outputs[0]] = root
    return roots
