"""States that hold a window and what comes to it: then who reads both reads the state, and nothing is put together.

`whole = Concat(past, new)` beside `present = Shift(past, new)` becomes `whole` as the state, with the oldest entries
too. That costs memory for good and saves some of the largest moment, so it is done only while it saves bytes in all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from tilewright.model import Model, Node, State, Tensor, Window
from tilewright.ops.operator import Kind
from tilewright.ops.registry import find
from tilewright.ops.relayout import DOMAIN


@dataclass(frozen=True)
class _Wish:
    """A state with the nodes that put together and move on the same entries."""

    state: State
    joined: tuple[Node, ...]
    shift: Node


def widened(model: Model) -> Model:
    """The network with wider states where they save bytes; else as it is."""
    best = now = model
    least, _ = _estimate(model)
    while True:
        _, live = _estimate(now)
        wish = next((one for one in _wishes(now) if one.joined[0].outputs[0] in live), None)
        if wish is None:
            return best
        now = _with(now, wish)
        total, _ = _estimate(now)
        if total < least:
            best, least = now, total


def _wishes(model: Model) -> list[_Wish]:
    """The states whose window and update are all that is read of them, and are read together."""
    readers, writers = model.consumers(), {name: node for node in model.nodes for name in node.outputs if name}
    wishes = list[_Wish]()
    for state in model.states:
        shift = writers.get(state.present)
        if shift is None or (shift.op, shift.domain) != ("Shift", DOMAIN) or state.past != shift.inputs[0]:
            continue
        joined = tuple(node for node in readers[state.past] if node is not shift)
        free = state.part is None and state.window is None and not readers[state.present]
        if free and model.outputs.count(state.present) == 1 and joined and all(_joins(model, n, shift) for n in joined):
            wishes.append(_Wish(state, joined, shift))
    return wishes


def _joins(model: Model, node: Node, shift: Node) -> bool:
    """True for a Concat of just what the Shift moves, whose result has more old entries than new ones."""
    past, update = shift.inputs
    order = (update, past) if shift.attributes.get("newest_first") else (past, update)
    if node.op != "Concat" or node.domain or node.clamp is not None or node.inputs != order:
        return False
    axis, tensors = shift.attributes.get("axis"), [model.tensors[name] for name in (past, update, node.outputs[0])]
    assert isinstance(axis, int), "axis is an integer"
    own = node.attributes.get("axis", 0)
    assert isinstance(own, int), "axis is an integer"
    one_type = len({(tensor.dtype, tensor.quantisation) for tensor in tensors}) == 1
    fewer = tensors[1].shape[axis] < tensors[0].shape[axis]
    return one_type and fewer and own % len(tensors[0].shape) == axis and node.outputs[0] not in model.outputs


def _with(model: Model, wish: _Wish) -> Model:
    state, (past, update), whole = wish.state, wish.shift.inputs, wish.joined[0].outputs[0]
    axis = wish.shift.attributes["axis"]
    assert isinstance(axis, int), "axis is an integer"
    tensors = dict(model.tensors)
    window = Window(
        state.past, state.present, axis, tensors[update].shape[axis], bool(wish.shift.attributes.get("newest_first"))
    )
    tensors[past] = replace(tensors[past], shape=tensors[whole].shape)
    same = {node.outputs[0]: whole for node in wish.joined}
    nodes = list[Node]()
    for node in model.nodes:
        if node is wish.joined[0]:
            nodes.append(replace(wish.shift, outputs=(whole,)))
        elif node is not wish.shift and node not in wish.joined:
            nodes.append(replace(node, inputs=tuple(same.get(name, name) for name in node.inputs)))
    initial = None if state.initial is None else window.first(state.initial)
    states = (State(past, whole, initial, None, window) if one is state else one for one in model.states)
    outputs = tuple(whole if name == state.present else name for name in model.outputs)
    return model.replace(nodes=tuple(nodes), tensors=tensors, outputs=outputs, states=tuple(states))


def _estimate(model: Model) -> tuple[int, frozenset[str]]:
    """Bytes of the states and of the largest moment between nodes in order, and the tensors that live in that one.

    Views, and what a Concat joins, are the bytes of one tensor; the next value of a state is written over it.
    """
    held = _held_together(model)
    in_states = {held.get(name, name) for state in model.states for name in (state.past, state.present)}
    size, first, last = dict[str, int](), dict[str, int](), dict[str, int]()
    every = [(name, 0) for name in model.given] + [(name, len(model.nodes)) for name in model.results]
    every += [(name, at) for at, node in enumerate(model.nodes) for name in (*node.inputs, *node.outputs) if name]
    for name, at in every:
        root = held.get(name, name)
        if name not in model.constants and root not in in_states:
            size[root] = max(size.get(root, 0), model.tensors[name].size_bytes)
            first[root], last[root] = min(first.get(root, at), at), max(last.get(root, at), at)
    changes = [0] * (len(model.nodes) + 2)
    for root, size_bytes in size.items():
        changes[first[root]] += size_bytes
        changes[last[root] + 1] -= size_bytes
    moments = list(accumulate(changes))
    peak = moments.index(max(moments))
    roots = {root for root in size if first[root] <= peak <= last[root]}
    live = frozenset(name for name in model.tensors if held.get(name, name) in roots)
    return moments[peak] + _state_bytes(model.states, model.tensors), live


def _state_bytes(states: Sequence[State], tensors: Mapping[str, Tensor]) -> int:
    return sum(tensors[state.past].size_bytes for state in states)


def _held_together(model: Model) -> dict[str, str]:
    """For every tensor that lies together with others one of them, a state where one is among them."""
    held, past = dict[str, str](), {state.past for state in model.states}
    for node in model.nodes:
        operator = find(node.op, node.domain)
        view = node.op == "Shift" or (operator is not None and operator.kind is Kind.VIEW)
        operands = node.inputs if node.op == "Concat" else node.inputs[:1] if view else ()
        for name in operands:
            root, other = _root(held, name), _root(held, node.outputs[0])
            copied = node.op == "Concat" and root in past
            if name and name not in model.constants and not copied and root != other:
                held[other] = root
    return {name: _root(held, name) for name in held}


def _root(held: Mapping[str, str], name: str) -> str:
    while name in held:
        name = held[name]
    return name
