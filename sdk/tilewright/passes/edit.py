"""A Model under the hands of a pass: who writes and who reads a tensor is known at every moment, in constant time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from tilewright.frontend.names import unique
from tilewright.frontend.prune import prune
from tilewright.model import Array, DType, Model, Node, Tensor
from tilewright.ops.operator import Call
from tilewright.ops.registry import call_of


class Edit:
    """Nodes are replaced in place, so their order stays the model's; `result` gives the new Model."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._slots: list[list[Node]] = [[node] for node in model.nodes]
        self._slot_of = {node.name: index for index, node in enumerate(model.nodes)}
        self._outputs = frozenset(model.outputs)
        self._writers: dict[str, Node] = {}
        self._readers: dict[str, dict[str, Node]] = {}
        for node in model.nodes:
            self._connect(node)
        self.tensors: dict[str, Tensor] = dict(model.tensors)
        self.constants: dict[str, Array] = dict(model.constants)
        self._taken: set[str] | None = None
        self._nodes_taken: set[str] | None = None
        self._whole = {node.name: node.part_of for node in model.nodes if node.part_of}
        self._changed = False

    def nodes(self) -> Iterator[Node]:
        """The nodes in order, each as it is when the iteration reaches it."""
        for slot in self._slots:
            for node in tuple(slot):
                if any(other is node for other in slot):
                    yield node

    def writer(self, tensor: str) -> Node | None:
        """The node that writes it; None for inputs and constants."""
        return self._writers.get(tensor)

    def plain_writer(self, tensor: str, op: str) -> Node | None:
        """The node that writes it where that is a standard operator of this kind without a clamp."""
        node = self._writers.get(tensor)
        return node if node is not None and node.op == op and not node.domain and node.clamp is None else None

    def is_output(self, tensor: str) -> bool:
        """True for an output of the network, whose name must stay."""
        return tensor in self._outputs

    def readers(self, tensor: str) -> list[Node]:
        """The nodes that read it."""
        return list(self._readers.get(tensor, {}).values())

    def sole_reader(self, tensor: str, node: Node) -> bool:
        """True where `node` alone reads the tensor, once, and it is no output of the network."""
        readers = self._readers.get(tensor, {})
        return (
            len(readers) == 1
            and node.name in readers
            and node.inputs.count(tensor) == 1
            and tensor not in self._outputs
        )

    def encloses(self, nodes: Iterable[Node], last: Node) -> bool:
        """True where float32 results of the nodes are read by them and by `last` alone, and none is an output."""
        nodes = tuple(nodes)
        names = {node.name for node in (*nodes, last)}
        results = [node.outputs[0] for node in nodes]
        return all(self.tensors[result].dtype is DType.F32 for result in (*results, *last.outputs)) and not any(
            self.is_output(result) or any(reader.name not in names for reader in self.readers(result))
            for result in results
        )

    def constant(self, node: Node, index: int) -> Array | None:
        """The value of an input that is a constant."""
        return self.constants.get(node.inputs[index]) if index < len(node.inputs) else None

    def call(self, node: Node) -> Call:
        """The node as a use of its operator."""
        tensors = [self.tensors[name] if name else None for name in node.inputs]
        values = {place: self.constants[name] for place, name in enumerate(node.inputs) if name in self.constants}
        return call_of(node, tensors, [self.tensors[name] for name in node.outputs if name], values)

    def is_float(self, *names: str) -> bool:
        """True where all these tensors hold plain floating-point values."""
        tensors = [self.tensors[name] for name in names if name]
        return all(tensor.dtype.is_float and tensor.quantisation is None for tensor in tensors)

    def folds(self, *names: str) -> bool:
        """True where all these hold plain floats whose constants may be computed into one another.

        Not bfloat16: with eight bits of a number every further rounding is seen in the result.
        """
        return self.is_float(*names) and all(self.tensors[n].dtype is not DType.BF16 for n in names if n)

    def replace(self, node: Node, *new: Node) -> None:
        """Put other nodes in the place of `node`; without any it is removed. Those of new names are parts of it."""
        index = self._slot_of[node.name]
        slot = self._slots[index]
        position = next(i for i, other in enumerate(slot) if other is node)
        self._disconnect(node)
        slot[position : position + 1] = new
        for made in new:
            if made.name not in self._slot_of:
                self._whole[made.name] = made.part_of or self._whole.get(node.name, node.name)
            self._slot_of[made.name] = index
            if self._nodes_taken is not None:
                self._nodes_taken.add(made.name)
            self._connect(made)
        self._changed = True

    def insert(self, before: Node, *new: Node) -> None:
        """Put other nodes in front of a node, which stays."""
        self.replace(before, *new, before)

    def redirect(self, old: str, new: str) -> None:
        """Let all readers of `old` read `new`, which must be written before them."""
        for node in self.readers(old):
            inputs = tuple(new if name == old else name for name in node.inputs)
            self.replace(node, replace(node, inputs=inputs))

    def add_constant(self, hint: str, array: Array, dtype: DType | None = None) -> str:
        """A new constant; its name is `hint` or begins with it."""
        name = self._fresh(hint)
        array = np.ascontiguousarray(array) if array.ndim else np.asarray(array)
        self.constants[name] = array
        self.tensors[name] = Tensor(name, dtype or DType.of(array.dtype), array.shape)
        return name

    def add_tensor(self, hint: str, like: Tensor) -> str:
        """A new tensor of the same type as `like`."""
        name = self._fresh(hint)
        self.tensors[name] = replace(like, name=name)
        return name

    def node_name(self, hint: str) -> str:
        """A node name that is still free."""
        if self._nodes_taken is None:
            self._nodes_taken = set(self._slot_of)
        free = unique(hint, self._nodes_taken)
        self._nodes_taken.discard(free)
        return free

    def result(self) -> Model:
        """The new Model, without what has become superfluous; the old object where nothing was changed."""
        if not self._changed:
            return prune(self._model)
        nodes = tuple(self._told(node) for slot in self._slots for node in slot)
        return prune(self._model.replace(nodes=nodes, tensors=self.tensors, constants=self.constants))

    def _told(self, node: Node) -> Node:
        """The node with the name of the one that it is a part of."""
        whole = self._whole.get(node.name, "")
        return node if node.part_of == whole else replace(node, part_of=whole)

    def _fresh(self, hint: str) -> str:
        if self._taken is None:
            self._taken = set(self.tensors)
        return unique(hint, self._taken)

    def _connect(self, node: Node) -> None:
        for name in filter(None, node.outputs):  # an omitted operand has no name: nothing writes or reads it
            self._writers[name] = node
        for name in filter(None, node.inputs):
            self._readers.setdefault(name, {})[node.name] = node

    def _disconnect(self, node: Node) -> None:
        for name in node.outputs:
            if self._writers.get(name) is node:
                del self._writers[name]
        for name in filter(None, set(node.inputs)):
            self._readers[name].pop(node.name, None)
