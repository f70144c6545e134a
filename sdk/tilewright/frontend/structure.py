"""Checks a model's message before anything is built of it: names, order, attributes, functions, then onnx.checker.

One sentence for each fault. What passes here can be imported without surprises; shapes and operators come later.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from tilewright.errors import ModelError, UnsupportedError, UnsupportedNode
from tilewright.frontend.attributes import check_attributes, check_defaults
from tilewright.frontend.names import nearest, quoted
from tilewright.frontend.raw import domain_name
from tilewright.frontend.splits.registry import home
from tilewright.frontend.values import element_type

if TYPE_CHECKING:
    import onnx

OPSET_OLDEST = 6
PART_LIMIT = 30_000  # of each kind; the largest networks in use have a third of it

KNOWN_BEFORE = {"Gelu": 20, "HardSwish": 14, "LayerNormalization": 17, "SimplifiedLayerNormalization": 1000}
"""Operators that others write into the standard's own domain -> the opset from which the standard has them."""


def check_structure(proto: onnx.ModelProto, file: str = "") -> None:
    """Sort every graph of the message in place, and raise ModelError or UnsupportedError for its first fault."""
    graph = proto.graph
    check_counts(proto, file)
    opsets = check_opsets(proto, file)
    if not graph.output:
        raise _invalid("the model has no output", "nothing would be computed", file)
    check_functions(proto, file)
    for function in proto.functions:
        check_defaults(function, file)
        order_nodes(function.node, set(function.input), f"function {quoted(function.name)}", file)
        _require(
            function.output, {*function.input, *_written(function.node)}, f"function {quoted(function.name)}", file
        )
    _check_graph(graph, set(), "the graph", file)
    local = {(domain_name(function.domain), function.name) for function in proto.functions}
    for node in nodes_within(graph.node):
        check_known(node, opsets, local)


def check_counts(proto: onnx.ModelProto, file: str) -> None:
    """ModelError for a model of so many parts that reading it would take minutes."""
    graph = proto.graph
    counts = {
        "nodes": len(graph.node) + sum(len(function.node) for function in proto.functions),
        "tensors": len(graph.initializer) + len(graph.sparse_initializer) + len(graph.input) + len(graph.output),
        "functions": len(proto.functions),
    }
    for kind, count in counts.items():
        if count > PART_LIMIT:
            why = f"it has {count} {kind}, {PART_LIMIT} are the most"
            raise ModelError("the model is too large", why=why, fix="keep the part to deploy", file=file)


def check_opsets(proto: onnx.ModelProto, file: str) -> dict[str, int]:
    """The version of each imported domain; UnsupportedError where that of the default domain is out of our range."""
    import onnx

    newest = onnx.defs.onnx_opset_version()
    opsets: dict[str, int] = {}
    for entry in proto.opset_import:
        domain = domain_name(entry.domain)
        opsets[domain] = max(entry.version, opsets.get(domain, 0))
    if "" not in opsets and any(domain_name(node.domain) == "" for node in nodes_within(proto.graph.node)):
        raise _invalid("the model is invalid", "it imports no version of the standard operators (opset)", file)
    version = opsets.get("", newest)
    if version > newest or (version < OPSET_OLDEST and not _as_in_oldest(proto, version)):
        fix = "export it again with opset 17" if version < OPSET_OLDEST else "upgrade the onnx package, or export lower"
        why = f"opsets {OPSET_OLDEST} to {newest} are read"
        raise UnsupportedError(f"the model uses opset {version}", why=why, fix=fix, file=file)
    return opsets


def _as_in_oldest(proto: onnx.ModelProto, version: int) -> bool:
    """True where every standard operator of the model means the same in the oldest opset that we read."""
    import onnx

    def meaning(op: str, opset: int) -> int:
        return int(onnx.defs.get_schema(op, opset, "").since_version)

    used = {node.op_type for node in nodes_within(proto.graph.node) if domain_name(node.domain) == ""}
    try:
        return all(meaning(op, version) == meaning(op, OPSET_OLDEST) for op in used)
    except onnx.defs.SchemaError:
        return False


def check_functions(proto: onnx.ModelProto, file: str) -> None:
    """ModelError for two functions of one name and for functions that call each other in a circle."""
    calls: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for function in proto.functions:
        key = (domain_name(function.domain), function.name)
        if key in calls:
            raise _invalid(f"function {quoted(function.name)} is defined twice", "", file)
        calls[key] = [(domain_name(node.domain), node.op_type) for node in nodes_within(function.node)]
    free: set[tuple[str, str]] = set()  # those whose calls have all been followed
    for start in calls:
        path, work = [start], [iter(calls[start])]
        while work:
            callee = next(work[-1], None)
            if callee is None:
                work.pop()
                free.add(path.pop())
            elif callee in path:
                why = f"function {quoted(callee[1])} calls itself, directly or through others"
                raise _invalid("recursive functions cannot be expanded", why, file)
            elif callee in calls and callee not in free:
                path.append(callee)
                work.append(iter(calls[callee]))


def nodes_within(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.NodeProto]:
    """The nodes and all nodes of the graphs nested in them."""
    work = list(nodes)
    while work:
        node = work.pop()
        yield node
        for attribute in node.attribute:
            for graph in (attribute.g, *attribute.graphs) if attribute.HasField("g") else attribute.graphs:
                work.extend(graph.node)


def _check_graph(graph: onnx.GraphProto, visible: set[str], what: str, file: str) -> None:
    names: set[str] = set()
    initialisers = [tensor.name for tensor in graph.initializer]
    initialisers += [tensor.values.name for tensor in graph.sparse_initializer]
    for kind, group in (("initialiser", initialisers), ("input", [value.name for value in graph.input])):
        seen: set[str] = set()
        for name in group:
            if name in seen or not name:
                why = f"an {kind} has no name" if not name else f"{kind} {quoted(name)} is there twice"
                raise _invalid(f"{what} is invalid", why, file, tensor=name)
            seen.add(name)
        names |= seen
    if visible:  # nested: the tensors are few, and are read when the branch is taken
        for tensor in graph.initializer:
            element_type(tensor.data_type, tensor.name, file)
    order_nodes(graph.node, visible | names, what, file)
    _require([value.name for value in graph.output], visible | names | _written(graph.node), what, file)


def _written(nodes: Iterable[onnx.NodeProto]) -> set[str]:
    return {name for node in nodes for name in node.output if name}


def _require(outputs: Iterable[str], known: set[str], what: str, file: str) -> None:
    seen: set[str] = set()
    for name in outputs:
        if name not in known or not name:
            raise _invalid(
                f"output {quoted(name)} of {what} is written by no node", nearest(name, known), file, tensor=name
            )
        if name in seen:
            raise _invalid(f"output {quoted(name)} of {what} is there twice", "", file, tensor=name)
        seen.add(name)


def order_nodes(nodes: Sequence[onnx.NodeProto], known: set[str], what: str, file: str) -> None:
    """Bring nodes into topological order, as little changed as can be. `nodes` is a field of a message.

    ModelError where a tensor is written twice, read but never written, or where the nodes form a circle.
    """
    writer: dict[str, int] = {}
    for index, node in enumerate(nodes):
        for name in node.output:
            if name in writer or name in known:
                raise _invalid(f"{what} is invalid", f"tensor {quoted(name)} is written twice", file, tensor=name)
            if name:
                writer[name] = index
    waiting: list[int] = []
    readers: dict[int, list[int]] = {}
    visible = (
        known.union(writer) if any(attribute.HasField("g") for node in nodes for attribute in node.attribute) else known
    )
    for index, node in enumerate(nodes):
        label = node.name or node.op_type
        check_attributes(node, file)
        reads = {name for name in node.input if name}
        for graph in _graphs(node):
            _check_graph(graph, visible, f"a graph inside node {quoted(label)}", file)
            reads.update(name for inner in nodes_within(graph.node) for name in inner.input if name in writer)
            reads.update(value.name for value in graph.output if value.name in writer)
        unknown = [name for name in node.input if name and name not in writer and name not in known]
        if unknown:
            why = f"nothing writes its input {quoted(unknown[0])}"
            raise _invalid(
                f"node {quoted(label)} ({node.op_type}) is invalid", why, file, node=label, tensor=unknown[0]
            )
        before = {writer[name] for name in reads if name in writer}
        waiting.append(len(before))
        for other in before:
            readers.setdefault(other, []).append(index)
    order = _stable_order(waiting, readers)
    if len(order) < len(nodes):
        stuck = nodes[min(set(range(len(nodes))) - set(order))]
        label = stuck.name or stuck.op_type
        raise _invalid(
            f"{what} has a cycle", f"node {quoted(label)} ({stuck.op_type}) depends on itself", file, node=label
        )
    if order != list(range(len(nodes))):
        _reorder(nodes, order)


def _stable_order(waiting: list[int], readers: dict[int, list[int]]) -> list[int]:
    ready = [index for index, count in enumerate(waiting) if not count]
    order: list[int] = []
    while ready:
        index = heapq.heappop(ready)
        order.append(index)
        for reader in readers.get(index, ()):
            waiting[reader] -= 1
            if not waiting[reader]:
                heapq.heappush(ready, reader)
    return order


def _reorder(nodes: Sequence[onnx.NodeProto], order: list[int]) -> None:
    import onnx

    field: list[onnx.NodeProto] = nodes  # type: ignore[assignment]  # a repeated field behaves like a list
    copies = []
    for index in order:
        copy = onnx.NodeProto()
        copy.CopyFrom(nodes[index])
        copies.append(copy)
    del field[:]
    field.extend(copies)


def _graphs(node: onnx.NodeProto) -> list[onnx.GraphProto]:
    return [attribute.g for attribute in node.attribute if attribute.HasField("g")]


def check_known(node: onnx.NodeProto, opsets: dict[str, int], local: set[tuple[str, str]]) -> None:
    """UnsupportedNode for a node of a standard domain that no version of the standard up to the model's describes."""
    import onnx

    domain, label = domain_name(node.domain), node.name or node.op_type
    if (domain, node.op_type) in local or domain not in ("", "ai.onnx.ml", "ai.onnx.preview.training"):
        return
    if home(domain, node.op_type) != domain:
        return
    version = opsets.get(domain, 1)
    if domain == "" and version < KNOWN_BEFORE.get(node.op_type, 0):
        return
    if onnx.defs.has(node.op_type, version, domain):
        return
    what = f"node {quoted(label)}: there is no operator {quoted(node.op_type)}"
    what += f" in domain {quoted(domain)}" if domain else ""
    if onnx.defs.has(node.op_type, domain):
        history = onnx.defs.get_all_schemas_with_history()
        since = min(each.since_version for each in history if (each.domain, each.name) == (domain, node.op_type))
        why = f"the model uses opset {version}, the operator is of opset {since}"
        raise UnsupportedNode(what, why=why, fix="export the model with a newer opset", node=label)
    names = {schema.name for schema in onnx.defs.get_all_schemas() if schema.domain == domain}
    why = f"the standard has none of this name, {nearest(node.op_type, names)}"
    raise UnsupportedNode(what, why=why, fix="export the model with standard operators", node=label)


def run_checker(proto: onnx.ModelProto, file: str = "") -> None:
    """What onnx.checker finds, as one sentence. The message should be without large values, which it would copy."""
    import onnx

    try:
        onnx.checker.check_model(proto)
    except (onnx.checker.ValidationError, ValueError, RuntimeError) as error:
        text = " ".join(str(error).split("==> Context")[0].split()).rstrip(". ")
        fix = (
            "export the model with a newer opset" if "is deprecated in" in text else "check how the model was exported"
        )
        text = re.sub(r"Node ?\((.*)\) with schema\(.*?\)", r"node '\1'", text)
        raise ModelError("the model is invalid", why=text[:400], fix=fix, file=file) from error


def _invalid(what: str, why: str, file: str, *, node: str = "", tensor: str = "") -> ModelError:
    return ModelError(what, why=why, fix="check how the model was exported", node=node, tensor=tensor, file=file)
