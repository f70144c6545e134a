"""Checks that a Model is what it says; shares no code with the stages that make one. A fault here is our own bug."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tilewright.errors import TilewrightError
from tilewright.model import Model, Node, Tensor


def check_model(model: Model, made_by: str) -> Model:
    """The model itself; TilewrightError (exit 1) naming the stage and the first invariant that does not hold."""
    for fault in faults(model):
        fix = "this is a bug of tilewright, please report it with the model"
        raise TilewrightError(f"{made_by} made an invalid model", why=fault, fix=fix)
    return model


def faults(model: Model) -> Iterator[str]:
    """A sentence for each invariant that does not hold."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,62}", model.name):
        yield f"the model's name '{model.name}' is not a C identifier"
    for key, tensor in model.tensors.items():
        yield from _tensor_faults(key, tensor)
    yield from _constant_faults(model)
    if clash := set(model.inputs) & set(model.constants):
        yield f"input '{min(clash)}' is a constant"
    yield from _node_faults(model)


def _tensor_faults(key: str, tensor: Tensor) -> Iterator[str]:
    if not key or key != tensor.name:
        yield f"tensor '{tensor.name}' is filed under '{key}'"
    if any(extent < 0 for extent in tensor.shape):
        yield f"tensor '{key}' has the shape {tensor.shape}"
    quantisation = tensor.quantisation
    if quantisation is not None:
        count = len(quantisation.scale)
        if count != len(quantisation.zero_point) or tensor.dtype.is_float:
            yield f"tensor '{key}' has a quantisation that does not fit itself or its type"
        elif quantisation.axis is None:
            if count != 1:
                yield f"tensor '{key}' has {count} scales and no axis"
        elif not 0 <= quantisation.axis < len(tensor.shape) or tensor.shape[quantisation.axis] != count:
            yield f"tensor '{key}' of shape {tensor.shape} has {count} scales on axis {quantisation.axis}"


def _constant_faults(model: Model) -> Iterator[str]:
    for name, array in model.constants.items():
        tensor = model.tensors.get(name)
        if tensor is None:
            yield f"constant '{name}' has no type"
        elif array.shape != tensor.shape or array.dtype != tensor.dtype.numpy:
            held = f"{array.dtype} of shape {array.shape}"
            yield f"constant '{name}' holds {held}, its tensor is {tensor.dtype.value} of shape {tensor.shape}"


def _node_faults(model: Model) -> Iterator[str]:
    known = {*model.inputs, *model.constants}
    names: set[str] = set()
    for node in model.nodes:
        if not node.name or node.name in names:
            yield f"node name '{node.name}' is empty or not unique"
        names.add(node.name)
        yield from _edge_faults(node, model, known)
        known.update(name for name in node.outputs if name)
    for name in (*model.inputs, *model.outputs):
        if name not in model.tensors:
            yield f"'{name}' is an input or output without a type"
    for name in model.outputs:
        if name not in known:
            yield f"output '{name}' is written by no node"
    for kind, group in (("input", model.inputs), ("output", model.outputs)):
        if len(set(group)) != len(group):
            yield f"an {kind} is there twice"
    if not model.outputs:
        yield "there is no output"


def _edge_faults(node: Node, model: Model, known: set[str]) -> Iterator[str]:
    for name in node.inputs:
        if name and name not in known:
            yield f"node '{node.name}' reads '{name}' before anything writes it"
    if not any(node.outputs):
        yield f"node '{node.name}' writes nothing"
    for position, name in enumerate(node.outputs):
        if not name:
            continue
        if name not in model.tensors:
            yield f"node '{node.name}' writes '{name}', which has no type"
        if name in known or name in node.outputs[:position]:
            yield f"'{name}' is written again by node '{node.name}'"
