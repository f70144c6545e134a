"""A state whose rows are read and written one by one is so many states, each of which can be written where it lies.

Exporters keep the caches of several layers in one tensor: a layer takes a row of it (`Gather`), makes the next one,
and puts that back (`ScatterND`). As one tensor it must stay as it was until the last row is read.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tilewright.frontend.check import check_model
from tilewright.frontend.names import unique
from tilewright.model import Array, DType, Model, Node, State, Tensor

Rows = tuple[str, ...]
"""The tensor that holds each row of a tensor."""


def split_states(model: Model) -> Model:
    """The network with a state for every row where rows are all that is read and written; else as it is."""
    for state in model.states:
        split = _Split(model, state)
        if split.possible:
            model = check_model(split.result(), "the splitting of states")
    return model


class _Split:
    """One state, followed through the nodes that read and write its rows."""

    def __init__(self, model: Model, state: State) -> None:
        self.model, self.state = model, state
        self.tensors, self.constants = dict(model.tensors), dict(model.constants)
        self.names = set(model.tensors)
        self.whole = model.tensors[state.past]
        self.rows: dict[str, Rows] = {}
        self.kept: list[Node] = []
        self.possible = self._begins() and all(self._follow(node) for node in model.nodes) and self._ends()

    def _begins(self) -> bool:
        shape, codes = self.whole.shape, self.whole.quantisation
        if len(shape) < 2 or shape[0] < 2 or 0 in shape or (codes is not None and codes.axis is not None):
            return False
        self.rows[self.state.past] = tuple(
            self._tensor(f"{self.state.past}/{row}", shape[1:]) for row in range(shape[0])
        )
        return True

    def _tensor(self, hint: str, shape: tuple[int, ...]) -> str:
        name = unique(hint, self.names)
        self.tensors[name] = replace(self.whole, name=name, shape=shape)
        return name

    def _follow(self, node: Node) -> bool:
        """Take the node up; False where it reads more than rows of the state."""
        touched = [name for name in node.inputs if name in self.rows]
        if not touched:
            self.kept.append(node)
            return True
        if touched != [node.inputs[0]] or node.domain or node.clamp is not None:
            return False
        index = self.constants.get(node.inputs[1]) if len(node.inputs) > 1 else None
        if index is None or index.size != 1:
            return False
        row = int(index.reshape(-1)[0])
        rows = self.rows[touched[0]]
        if not -len(rows) <= row < len(rows):
            return False
        if node.op == "Gather" and node.attributes.get("axis", 0) in (0, -len(self.whole.shape)):
            self._view(node.name, rows[row], node.outputs[0])
            return node.outputs[0] not in self.model.outputs
        return node.op == "ScatterND" and self._put(node, rows, row, index)

    def _put(self, node: Node, rows: Rows, row: int, index: Array) -> bool:
        """A whole row is written: from here on the result's is the update."""
        if index.shape[-1] != 1 or node.attributes.get("reduction", "none") not in ("none", b"none"):
            return False
        if self.tensors[node.inputs[2]].elements != self.whole.elements // self.whole.shape[0]:
            return False
        if (self.tensors[node.inputs[2]].dtype, self.tensors[node.inputs[2]].quantisation) != (
            self.whole.dtype, self.whole.quantisation,
        ):  # fmt: skip
            return False
        made = self._tensor(f"{node.outputs[0]}/{row % len(rows)}", self.whole.shape[1:])
        self._view(node.name, node.inputs[2], made)
        row %= len(rows)
        self.rows[node.outputs[0]] = (*rows[:row], made, *rows[row + 1 :])
        return True

    def _view(self, node: str, source: str, result: str) -> None:
        """In the place of a node one that shows the bytes of `source` in the shape of `result`."""
        shape = np.array(self.tensors[result].shape, np.int64)
        name = unique(f"{result}/shape", self.names)
        self.constants[name], self.tensors[name] = shape, Tensor(name, DType.I64, shape.shape)
        self.kept.append(Node(node, "Reshape", (source, name), (result,), {"allowzero": 1}))

    def _ends(self) -> bool:
        """Every row of the next value is made in this call, and no other output is a whole."""
        last, first = self.rows.get(self.state.present), self.rows[self.state.past]
        others = {name for name in self.rows if name != self.state.present}
        return last is not None and not set(last) & set(first) and not others.intersection(self.model.outputs)

    def result(self) -> Model:
        """The network with the rows as states."""
        first, last = self.rows[self.state.past], self.rows[self.state.present]
        initial = self.state.initial
        states = tuple(
            State(past, present, None if initial is None else initial[row], (row, *self.state.in_file))
            for row, (past, present) in enumerate(zip(first, last, strict=True))
        )
        return self.model.replace(
            nodes=tuple(self.kept), tensors=self.tensors, constants=self.constants,
            inputs=_instead(self.model.inputs, self.state.past, first),
            outputs=_instead(self.model.outputs, self.state.present, last),
            states=tuple(one for each in self.model.states for one in (states if each is self.state else (each,))),
        )  # fmt: skip


def _instead(names: tuple[str, ...], old: str, new: Rows) -> tuple[str, ...]:
    return tuple(one for name in names for one in (new if name == old else (name,)))
