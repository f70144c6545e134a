"""Axes of which data decides the length: what a call does to the padding behind the elements that there are.

A bounded axis may go through a call where no element that there is depends on one that is padding. Index maps say
that: the axis is one loop of its own from operand to result. What reads the axis as a whole is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Protocol

import numpy as np

from tilewright.errors import TilewrightError
from tilewright.frontend.names import quoted
from tilewright.frontend.raw import RawNode
from tilewright.model import Array, DType, Length, Node, Shape
from tilewright.ops.bounded import BOUND
from tilewright.ops.codes import Moves
from tilewright.ops.gather import gather_axis
from tilewright.ops.index.affine import Affine
from tilewright.ops.index.nest import Access, Nest
from tilewright.ops.operator import Call, Kind

Axes = Mapping[int, str]
"""The count of every bounded axis of a tensor."""


class Surroundings(Protocol):
    """The graph that a node stands in, as far as it has been walked."""

    def add_constant(self, name: str, dtype: DType, array: Array) -> None:
        """Note a constant."""

    def fresh(self, name: str) -> str:
        """A tensor name that nothing has yet."""


class _Stopped(Exception):
    """Why an axis cannot go through a call, as the end of a sentence."""


@dataclass(frozen=True)
class Bounded:
    """A node whose results are padded, and the axes of each result that are."""

    node: Node
    lengths: tuple[tuple[Length, ...], ...]


def bounded(call: Call, wishes: Mapping[str, int], fresh: Callable[[str], str]) -> Bounded | None:
    """The node with a bound and a result that counts, where data decides of its results; None for all others.

    `wishes` are bounds by the name of a node or of one of its results; without one it is the most that data can give.
    """
    lengths = None if call.operator is None or call.operator.lengths is None else call.operator.lengths(call)
    if lengths is None:
        return None
    node = call.node
    wished = [wishes[name] for name in (node.name, *node.outputs) if name in wishes]
    extent = min(lengths.most, *wished) if wished else lengths.most
    results = len(lengths.axes)
    outputs = (*node.outputs, *("",) * (results - len(node.outputs)))
    if len(outputs) > results:
        raise call.invalid(f"it has {len(outputs)} outputs, the standard gives {results}")
    count = fresh(f"{next(filter(None, outputs))}_count")
    attributes = {**node.attributes, BOUND: extent}
    axes = [() if axis is None else (Length(axis, count),) for axis in lengths.axes]
    return Bounded(replace(node, outputs=(*outputs, count), attributes=attributes), (*axes, ()))


def measured(node: RawNode, lengths: tuple[Length, ...], shape: Shape, graph: Surroundings) -> tuple[RawNode, ...]:
    """What a Shape of a tensor with bounded axes is: its extents, and counts where data decides."""
    start, end = node.attributes.get("start", 0), node.attributes.get("end", len(shape))
    assert isinstance(start, int)
    assert isinstance(end, int)
    counts, parts = dict_of(lengths), list[str]()
    for axis in range(len(shape))[start:end]:
        parts.append(counts.get(axis) or graph.fresh(f"{node.label}/extent"))
        if axis not in counts:
            graph.add_constant(parts[-1], DType.I64, np.array([shape[axis]], np.int64))
    return (RawNode(node.name, "Concat", tuple(parts), node.outputs, {"axis": 0}, opsets={"": 17}),)


def carried(call: Call, zeros: Collection[str]) -> tuple[tuple[Length, ...], ...]:
    """The bounded axes of every result; UnsupportedNode where an axis of an operand cannot go through.

    `zeros` are the tensors whose padding is known to be zero.
    """
    bounded = {i: dict_of(t.lengths) for i, t in enumerate(call.inputs) if t is not None and t.lengths}
    if not bounded:
        return ((),) * len(call.outputs)
    operator = call.operator
    assert operator is not None
    try:
        for index in bounded:
            _check_reads(call, index, zeros)
        if rule := _RULES.get((call.node.domain, call.node.op)):
            of_results: Sequence[Axes] = [rule(call, bounded)] * len(call.outputs)
        elif operator.kind is Kind.VIEW and operator.name != "Transpose":
            of_results = [_viewed(call, bounded)] * len(call.outputs)
        elif nests := call.nests:
            of_results = _chained(call, nests, bounded)
        else:
            raise _Stopped("it reads the whole of its operands")
    except _Stopped as stopped:
        raise _refused(call, bounded, str(stopped)) from None
    return tuple(tuple(Length(axis, count) for axis, count in sorted(axes.items())) for axes in of_results)


def dict_of(lengths: tuple[Length, ...]) -> dict[int, str]:
    """Counts by axis."""
    return {length.axis: length.count for length in lengths}


def keeps_zeros(call: Call, zeros: Collection[str]) -> bool:
    """True where zeros behind the elements of bounded operands stay zeros: values are moved, or cast."""
    bounded = [index for index, tensor in enumerate(call.inputs) if tensor is not None and tensor.lengths]
    data: Collection[int] = (0,) if call.node.op == "Cast" else ()
    if isinstance(call.codes, Moves) and call.node.op != "Pad":
        data = call.codes.data_of(call.node)
    return bool(bounded) and all(index in data and call.tensor(index).name in zeros for index in bounded)


def _refused(call: Call, bounded: Mapping[int, Axes], why: str) -> TilewrightError:
    operand = call.tensor(min(bounded))
    axis = min(bounded[min(bounded)])
    return call.unsupported(
        f"data decides how many elements {quoted(operand.name)} has along axis {axis}, and {why}",
        "end the model before this node and go on in the application, which is given the count",
    )


def _check_reads(call: Call, index: int, zeros: Collection[str]) -> None:
    """Padding that is read as an index or a divisor must be one that can be."""
    reads = None if call.operator is None or call.operator.reads is None else call.operator.reads(call, index)
    if reads is not None and (not reads.low <= 0 <= reads.high or call.tensor(index).name not in zeros):
        raise _Stopped(f"its padding would be read too: the node {reads.why}")


def _chained(call: Call, nests: tuple[Nest, ...], bounded: Mapping[int, Axes]) -> list[Axes]:
    """Through a chain of index maps; a result that several of them write has the axis in all of them."""
    operator = call.operator
    assert operator is not None
    known: dict[str, Axes] = {operator.operand(index): axes for index, axes in bounded.items()}
    written: set[str] = set()
    for nest in nests:
        name, axes = nest.out.tensor.name, _through(nest, known)
        if name in written and known.get(name, {}) != axes:
            raise _Stopped("it puts other elements behind them")
        written.add(name)
        known[name] = axes
    return [known.get(operator.result(place), {}) for place in range(len(call.outputs))]


def _through(nest: Nest, known: Mapping[str, Axes]) -> dict[int, str]:
    """The bounded axes of the result of one index map."""
    loops: dict[str, str] = {}
    read = (*nest.ins, *nest.after)
    for access in read:
        for axis, count in known.get(access.tensor.name, {}).items():
            loop = _own_loop(nest, access, axis)
            if loop is None:
                raise _Stopped("it moves along that axis")
            if loops.setdefault(loop, count) != count:
                raise _Stopped("another operand has another number of them")
    for access in read:
        bounded = known.get(access.tensor.name, {})
        for axis, subscript in enumerate(access.subscripts):
            if axis not in bounded and loops.keys() & set(subscript.loops):
                raise _Stopped("another operand has a fixed number of them")
    counts: dict[int, str] = {}
    for loop, count in loops.items():
        places = [axis for axis, subscript in enumerate(nest.out.subscripts) if loop in subscript.loops]
        if len(places) != 1 or _own_loop(nest, nest.out, places[0]) != loop:
            raise _Stopped("it combines them")
        counts[places[0]] = count
    return counts


def _own_loop(nest: Nest, access: Access, axis: int) -> str | None:
    """The loop that runs along an axis from its first to its last element, alone."""
    subscript = access.subscripts[axis]
    if not isinstance(subscript, Affine) or len(subscript.terms) != 1 or subscript.const or subscript.div != 1:
        return None
    ((loop, step),) = subscript.terms
    return loop if step == 1 and nest.space.extents[loop] == access.tensor.shape[axis] else None


def _viewed(call: Call, bounded: Mapping[int, Axes]) -> Axes:
    """Through a view: the axis has its extent, and as many elements before and behind it."""
    shape, viewed = call.shape(), call.outputs[0].shape
    if bounded.keys() - {0}:
        raise _Stopped("the shape of its result depends on them")
    counts: dict[int, str] = {}
    for axis, count in bounded[0].items():
        places = [place for place in range(len(viewed)) if _around(viewed, place) == _around(shape, axis)]
        if len(places) != 1:
            raise _Stopped("its result has no such axis")
        counts[places[0]] = count
    return counts


def _around(shape: Shape, axis: int) -> tuple[int, int, int]:
    return prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])


def _gathered(call: Call, bounded: Mapping[int, Axes]) -> Axes:
    """Gather: along axes of the indices, and along those of the data that no index counts."""
    axis, rank = gather_axis(call), len(call.shape(1))
    if axis in bounded.get(0, {}):
        raise _Stopped("it reads single ones of them")
    counts = {axis + place: count for place, count in bounded.get(1, {}).items()}
    for place, count in bounded.get(0, {}).items():
        counts[place if place < axis else place + rank - 1] = count
    return counts


def _gathered_places(call: Call, bounded: Mapping[int, Axes]) -> Axes:
    """GatherND: along axes of tuples of indices, and along those of the data behind what they address."""
    batch, depth, rank = call.integer("batch_dims", 0), call.shape(1)[-1], len(call.shape(1))
    if any(axis < batch + depth for axis in bounded.get(0, {})) or any(
        axis < batch or axis == rank - 1 for axis in bounded.get(1, {})
    ):
        raise _Stopped("it reads single ones of them")
    counts = dict(bounded.get(1, {}))
    for axis, count in bounded.get(0, {}).items():
        counts[axis - batch - depth + rank - 1] = count
    return counts


_RULES = {("", "Gather"): _gathered, ("", "GatherND"): _gathered_places}
