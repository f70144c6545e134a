"""Errors through a whole network: forward as boxes and bounds, and back from every output as an affine form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tilewright.errors import TilewrightError
from tilewright.evidence.error_bounds.elementwise import limited
from tilewright.evidence.error_bounds.in_order import Order, in_order
from tilewright.evidence.error_bounds.replay import known_step, replayed
from tilewright.evidence.error_bounds.rules import OPEN, rule_for
from tilewright.evidence.error_bounds.value import Known, NoBound, Step, point
from tilewright.model import Array, Model
from tilewright.ops.operator import Call
from tilewright.ops.registry import call_of

ROWS = 1024
"""Elements of a tensor that are followed back one by one; what is beyond them has the forward bound."""
AT_ONCE = 128
"""Rows that are followed back together."""
Orders = Mapping[str, Order]
NONE: Orders = {}


@dataclass(frozen=True)
class Followed:
    """A node with its step: the tensors that it reads and makes. A clamp is a step of its own."""

    node: str
    op: str
    reads: tuple[str, ...]
    makes: str
    step: Step


@dataclass(frozen=True)
class Analysis:
    """All steps of a network in order, what is known of every tensor, and why there is no bound of the others.

    `bits` are the tensors whose values in the C are known bit for bit.
    """

    steps: tuple[Followed, ...]
    known: Mapping[str, Known]
    refused: Mapping[str, tuple[str, str]]
    bits: Mapping[str, Array]


@dataclass(frozen=True)
class OutputBound:
    """The bound of every element of one output, and the largest contribution to one element by node."""

    certain: Array
    parts: Mapping[str, float]


def calls_of(model: Model) -> Iterator[Call]:
    """The calls of a network in order."""
    for node in model.nodes:
        operands = [model.tensors[name] if name else None for name in node.inputs]
        constants = {i: model.constants[name] for i, name in enumerate(node.inputs) if name in model.constants}
        results = [model.tensors[name] for name in node.outputs if name]
        yield call_of(node, operands, results, constants, model.opset)


def analyse(
    model: Model, inputs: Mapping[str, Known], declared: Mapping[str, float], *, follow_back: bool = True,
    orders: Orders = NONE, fused: bool | None = None,
) -> Analysis:  # fmt: skip
    """Forward through the network; `declared` is the accuracy that the kernel of a node declares, 0 for exact;
    `orders` those of the sums of nodes whose kernels declare one.

    With `follow_back` errors that decide what a limit or a quotient does are bounded by their affine form first.
    Where `fused` says whether products and sums round once or twice, and the inputs are one vector of float32, what
    kernels compute in order is computed again, and its roundings are known in place of being bounded.
    """
    known, steps, refused = dict(inputs), list[Followed](), dict[str, tuple[str, str]]()
    bits = {} if fused is None else {name: value.low.astype(np.float32) for name, value in inputs.items()}
    for call in calls_of(model):
        node = call.node
        why = next((refused[name] for name in node.inputs if name in refused), None)
        rule = rule_for(call)
        unknown = [n for n in node.inputs if n and n not in known and n not in model.constants and n not in refused]
        if why is None and unknown:
            why = (
                node.name,
                f"no bound: '{unknown[0]}' is kept from call to call, with the error of all before",
            )
        if why is None and isinstance(rule, str):
            why = (node.name, rule)
        if why is None and not isinstance(rule, str):
            read = [known[n] if n in known else point(model.constants[n]) for n in node.inputs if n]
            if follow_back and node.op in OPEN:
                first = node.inputs[0]
                read[0] = known[first] = _tightened(steps, first, read[0], OPEN[node.op])
            step = rule(call, read, declared.get(node.name, 0.0))
            if node.name in orders and isinstance(step, Step):
                step = in_order(call, read[0], step, orders[node.name])
            if isinstance(step, NoBound):
                why = (node.name, f"no bound: {step.why}")
            else:
                made = _with_clamp(call, step, steps, follow_back)
                again = None if fused is None else _again(call, bits, orders.get(node.name), fused)
                if again is not None:
                    bits[made[-1].makes] = again
                    made = [replace(made[-1], reads=(), step=known_step(made[-1].step, again))]
                steps += made
                known[made[-1].makes] = made[-1].step.known
        if why is not None:
            refused |= {name: why for name in node.outputs if name}
    return Analysis(tuple(steps), known, refused, bits)


def _again(call: Call, bits: Mapping[str, Array], order: Order | None, fused: bool) -> Array | None:
    """The result of a call whose operands are known bit for bit."""
    names = [name for index, name in enumerate(call.node.inputs) if name and index not in call.constants]
    if any(name not in bits for name in names) or not all(call.node.inputs[:1]):
        return None
    operands = [call.constants[i] if i in call.constants else bits[n] for i, n in enumerate(call.node.inputs) if n]
    return replayed(call, operands, order, fused=fused)


def _with_clamp(call: Call, step: Step, before: Sequence[Followed], follow_back: bool) -> list[Followed]:
    node, result = call.node, next(name for name in call.node.outputs if name)
    reads = tuple(name for name in node.inputs if name)
    if node.clamp is None:
        return [Followed(node.name, node.op, reads, result, step)]
    inner = f"{result}\0before the clamp"
    own, known = Followed(node.name, node.op, reads, inner, step), step.known
    if follow_back:
        known = _tightened([*before, own], inner, known, (node.clamp.low, node.clamp.high))
    after = limited(known, node.clamp.low, node.clamp.high)
    return [own, Followed(node.name, f"{node.op}, its clamp", (inner,), result, after)]


def _tightened(steps: Sequence[Followed], name: str, known: Known, limits: tuple[float, ...]) -> Known:
    """The tensor with the errors followed back of elements that may lie on both sides of a limit; of all where there
    is none. At most `ROWS` are, those that come first."""
    if limits:
        wide = [(known.low - known.error < limit) & (limit < known.high + known.error) for limit in limits]
        open_ = np.flatnonzero(np.logical_or.reduce(wide))[:ROWS]
    else:
        open_ = np.arange(min(known.error.size, ROWS))
    error = known.error.reshape(-1).copy()
    for start in range(0, open_.size, AT_ONCE):
        chosen = open_[start : start + AT_ONCE]
        rows = np.zeros((chosen.size, known.error.size))
        rows[np.arange(chosen.size), chosen] = 1.0
        bound, _ = followed_back(steps, name, rows.reshape(-1, *known.error.shape))
        error[chosen] = np.minimum(error[chosen], bound)
    return replace(known, error=error.reshape(known.error.shape))


def followed_back(steps: Sequence[Followed], name: str, rows: Array) -> tuple[Array, dict[str, float]]:
    """Bounds of the errors of weighted sums of a tensor's elements, a row each; and what nodes bring to the largest."""
    weights, certain, parts = {name: rows}, np.zeros(rows.shape[0]), dict[str, float]()
    shifted = np.zeros(rows.shape[0])
    for followed in reversed(steps):
        weight = weights.pop(followed.makes, None)
        if weight is None:
            continue
        own = _weighted(np.abs(weight), followed.step.fresh)
        certain += own
        if followed.step.shift is not None:
            signed = _weighted(weight, followed.step.shift)
            shifted, own = shifted + signed, own + np.abs(signed)
        parts[followed.node] = parts.get(followed.node, 0.0) + float(own.max(initial=0.0))
        for read, part in zip(followed.reads, followed.step.back(weight), strict=False):
            if part is not None:
                weights[read] = weights[read] + part if read in weights else part
    return certain + np.abs(shifted), parts


def output_bound(analysis: Analysis, output: str) -> OutputBound:
    """The bound of every element of an output; the smaller one of both ways, each of which holds."""
    forward = analysis.known[output].error
    if forward.size > ROWS or not analysis.steps:
        return OutputBound(forward, {})
    rows = np.eye(forward.size).reshape(forward.size, *forward.shape)
    certain, parts = followed_back(analysis.steps, output, rows)
    return OutputBound(np.minimum(certain.reshape(forward.shape), forward), parts)


def _weighted(size: Array, bound: Array) -> Array:
    """Per row, the sum of bounds times weights."""
    total: Array = (size * np.broadcast_to(bound, size.shape[1:])).reshape(size.shape[0], -1).sum(axis=1)
    return total


def require_complete(model: Model, analysis: Analysis) -> None:
    """TilewrightError where a node is neither bounded nor refused: a bound that leaves one out is no bound."""
    met = {followed.node for followed in analysis.steps}
    for node in model.nodes:
        refused = any(name in analysis.refused for name in node.outputs if name)
        if node.name not in met and not refused:
            raise TilewrightError(
                f"the error bound leaves out node '{node.name}' ({node.op})", why="it has no step", node=node.name
            )


def at_vector(model: Model, values: Mapping[str, Array]) -> dict[str, Known]:
    """Inputs as one vector."""
    return {name: point(value) for name, value in values.items()}


def over_ranges(model: Model, ranges: Mapping[str, tuple[float, float]]) -> dict[str, Known]:
    """Inputs as boxes."""
    shapes: Sequence[tuple[str, tuple[int, ...]]] = [(name, model.tensors[name].shape) for name in ranges]
    return {
        name: replace(point(np.zeros(shape)), low=np.full(shape, ranges[name][0]), high=np.full(shape, ranges[name][1]))
        for name, shape in shapes
    }
