"""The network that reads N tokens of a prompt, from the one that takes a token and its position.

What a token's step computes by rows is computed for the rows of all tokens at once, so that weights are read once for
N of them. All rows of a cache are written together, and every token then attends to it with its own position. What no
rule knows is computed for one token after the other. Scores are left out: nobody asks for those within a prompt.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.errors import ModelError, UnsupportedError
from tilewright.frontend.names import quoted, unique
from tilewright.prefill.whole_rows import Shape, Taken, mixes, multiplies, shows_as_it_is, takes_all

if TYPE_CHECKING:
    import onnx

FEWEST, MOST = 2, 256
"""Tokens of one call."""


@dataclass(frozen=True)
class Step:
    """Inputs of a token's step by name: the token, its position, and the pairs of states."""

    token: str
    position: str
    states: Mapping[str, str]


@dataclass(frozen=True)
class _Value:
    """What stands for a tensor of a token: the rows of all in one tensor, a tensor for each, or both."""

    rows: str = ""
    each: tuple[str, ...] = ()


def prefill_of(model: onnx.ModelProto, step: Step, count: int) -> onnx.ModelProto:
    """The network of `count` tokens: their numbers [count, ...] and the position of the first in, the states out.

    UnsupportedError where a state is made otherwise than by a TensorScatter at the position, or read before.
    """
    return _Deriving(model, step, count).result()


@dataclass
class _Deriving:
    model: onnx.ModelProto
    step: Step
    count: int
    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)
    values: dict[str, _Value] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Infer the shapes of all tensors, and what stands for the two inputs."""
        graph = self.model.graph
        self.shapes, self.types = _shapes(self.model)
        self.stored = {one.name for one in graph.initializer}
        self.integers = _integers(graph)
        self.taken = {name for node in graph.node for name in (*node.input, *node.output)} | set(self.shapes)
        self.fixed = set(self.stored)
        self.positions = {self.step.position}
        for node in graph.node:
            if all(name in self.fixed for name in node.input if name):
                self.fixed |= set(node.output)

    def result(self) -> onnx.ModelProto:
        """The whole network."""
        import onnx
        from onnx import helper

        step, graph = self.step, self.model.graph
        first = self.shapes[step.token]
        if first[:1] != (1,) or any(size != 1 for size in first):
            raise UnsupportedError("--prefill", why=f"the token's shape is {list(first)}", fix="export it as [1]")
        self.values[step.token] = _Value(rows=step.token)
        self._number_positions()
        self.between = _between(graph.node, self.fixed, set(step.states.values()))
        for node in graph.node:
            self._go(node)
        made = onnx.ModelProto()
        made.CopyFrom(self.model)
        for port in made.graph.input:
            if port.name == step.token:
                port.type.tensor_type.shape.dim[0].dim_value = self.count
        states_out = [
            helper.make_tensor_value_info(port.name, self.types[port.name], self.shapes[port.name])
            for port in graph.output if port.name in step.states.values()
        ]  # fmt: skip
        nodes = _needed(self.nodes, {port.name for port in states_out})
        read = {name for node in nodes for name in node.input}
        constants = [one for one in (*graph.initializer, *self.constants) if one.name in read]
        del made.graph.node[:], made.graph.initializer[:], made.graph.value_info[:], made.graph.output[:]
        made.graph.node.extend(nodes)
        made.graph.output.extend(states_out)
        made.graph.initializer.extend(constants)
        made.graph.name = f"{graph.name}_prefill"
        return made

    def _number_positions(self) -> None:
        """The position of every token: that of the first and what comes behind it."""
        name, shape = self.step.position, self.shapes[self.step.position]
        dtype = np.int64 if self.types[name] == 7 else np.int32
        each = [name]
        for at in range(1, self.count):
            behind = self._constant(f"{name}/behind_{at}", np.full(shape, at, dtype))
            each.append(self._op("Add", [name, behind], f"{name}/{at}"))
        rows = ""
        if shape[:1] == (1,):
            numbers = np.arange(self.count, dtype=dtype).reshape(-1, *shape[1:])
            rows = self._op("Add", [name, self._constant(f"{name}/behind", numbers)], f"{name}/all")
        self.values[name] = _Value(rows, tuple(each))

    def _go(self, node: onnx.NodeProto) -> None:
        states = self.step.states
        past = next((name for name in node.input if name in states), "")
        if past:
            self._write(node, past)
            return
        if made := next((name for name in node.output if name in states.values()), ""):
            raise _other_state(made)
        if not any(name in self.values for name in node.input):
            self.nodes.append(node)
            return
        if node.output[0] not in self.between and takes_all(taken := self._taken(node)):
            self._all_at_once(node, taken)
        else:
            self._one_by_one(node)

    def _taken(self, node: onnx.NodeProto) -> Taken:
        inputs = [name for name in node.input if name]
        integers = {place: self.integers[name] for place, name in enumerate(node.input) if name in self.integers}
        return Taken(
            node, tuple(self.shapes[name] for name in inputs), tuple(self.shapes[name] for name in node.output if name),
            tuple(name in self.values for name in inputs), tuple(name in self.fixed for name in inputs), integers,
        )  # fmt: skip

    def _all_at_once(self, node: onnx.NodeProto, taken: Taken) -> None:
        inputs = [self._rows(name) if name in self.values else name for name in node.input]
        if node.op_type == "Reshape":
            sizes = np.array([self.count, *taken.outputs[0][1:]], np.int64)
            inputs[1] = self._constant(f"{node.output[0]}/shape", sizes)
        self._copy(node, inputs, list(node.output))
        for name in node.output:
            self.values[name] = _Value(rows=name)

    def _one_by_one(self, node: onnx.NodeProto) -> None:
        each: list[list[str]] = []
        for at in range(self.count):
            inputs = [self._each(name)[at] if name in self.values else name for name in node.input]
            outputs = [name and unique(f"{name}/{at}", self.taken) for name in node.output]
            self._copy(node, inputs, outputs)
            each.append(outputs)
        for name, *names in zip(node.output, *each, strict=True):
            if name:
                self.values[name] = _Value(each=tuple(names))
        if set(node.input) & self.positions and shows_as_it_is(node):
            self.positions |= set(node.output)

    def _write(self, node: onnx.NodeProto, past: str) -> None:
        """The rows of all tokens written into a cache, one behind the other."""
        axis = next((one.i for one in node.attribute if one.name == "axis"), -2)
        right = node.op_type == "TensorScatter" and node.input[0] == past and len(node.input) == 3
        right = right and node.output[0] == self.step.states[past] and node.input[2] in self.positions
        shape = self.shapes.get(node.input[1], ()) if right else ()
        plain = len(shape) == 4 and axis in (2, -2) and shape[0] == shape[2] == 1
        if not plain or any(one.name == "mode" and one.s != b"linear" for one in node.attribute):
            raise _other_state(past)
        rows = self._rows(node.input[1])
        turned = self._op("Transpose", [rows], f"{node.output[0]}/rows", perm=[2, 1, 0, 3])
        self._copy(node, [past, turned, self._each(node.input[2])[0]], list(node.output))

    def _rows(self, name: str) -> str:
        """The rows of all tokens as one tensor."""
        value = self.values[name]
        if not value.rows:
            value = replace(value, rows=self._op("Concat", list(value.each), f"{name}/rows", axis=0))
            self.values[name] = value
        return value.rows

    def _each(self, name: str) -> tuple[str, ...]:
        """A tensor for each token."""
        from onnx import helper

        value = self.values[name]
        if not value.each:
            each = tuple(unique(f"{name}/{at}", self.taken) for at in range(self.count))
            made = helper.make_node("Split", [value.rows], each, f"{name}/each", axis=0, num_outputs=self.count)
            self.nodes.append(made)
            value = replace(value, each=each)
            self.values[name] = value
        return value.each

    def _copy(self, node: onnx.NodeProto, inputs: Sequence[str], outputs: Sequence[str]) -> None:
        import onnx

        made = onnx.NodeProto()
        made.CopyFrom(node)
        del made.input[:], made.output[:]
        made.input.extend(inputs)
        made.output.extend(outputs)
        made.name = next(filter(None, outputs))
        self.nodes.append(made)

    def _op(self, kind: str, inputs: list[str], hint: str, **attributes: Any) -> str:
        from onnx import helper

        name = unique(hint, self.taken)
        self.nodes.append(helper.make_node(kind, inputs, [name], name, **attributes))
        return name

    def _constant(self, hint: str, values: np.ndarray[Any, Any]) -> str:
        from onnx import numpy_helper

        name = unique(hint, self.taken)
        self.constants.append(numpy_helper.from_array(values, name))
        return name


def _other_state(name: str) -> UnsupportedError:
    return UnsupportedError(
        f"--prefill cannot write the state {quoted(name)} for several tokens",
        why="it takes caches [1, heads, rows, depth] that nothing but a TensorScatter at the position writes to",
        fix="leave it out: the prompt is then read token by token",
    )


def _shapes(model: onnx.ModelProto) -> tuple[dict[str, Shape], dict[str, int]]:
    """Shapes and element types of all tensors; ModelError where one is not known."""
    import onnx

    try:
        graph = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True).graph
    except Exception as error:
        raise ModelError("the shapes of the network cannot be inferred", why=str(error)[:160]) from None
    shapes = {one.name: tuple(one.dims) for one in graph.initializer}
    types = {one.name: one.data_type for one in graph.initializer}
    for port in (*graph.input, *graph.output, *graph.value_info):
        dims = port.type.tensor_type.shape.dim
        if all(dim.HasField("dim_value") for dim in dims) and port.type.tensor_type.HasField("shape"):
            shapes[port.name] = tuple(dim.dim_value for dim in dims)
            types[port.name] = port.type.tensor_type.elem_type
    if missing := next((name for node in graph.node for name in node.output if name and name not in shapes), ""):
        raise UnsupportedError(
            f"--prefill needs the shape of {quoted(missing)}", why="it is not fixed in the file",
            fix="fix the shapes when exporting",
        )  # fmt: skip
    return shapes, types


def _integers(graph: onnx.GraphProto) -> dict[str, tuple[int, ...]]:
    """Small initialisers of whole numbers: axes."""
    from onnx import numpy_helper

    small = (one for one in graph.initializer if one.data_type in (6, 7) and sum(one.dims) <= 8)
    return {one.name: tuple(int(value) for value in numpy_helper.to_array(one).reshape(-1)) for one in small}


def _between(nodes: Sequence[Any], fixed: Collection[str], presents: Collection[str]) -> set[str]:
    """Results from a product with a cache to the next: scores, masks on them, their softmax and what it mixes."""
    of_cache, weighted, ahead, products = set(presents), set[str](), set[str](), set[str]()
    for node in nodes:
        given = set(node.input)
        if mixes(node) and given & of_cache:
            products |= set(node.output)
        elif given & of_cache:
            of_cache |= set(node.output)
        elif given & weighted or (multiplies(node) and given & set(fixed)):
            weighted |= set(node.output)
        elif given & (ahead | products):
            ahead |= set(node.output)
    behind = set[str]()
    for node in reversed(nodes):
        if set(node.output) & (products | behind & ahead):
            behind |= set(node.input)
    return products | (ahead & behind)


def _needed(nodes: Sequence[Any], wanted: set[str]) -> list[Any]:
    needed = []
    for node in reversed(nodes):
        if wanted.intersection(node.output):
            wanted |= set(node.input)
            needed.append(node)
    return needed[::-1]
