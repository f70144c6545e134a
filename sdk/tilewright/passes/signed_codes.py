"""Makes codes of eight bits signed: `q - 128` with the zero point `z - 128` stands for the same real number.

Every kernel takes signed codes, and the best ones take no others. Codes at the border of the network keep their type,
as do those that a node reads as plain integers, and all that moves share with them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tilewright.frontend.names import unique
from tilewright.frontend.prune import prune
from tilewright.model import Array, DType, Model, Node, Tensor
from tilewright.ops.codes import Converts, Moves
from tilewright.ops.quantised.lookup import lookup_table
from tilewright.ops.registry import call_of, codes_of

name = "signed_codes"

OFFSET = 128


def apply(model: Model) -> Model:
    """Give every such tensor the signed type, constants their codes less 128, and the nodes beside it what follows."""
    chosen = _chosen(model)
    if not chosen:
        return model
    made = _Made(model, chosen)
    nodes = tuple(
        made.node(node) if chosen.intersection((*node.inputs, *node.outputs)) else node for node in model.nodes
    )
    return prune(model.replace(nodes=nodes, tensors=made.tensors, constants=made.constants))


def signed(tensor: Tensor) -> Tensor:
    """The tensor with signed codes for the same real numbers."""
    meaning = tensor.quantisation
    assert meaning is not None, tensor.name
    zeros = tuple(zero - OFFSET for zero in meaning.zero_point)
    return replace(tensor, dtype=DType.I8, quantisation=replace(meaning, zero_point=zeros))


def less_offset(codes: Array) -> Array:
    """Unsigned codes as signed ones."""
    return np.asarray(codes.astype(np.int16) - OFFSET, np.int8)


def _chosen(model: Model) -> set[str]:
    """Tensors of unsigned codes that may change, with all that moves tie to them."""
    unsigned = {key for key, tensor in model.tensors.items() if tensor.type_token == "qu8"}
    tied: dict[str, list[tuple[str, ...]]] = {}
    fixed = unsigned.intersection((*model.inputs, *model.outputs))
    for node in model.nodes:
        codes = codes_of(node)
        here = unsigned.intersection((*node.inputs, *node.outputs))
        if not here:
            continue
        if codes is None or not _fillable(model, node):
            fixed |= here
        elif isinstance(codes, Moves):
            group = (*(node.inputs[place] for place in codes.data_of(node)), *codes.results_of(node))
            fixed |= here.difference(group)
            for each in group:
                tied.setdefault(each, []).append(group)
    work = list(fixed)
    while work:
        for group in tied.pop(work.pop(), ()):
            work += set(group) - fixed
            fixed.update(group)
    return unsigned - fixed


def _fillable(model: Model, node: Node) -> bool:
    """False for a Pad whose fill is known at run time only: nothing would make it signed."""
    return node.op != "Pad" or not _filled(node) or node.inputs[2] in model.constants


def _filled(node: Node) -> bool:
    return len(node.inputs) > 2 and bool(node.inputs[2])


class _Made:
    """The network with signed codes while it is made."""

    def __init__(self, model: Model, chosen: set[str]) -> None:
        self.model, self.chosen = model, chosen
        self.tensors = {key: signed(old) if key in chosen else old for key, old in model.tensors.items()}
        self.constants = {key: less_offset(old) if key in chosen else old for key, old in model.constants.items()}
        self.taken = set(model.tensors)

    def node(self, node: Node) -> Node:
        """The node as it has to be where some of its tensors hold signed codes."""
        if isinstance(codes_of(node), Converts):
            return self._converting(node)
        if node.op == "Lookup" and node.outputs[0] in self.chosen:
            call = call_of(node, [self.model.tensors[node.inputs[0]]], [self.model.tensors[node.outputs[0]]])
            return replace(node, attributes={**node.attributes, "table": less_offset(lookup_table(call))})
        if node.op == "Pad" and _filled(node) and node.inputs[0] in self.chosen:
            fill = self._constant(node.inputs[2], less_offset(self.model.constants[node.inputs[2]]))
            return replace(node, inputs=(*node.inputs[:2], fill, *node.inputs[3:]))
        return node

    def _converting(self, node: Node) -> Node:
        """A QuantizeLinear or DequantizeLinear with the zero point of its codes."""
        quantises = node.op == "QuantizeLinear"
        codes = node.outputs[0] if quantises else node.inputs[0]
        if codes not in self.chosen:
            return node
        meaning = self.tensors[codes].quantisation
        assert meaning is not None, codes
        shape = self.tensors[node.inputs[1]].shape
        zero = self._constant(f"{codes}_zero_point", np.asarray(meaning.zero_point, np.int8).reshape(shape))
        attributes = {key: value for key, value in node.attributes.items() if key != "output_dtype" or not quantises}
        return replace(node, inputs=(*node.inputs[:2], zero), attributes=attributes)

    def _constant(self, like: str, value: Array) -> str:
        key = unique(f"{like}_signed", self.taken)
        self.tensors[key], self.constants[key] = Tensor(key, DType.I8, value.shape), value
        return key
