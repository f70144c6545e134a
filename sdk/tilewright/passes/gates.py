"""Products of a tensor and a smooth step of itself, as the one operator that they spell out: Swish and Gelu.

PyTorch writes SiLU as `x * Sigmoid(x)`, and Gelu before opset 20 by Erf (`0.5 x (1 + erf(x / sqrt(2)))`) or Tanh
(`0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))`); TensorFlow and the libraries of transformers write the factors in
other orders (Hendrycks and Gimpel, Gaussian Error Linear Units, 2016; Ramachandran et al., Searching for Activation
Functions, 2017).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import isclose, pi, sqrt

from tilewright.model import Attribute, Model, Node
from tilewright.passes.edit import Edit

name = "gates"

CUBIC = 0.044715
NEAR = 2.0**-20
"""Exporters round the constants to float32, some after one another."""
DEEPEST = 6


@dataclass(frozen=True)
class _Product:
    """`scale` times tensors, each as often as it is a factor, and the nodes that multiply them."""

    scale: float
    factors: Counter[str]
    nodes: tuple[Node, ...] = ()

    def is_(self, scale: float, *factors: str) -> bool:
        """Whether it is near this."""
        return isclose(self.scale, scale, rel_tol=NEAR) and self.factors == Counter(factors)


@dataclass(frozen=True)
class _Gate:
    """The operator of `source`, and all nodes but the last product that it takes the place of."""

    op: str
    source: str
    attributes: Mapping[str, Attribute]
    nodes: tuple[Node, ...]


def apply(model: Model) -> Model:
    """Rewrite every such product of float32 numbers."""
    edit = Edit(model)
    for node in edit.nodes():
        if node.op != "Mul" or node.domain or node.clamp is not None or not edit.folds(*node.inputs, *node.outputs):
            continue
        gate = _gate(edit, node)
        if gate is None or not edit.encloses(gate.nodes, node):
            continue
        if edit.tensors[gate.source].shape == edit.tensors[node.outputs[0]].shape:
            for each in gate.nodes:
                edit.replace(each)
            edit.replace(node, Node(node.name, gate.op, (gate.source,), node.outputs, gate.attributes))
    return edit.result()


def _gate(edit: Edit, node: Node) -> _Gate | None:
    product = _multiplied(edit, node)
    if len(product.factors) != 2 or product.factors.total() != 2:
        return None
    for source, step in (tuple(product.factors), tuple(product.factors)[::-1]):
        gate = _swish(edit, product, source, step) or _gelu(edit, product, source, step)
        if gate is not None:
            return gate
    return None


def _swish(edit: Edit, product: _Product, source: str, step: str) -> _Gate | None:
    sigmoid = edit.plain_writer(step, "Sigmoid")
    if sigmoid is None or product.scale != 1:
        return None
    inner = _product(edit, sigmoid.inputs[0], sigmoid) if sigmoid.inputs[0] != source else _leaf(source)
    if inner.factors != Counter((source,)):
        return None
    return _Gate("Swish", source, {"alpha": inner.scale}, (*inner.nodes, sigmoid, *product.nodes))


def _gelu(edit: Edit, product: _Product, source: str, step: str) -> _Gate | None:
    if (added := edit.plain_writer(step, "Add")) is None or product.scale != 0.5:
        return None
    for place in (0, 1):
        if not _is_one(edit, added, place):
            continue
        own = (added, *product.nodes)
        if (erf := edit.plain_writer(added.inputs[1 - place], "Erf")) is not None:
            inner = _product(edit, erf.inputs[0], erf)
            if inner.is_(sqrt(0.5), source):
                return _Gate("Gelu", source, {"approximate": "none"}, (*inner.nodes, erf, *own))
        if (tanh := edit.plain_writer(added.inputs[1 - place], "Tanh")) is not None:
            nodes = _cubic(edit, tanh, source)
            if nodes is not None:
                return _Gate("Gelu", source, {"approximate": "tanh"}, (*nodes, tanh, *own))
    return None


def _cubic(edit: Edit, tanh: Node, source: str) -> tuple[Node, ...] | None:
    """The nodes that make sqrt(2 / pi) (x + 0.044715 x^3), also as a product with x."""
    outer = _product(edit, tanh.inputs[0], tanh)
    for step in outer.factors:
        added = edit.plain_writer(step, "Add")
        if added is None:
            continue
        powers = (source,) * (3 - (outer.factors[source] if source != step else 0))
        if len(powers) not in (2, 3) or not outer.is_(sqrt(2 / pi), step, *(source,) * (3 - len(powers))):
            continue
        for place in (0, 1):
            least = added.inputs[place] == source if len(powers) == 3 else _is_one(edit, added, place)
            cube = _product(edit, added.inputs[1 - place], added)
            if least and cube.is_(CUBIC, *powers):
                return (*cube.nodes, added, *outer.nodes)
    return None


def _is_one(edit: Edit, node: Node, place: int) -> bool:
    value = edit.constant(node, place)
    return value is not None and value.size == 1 and float(value.reshape(-1)[0]) == 1


def _leaf(tensor: str) -> _Product:
    return _Product(1.0, Counter((tensor,)))


def _product(edit: Edit, tensor: str, reader: Node, depth: int = DEEPEST) -> _Product:
    """What a tensor that only `reader` reads is a product of; itself where it is none."""
    writer = edit.writer(tensor)
    if writer is None or writer.domain or writer.clamp is not None or not depth or not edit.sole_reader(tensor, reader):
        return _leaf(tensor)
    if writer.op == "Mul":
        return _with(writer, _multiplied(edit, writer, depth - 1))
    constant = edit.constant(writer, 1)
    number = float(constant.reshape(-1)[0]) if constant is not None and constant.size == 1 else 0.0
    if writer.op == "Div" and number:
        inner = _product(edit, writer.inputs[0], writer, depth - 1)
        return _with(writer, _Product(inner.scale / number, inner.factors, inner.nodes))
    if writer.op == "Pow" and number in (2, 3):
        return _Product(1.0, Counter({writer.inputs[0]: int(number)}), (writer,))
    return _leaf(tensor)


def _multiplied(edit: Edit, node: Node, depth: int = DEEPEST) -> _Product:
    """The factors of a product."""
    total = _Product(1.0, Counter())
    for place, tensor in enumerate(node.inputs):
        constant = edit.constant(node, place)
        if constant is not None and constant.size == 1:
            total = _Product(total.scale * float(constant.reshape(-1)[0]), total.factors, total.nodes)
        else:
            inner = _product(edit, tensor, node, depth)
            total = _Product(total.scale * inner.scale, total.factors + inner.factors, (*inner.nodes, *total.nodes))
    return total


def _with(node: Node, product: _Product) -> _Product:
    return _Product(product.scale, product.factors, (*product.nodes, node))
