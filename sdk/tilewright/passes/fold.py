"""Computes nodes whose operands have all become constants, with the operators' own meaning in NumPy.

A result without elements is known whatever the operands are. Codes become codes; as floats they would take four
times the bytes.
"""

from __future__ import annotations

import numpy as np

from tilewright.frontend.shapes import FOLD_BYTES_LIMIT, FOLD_WORK_LIMIT, evaluate, fold_work
from tilewright.model import Model
from tilewright.ops.operator import Call
from tilewright.ops.registry import find
from tilewright.passes.edit import Edit

name = "fold"


def apply(model: Model) -> Model:
    """Replace constant nodes by constants; a node that writes an output of the network stays."""
    edit = Edit(model)
    work = 0
    for node in edit.nodes():
        if any(edit.is_output(output) for output in node.outputs):
            continue
        results = [edit.tensors[output] for output in node.outputs if output]
        if results and not any(tensor.elements for tensor in results):
            edit.constants.update({tensor.name: np.empty(tensor.shape, tensor.dtype.numpy) for tensor in results})
            edit.replace(node)
            continue
        operator = find(node.op, node.domain)
        if operator is None or not operator.folds or not node.inputs:
            continue
        if any(name and name not in edit.constants for name in node.inputs):
            continue
        tensors = [edit.tensors[name] if name else None for name in node.inputs]
        outputs = tuple(edit.tensors[name] for name in node.outputs if name)
        coded = any(tensor.quantisation for tensor in tensors if tensor)
        if len(outputs) != len(node.outputs) or (coded and not all(tensor.quantisation for tensor in outputs)):
            continue
        values = {index: edit.constants[name] for index, name in enumerate(node.inputs) if name}
        call = Call(node, tuple(tensors), outputs, values, model.opset, operator=operator)
        work += fold_work(call)
        if work > FOLD_WORK_LIMIT or sum(tensor.elements * 8 for tensor in outputs) > FOLD_BYTES_LIMIT:
            break
        for tensor, array in zip(outputs, evaluate(operator, call), strict=False):
            edit.constants[tensor.name] = array
        edit.replace(node)
    return edit.result()
