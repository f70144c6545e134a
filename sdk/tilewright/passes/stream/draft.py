"""The streaming network while it is made: its nodes, states and tensors, and which frames each of them gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tilewright.errors import UnsupportedError
from tilewright.frontend.names import quoted, unique
from tilewright.model import Array, Attribute, DType, Model, Node, State, Tensor
from tilewright.ops.operator import Call
from tilewright.ops.registry import call_of
from tilewright.passes.stream.timed import Timed


class Draft:
    """Of the whole network `model`; `timed` are the tensors that have time, `total` the frames of the sequence."""

    def __init__(self, model: Model) -> None:
        self.model, self.total = model, 0
        self.tensors, self.constants = dict(model.tensors), dict(model.constants)
        self.names, self.node_names = set(model.tensors), {node.name for node in model.nodes}
        self.nodes: list[Node] = []
        self.states: list[State] = []
        self.timed: dict[str, Timed] = {}
        self.delayed: dict[tuple[str, int], str] = {}

    def whole(self, node: Node) -> Call:
        """The node as it stands in the whole network."""
        tensors, constants = self.model.tensors, self.model.constants
        inputs = [tensors[name] if name else None for name in node.inputs]
        values = {place: constants[name] for place, name in enumerate(node.inputs) if name in constants}
        return call_of(node, inputs, [tensors[name] for name in node.outputs if name], values, self.model.opset)

    def aligned(self, names: Sequence[str]) -> tuple[str, ...]:
        """Operands that come at the same time: none ahead of the sequence, all as late as the last."""
        last = max(0, *(self.timed[name].delay for name in names if name in self.timed), 0)
        return tuple(self.late(name, last - self.timed[name].delay) if name in self.timed else name for name in names)

    def late(self, name: str, frames: int) -> str:
        """The tensor so many frames later."""
        if not frames:
            return name
        if (name, frames) not in self.delayed:
            one = self.timed[name]
            both = self.with_past(name, frames, one.before or 0.0)
            made = self.cut(both, one.axis, 0, one.frames, f"{name}/late")
            self.timed[made] = one.late(frames)
            self.delayed[name, frames] = made
        return self.delayed[name, frames]

    def with_past(self, name: str, count: int, fill: float) -> str:
        """`count` frames of the calls before in front of the new ones; the last of both are the next call's."""
        one, tensor = self.timed[name], self.tensors[name]
        past = unique(f"{name}/past", self.names)
        self.tensors[past] = replace(self.sized(tensor, one.axis, count), name=past)
        both = unique(f"{name}/both", self.names)
        self.tensors[both] = replace(self.sized(tensor, one.axis, count + one.frames), name=both)
        self._append("Concat", (past, name), both, {"axis": one.axis})
        present = self.cut(both, one.axis, one.frames, one.frames + count, f"{name}/present")
        plain = fill == 0 and tensor.quantisation is None
        first = None if plain else np.full(self.tensors[past].shape, fill).astype(tensor.dtype.numpy)
        self.states.append(State(past, present, first))
        return both

    def cut(self, name: str, axis: int, start: int, end: int, hint: str) -> str:
        """Frames `start` to `end` of a tensor."""
        made = unique(hint, self.names)
        self.tensors[made] = replace(self.sized(self.tensors[name], axis, end - start), name=made)
        numbers = [self.constant(f"{made}/{word}", np.array([value], np.int64))
                   for word, value in (("start", start), ("end", end), ("axis", axis))]  # fmt: skip
        self._append("Slice", (name, *numbers), made, {})
        return made

    def constant(self, hint: str, value: Array) -> str:
        """Integers that an operand says."""
        name = unique(hint, self.names)
        self.tensors[name], self.constants[name] = Tensor(name, DType.I64, value.shape), value
        return name

    def _append(self, op: str, inputs: tuple[str, ...], output: str, attributes: dict[str, Attribute]) -> None:
        self.nodes.append(Node(unique(f"{output}/{op.lower()}", self.node_names), op, inputs, (output,), attributes))

    def emit(self, node: Node) -> None:
        """Take a node up; its results get the shapes that it has over a call's frames."""
        self.nodes.append(node)
        inputs = [self.tensors[name] if name else None for name in node.inputs]
        values = {place: self.constants[name] for place, name in enumerate(node.inputs) if name in self.constants}
        call = call_of(node, inputs, (), values, self.model.opset)
        assert call.operator is not None
        for name, kind in zip(node.outputs, call.operator.infer(call), strict=False):
            if name:
                self.tensors[name] = replace(self.tensors[name], shape=kind.shape)

    @staticmethod
    def sized(tensor: Tensor, axis: int, frames: int) -> Tensor:
        """The tensor with so many frames."""
        return replace(tensor, shape=(*tensor.shape[:axis], frames, *tensor.shape[axis + 1 :]))


def refused(call: Call, why: str, fix: str = "") -> UnsupportedError:
    """The error for a node that has no streaming form."""
    return UnsupportedError(
        f"node {quoted(call.node.name)} ({call.node.op}) has no streaming form", why=why,
        fix=fix or "stream the layers before it, and compute the rest from their outputs", node=call.node.name,
    )  # fmt: skip
