"""What a layout rule demands of the operands, which layouts its results get, and on which operands either depends.

A rule is what a kernel declares, for operands and for results. A view has the rule `VIEW`: it shows the bytes of its
operand, so a Reshape keeps the layout and a Transpose renames it. A tensor without a layout is free: it lies in
whatever order its reader wants, and what follows it is free too (see `binding/blame.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tilewright.layout import Layout
from tilewright.model import Tensor
from tilewright.ops.operator import Call

Rule = tuple[str, str]
"""The layout rules for operands and for results."""

ROW_MAJOR: Rule = ("default", "default")
"""The rule of an output of the network."""

VIEW: Rule = ("view", "view")
"""The rule of a node that computes nothing."""


def runtime_operands(call: Call) -> list[tuple[int, Tensor]]:
    """Operands that exist at run time, each once per place."""
    return [(i, t) for i, t in enumerate(call.inputs) if t is not None and i not in call.constants]


def view_layout(call: Call, layout: Layout) -> Layout | None:
    """Layout of a view's result on the bytes of its operand; None where a digit would have to be split."""
    if call.node.op != "Transpose":
        return layout
    shape = call.shape(0)
    perm = call.integers("perm", tuple(reversed(range(len(shape)))))
    return layout.transpose(shape, perm)


def demanded(rule: Rule, call: Call, layouts: Mapping[str, Layout]) -> dict[str, Layout]:
    """Layouts that operands must have but do not have now; empty where nothing needs to move."""
    if rule == VIEW:
        x = call.tensor(0)
        now = layouts.get(x.name)
        stays = now is None or now.is_default or view_layout(call, now) is not None
        return {} if stays else {x.name: Layout.default(x.shape)}
    moves = {}
    leader = _leader(call) if rule[0] == "same" else None
    common = layouts.get(leader.name) if leader is not None else None
    if common is not None and leader is not None and common.axis_strides(leader.shape) is None:
        common = Layout.default(leader.shape)
    for _, tensor in runtime_operands(call):
        now = layouts.get(tensor.name)
        if now is None:
            continue
        alike = leader is not None and tensor.shape == leader.shape
        want = (common or now) if alike else _wanted(rule[0], tensor, now)
        if want != now:
            moves[tensor.name] = want
    return moves


def _wanted(rule: str, tensor: Tensor, now: Layout) -> Layout:
    """The layout that a rule wants of one operand, whatever the others have."""
    if rule in ("axes", "same", "like") and now.axis_strides(tensor.shape) is None:
        return Layout.default(tensor.shape)
    return fixed_layout(rule, tensor) or now


def fixed_layout(rule: str, tensor: Tensor) -> Layout | None:
    """The one layout in which a rule takes an operand; None where there are several."""
    if rule == "default" or (rule == "rows" and tensor.elements != (tensor.shape or (1,))[-1]):
        return Layout.default(tensor.shape)
    return Layout.channels_last(tensor.shape) if rule == "channels_last" else None


def resulting(rule: Rule, call: Call, layouts: Mapping[str, Layout]) -> dict[str, Layout]:
    """Layouts of the results that are not free, given the (already satisfied) layouts of the operands."""
    results = {}
    for tensor in call.outputs:
        layout = _result(rule, call, tensor, layouts)
        if layout is not None:
            results[tensor.name] = layout
    return results


def _result(rule: Rule, call: Call, tensor: Tensor, layouts: Mapping[str, Layout]) -> Layout | None:
    if rule == VIEW:
        x = call.tensor(0)
        now = layouts.get(x.name)
        return None if now is None else view_layout(call, now) or Layout.default(tensor.shape)
    if rule[1] == "channels_last":
        return Layout.channels_last(tensor.shape)
    if rule[1] == "same" and (leader := _leader(call)) is not None and tensor.shape == leader.shape:
        return fixed_layout(rule[0], leader) or layouts.get(leader.name)
    if rule[1] == "like":
        return _like_first(rule, call, tensor, layouts)
    return Layout.default(tensor.shape)


def _like_first(rule: Rule, call: Call, result: Tensor, layouts: Mapping[str, Layout]) -> Layout | None:
    """The result's axes in the order in which those of the first operand of its rank lie."""
    for tensor in _of_rank(call, result):
        layout = fixed_layout(rule[0], tensor) or layouts.get(tensor.name)
        if layout is None:
            return None
        strides = layout.axis_strides(tensor.shape)
        if strides is not None:
            if 1 in tensor.shape and layout.is_default:
                break
            order = sorted(range(len(strides)), key=lambda axis: (-strides[axis] if strides[axis] else -1 << 62, axis))
            return Layout.of_axes(result.shape, tuple(order))
    return Layout.default(result.shape)


def grounds_of_demand(rule: Rule, call: Call, name: str) -> frozenset[str]:
    """The operands whose layouts decide whether operand `name` must move."""
    leader = _leader(call) if rule[0] == "same" else None
    shape = next(t.shape for _, t in runtime_operands(call) if t.name == name)
    return frozenset({name, leader.name} if leader is not None and leader.shape == shape else {name})


def grounds_of_result(rule: Rule, call: Call, result: Tensor) -> frozenset[str]:
    """The operands that a result's layout follows; none where it is the same whatever the operands have."""
    if rule == VIEW:
        return frozenset({call.tensor(0).name})
    followed: tuple[Tensor, ...] = ()
    if rule[1] == "same" and (leader := _leader(call)) is not None and result.shape == leader.shape:
        followed = (leader,)
    elif rule[1] == "like":
        followed = tuple(_of_rank(call, result))
    return frozenset(tensor.name for tensor in followed if fixed_layout(rule[0], tensor) is None)


def _leader(call: Call) -> Tensor | None:
    """The first operand of the shape of the first result; the others of that shape are to lie like it."""
    shape = call.outputs[0].shape
    return next((t for _, t in runtime_operands(call) if t.shape == shape), None)


def _of_rank(call: Call, result: Tensor) -> Iterator[Tensor]:
    return (t for _, t in runtime_operands(call) if len(t.shape) == len(result.shape))
