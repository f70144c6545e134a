"""Bindings by brute force: every choice of kernels, with memory orders as plain lists of elements.

Shares no code with the search: an order is the tuple of flat indices of the elements as they lie in memory, so that
Reshape and Transpose are what NumPy makes of them. `None` stands for the order of a free tensor.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from binding.drawn_bindings import Case, Methods
from tilewright.model import Node, Shape

Order = tuple[int, ...]
VIEWS = ("Reshape", "Transpose", "Identity")


@dataclass(frozen=True)
class Answer:
    """The first binding in order of preference: kernels by node (views have none), orders by tensor."""

    kernels: Mapping[str, str]
    orders: Mapping[str, Order | None]


def solve(case: Case, members: Collection[str] | None = None) -> Answer | None:
    """The first binding; None where there is none.

    With `members`, names of nodes and "output NAME", all others are free: they take their operands as they lie and
    give their results as every reader wants them.
    """
    ends = [name for name in case.model.outputs if members is None or f"output {name}" in members]
    if not _outputs_can_be(case, ends):
        return None
    nodes = [node for node in case.model.nodes if members is None or node.name in members]
    shapes = {name: case.model.tensors[name].shape for name in case.model.inputs}
    orders: dict[str, Order | None] = {name: row_major(shape) for name, shape in shapes.items()}
    return _from(case, nodes, frozenset(ends), orders, {})


def _from(
    case: Case,
    nodes: Sequence[Node],
    ends: Collection[str],
    orders: dict[str, Order | None],
    kernels: dict[str, str],
) -> Answer | None:
    if not nodes:
        return Answer(kernels, orders)
    node = nodes[0]
    for name, results in _ways(case, node, orders):
        stays = {out: order for out, order in results.items() if out in ends and not copied(case, out)}
        if any(order is not None and order != tuple(sorted(order)) for order in stays.values()):
            continue
        rest = _from(case, nodes[1:], ends, {**orders, **results}, {**kernels, node.name: name})
        if rest is not None:
            return rest
    return None


def _ways(case: Case, node: Node, orders: Mapping[str, Order | None]) -> Iterator[tuple[str, dict[str, Order | None]]]:
    tensors = case.model.tensors
    operands = [name for name in node.inputs if name not in case.model.constants]
    now = [(tensors[name].shape, orders.get(name)) for name in operands]
    if node.op in VIEWS:
        perm = node.attributes.get("perm", ())
        assert isinstance(perm, tuple)
        wanted, result = viewed(*now[0], node.op, tuple(int(axis) for axis in perm))
        if wanted == now[0][1] or copied(case, operands[0]):
            yield "", {node.outputs[0]: result}
        return
    shapes = tuple(tensors[name].shape for name in node.outputs)
    for name, (takes, rule) in kernels_for(case, node).items():
        want = taken(takes, tuple(now), shapes[0])
        moves = [operand for operand, (_, order), w in zip(operands, now, want, strict=True) if order not in (None, w)]
        if all(copied(case, operand) for operand in moves):
            read = tuple((shape, order) for (shape, _), order in zip(now, want, strict=True))
            made = zip(node.outputs, shapes, strict=True)
            yield name, {result: gives(rule, read, shape, shapes[0]) for result, shape in made}


def kernels_for(case: Case, node: Node) -> dict[str, tuple[str, str]]:
    """The kernels that take the types of a node, with their layout rules."""
    first = case.model.tensors[node.inputs[0]].dtype.value
    offered = [kernel for kernel in case.kernels if kernel.op == node.op]
    return {kernel.name: kernel.layout for kernel in offered if kernel.types[0][0] in ("*...", first)}


def copied(case: Case, name: str) -> bool:
    """True where there is a Relayout kernel for the tensor."""
    tensor = case.model.tensors[name]
    return any(
        kernel.op == "Relayout"
        and isinstance(kernel.methods, Methods)
        and kernel.types[0][0] in ("*", tensor.dtype.value)
        and len(tensor.shape) != kernel.methods.refused_rank
        for kernel in case.kernels
    )


def _outputs_can_be(case: Case, ends: Sequence[str]) -> bool:
    """Outputs that no kernel copies have bytes of their own: of no input, no constant, no other such output."""
    seen = {*case.model.inputs, *case.model.constants}
    makers = {name: node for node in case.model.nodes for name in node.outputs}
    for name in ends:
        root = name
        while root in makers and makers[root].op in VIEWS:
            root = makers[root].inputs[0]
        if not copied(case, name):
            if root in seen:
                return False
            seen.add(root)
    return True


@cache
def row_major(shape: Shape) -> Order:
    """Elements in the order of their indices."""
    return tuple(range(int(np.prod(shape))))


@cache
def channels_last(shape: Shape) -> Order:
    """Axis 1 innermost."""
    axes = (0, *range(2, len(shape)), 1) if len(shape) > 2 else range(len(shape))
    return by_axes(shape, tuple(axes))


@cache
def by_axes(shape: Shape, axes: tuple[int, ...]) -> Order:
    """The axes in some order, the outermost first."""
    return tuple(int(i) for i in np.arange(np.prod(shape)).reshape(shape).transpose(axes).ravel())


@cache
def strides(shape: Shape, order: Order) -> tuple[int, ...] | None:
    """Steps in memory along each axis, 0 along one of extent 1; None where an axis has no single step."""
    place = np.argsort(np.array(order)).reshape(shape)
    steps = [int(place.take(1, axis).ravel()[0] - place.ravel()[0]) if n > 1 else 0 for axis, n in enumerate(shape)]
    line = sum(np.arange(n).reshape([-1 if a == axis else 1 for a in range(len(shape))]) * steps[axis]
               for axis, n in enumerate(shape))  # fmt: skip
    return tuple(steps) if np.array_equal(np.broadcast_to(line, shape), place) else None


@cache
def viewed(shape: Shape, order: Order | None, op: str, perm: tuple[int, ...]) -> tuple[Order | None, Order | None]:
    """The order in which a view takes its operand, and in which it shows it."""
    if order is None or op != "Transpose":
        return order, order
    splits = (tuple(itertools.chain(*parts)) for parts in itertools.product(*map(_digits, shape)))
    if not any(strides(split, order) is not None for split in splits):
        order = row_major(shape)
    flat = np.arange(len(order)).reshape(shape).transpose(perm).ravel()
    renamed = np.argsort(flat)
    return order, tuple(int(renamed[i]) for i in order)


def _digits(extent: int) -> list[tuple[int, ...]]:
    """Every way to write an extent as a product of primes."""
    factors = [prime for prime in (2, 3, 5, 7) if extent % prime == 0]
    if extent == 1:
        return [()]
    assert factors, f"{extent} has a prime factor above seven"
    return [(prime, *rest) for prime in factors for rest in _digits(extent // prime)]


Operands = tuple[tuple[Shape, Order | None], ...]


@cache
def taken(rule: str, operands: Operands, result: Shape) -> tuple[Order | None, ...]:
    """The order in which a rule wants each operand; as it is where that is free or will do."""
    leader = next((order for shape, order in operands if shape == result), None)
    wants: list[Order | None] = []
    for shape, order in operands:
        want = order
        if rule == "default" or (rule == "rows" and len(row_major(shape)) != shape[-1]):
            want = row_major(shape)
        elif rule == "channels_last":
            want = channels_last(shape)
        elif order is not None and rule == "same" and shape == result:
            if leader is not None:
                want = leader if strides(shape, leader) is not None else row_major(shape)
        elif order is not None and rule in ("same", "like", "axes") and strides(shape, order) is None:
            want = row_major(shape)
        wants.append(want)
    return tuple(wants)


@cache
def gives(rule: str, operands: Operands, shape: Shape, first: Shape) -> Order | None:
    """The order of a result of this shape, on operands as they are read; `first` is the shape of the first result."""
    if rule == "channels_last":
        return channels_last(shape)
    if rule == "same" and shape == first and any(s == shape for s, _ in operands):
        return next(order for s, order in operands if s == shape)
    if rule == "like":
        for other, order in operands:
            if len(other) != len(shape):
                continue
            if order is None:
                return None
            steps = strides(other, order)
            if steps is None:
                continue
            if 1 in other and order == row_major(other):
                break
            single = [axis for axis in range(len(other)) if other[axis] == 1]
            longer = [axis for axis in range(len(other)) if other[axis] > 1]
            longer.sort(key=lambda axis: -(steps or ())[axis])
            return by_axes(shape, (*single, *longer))
    return row_major(shape)
