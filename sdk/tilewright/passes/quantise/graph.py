"""The working copy of a model while quantisation is lowered: nodes, tensors and constants that may be changed.

It lives inside the quantisation passes only; what leaves them is a frozen `Model` again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from tilewright.errors import UnsupportedNode
from tilewright.model import Array, Attribute, Clamp, DType, Model, Node, Quantisation, Shape, Tensor


class Graph:
    """A model under change. `nodes` stay in topological order; names that are handed out are new."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.nodes: list[Node] = list(model.nodes)
        self.tensors: dict[str, Tensor] = dict(model.tensors)
        self.constants: dict[str, Array] = dict(model.constants)
        self.inputs = model.inputs
        self.outputs = model.outputs
        self.unlike = model.unlike
        self.codes_of: dict[str, str] = {}
        self._names = {node.name for node in model.nodes} | set(model.tensors)

    def fresh(self, wanted: str) -> str:
        """`wanted`, with a number where it is taken."""
        name, count = wanted, 1
        while name in self._names:
            count += 1
            name = f"{wanted}_{count}"
        self._names.add(name)
        return name

    def constant(self, wanted: str, value: Array, dtype: DType, quantisation: Quantisation | None = None) -> str:
        """Add a constant; returns its name."""
        name = self.fresh(wanted)
        self.tensors[name] = Tensor(name, dtype, value.shape, quantisation)
        self.constants[name] = value.astype(dtype.numpy)
        return name

    def tensor(self, wanted: str, dtype: DType, shape: Shape, quantisation: Quantisation | None = None) -> str:
        """Add a tensor; returns its name."""
        name = self.fresh(wanted)
        self.tensors[name] = Tensor(name, dtype, shape, quantisation)
        return name

    def codes(self, real: str, dtype: DType, quantisation: Quantisation | None = None) -> str:
        """Add a tensor for the codes of a real one of the file, which has none; returns its name."""
        name = self.tensor(f"{real}_codes", dtype, self.tensors[real].shape, quantisation)
        self.codes_of[name] = real
        return name

    def node(
        self,
        wanted: str,
        op: str,
        inputs: Iterable[str],
        outputs: Iterable[str],
        attributes: Mapping[str, Attribute] | None = None,
        clamp: Clamp | None = None,
        of: Node | None = None,
    ) -> Node:
        """A node of the default domain with a new name; the caller puts it in its place. It computes a part of `of`."""
        name, whole = self.fresh(wanted), "" if of is None else of.part_of or of.name
        return Node(name, op, tuple(inputs), tuple(outputs), dict(attributes or {}), "", clamp, whole)

    def value(self, name: str) -> Array | None:
        """The constant of this name, or None; also for the empty name of an omitted operand."""
        return self.constants.get(name)

    def quantise_tensor(self, name: str, quantisation: Quantisation | None) -> None:
        """Say what the codes of a tensor mean."""
        self.tensors[name] = replace(self.tensors[name], quantisation=quantisation)

    def consumers(self) -> dict[str, list[Node]]:
        """For every tensor name the nodes that read it."""
        consumers: dict[str, list[Node]] = {name: [] for name in self.tensors}
        for node in self.nodes:
            for name in dict.fromkeys(node.inputs):
                if name:
                    consumers.setdefault(name, []).append(node)
        return consumers

    def producers(self) -> dict[str, Node]:
        """For every tensor name the node that writes it."""
        return {name: node for node in self.nodes for name in node.outputs if name}

    def finish(self, form: str | None = None) -> Model:
        """The frozen model."""
        model = self.model.replace(
            nodes=tuple(self.nodes), tensors=self.tensors, constants=self.constants, outputs=self.outputs
        )
        model = replace(model, unlike=self.unlike)
        return model if form is None else replace(model, quantisation_form=form)


def operand(node: Node, index: int) -> str:
    """Name of an operand, "" where it is omitted."""
    return node.inputs[index] if index < len(node.inputs) else ""


def scalar(graph: Graph, name: str) -> float | None:
    """The value of a constant with one element, or None."""
    value = graph.value(name)
    return float(value.reshape(-1)[0]) if value is not None and value.size == 1 else None


def read_quantisation(graph: Graph, node: Node) -> tuple[Quantisation, DType] | None:
    """Scale, zero point and code type of a QuantizeLinear or DequantizeLinear; None where they are not constant.

    None too for blocked scales, whose codes have no one scale per channel.
    """
    scale, zero_name = graph.value(operand(node, 1)), operand(node, 2)
    zero = graph.value(zero_name) if zero_name else None
    if scale is None or (zero_name and zero is None) or scale.dtype != np.float32 or scale.ndim > 1:
        return None
    if node.attributes.get("block_size", 0):
        return None
    dtype = _code_type(graph, node, zero_name)
    if dtype is None or not (np.isfinite(scale).all() and (scale > 0).all()):
        return None
    data = graph.tensors[node.inputs[0]]
    axis = None
    if scale.size > 1:
        given = node.attributes.get("axis", 1)
        axis = int(given) % len(data.shape) if isinstance(given, int) and data.shape else None
        if axis is None or data.shape[axis] != scale.size:
            raise UnsupportedNode(
                f"node '{node.name}' ({node.op}): {scale.size} scales do not fit its tensor of shape {data.shape}",
                why=f"axis {given!r} has another size",
                fix="check how the model was exported",
                node=node.name,
            )
    zeros = np.zeros(scale.size, np.int64) if zero is None else zero.astype(np.int64).reshape(-1)
    if zeros.size not in (1, scale.size):
        raise UnsupportedNode(
            f"node '{node.name}' ({node.op}): {zeros.size} zero points do not go with {scale.size} scales",
            why="there is one for all scales, or one for each",
            fix="check how the model was exported",
            node=node.name,
        )
    zeros = np.broadcast_to(zeros, (scale.size,))
    codes = tuple(scale.reshape(-1).tolist()), tuple(int(z) for z in zeros)
    return Quantisation(*codes, axis, graph.model.numerics), dtype


_OUTPUT_TYPES = {2: DType.U8, 3: DType.I8, 4: DType.U16, 5: DType.I16, 21: DType.U4, 22: DType.I4}


def _code_type(graph: Graph, node: Node, zero_name: str) -> DType | None:
    if node.op == "DequantizeLinear":
        return graph.tensors[node.inputs[0]].dtype
    if zero_name:
        return graph.tensors[zero_name].dtype
    declared = node.attributes.get("output_dtype", 0)
    return _OUTPUT_TYPES.get(declared) if isinstance(declared, int) and declared else DType.U8
