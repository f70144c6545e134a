"""A state whose parts are read and written one by one is so many states, each of which can be written where it lies.

Exporters keep the caches of several layers in one tensor: a layer takes its rows of it (`Gather`, `Slice`), makes the
next ones, and puts those back (`ScatterND`, or `Concat` of all parts). As one tensor it must stay as it was until the
last part is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod

import numpy as np

from tilewright.frontend.check import check_model
from tilewright.frontend.names import unique
from tilewright.model import Array, DType, Model, Node, Part, State, Tensor
from tilewright.ops.registry import call_of
from tilewright.ops.slice import ranges
from tilewright.passes import identity

Parts = tuple[str, ...]
"""The tensor that holds each part of a tensor."""
_DEPTH = 4
"""How often the parts of a state are looked at for parts of their own."""


@dataclass(frozen=True)
class _Stretch:
    """Indices [low, high) of one axis that a node reads or writes, whole along all others; a read may drop the axis."""

    axis: int
    low: int
    high: int
    drops: bool = False


def split_states(model: Model) -> Model:
    """The network with a state for every part where parts are all that is read and written; else as it is."""
    for _ in range(_DEPTH):
        before = model
        for state in model.states:
            if (split := _split(model, state)) is not None:
                model = check_model(
                    identity.apply(check_model(split, "the splitting of states")), "the pass 'identity'"
                )
        if model is before:
            break
    return model


def _split(model: Model, state: State) -> Model | None:
    """The network with the parts of one state as states; None where it is read or written in another way."""
    whole = model.tensors[state.past]
    if 0 in whole.shape or (whole.quantisation is not None and whole.quantisation.axis is not None):
        return None
    stretches = _stretches(model, state)
    if not stretches or len({one.axis for one in stretches}) > 1:
        return None
    axis, size = stretches[0].axis, whole.shape[stretches[0].axis]
    cuts = sorted({0, size, *(edge for one in stretches for edge in (one.low, one.high))})
    parts = list(pairwise(cuts))
    if len(parts) < 2 or any((one.low, one.high) not in parts for one in stretches):
        return None
    return _Split(model, state, axis, parts, drops=any(one.drops for one in stretches)).result()


def _stretches(model: Model, state: State) -> list[_Stretch]:
    """What is read and written of a state and of what becomes its next value; none where it is more than stretches."""
    stretches, versions = list[_Stretch](), {state.past}
    for node in model.nodes:
        touched = [name for name in node.inputs if name in versions]
        if touched:
            one = _stretch(model, node) if touched == [node.inputs[0]] else None
            if one is None:
                return []
            stretches.append(one)
            if node.op == "ScatterND":
                versions.add(node.outputs[0])
        elif state.present in node.outputs:
            stretches += _concatenated(model, node)
    return stretches


def _stretch(model: Model, node: Node) -> _Stretch | None:
    """The stretch that a node reads of its first operand, or writes of it."""
    shape = model.tensors[node.inputs[0]].shape
    if node.domain or node.clamp is not None or (node.outputs[0] in model.outputs and node.op != "ScatterND"):
        return None
    if node.op == "Slice":
        return _sliced(model, node)
    index = model.constants.get(node.inputs[1]) if len(node.inputs) > 1 else None
    if index is None or not index.size:
        return None
    if node.op == "Gather" and index.size == 1:
        axis = node.attributes.get("axis", 0)
        assert isinstance(axis, int), "axis is an integer"
        row, axis = int(index.reshape(-1)[0]), axis % len(shape)
        row += shape[axis] if row < 0 else 0
        return _Stretch(axis, row, row + 1, drops=not index.ndim) if 0 <= row < shape[axis] else None
    if node.op == "ScatterND" and node.attributes.get("reduction", "none") in ("none", b"none"):
        types = [(model.tensors[name].dtype, model.tensors[name].quantisation) for name in node.inputs[::2]]
        return _boxed(shape, index) if types[0] == types[1] else None
    return None


def _sliced(model: Model, node: Node) -> _Stretch | None:
    tensors = [model.tensors[name] if name else None for name in node.inputs]
    values = {place: model.constants[name] for place, name in enumerate(node.inputs) if name in model.constants}
    if any(name and place not in values for place, name in enumerate(node.inputs) if place):
        return None
    taken_of = ranges(call_of(node, tensors, [model.tensors[node.outputs[0]]], values))
    shape = model.tensors[node.inputs[0]].shape
    cut = [axis for axis, taken in enumerate(taken_of) if len(taken) < shape[axis] or taken.step < 0]
    if len(cut) != 1 or taken_of[cut[0]].step != 1:
        return None
    return _Stretch(cut[0], taken_of[cut[0]].start, taken_of[cut[0]].stop)


def _boxed(shape: Sequence[int], index: Array) -> _Stretch | None:
    """The stretch whose elements a ScatterND names one after the other in order."""
    depth = index.shape[-1]
    tuples = index.reshape(-1, depth)
    tuples = np.where(tuples < 0, tuples + shape[:depth], tuples)
    low, high = tuples[0], tuples[-1] + 1
    box = high - low
    if (box < 1).any() or (low < 0).any() or (high > shape[:depth]).any() or prod(box.tolist()) != len(tuples):
        return None
    if (tuples != np.stack(np.unravel_index(np.arange(len(tuples)), tuple(box)), axis=-1) + low).any():
        return None
    cut = [axis for axis in range(depth) if box[axis] < shape[axis]]
    return _Stretch(cut[0], int(low[cut[0]]), int(high[cut[0]])) if len(cut) == 1 else None


def _concatenated(model: Model, node: Node) -> list[_Stretch]:
    """The stretches of which a Concat makes the next value."""
    if node.op != "Concat" or node.domain or node.clamp is not None:
        return []
    rank = len(model.tensors[node.outputs[0]].shape)
    axis = node.attributes.get("axis", 0)
    assert isinstance(axis, int), "axis is an integer"
    stretches, at = [], 0
    for name in node.inputs:
        tensor = model.tensors[name]
        size = tensor.shape[axis % rank]
        stretches.append(_Stretch(axis % rank, at, at + size))
        if tensor.quantisation != model.tensors[node.outputs[0]].quantisation or name in model.constants:
            return []
        at += size
    return stretches


class _Split:
    """One state, followed through the nodes that read and write its parts."""

    def __init__(self, model: Model, state: State, axis: int, parts: Sequence[tuple[int, int]], *, drops: bool) -> None:
        self.model, self.state, self.axis, self.parts = model, state, axis, parts
        self.tensors, self.constants = dict(model.tensors), dict(model.constants)
        self.names, self.nodes = set(model.tensors), {node.name for node in model.nodes}
        self.whole = model.tensors[state.past]
        self.drops = drops
        self.held: dict[str, Parts] = {state.past: self._made(state.past)}
        self.last: Parts | None = None
        self.kept: list[Node] = []

    def _made(self, of: str) -> Parts:
        return tuple(self._tensor(f"{of}/{number}", number) for number in range(len(self.parts)))

    def _tensor(self, hint: str, number: int) -> str:
        name, shape, (low, high) = unique(hint, self.names), self.whole.shape, self.parts[number]
        own = (*shape[: self.axis], *(() if self.drops and high - low == 1 else (high - low,)), *shape[self.axis + 1 :])
        self.tensors[name] = replace(self.whole, name=name, shape=own)
        return name

    def _follow(self, node: Node) -> None:
        """Take the node up, with parts in the place of the state."""
        if node.inputs and node.inputs[0] in self.held:
            one = _stretch(self.model, node)
            assert one is not None, "it was a stretch when stretches were sought"
            number = self.parts.index((one.low, one.high))
            parts = self.held[node.inputs[0]]
            if node.op == "ScatterND":
                made = self._tensor(f"{node.outputs[0]}/{number}", number)
                self._view(node.name, node.inputs[2], made)
                self.held[node.outputs[0]] = (*parts[:number], made, *parts[number + 1 :])
            else:
                self._view(node.name, parts[number], node.outputs[0])
        elif self.state.present in node.outputs and _concatenated(self.model, node):
            self.last = self._made(self.state.present)
            for number, (source, made) in enumerate(zip(node.inputs, self.last, strict=True)):
                self._view(f"{node.name}/{number}", source, made)
            self.kept.append(node)
        else:
            self.kept.append(node)

    def _view(self, node: str, source: str, result: str) -> None:
        """In the place of a node one that shows the bytes of `source` in the shape of `result`."""
        shape = np.array(self.tensors[result].shape, np.int64)
        node = unique(node, self.nodes)
        name = unique(f"{result}/shape", self.names)
        self.constants[name], self.tensors[name] = shape, Tensor(name, DType.I64, shape.shape)
        self.kept.append(Node(node, "Reshape", (source, name), (result,), {"allowzero": 1}))

    def result(self) -> Model | None:
        """The network with the parts as states; None where a part stays, or where another output is a whole."""
        for node in self.model.nodes:
            self._follow(node)
        last, first = self.last or self.held.get(self.state.present), self.held[self.state.past]
        others = {name for name in self.held if name != self.state.present}
        if last is None or set(last) & set(first) or others.intersection(self.model.outputs):
            return None
        states = tuple(self._state(number, *ends) for number, ends in enumerate(zip(first, last, strict=True)))
        return self.model.replace(
            nodes=tuple(self.kept), tensors=self.tensors, constants=self.constants,
            inputs=_instead(self.model.inputs, {self.state.past: first}),
            outputs=_instead(self.model.outputs, {self.state.present: last}),
            states=tuple(one for each in self.model.states for one in (states if each is self.state else (each,))),
        )  # fmt: skip

    def _state(self, number: int, past: str, present: str) -> State:
        """A part as a state, with where it lies in the file's own."""
        state, (low, high) = self.state, self.parts[number]
        taken = (slice(None),) * self.axis + (slice(low, high),)
        shape = self.tensors[past].shape
        before = state.part or Part(*state.in_file, self.whole.shape, (0,) * len(self.whole.shape), self.whole.shape)
        places = before.of(np.arange(prod(before.shape)).reshape(before.shape)).reshape(self.whole.shape)[taken]
        corners = [np.unravel_index(int(places.flat[at]), before.shape) for at in (0, -1)]
        part = replace(before, low=tuple(int(at) for at in corners[0]), high=tuple(int(at) + 1 for at in corners[1]))
        return State(past, present, None if state.initial is None else state.initial[taken].reshape(shape), part)


def _instead(names: tuple[str, ...], parts: Mapping[str, Parts]) -> tuple[str, ...]:
    return tuple(one for name in names for one in parts.get(name, (name,)))
