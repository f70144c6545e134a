"""Loops and scans become their turns, one after the other: those that are known, or up to a bound."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tilewright.errors import UnsupportedNode
from tilewright.frontend.expand import instantiate
from tilewright.frontend.names import printable
from tilewright.frontend.opset import invalid
from tilewright.frontend.raw import Body, RawAttribute, RawNode
from tilewright.frontend.scan_batches import by_batch
from tilewright.frontend.turns import GOING, PENDING, Surroundings, asking, most_turns, note_end, taken, turns_made
from tilewright.model import DType

# what a loop carries from turn to turn; no attribute of a file has such a name, the checker knows those of a Loop
_TURN, _MADE = "turns made", "results of turns"


def unrolled(node: RawNode, graph: Surroundings) -> tuple[RawNode, ...]:
    """The nodes of the next turn with the rest of the loop behind them, or what the loop gives where it has ended.

    The condition of a turn is looked at once the turn before it has been walked. Where it, or the number of turns, is
    computed at run time, turns go on up to a bound, and of those that data does not ask for nothing is taken.
    UnsupportedNode where there is no bound.
    """
    body = node.attributes.get("body")
    if not isinstance(body, Body):
        raise invalid(node, "attribute 'body' is missing")
    trips, condition, *carried = (*node.inputs, "", "")[: max(2, len(node.inputs))]
    scans = len(body.outputs) - 1 - len(carried)
    if len(body.inputs) != 2 + len(carried) or scans < 0 or len(node.outputs) > len(carried) + scans:
        why = f"its body takes {len(body.inputs)} and gives {len(body.outputs)} tensors, {len(carried)} are carried"
        raise invalid(node, why)
    if pending := _names(node, PENDING):
        return taken(node, pending, carried, graph)
    turn, before, going = node.attributes.get(_TURN, 0), _names(node, _MADE), _names(node, GOING)
    assert isinstance(turn, int)
    limit = _known(node, trips, "the number of its turns", graph)
    again = _known(node, condition, "the condition of its turns", graph)
    if (limit is not None and turn >= limit) or again == 0:
        return _ended(node, carried, before, scans, graph)
    decided = bool(going) or bool(trips and limit is None) or bool(condition and again is None)
    if decided and turn >= most_turns(node, limit, graph):
        tests, go = asking(node, turn, "" if limit is not None else trips, "" if again else condition, graph)
        note_end(node, go, graph)
        return (*tests, *_ended(node, carried, before, scans, graph))
    if turn == 0:
        body = _with_constants_once(node, body, graph)
    tests, go = asking(node, turn, "" if limit is not None else trips, "" if again else condition, graph)
    count, yes = graph.fresh(f"{node.label}/turn"), graph.fresh(f"{node.label}/going")
    graph.add_constant(count, DType.I64, np.array(turn, np.int64))
    graph.add_constant(yes, DType.BOOL, np.array(True))
    results = tuple(graph.fresh(f"{node.label}/{turn}/{name}") for name in body.outputs)
    under = (*node.under, (go, True)) if decided else node.under
    outermost = node.loop or node.label
    call = RawNode(f"{node.label}/{turn}", "Loop", (count, yes, *carried), results, loop=outermost, under=under)
    nodes, _ = instantiate(body, call, {}, graph.fresh)
    state: dict[str, RawAttribute] = {_TURN: turn + 1, _MADE: (*before, *results[1 + len(carried) :])}
    given = (trips, results[0] if condition else "", *results[1 : 1 + len(carried)])
    if decided:
        state |= {GOING: (*going, go), PENDING: results[1:]}
        given = (trips, results[0] if condition else "", *carried)
    return (*tests, *nodes, replace(node, attributes={"body": body, **state}, inputs=given))


def _names(node: RawNode, attribute: str) -> tuple[str, ...]:
    value = node.attributes.get(attribute, ())
    assert isinstance(value, tuple)
    return tuple(str(name) for name in value)


def _known(node: RawNode, name: str, what: str, graph: Surroundings) -> int | None:
    """The value of a scalar operand; None where it is omitted, or computed at run time."""
    value = graph.constants.get(name) if name else None
    if value is not None and (value.size != 1 or value.dtype.kind not in "biu"):
        raise invalid(node, f"{what} is not a whole number")
    return None if value is None else int(value.reshape(-1)[0])


def _with_constants_once(node: RawNode, body: Body, graph: Surroundings) -> Body:
    """The body with its constants in the graph around it, so that all turns share them."""
    scope = dict(body.scope)
    for name, value in body.constants.items():
        scope[name] = graph.fresh(f"{node.label}/{name}")
        graph.add_constant(scope[name], value.dtype, value.array)
    return replace(body, constants={}, scope=scope)


def _ended(
    node: RawNode, carried: list[str], made: tuple[str, ...], scans: int, graph: Surroundings
) -> tuple[RawNode, ...]:
    """What was carried, and the results of all turns along a new first axis."""
    opsets = {"": 17}
    nodes = [
        RawNode(f"{node.label}/{target}", "Identity", (source,), (target,), opsets=opsets)
        for source, target in zip(carried, node.outputs, strict=False)
        if target
    ]
    for index, target in enumerate(node.outputs[len(carried) :]):
        parts = made[index::scans]
        if target and not parts:
            why, fix = f"it makes no turn, so '{printable(target)}' has no elements", "remove the loop"
            raise UnsupportedNode(node.where(), why=why, fix=fix, node=node.label)
        if target:
            nodes += _stacked(node, list(parts), target, 0, graph)
    stacks = [name for name in node.outputs[len(carried) :] if name]
    if stacks and (going := _names(node, GOING)):
        nodes += turns_made(node, going, len(made) // scans, stacks, graph)
    return tuple(nodes)


def scanned(node: RawNode, graph: Surroundings) -> tuple[RawNode, ...]:
    """The nodes of all turns of a Scan, which are as many as its operands have elements along their axes."""
    body, count = node.attributes.get("body"), node.attributes.get("num_scan_inputs")
    if not isinstance(body, Body) or not isinstance(count, int) or not 1 <= count <= len(node.inputs):
        raise invalid(node, "attribute 'body' or 'num_scan_inputs' is missing")
    if node.version < 9:
        return by_batch(node, body, count, graph)
    state, read = list(node.inputs[: len(node.inputs) - count]), node.inputs[len(node.inputs) - count :]
    given = len(body.outputs) - len(state)
    if len(body.inputs) != len(node.inputs) or given < 0 or len(node.outputs) != len(body.outputs):
        raise invalid(node, f"its body takes {len(body.inputs)} and gives {len(body.outputs)} tensors")
    axes, ways = _each(node, "scan_input_axes", count), _each(node, "scan_input_directions", count)
    shapes = [graph.tensors[name].shape for name in read]
    turns = {shape[axis] for shape, axis in zip(shapes, axes, strict=True) if -len(shape) <= axis < len(shape)}
    if len(turns) != 1 or 0 in turns:
        raise invalid(node, f"its operands of shapes {shapes} do not have one number of elements along axes {axes}")
    (steps,) = turns
    body, nodes, made = _with_constants_once(node, body, graph), list[RawNode](), list[tuple[str, ...]]()
    for turn in range(steps):
        parts = []
        for name, axis, back in zip(read, axes, ways, strict=True):
            index = graph.fresh(f"{node.label}/{turn}")
            graph.add_constant(index, DType.I64, np.array(steps - 1 - turn if back else turn, np.int64))
            parts.append(graph.fresh(f"{name}/{turn}"))
            nodes.append(RawNode(parts[-1], "Gather", (name, index), (parts[-1],), {"axis": axis}, opsets=_OPSETS))
        results = tuple(graph.fresh(f"{node.label}/{turn}/{name}") for name in body.outputs)
        loop = node.loop or node.label
        call = RawNode(f"{node.label}/{turn}", "Scan", (*state, *parts), results, loop=loop, under=node.under)
        nodes += instantiate(body, call, {}, graph.fresh)[0]
        state = list(results[: len(state)])
        made.append(results[len(state) :])
    targets = zip(state, node.outputs, strict=False)
    nodes += [RawNode(f"{node.label}/{to}", "Identity", (name,), (to,), opsets=_OPSETS) for name, to in targets if to]
    places, orders = _each(node, "scan_output_axes", given), _each(node, "scan_output_directions", given)
    for number, target in enumerate(node.outputs[len(state) :]):
        rows = [results[number] for results in made]
        if target:
            nodes += _stacked(node, rows[::-1] if orders[number] else rows, target, places[number], graph)
    return tuple(nodes)


_OPSETS = {"": 17}


def _each(node: RawNode, name: str, count: int) -> tuple[int, ...]:
    """An attribute with one integer for each of so many tensors, 0 where it is missing."""
    value = node.attributes.get(name, (0,) * count)
    if not isinstance(value, tuple) or len(value) != count or not all(isinstance(each, int) for each in value):
        raise invalid(node, f"attribute '{name}' must have {count} integers")
    return tuple(int(each) for each in value)


def _stacked(node: RawNode, parts: list[str], target: str, axis: int, graph: Surroundings) -> list[RawNode]:
    """Results of all turns along a new axis."""
    place = graph.fresh(f"{node.label}/axis")
    graph.add_constant(place, DType.I64, np.array([axis], np.int64))
    whole = [graph.fresh(f"{part}/row") for part in parts]
    nodes = [
        RawNode(row, "Unsqueeze", (part, place), (row,), opsets=_OPSETS) for part, row in zip(parts, whole, strict=True)
    ]
    return [
        *nodes,
        RawNode(f"{node.label}/{target}", "Concat", tuple(whole), (target,), {"axis": axis}, opsets=_OPSETS),
    ]
