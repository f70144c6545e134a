"""A Model that grows: nodes are added at its end, equal ones once, with types and shapes from their operators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from tilewright.errors import UnsupportedNode
from tilewright.frontend.names import unique
from tilewright.model import Array, Attribute, DType, Model, Node, State, Tensor
from tilewright.ops.operator import Call
from tilewright.ops.registry import call_of

Key = tuple[object, ...]


class Network:
    """What rules, losses and optimisers write into; `model()` is what came of it."""

    def __init__(self, model: Model) -> None:
        self.nodes: list[Node] = list(model.nodes)
        self.tensors: dict[str, Tensor] = dict(model.tensors)
        self.constants: dict[str, Array] = dict(model.constants)
        self.inputs: list[str] = list(model.inputs)
        self.outputs: list[str] = list(model.outputs)
        self.states: list[State] = list(model.states)
        self._model = model
        self._names = set(model.tensors)
        self._nodes = {node.name for node in model.nodes}
        self._made: dict[Key, str] = {}
        self._stored: dict[tuple[str, tuple[int, ...], bytes], str] = {}

    # ------------------------------------------------------------------------------------------- what rules ask
    def tensor(self, name: str) -> Tensor:
        """Type and shape of a tensor."""
        return self.tensors[name]

    def node(self, op: str, inputs: Sequence[str], attributes: Mapping[str, Attribute] | None = None) -> str:
        """The result of a node of the standard; that of an equal one where there is one already."""
        given = dict(attributes or {})
        key = (op, tuple(inputs), tuple(sorted((name, repr(value)) for name, value in given.items())))
        if key not in self._made:
            self._made[key] = self.append(op, inputs, given)
        return self._made[key]

    def append(
        self, op: str, inputs: Sequence[str], attributes: Mapping[str, Attribute] | None = None, into: str = ""
    ) -> str:
        """The result, called `into` where it is given, of a node of its own."""
        name = unique(f"{op.lower()}_{len(self.nodes)}", self._nodes)
        result = unique(into or f"{name}/out", self._names)
        node = Node(name, op, tuple(inputs), (result,), dict(attributes or {}))
        call = self.call(node)
        if call.operator is None:
            raise UnsupportedNode(f"operator '{op}' is not known", node=name)
        kind = call.operator.infer(call)[0]
        self.tensors[result] = Tensor(result, kind.dtype, kind.shape)
        self.nodes.append(node)
        return result

    def add(self, node: Node) -> tuple[str, ...]:
        """A node as it is, but for names that are taken; the names of its results, "" for those that it omits."""
        name = unique(node.name, self._nodes)
        results = tuple(unique(one, self._names) if one else "" for one in node.outputs)
        made = replace(node, name=name, outputs=results)
        for result, kind in zip(results, self._inferred(made), strict=False):
            if result:
                self.tensors[result] = Tensor(result, *kind)
        self.nodes.append(made)
        return results

    def constant(self, value: Array) -> str:
        """The name of a constant; equal ones are one."""
        key = (value.dtype.str, value.shape, value.tobytes())
        if key not in self._stored:
            name = unique("constant", self._names)
            self.tensors[name] = Tensor(name, DType.of(value.dtype), value.shape)
            self.constants[name] = value
            self._stored[key] = name
        return self._stored[key]

    def further_result(self, node: str, index: int) -> str:
        """The name of a result of a forward node, which is added to it where it was omitted."""
        place = next(at for at, one in enumerate(self.nodes) if one.name == node)
        names = [*self.nodes[place].outputs]
        names += [""] * (index + 1 - len(names))
        if not names[index]:
            names[index] = unique(f"{node}/result_{index}", self._names)
            self.nodes[place] = replace(self.nodes[place], outputs=tuple(names))
            kind = self._inferred(self.nodes[place])[index]
            self.tensors[names[index]] = Tensor(names[index], *kind)
        return names[index]

    def _inferred(self, node: Node) -> list[tuple[DType, tuple[int, ...]]]:
        call = self.call(node)
        assert call.operator is not None, "it is a node of the forward network"
        return [(one.dtype, one.shape) for one in call.operator.infer(call)]

    # ------------------------------------------------------------------------------------------- what others ask
    def call(self, node: Node) -> Call:
        """A node with the types of its operands and results."""
        inputs = [self.tensors[name] if name else None for name in node.inputs]
        outputs = [self.tensors[name] for name in node.outputs if name in self.tensors]
        known = {at: self.constants[name] for at, name in enumerate(node.inputs) if name in self.constants}
        return call_of(node, inputs, outputs, known, self._model.opset)

    def number(self, value: float, like: str) -> str:
        """A scalar constant of the element type of a tensor."""
        return self.constant(np.asarray(value, self.tensors[like].dtype.numpy))

    def add_input(self, name: str, dtype: DType, shape: tuple[int, ...]) -> str:
        """A new input, of this name or one like it."""
        made = unique(name, self._names)
        self.tensors[made] = Tensor(made, dtype, shape)
        self.inputs.append(made)
        return made

    def become_state(self, name: str, first: Array) -> None:
        """A constant or a new name becomes a state; `move_state` says what it holds after a call."""
        self.constants.pop(name, None)
        if name not in self.tensors:
            self.tensors[name] = Tensor(name, DType.of(first.dtype), first.shape)
            self._names.add(name)
        self.inputs.append(name)
        self.states.append(State(name, "", first))

    def follow_state(self, name: str, following: str) -> None:
        """What a state holds after a call is a tensor that is there already."""
        place = next(at for at, state in enumerate(self.states) if state.past == name)
        self.states[place] = replace(self.states[place], present=following)
        self.outputs.append(following)

    def like_state(self, name: str, following: str) -> None:
        """A tensor of the type of a state holds codes of the same meaning."""
        self.tensors[following] = replace(self.tensors[name], name=following)

    def initial(self, name: str) -> Array:
        """The value of a constant, or the first one of a state."""
        first = next((state.initial for state in self.states if state.past == name), None)
        return self.constants[name] if first is None else first

    def fresh(self, name: str) -> str:
        """A tensor name that nothing has; it is taken by whoever adds it."""
        taken = set(self._names)
        return unique(name, taken)

    def move_state(
        self, name: str, op: str, inputs: Sequence[str], attributes: Mapping[str, Attribute] | None = None
    ) -> str:
        """The node that makes the next value of a state."""
        following = self.append(op, inputs, attributes, into=f"{name}/next")
        self.follow_state(name, following)
        return following

    def model(self, name: str) -> Model:
        """What was made, with the nodes in the order in which they were added."""
        return replace(self._model, name=name).replace(
            nodes=tuple(self.nodes), tensors=self.tensors, constants=self.constants, inputs=tuple(self.inputs),
            outputs=tuple(self.outputs), states=tuple(self.states),
        )  # fmt: skip
