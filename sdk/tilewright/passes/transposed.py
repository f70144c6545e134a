"""A ConvTranspose that does not spread its input is a Conv with its taps turned round, which more kernels compute."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tilewright.model import Model, Node
from tilewright.ops.conv_transpose import spread
from tilewright.ops.weights import refuse_overflow
from tilewright.passes.edit import Edit

name = "transposed"


def apply(model: Model) -> Model:
    """Rewrite every float ConvTranspose of stride 1 with constant weights whose result a padded Conv gives."""
    edit = Edit(model)
    for node in edit.nodes():
        if node.op == "ConvTranspose" and not node.domain and edit.is_float(*node.inputs, *node.outputs):
            _rewrite(edit, node)
    return edit.result()


def _rewrite(edit: Edit, node: Node) -> None:
    call, weights = edit.call(node), edit.constant(node, 1)
    geometry = spread(call)
    if weights is None or any(stride != 1 for stride in geometry.strides):
        return
    spans = [(taps - 1) * dilation for taps, dilation in zip(geometry.kernel, geometry.dilations, strict=True)]
    begins = [span - begin for span, begin in zip(spans, geometry.begins, strict=True)]
    ends = [
        out - size + span - begin
        for out, size, span, begin in zip(geometry.outs, call.shape()[2:], spans, begins, strict=True)
    ]
    if min(*begins, *ends) < 0:
        return
    refuse_overflow(call)  # in the words of the file: behind this pass the operator and the weights have other names
    groups = call.integer("group", 1)
    split = weights.reshape(groups, weights.shape[0] // groups, *weights.shape[1:]).swapaxes(1, 2)
    turned = np.flip(split, axis=tuple(range(3, split.ndim))).reshape(-1, *split.shape[2:])
    constant = edit.add_constant(f"{node.inputs[1]}/turned", turned, edit.tensors[node.inputs[1]].dtype)
    edit.replace(
        node,
        replace(
            node, op="Conv", inputs=(node.inputs[0], constant, *node.inputs[2:]),
            attributes={
                "dilations": geometry.dilations, "group": groups, "kernel_shape": geometry.kernel,
                "pads": (*begins, *ends), "strides": geometry.strides,
            },
        ),
    )  # fmt: skip
