"""Checks a bound graph without the search: types, layouts and order of every node."""

from __future__ import annotations

from math import prod

from tilewright.binding.graph import BoundGraph, BoundNode
from tilewright.errors import TilewrightError
from tilewright.layout import Layout
from tilewright.rows.check import check_chain


def check(graph: BoundGraph) -> None:
    """Raise where an operand is read before it is written, or where a view or a kernel gets a layout it cannot take."""
    written = {*graph.model.inputs, *graph.model.constants}
    for node in graph.nodes:
        for tensor in node.call.inputs:
            if tensor is not None and tensor.name not in written:
                raise _bug(node, f"reads '{tensor.name}' before it is written")
        for index, tensor in enumerate(node.call.inputs):
            if tensor is None or index in node.call.constants:
                continue
            layout = graph.layouts.get(tensor.name)
            if layout is None or layout.elements != tensor.elements:
                raise _bug(node, f"has no fitting layout for '{tensor.name}'")
            if node.kernel is not None and not _fits(node.kernel.layout[0], layout, tensor.shape):
                raise _bug(node, f"gets '{tensor.name}' as {layout}, its kernel wants {node.kernel.layout[0]}")
        if node.call.chain:
            _check_chain(graph, node)
        written.update(node.call.node.outputs)
    for name in graph.model.outputs:
        if name not in written:
            raise TilewrightError(f"the bound graph never writes output '{name}'", tensor=name)
        if not graph.layouts.get(name, Layout((1,), (0,))).is_default:
            raise TilewrightError(f"output '{name}' is not row-major after binding", tensor=name)


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
    if seen := inner & (readers | {*graph.model.outputs, *graph.layouts}):
        raise _bug(node, f"keeps '{min(seen)}' to itself, which is needed outside of the chain")
    assert node.kernel is not None
    check_chain(node.call, node.kernel)


def _fits(rule: str, layout: Layout, shape: tuple[int, ...]) -> bool:
    if rule == "default":
        return layout.is_default
    if rule == "channels_last":
        order = (0, *range(2, len(shape)), 1) if len(shape) > 2 else tuple(range(len(shape)))
        return layout == Layout.of_axes(shape, order)
    if rule == "rows":
        return layout.is_default or prod(shape) == shape[-1]
    return rule == "any" or 0 in shape or layout.axis_strides(shape) is not None


def _bug(node: BoundNode, what: str) -> TilewrightError:
    return TilewrightError(
        f"binding is inconsistent: node '{node.call.node.name}' {what}",
        why="this is a bug of ours",
        fix="please report it with the model",
        node=node.call.node.name,
    )
