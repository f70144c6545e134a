"""Checks a bound graph without the search: order, types and layouts of every node, and the bytes of the outputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import prod

from tilewright.binding.graph import BoundGraph, BoundNode
from tilewright.errors import TilewrightError
from tilewright.layout import Layout
from tilewright.model import Shape, Tensor
from tilewright.ops.operator import Call, Kind
from tilewright.platform import Kernel

FREE = ("Relayout", "Chain")
"""Nodes whose results lie in whatever order binding gives them."""


def check(graph: BoundGraph) -> None:
    """Raise where an operand is read before it is written, where a view or a kernel gets types or layouts that it
    cannot take or gives others than it promises, or where an output is not row-major in bytes of its own."""
    written = {*graph.model.inputs, *graph.model.constants}
    for node in graph.nodes:
        for tensor in node.call.inputs:
            if tensor is not None and tensor.name not in written:
                raise _bug(node, f"reads '{tensor.name}' before it is written")
        for tensor in node.call.outputs:
            if tensor.name in written:
                raise _bug(node, f"writes '{tensor.name}' a second time")
            written.add(tensor.name)
        for tensor in (*_operands(node.call), *node.call.outputs):
            layout = graph.layouts.get(tensor.name)
            if layout is None or layout.elements != tensor.elements:
                raise _bug(node, f"has no fitting layout for '{tensor.name}'")
        wrong = _view(node.call, graph.layouts) if node.kernel is None else _kernel(node.call, node.kernel, graph)
        if wrong:
            raise _bug(node, wrong)
        if node.call.chain:
            _check_chain(graph, node)
    _check_outputs(graph, written)


def _operands(call: Call) -> list[Tensor]:
    """What the call reads at run time."""
    return [t for index, t in enumerate(call.inputs) if t is not None and index not in call.constants]


def _kernel(call: Call, kernel: Kernel, graph: BoundGraph) -> str | None:
    """What a kernel gets or gives against its declaration."""
    for tokens, tensors in zip(kernel.types, (call.inputs, call.outputs), strict=True):
        for token, tensor in _typed(tokens, tensors):
            if tensor is None and token and not token.endswith(("?", "...")):
                return f"lacks an operand that its kernel wants as {token}"
            if tensor is not None and not {"*", tensor.type_token} & set(token.rstrip("?. ").split("|")):
                return f"has '{tensor.name}' as {tensor.type_token}, its kernel wants {token or 'nothing there'}"
    takes, gives = kernel.layout
    for tensor in _operands(call):
        layout = graph.layouts[tensor.name]
        if not _fits(takes, layout, tensor.shape):
            return f"gets '{tensor.name}' as {layout}, its kernel wants {takes}"
    if takes == "same" and len({graph.layouts[tensor.name] for tensor in _alike(call)}) > 1:
        return "gets operands of its result's shape in several orders, its kernel wants same"
    for tensor in call.outputs:
        if call.node.op not in FREE and not _gives(gives, call, tensor, graph.layouts):
            return f"gives '{tensor.name}' as {graph.layouts[tensor.name]}, its kernel promises {gives}"
    return None


def _typed(wanted: Sequence[str], tensors: Sequence[Tensor | None]) -> Iterator[tuple[str, Tensor | None]]:
    """Every tensor with its token, the last one again and again if it repeats; "" where there is no token."""
    repeats = bool(wanted) and wanted[-1].endswith("...")
    for index in range(max(len(tensors), len(wanted))):
        token = wanted[index] if index < len(wanted) else wanted[-1] if repeats else ""
        yield token, tensors[index] if index < len(tensors) else None


def _alike(call: Call) -> list[Tensor]:
    return [tensor for tensor in _operands(call) if tensor.shape == call.outputs[0].shape]


def _fits(rule: str, layout: Layout, shape: Shape) -> bool:
    if rule == "default":
        return layout.is_default
    if rule == "channels_last":
        order = (0, *range(2, len(shape)), 1) if len(shape) > 2 else tuple(range(len(shape)))
        return layout == Layout.of_axes(shape, order)
    if rule == "rows":
        return layout.is_default or prod(shape) == prod(shape[-1:])
    return rule == "any" or 0 in shape or layout.axis_strides(shape) is not None


def _gives(rule: str, call: Call, result: Tensor, layouts: Mapping[str, Layout]) -> bool:
    layout = layouts[result.name]
    if rule == "channels_last":
        return _fits(rule, layout, result.shape)
    if rule == "same" and _alike(call) and result.shape == call.outputs[0].shape:
        return layout == layouts[_alike(call)[0].name]
    if rule == "like" and not layout.is_default:
        source = next((tensor for tensor in _operands(call) if len(tensor.shape) == len(result.shape)), None)
        return source is not None and _in_order(source, layouts[source.name], result, layout)
    return rule == "like" or layout.is_default


def _in_order(source: Tensor, before: Layout, result: Tensor, after: Layout) -> bool:
    """True where the axes that both tensors have lie in one order."""
    outer, inner = before.axis_strides(source.shape), after.axis_strides(result.shape)
    if outer is None or inner is None:
        return False
    both = [axis for axis in range(len(outer)) if source.shape[axis] > 1 and result.shape[axis] > 1]
    both.sort(key=lambda axis: -outer[axis])
    return all(inner[one] > inner[other] for one, other in pairwise(both))


def _view(call: Call, layouts: Mapping[str, Layout]) -> str | None:
    """What is wrong with a node that computes nothing."""
    if call.operator is None or call.operator.kind is not Kind.VIEW or len(call.outputs) != 1 or 0 in call.constants:
        return "has no kernel and is no view"
    x, y = call.tensor(0), call.outputs[0]
    if (x.dtype, x.quantisation, x.elements) != (y.dtype, y.quantisation, y.elements):
        return f"shows '{x.name}' as another type or size"
    shown: Layout | None = layouts[x.name]
    if call.node.op == "Transpose" and shown is not None:
        shown = shown.transpose(x.shape, call.integers("perm", tuple(reversed(range(len(x.shape))))))
    if 0 not in x.shape and shown != layouts[y.name]:
        return f"shows '{x.name}' as {layouts[y.name]}, its bytes lie otherwise"
    return None


def _check_outputs(graph: BoundGraph, written: set[str]) -> None:
    """Every output is written and row-major, and shares no bytes with an input, a constant or another output.

    A state that nothing changes is its own next value.
    """
    past_of = {state.present: state.past for state in graph.model.states}
    shown = {node.call.outputs[0].name: node.call.tensor(0).name for node in graph.nodes if node.kernel is None}
    owners = {**dict.fromkeys(graph.model.constants, "a constant"), **dict.fromkeys(graph.model.inputs, "an input")}
    for name in graph.model.outputs:
        if name not in written:
            raise TilewrightError(f"the bound graph never writes output '{name}'", tensor=name)
        if not graph.layouts.get(name, Layout((1,), (0,))).is_default:
            raise TilewrightError(f"output '{name}' is not row-major after binding", tensor=name)
        root = name
        while root in shown:
            root = shown[root]
        if root in owners and past_of.get(name) != root:
            raise TilewrightError(f"output '{name}' lies in the bytes of {owners[root]} after binding", tensor=name)
        owners[root] = f"output '{name}'"


def _check_chain(graph: BoundGraph, node: BoundNode) -> None:
    """What lies between the nodes of a chain is made by one, read by the next, and by nobody else."""
    known = {t.name for t in node.call.inputs if t is not None}
    for number, call in enumerate(node.call.chain):
        operands = {t.name for index, t in enumerate(call.inputs) if t is not None and index not in call.constants}
        before = {t.name for t in node.call.chain[number - 1].outputs} if number else set()
        if operands - known - before or not before <= operands:
            raise _bug(node, f"computes '{call.node.name}' in a chain that does not hand its operands on")
    inner = {t.name for call in node.call.chain[:-1] for t in call.outputs}
    readers = {t.name for other in graph.nodes for t in other.call.inputs if t is not None}
    if shared := inner & (readers | {*graph.model.outputs, *graph.layouts}):
        raise _bug(node, f"keeps '{min(shared)}' to itself, which is needed outside of the chain")


def _bug(node: BoundNode, what: str) -> TilewrightError:
    return TilewrightError(
        f"binding is inconsistent: node '{node.call.node.name}' {what}",
        why="this is a bug in tilewright",
        fix="please report it with the model",
        node=node.call.node.name,
    )
