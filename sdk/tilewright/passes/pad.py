"""Takes a constant Pad into the padding of the convolution or pool that alone reads it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tilewright.model import DType, Model, Node
from tilewright.passes.edit import Edit

name = "pad"


def apply(model: Model) -> Model:
    """Merge pads where the operator's own padding has the same meaning."""
    edit = Edit(model)
    for node in edit.nodes():
        if node.op not in ("Conv", "MaxPool", "AveragePool") or node.domain:
            continue
        before = edit.writer(node.inputs[0])
        if before is None or before.op != "Pad" or before.domain or not edit.sole_reader(node.inputs[0], node):
            continue
        pads = _spatial_pads(edit, before)
        if pads is not None and _same_meaning(edit, before, node, pads):
            own = _integers(node, "pads", len(pads), 0)
            merged = tuple(int(a + b) for a, b in zip(own, pads, strict=True))
            attributes = {**node.attributes, "pads": merged, "auto_pad": "NOTSET"}
            inputs = (before.inputs[0], *node.inputs[1:])
            if node.op == "AveragePool":
                attributes["count_include_pad"] = 1
            edit.replace(node, replace(node, inputs=inputs, attributes=attributes))
            edit.replace(before)
    return edit.result()


def _integers(node: Node, attribute: str, count: int, default: int) -> tuple[int, ...]:
    value = node.attributes.get(attribute, ())
    found = tuple(item for item in value if isinstance(item, int)) if isinstance(value, tuple) else ()
    return found if len(found) == count else (default,) * count


def _spatial_pads(edit: Edit, pad: Node) -> tuple[int, ...] | None:
    """Begins and ends of the spatial axes; None where the Pad does anything else than widen those by a constant."""
    pads, rank = edit.constant(pad, 1), len(edit.tensors[pad.inputs[0]].shape)
    axes = edit.constant(pad, 3) if len(pad.inputs) > 3 and pad.inputs[3] else np.arange(rank)
    if pads is None or axes is None or pad.attributes.get("mode", "constant") != "constant" or pad.clamp:
        return None
    amounts, count = [int(amount) for amount in pads], len(axes)
    full = [0] * (2 * rank)
    for i, axis in enumerate(int(axis) % rank for axis in axes):
        full[axis], full[rank + axis] = amounts[i], amounts[count + i]
    if min(full, default=0) < 0 or any((*full[:2], *full[rank : rank + 2])):
        return None
    return (*full[2:rank], *full[rank + 2 :])


def _pad_value(edit: Edit, pad: Node) -> float | None:
    if len(pad.inputs) < 3 or not pad.inputs[2]:
        return 0.0
    value = edit.constant(pad, 2)
    return None if value is None or value.size != 1 else float(value.reshape(-1)[0])


def _same_meaning(edit: Edit, pad: Node, node: Node, pads: tuple[int, ...]) -> bool:
    tensor, value = edit.tensors[pad.inputs[0]], _pad_value(edit, pad)
    if (
        tensor.quantisation is not None
        or value is None
        or node.attributes.get("auto_pad", "NOTSET") not in ("NOTSET", "VALID")
    ):
        return False
    if node.op == "Conv":
        return value == 0
    rank = len(pads) // 2
    own, kernel = _integers(node, "pads", len(pads), 0), _integers(node, "kernel_shape", rank, 1)
    inside = all(own[i] + pads[i] < kernel[i % rank] for i in range(len(pads)))
    if node.attributes.get("ceil_mode", 0) or not inside or len(node.outputs) > 1:
        return False
    if node.op == "MaxPool":
        return (
            value == _lowest(tensor.dtype)
            or value == -np.inf
            or (value == 0 and not any(own) and _not_negative(edit, pad))
        )
    return value == 0 and (not any(own) or node.attributes.get("count_include_pad", 0) == 1)


def _lowest(dtype: DType) -> float:
    if not dtype.is_float:
        return float(dtype.range[0])
    if dtype is DType.BF16:
        return float(np.array(0xFF7F, np.uint16).view(dtype.numpy))
    return float(np.finfo(dtype.numpy.name).min)


def _not_negative(edit: Edit, pad: Node) -> bool:
    """True after a Relu or a clamp from zero up: there a padded zero is never above a real element."""
    writer = edit.writer(pad.inputs[0])
    return writer is not None and (writer.op == "Relu" or (writer.clamp is not None and writer.clamp.low >= 0))
