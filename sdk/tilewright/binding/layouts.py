"""What a kernel's layout rule demands of the operands, and which layout its results get."""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.layout import Layout
from tilewright.model import Tensor
from tilewright.ops.operator import Call
from tilewright.platform import Kernel


def runtime_operands(call: Call) -> list[tuple[int, Tensor]]:
    """Operands that exist at run time, each once per place."""
    return [(i, t) for i, t in enumerate(call.inputs) if t is not None and i not in call.constants]


def _leader(call: Call) -> Tensor | None:
    shape = call.outputs[0].shape
    return next((t for _, t in runtime_operands(call) if t.shape == shape), None)


def demanded(kernel: Kernel, call: Call, layouts: Mapping[str, Layout]) -> dict[str, Layout]:
    """Layouts that operands must have but do not have now; empty where nothing needs to move."""
    rule = kernel.layout[0]
    leader = _leader(call)
    common = layouts[leader.name] if leader else None
    if common is not None and leader is not None and common.axis_strides(leader.shape) is None:
        common = Layout.default(leader.shape)
    found: dict[str, Layout] = {}
    for _, tensor in runtime_operands(call):
        now = layouts[tensor.name]
        want = now
        if rule == "default" or (rule == "rows" and tensor.elements != tensor.shape[-1]):
            want = Layout.default(tensor.shape)
        elif rule == "channels_last":
            want = Layout.channels_last(tensor.shape)
        elif rule in ("axes", "same"):
            if rule == "same" and leader is not None and common is not None and tensor.shape == leader.shape:
                want = common
            elif now.axis_strides(tensor.shape) is None:
                want = Layout.default(tensor.shape)
        if want != now:
            found[tensor.name] = want
    return found


def resulting(kernel: Kernel, call: Call, layouts: Mapping[str, Layout]) -> dict[str, Layout]:
    """Layouts of the results, given the (already satisfied) layouts of the operands."""
    rule = kernel.layout[1]
    leader = _leader(call)
    found = {}
    for tensor in call.outputs:
        if rule == "channels_last":
            found[tensor.name] = Layout.channels_last(tensor.shape)
        elif rule == "like":
            found[tensor.name] = _like_first(call, tensor, layouts)
        elif rule == "same" and leader is not None and tensor.shape == leader.shape:
            found[tensor.name] = layouts[leader.name]
        else:
            found[tensor.name] = Layout.default(tensor.shape)
    return found


def _like_first(call: Call, result: Tensor, layouts: Mapping[str, Layout]) -> Layout:
    """The result's axes in the order in which those of the first operand of its rank lie."""
    for _, tensor in runtime_operands(call):
        strides = layouts[tensor.name].axis_strides(tensor.shape)
        if len(tensor.shape) == len(result.shape) and strides is not None:
            if 1 in tensor.shape and layouts[tensor.name].is_default:
                break
            order = sorted(range(len(strides)), key=lambda axis: (-strides[axis] if strides[axis] else -1 << 62, axis))
            return Layout.of_axes(result.shape, tuple(order))
    return Layout.default(result.shape)
