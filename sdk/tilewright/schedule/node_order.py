"""Nodes in the order that keeps the fewest bytes alive, where that is better than the model's own order.

Views share the bytes of what they show and follow it; an elementwise node may write over an operand that dies there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from tilewright.binding.guards import Guard, Step, guards_of_steps
from tilewright.frontend.names import unique
from tilewright.memory.reorder import OrderNode, OrderProblem, reorder
from tilewright.model import Model, Node
from tilewright.ops.operator import Kind
from tilewright.ops.registry import find


@dataclass(frozen=True)
class Reordered:
    """The model with its nodes in the better order, and the bytes by which the peak of live tensors falls.

    `cut_off` where the search for the order ended before it had tried what it could.
    """

    model: Model
    saved_bytes: int
    cut_off: bool


def reordered(model: Model, shared: frozenset[str] = frozenset()) -> Reordered:
    """The better order, or the model's own where none is found.

    `shared` are nodes whose operands and results are the same bytes: what reads their results reads their operands.
    """
    roots: dict[str, tuple[str, ...]] = {}
    followers: list[Node] = []
    nodes: list[Node] = []
    for node in model.nodes:
        operator = find(node.op, node.domain)
        view = operator is not None and operator.kind is Kind.VIEW
        sources = tuple(n for n in (node.inputs[:1] if view else node.inputs) if n and n not in model.constants)
        if (view or node.name in shared) and sources:
            shown_roots = dict.fromkeys(root for source in sources for root in roots.get(source, (source,)))
            roots.update({output: tuple(shown_roots) for output in node.outputs if output})
            followers.append(node)
        else:
            nodes.append(node)
    order = reorder(_problem(model, nodes, roots))
    if order.peak >= order.model_peak:
        return Reordered(model, 0, order.cut_off)
    by_name = {node.name: node for node in nodes}
    placed = _with_followers(model, [by_name[name] for name in order.nodes], followers)
    return Reordered(model.replace(nodes=tuple(placed)), order.model_peak - order.peak, order.cut_off)


def _with_followers(model: Model, ordered: list[Node], followers: list[Node]) -> list[Node]:
    """The nodes in order, each view as soon as all that it shows is there."""
    missing: dict[str, int] = {}
    waiting: dict[str, list[Node]] = {}
    for node in followers:
        sources = {n for n in node.inputs if n and n not in model.constants}
        missing[node.name] = len(sources)
        for source in sources:
            waiting.setdefault(source, []).append(node)
    placed: list[Node] = []

    def made(names: tuple[str, ...]) -> None:
        ready = list(names)
        while ready:
            for node in waiting.get(ready.pop(0), []):
                missing[node.name] -= 1
                if missing[node.name] == 0:
                    placed.append(node)
                    ready += [output for output in node.outputs if output]

    made(tuple(model.inputs))
    for node in ordered:
        placed.append(node)
        made(tuple(output for output in node.outputs if output))
    return placed


def _problem(model: Model, nodes: list[Node], roots: dict[str, tuple[str, ...]]) -> OrderProblem:
    def runtime(names: tuple[str, ...]) -> tuple[str, ...]:
        computed = [n for n in names if n and n not in model.constants]
        return tuple(dict.fromkeys(root for n in computed for root in roots.get(n, (n,))))

    order_nodes = []
    for node in nodes:
        reads, writes = runtime(node.inputs), tuple(n for n in node.outputs if n)
        size = model.tensors[writes[0]].size_bytes
        over = [n for n in reads if model.tensors[n].size_bytes == size] if _elementwise(model, node) else []
        pairs = tuple((n, writes[0]) for n in over) or _replaced(node, runtime)
        order_nodes.append(OrderNode(node.name, reads, writes, in_place=pairs))
    order_nodes = _behind_conditions(model, nodes, order_nodes, runtime)
    first = _first(model, order_nodes)
    order_nodes = [
        replace(node, reads=node.reads + first[1].get(node.name, ()), writes=node.writes + first[0].get(node.name, ()))
        for node in order_nodes
    ]
    marks = {name for names in first[0].values() for name in names}
    named = {n for node in order_nodes for n in (*node.reads, *node.writes)} | {*model.inputs}
    outputs = frozenset(runtime(tuple(model.outputs)))
    sizes = {n: 0 if n in marks else model.tensors[n].size_bytes for n in sorted(named)}
    return OrderProblem(tuple(order_nodes), sizes, outputs)


def _behind_conditions(
    model: Model, nodes: list[Node], order_nodes: list[OrderNode], runtime: Callable[[tuple[str, ...]], tuple[str, ...]]
) -> list[OrderNode]:
    """Nodes that only one outcome of a condition needs read the condition too, so that they stay behind it."""
    steps = []
    for node, each in zip(nodes, order_nodes, strict=True):
        reads: list[tuple[str, Guard[str] | None]] = [(name, None) for name in each.reads]
        if node.op == "Where" and not node.domain and model.tensors[node.inputs[0]].elements == 1:
            question = runtime(node.inputs[:1])
            sides = [(name, at == 0) for at, side in enumerate(node.inputs[1:3]) for name in runtime((side,))]
            if len(question) == 1:
                reads = [(question[0], None), *((name, Guard(question[0], value)) for name, value in sides)]
        steps.append(Step(tuple(reads), each.writes))
    guards = guards_of_steps(steps, runtime(tuple(model.outputs)))
    return [
        replace(each, reads=tuple(dict.fromkeys((*each.reads, *(guard.slot for guard in sorted(own))))))
        for each, own in zip(order_nodes, guards, strict=True)
    ]


def _first(model: Model, nodes: list[OrderNode]) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """Marks without bytes, written by who reads a state and read by who writes it, where the model has that order."""
    made = {name: node for node in model.nodes for name in node.outputs if name}
    places = {node.name: at for at, node in enumerate(nodes)}
    written, read, taken = dict[str, tuple[str, ...]](), dict[str, tuple[str, ...]](), set(model.tensors)
    for state in model.states:
        writers, at = list[int](), made.get(state.present)
        while at is not None:
            writers += [places[at.name]] if at.name in places else []
            at = made.get(at.inputs[0]) if at.inputs and state.past not in at.inputs else None
        for number, node in enumerate(nodes):
            later = [writer for writer in writers if writer > number]
            if state.past in node.reads and later:
                mark = unique(f"{node.name}/read", taken)
                written[node.name] = (*written.get(node.name, ()), mark)
                for writer in later:
                    read[nodes[writer].name] = (*read.get(nodes[writer].name, ()), mark)
    return written, read


def _replaced(node: Node, runtime: Callable[[tuple[str, ...]], tuple[str, ...]]) -> tuple[tuple[str, str], ...]:
    """Operands and results that stand in one place, as the operator says."""
    operator = find(node.op, node.domain)
    pairs = operator.replaces(node) if operator is not None and operator.replaces is not None else ()
    return tuple((root, node.outputs[after]) for before, after in pairs for root in runtime((node.inputs[before],)))


def _elementwise(model: Model, node: Node) -> bool:
    """True where the result may be written over an operand: the operator says so, and one has the result's shape."""
    operator = find(node.op, node.domain)
    if operator is None or not operator.overwrites:
        return False
    moving = [model.tensors[n].shape for n in node.inputs if n and n not in model.constants]
    return model.tensors[node.outputs[0]].shape in moving
