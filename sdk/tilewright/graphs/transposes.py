"""Transposes of constants are applied once, at compile time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tilewright.model import Model, Node


def fold_constant_transposes(model: Model) -> Model:
    """Every Transpose of a constant becomes a constant; the same model where there is none.

    A transpose that is an output of the network stays. State pairs belong to the plan, so none is lost here.
    """
    foldable: dict[str, Node] = {
        node.outputs[0]: node
        for node in model.nodes
        if node.op == "Transpose" and node.inputs[0] in model.constants and node.outputs[0] not in model.outputs
    }
    if not foldable:
        return model
    constants, tensors = dict(model.constants), dict(model.tensors)
    for name, node in foldable.items():
        source = model.tensors[node.inputs[0]]
        value = model.constants[node.inputs[0]]
        perm = node.attributes.get("perm", tuple(reversed(range(value.ndim))))
        assert isinstance(perm, tuple)
        axes = [int(axis) for axis in perm]
        constants[name] = np.ascontiguousarray(value.transpose(axes))
        meaning = source.quantisation
        if meaning is not None and meaning.axis is not None:
            meaning = replace(meaning, axis=axes.index(meaning.axis))
        tensors[name] = replace(tensors[name], quantisation=meaning)
    nodes = tuple(node for node in model.nodes if node.outputs[0] not in foldable)
    return model.replace(nodes=nodes, tensors=tensors, constants=constants)
