"""Nodes between codes and reals that change no code: they need no instruction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tilewright.ops.codes import Converts, Moves
from tilewright.ops.operator import Kind
from tilewright.ops.registry import find

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

Meaning = tuple[bytes, ...]
"""Scale and zero point of codes, and their axis where there are several."""
SCALAR = 4
"""Bytes of one scale."""


def handed_on(model: ModelProto) -> frozenset[int]:
    """Numbers of the nodes that quantise to the very codes their values were read from, and that read such codes."""
    return frozenset(_handed_on(model))


def _handed_on(model: ModelProto) -> Iterator[int]:
    from onnx import numpy_helper

    numbers = {tensor.name: numpy_helper.to_array(tensor).tobytes() for tensor in model.graph.initializer}
    meanings = dict[str, Meaning]()
    same = set[str]()
    for index, node in enumerate(model.graph.node):
        operator = find(node.op_type, node.domain)
        if operator is not None and isinstance(operator.codes, Converts):
            meaning = _meaning(node, numbers)
            if meaning is None:
                continue
            if node.op_type == "DequantizeLinear":
                meanings[node.output[0]] = meaning
                if node.input[0] in same:
                    yield index
            elif meanings.get(node.input[0]) == meaning:
                same.add(node.output[0])
                yield index
        elif node.input and node.input[0] in meanings and _moves(node, meanings):
            meanings |= dict.fromkeys(node.output, meanings[node.input[0]])
            same |= {name for name in node.output if node.input[0] in same}


def _meaning(node: NodeProto, numbers: dict[str, bytes]) -> Meaning | None:
    """What codes of a node mean; None where that is computed."""
    if any(name and name not in numbers for name in node.input[1:]):
        return None
    told = tuple(numbers[name] for name in node.input[1:] if name)
    axis = next((attribute.i for attribute in node.attribute if attribute.name == "axis"), 1)
    return (*told, bytes(str(axis), "ascii")) if len(told[0]) > SCALAR else told


def _moves(node: NodeProto, meanings: dict[str, Meaning]) -> bool:
    """True for an operator that gives each value as it was, of operands with one meaning."""
    operator = find(node.op_type, node.domain)
    if operator is None or (operator.kind is not Kind.VIEW and not isinstance(operator.codes, Moves)):
        return False
    return len({meanings[name] for name in node.input if name in meanings}) == 1
