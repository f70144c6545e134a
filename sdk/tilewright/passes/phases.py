"""A ConvTranspose as plain convolutions, one for each phase of its results, where no kernel computes it in blocks.

Results a stride apart are sums over the same taps: of the input itself, not of one that is spread by zeros. So every
phase is a Conv of stride 1, which all platforms compute well, and an Interleave puts their results side by side.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from math import gcd, prod

import numpy as np

from tilewright.model import Array, Attribute, Model, Node
from tilewright.ops.conv_transpose import spread
from tilewright.ops.operator import Call
from tilewright.ops.relayout import DOMAIN
from tilewright.ops.weights import refuse_overflow
from tilewright.passes.edit import Edit

MOST_PHASES = 64
MOST_WORK = 2.0
"""How many times the products of the ConvTranspose the convolutions may have, for taps that only shift the window."""


@dataclass(frozen=True)
class _Phase:
    """One axis of a phase: `count` results from the taps of these numbers (-1: a tap of zero) with this padding."""

    count: int
    taps: tuple[int, ...]
    dilation: int
    pads: tuple[int, int]


def all_computed(call: Call) -> bool:
    """Leave every ConvTranspose as it is: nothing is known of a target."""
    return True


@dataclass(frozen=True)
class Phases:
    """The pass for a target of whose kernels one computes what is `computed` in blocks."""

    computed: Callable[[Call], bool] = all_computed
    name: str = "phases"

    def apply(self, model: Model) -> Model:
        """Rewrite every ConvTranspose of constant weights and bias that is not computed in blocks."""
        edit = Edit(model)
        for node in edit.nodes():
            if node.op == "ConvTranspose" and not node.domain and not self.computed(edit.call(node)):
                _rewrite(edit, node)
        return edit.result()


def _rewrite(edit: Edit, node: Node) -> None:
    call, weights = edit.call(node), edit.constant(node, 1)
    if weights is None or any(name and name not in edit.constants for name in node.inputs[2:]):
        return
    geometry, sizes = spread(call), call.shape()[2:]
    strides = geometry.strides
    if prod(strides) > MOST_PHASES or any(s > out for s, out in zip(strides, geometry.outs, strict=True)):
        return
    axes = [
        [_phase(first, *axis) for first in range(axis[3])]
        for axis in zip(
            sizes, geometry.outs, geometry.kernel, strides, geometry.dilations, geometry.begins, strict=True
        )
    ]
    phases = list(product(*axes))
    work = sum(prod(axis.count * len(axis.taps) for axis in phase) for phase in phases)
    if work > MOST_WORK * prod(sizes) * prod(geometry.kernel):
        return
    refuse_overflow(call)
    operands = [_weights(edit, node, call, phase, weights) for phase in phases]
    result = edit.tensors[node.outputs[0]]
    made, names = list[Node](), list[str]()
    for number, (phase, constant) in enumerate(zip(phases, operands, strict=True)):
        name = node.outputs[0]
        if len(phases) > 1:
            shape = (*result.shape[:2], *(axis.count for axis in phase))
            name = edit.add_tensor(f"{result.name}/phase{number}", replace(result, shape=shape))
        attributes: dict[str, Attribute] = {
            "dilations": tuple(axis.dilation for axis in phase), "group": call.integer("group", 1),
            "kernel_shape": tuple(len(axis.taps) for axis in phase),
            "pads": (*(axis.pads[0] for axis in phase), *(axis.pads[1] for axis in phase)),
            "strides": (1,) * len(phase),
        }  # fmt: skip
        title = node.name if len(phases) == 1 else edit.node_name(f"{node.name}/phase{number}")
        inputs = (node.inputs[0], constant, *node.inputs[2:])
        made.append(replace(node, name=title, op="Conv", inputs=inputs, outputs=(name,), attributes=attributes))
        names.append(name)
    if len(phases) > 1:
        made.append(Node(node.name, "Interleave", tuple(names), node.outputs, {"strides": strides}, domain=DOMAIN))
    edit.replace(node, *made)


def _phase(first: int, size: int, out: int, kernel: int, stride: int, dilation: int, begin: int) -> _Phase:
    """Results `first`, `first + stride`, ...: tap k of result o reads input `(o + begin - k * dilation) / stride`.

    A window that begins or ends inside of the input gets taps of zero there, since a Conv cannot leave inputs out.
    """
    step = dilation // gcd(stride, dilation)
    taps = [k for k in reversed(range(kernel)) if (first + begin - k * dilation) % stride == 0] or [-1]
    at = (first + begin - max(taps[0], 0) * dilation) // stride if taps[0] >= 0 else 0
    count = -(-(out - first) // stride)
    before = max(0, -(-at // step))
    taps = [-1] * before + taps
    at -= before * step
    end = at + count - 1 + (len(taps) - 1) * step - (size - 1)
    behind = max(0, -(end // step))
    taps += [-1] * behind
    return _Phase(count, tuple(taps), step, (-at, end + behind * step))


def _weights(edit: Edit, node: Node, call: Call, phase: tuple[_Phase, ...], weights: Array) -> str:
    """The taps of a phase as the weights of a Conv; taps of zero are those that change no sum."""
    groups, old = call.integer("group", 1), edit.tensors[node.inputs[1]]
    split = weights.reshape(groups, weights.shape[0] // groups, *weights.shape[1:]).swapaxes(1, 2)
    whole = split.reshape(-1, *split.shape[2:])
    meaning = old.quantisation
    zero = np.zeros(len(whole), whole.dtype)
    if meaning is not None:
        spread_out = groups if len(meaning.scale) > 1 else 1
        meaning = replace(
            meaning, scale=meaning.scale * spread_out, zero_point=meaning.zero_point * spread_out,
            axis=None if meaning.axis is None else 0,
        )  # fmt: skip
        zero = np.broadcast_to(np.asarray(meaning.zero_point), zero.shape).astype(whole.dtype)
    for axis, one in enumerate(phase, 2):
        none = np.broadcast_to(
            zero.reshape(-1, *(1 for _ in whole.shape[1:])),
            [1 if at == axis else n for at, n in enumerate(whole.shape)],
        )
        taken = np.concatenate([whole, none], axis)
        whole = np.take(taken, [taken.shape[axis] - 1 if tap < 0 else tap for tap in one.taps], axis)
    name = edit.add_constant(f"{node.inputs[1]}/phase", whole, old.dtype)
    edit.tensors[name] = replace(edit.tensors[name], quantisation=meaning)
    return name
