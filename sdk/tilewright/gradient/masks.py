"""Masks of a Relu whose gradient is the same all over a plane: `sign(y)` lies over `y` and needs no bytes more."""

from __future__ import annotations

from dataclasses import replace

from tilewright.frontend.names import unique
from tilewright.model import Model, Node


def by_sign(model: Model) -> Model:
    """`Where(y > 0, Expand(g), 0)` as `sign(y) * g` where `y` is what a Relu makes."""
    writers = {name: node for node in model.nodes for name in node.outputs if name}
    tensors, names, nodes = dict(model.tensors), set(model.tensors), list[Node]()
    for node in model.nodes:
        parts = _parts(model, writers, node)
        if parts is None:
            nodes.append(node)
            continue
        y, narrow = parts
        sign = unique(f"{node.name}/sign", names)
        tensors[sign] = replace(tensors[y], name=sign)
        nodes.append(Node(f"{node.name}/sign", "Sign", (y,), (sign,), {}))
        nodes.append(replace(node, op="Mul", inputs=(sign, narrow)))
    return model.replace(nodes=tuple(nodes), tensors=tensors)


def _parts(model: Model, writers: dict[str, Node], node: Node) -> tuple[str, str] | None:
    """What the mask is made of, and the gradient before it is expanded; None for any other node."""
    if node.op != "Where" or node.domain or node.clamp is not None:
        return None
    mask, wide, zero = (writers.get(node.inputs[0]), writers.get(node.inputs[1]), model.constants.get(node.inputs[2]))
    if mask is None or wide is None or mask.op != "Greater" or wide.op != "Expand" or zero is None or zero.any():
        return None
    made, limit = writers.get(mask.inputs[0]), model.constants.get(mask.inputs[1])
    rectified = made is not None and made.op == "Relu" and limit is not None and limit.size == 1 and not limit.any()
    shapes = {model.tensors[name].shape for name in (mask.inputs[0], node.inputs[1], node.outputs[0])}
    return (mask.inputs[0], wide.inputs[0]) if rectified and len(shapes) == 1 else None
