"""What exporters write beside the standard and every reader takes: mended in the message before it is checked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tilewright.frontend.names import quoted
from tilewright.frontend.raw import domain_name
from tilewright.frontend.splits.registry import home
from tilewright.frontend.splits.spelling import MICROSOFT
from tilewright.frontend.structure import KNOWN_BEFORE, nodes_within

if TYPE_CHECKING:
    import onnx

_NEWEST = 1000  # the version of a model that imports none
_MOVED = {
    "Pad": ("pads", 11),
    "Squeeze": ("axes", 13),
    "Unsqueeze": ("axes", 13),
    "ReduceSum": ("axes", 13),
    **{f"Reduce{name}": ("axes", 18) for name in ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod")},
}
"""Operator -> the attribute that became its second operand, and since which opset."""
_LOSS = "SoftmaxCrossEntropyLoss"


def adopt(proto: onnx.ModelProto) -> tuple[str, ...]:
    """Mend in place what exporters write beside the standard and its readers take; sentences about what was unclear.

    Nodes that only others know in the standard's domain get the domain of their own: LayerNormalization in a model of
    an opset that has none. A domain that is imported twice, as by tools that join graphs, is of its newest version, and
    nodes of the older one take its form.
    """
    notes = _once_each(proto.opset_import)
    _newer_forms(proto.graph, next((each.version for each in proto.opset_import if not domain_name(each.domain)), 0))
    _import(proto.opset_import, _renamed(proto.graph.node, proto.opset_import))
    for function in proto.functions:
        imports = function.opset_import if _imports(function.opset_import, "") else proto.opset_import
        _import(function.opset_import, _renamed(function.node, imports))
    return notes


def _once_each(imports: Any) -> tuple[str, ...]:
    """Leave one import of each domain, the newest; notes where they differed."""
    versions: dict[str, set[int]] = {}
    for entry in imports:
        versions.setdefault(domain_name(entry.domain), set()).add(int(entry.version))
    if len(imports) > len(versions):
        del imports[:]
        for domain, several in versions.items():
            imports.add(domain=domain, version=max(several))
    return tuple(
        f"domain {quoted(domain)} is imported as versions {', '.join(map(str, sorted(several)))}; the newest is taken"
        for domain, several in versions.items()
        if len(several) > 1
    )


def _newer_forms(graph: onnx.GraphProto, version: int) -> None:
    """Attributes of an older opset as the operands that they became; nodes of it stand in graphs that were joined."""
    from onnx import helper

    logarithms = {node.input[-2] for node in graph.node if node.op_type == f"{_LOSS}Grad" and len(node.input) > 1}
    for node in list(graph.node):
        if node.op_type == _LOSS and len(node.output) == 1 and node.output[0] in logarithms:
            node.output.insert(
                0, f"{node.output[0]}/loss"
            )  # the gradient reads the second result, whatever the place it was written in
        attributes = {each.name: each for each in node.attribute}
        attributes.pop("description", None)  # tools for training write it on any node
        moved, since = _MOVED.get(node.op_type, ("", 0)) if not domain_name(node.domain) else ("", 0)
        value = attributes.get("value")
        if moved in attributes and version >= since and len(node.input) == 1 and not (value and value.f):
            attribute = attributes.pop(moved)
            values = list(attribute.ints) or [attribute.i]
            attributes.pop("value", None)
            name = f"{node.output[0]}/{moved}"
            stored = helper.make_tensor(name, 7, [len(values)], values)
            graph.node.insert(0, helper.make_node("Constant", [], [name], value=stored))
            node.input.append(name)
        if len(attributes) < len(node.attribute):
            remaining = list(attributes.values())
            del node.attribute[:]
            node.attribute.extend(remaining)


def _import(imports: Any, domains: set[str]) -> None:
    for domain in sorted(domains):
        if not _imports(imports, domain):
            imports.add(domain=domain, version=1)


def _imports(imports: Iterable[onnx.OperatorSetIdProto], domain: str) -> bool:
    return any(domain_name(entry.domain) == domain for entry in imports)


def _renamed(nodes: Iterable[onnx.NodeProto], imports: Iterable[onnx.OperatorSetIdProto]) -> set[str]:
    """The domains that nodes have got."""
    version = next((entry.version for entry in imports if domain_name(entry.domain) == ""), _NEWEST)
    domains = set()
    for node in nodes_within(nodes):
        domain = domain_name(node.domain)
        own = MICROSOFT if not domain and version < KNOWN_BEFORE.get(node.op_type, 0) else home(domain, node.op_type)
        if own != domain:
            node.domain = own
            domains.add(own)
    return domains
