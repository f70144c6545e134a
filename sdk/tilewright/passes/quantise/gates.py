"""An LSTM of codes as TensorFlow Lite Micro computes it: its gates one by one, with codes of 16 bits between them.

    gate   = function(input * weights + bias + hidden * recurrent weights)    both sums and their sum in 2^-12, limited
    cell   = forget * cell + enter * fresh                                    gates in 2^-15, the cell in its own scale
    hidden = tanh(cell) * leave                                               in the scale of the result

A node of the ONNX operator has these numbers around it: scales stand at its operands' DequantizeLinear. Each step
becomes nodes of its own. Source: tensorflow/lite/micro/kernels/lstm_eval.h and lstm_eval_common.cc.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import frexp

import numpy as np

from tilewright.model import DType, Node, Shape
from tilewright.passes.quantise.graph import Graph, operand, read_quantisation, scalar
from tilewright.passes.quantise.kinds import moves

BEFORE, BEHIND = 2.0**-12, 2.0**-15
"""Steps of a gate before its function and behind it."""
ENTER, LEAVE, FORGET, FRESH = range(4)
"""Places of the gates in ONNX's order."""
LEAST_CLIP = 9.02
"""From here on tanh of codes of 16 bits is that of the largest code."""


@dataclass(frozen=True)
class _Codes:
    """Names of a scale and a zero point, whose type is that of the codes."""

    scale: str
    zero_point: str


@dataclass(frozen=True)
class _Layer:
    """The operands of an LSTM as real tensors that are codes: weights and biases by gate, the state and its codes."""

    weights: tuple[str, ...]
    recurrent: tuple[str, ...]
    biases: tuple[str, ...]
    hidden: str
    cell: str
    of_hidden: _Codes
    of_cell: _Codes


def split_gates(graph: Graph) -> None:
    """Take every LSTM of codes apart; those of floats, and other forms, stay."""
    writers, readers, known = graph.producers(), graph.consumers(), dict[str, _Codes]()
    skipped: set[str] = set()
    nodes: list[Node] = []
    for node in graph.nodes:
        layer = _layer(graph, writers, known, node) if node.op == "LSTM" and not node.domain else None
        if layer is not None:
            limit = _limit(graph, readers, node)
            nodes += _Steps(graph, node, layer, limit).written(known)
            skipped |= {limit.name} if limit is not None else set()
        elif node.name not in skipped:
            nodes.append(node)
    graph.nodes = nodes


def _codes_of(graph: Graph, writers: Mapping[str, Node], known: Mapping[str, _Codes], name: str) -> _Codes | None:
    """The codes that a real tensor stands for, back through moves; None for other numbers."""
    while name not in known:
        writer = writers.get(name)
        if writer is None or writer.domain:
            return None
        if writer.op == "DequantizeLinear":
            return _Codes(writer.inputs[1], operand(writer, 2)) if read_quantisation(graph, writer) else None
        moved = moves(writer)
        if moved is None or moved.data is None:
            return None
        name = writer.inputs[moved.data[0]]
    return known[name]


def _parts(graph: Graph, writers: Mapping[str, Node], name: str) -> tuple[str, ...]:
    """What an Unsqueeze of a Concat joins."""
    joined = writers.get(name)
    inner = writers.get(joined.inputs[0]) if joined is not None and joined.op == "Unsqueeze" else None
    return inner.inputs if inner is not None and inner.op == "Concat" else ()


def _layer(graph: Graph, writers: Mapping[str, Node], known: Mapping[str, _Codes], node: Node) -> _Layer | None:
    """The layer of a node whose operands are all codes; None for other forms."""
    if set(node.attributes) - {"hidden_size"} or operand(node, 4) or operand(node, 7) or not operand(node, 6):
        return None
    weights, recurrent, biases = (_parts(graph, writers, operand(node, place)) for place in (1, 2, 3))
    if len(weights) != 4 or len(recurrent) != 4 or len(biases) != 5 or "" in (*weights, *recurrent, *biases):
        return None
    state = [_codes_of(graph, writers, known, operand(node, place)) for place in (5, 6)]
    coded = [_codes_of(graph, writers, known, name) for name in (node.inputs[0], *weights, *recurrent)]
    hidden, cell = state
    if hidden is None or cell is None or None in coded or graph.tensors[cell.zero_point].dtype is not DType.I16:
        return None
    if frexp(float(graph.constants[cell.scale].reshape(-1)[0]))[0] != 0.5:
        return None  # tanh takes the cell in a power of two
    return _Layer(weights, recurrent, biases[:4], operand(node, 5), operand(node, 6), hidden, cell)


def _limit(graph: Graph, readers: Mapping[str, list[Node]], node: Node) -> Node | None:
    """The Clip that alone reads the cell of a single step, so wide that the hidden state does not feel it."""
    read = readers.get(_result(node, 2), [])
    if len(read) != 1 or read[0].op != "Clip" or graph.tensors[node.inputs[0]].shape[0] != 1:
        return None
    sides = [scalar(graph, operand(read[0], place)) for place in (1, 2)]
    return read[0] if None not in sides and min(abs(side) for side in sides if side is not None) >= LEAST_CLIP else None


def _result(node: Node, place: int) -> str:
    """Name of a result, "" where it is omitted."""
    return node.outputs[place] if place < len(node.outputs) else ""


class _Steps:
    """The nodes of one layer, written one after the other."""

    def __init__(self, graph: Graph, node: Node, layer: _Layer, limit: Node | None) -> None:
        self.graph, self.node, self.layer, self.limit = graph, node, layer, limit
        self.nodes: list[Node] = []
        self.steps, self.batch, self.inputs = graph.tensors[node.inputs[0]].shape
        self.units = graph.tensors[layer.recurrent[0]].shape[0]
        self.state: Shape = (self.batch, self.units)
        zero = graph.constant(f"{node.name}_zero", np.zeros((), np.int16), DType.I16)
        scales = (BEFORE, BEHIND)
        self.before, self.behind = (
            _Codes(graph.constant(f"{node.name}_scale", np.asarray(scale, np.float32), DType.F32), zero)
            for scale in scales
        )

    def written(self, known: dict[str, _Codes]) -> list[Node]:
        """All nodes; what the results are codes of is noted in `known`."""
        hidden, cell = (self._shaped(name, self.state) for name in (self.layer.hidden, self.layer.cell))
        rows = []
        for step in range(self.steps):
            x = self.node.inputs[0]
            if self.steps > 1:
                cut = (self._numbers([number]) for number in (step, step + 1, 0))
                x = self._op("Slice", (x, *cut), (1, self.batch, self.inputs))
            gates = [self._gate(place, self._shaped(x, (self.batch, self.inputs)), hidden) for place in range(4)]
            remembered = self._coded("Mul", (gates[FORGET], cell), self.state, self.layer.of_cell)
            entered = self._coded("Mul", (gates[ENTER], gates[FRESH]), self.state, self.layer.of_cell)
            cell = self._cell(remembered, entered)
            curved = self._coded("Tanh", (cell,), self.state, self.behind)
            hidden = self._coded("Mul", (curved, gates[LEAVE]), self.state, self.layer.of_hidden)
            rows.append(self._shaped(hidden, (1, 1, *self.state)))
        sequence, last_hidden, last_cell = (_result(self.node, place) for place in range(3))
        if self.limit is not None:
            last_cell = self.limit.outputs[0]
        if sequence:
            self.nodes.append(
                self.graph.node(f"{self.node.name}_rows", "Concat", rows, (sequence,), {"axis": 0}, of=self.node)
            )
        for name, value, codes in (
            (last_hidden, hidden, self.layer.of_hidden), (last_cell, cell, self.layer.of_cell),
        ):  # fmt: skip
            if name:
                self._shaped(value, (1, *self.state), name)
                known[name] = codes
        return self.nodes

    def _gate(self, place: int, x: str, hidden: str) -> str:
        """A gate behind its function."""
        layer = self.layer
        now = self._coded("Gemm", (x, layer.weights[place], layer.biases[place]), self.state, self.before, transB=1)
        past = self._coded("Gemm", (hidden, layer.recurrent[place]), self.state, self.before, transB=1)
        total = self._coded("Add", (now, past), self.state, self.before)
        return self._coded("Tanh" if place == FRESH else "Sigmoid", (total,), self.state, self.behind)

    def _cell(self, remembered: str, entered: str) -> str:
        """The sum of both parts, within the limits where there are any: none is the lowest code, the kernels negate
        the highest."""
        if self.limit is None:
            return self._coded("Add", (remembered, entered), self.state, self.layer.of_cell)
        total = self._op("Add", (remembered, entered), self.state)
        reach = float(self.graph.constants[self.layer.of_cell.scale].reshape(-1)[0]) * DType.I16.range[1]
        sides = [scalar(self.graph, name) for name in self.limit.inputs[1:]]
        limits = [
            self.graph.constant(
                f"{self.node.name}_limit", np.asarray(np.clip(side or 0.0, -reach, reach), np.float32), DType.F32
            )
            for side in sides
        ]
        return self._coded("Clip", (total, *limits), self.state, self.layer.of_cell)

    def _coded(self, op: str, inputs: Sequence[str], shape: Shape, codes: _Codes, **attributes: int) -> str:
        """An operator whose result passes through codes; the name of the real result."""
        real, dtype = self._op(op, inputs, shape, attributes), self.graph.tensors[codes.zero_point].dtype
        code = self._op("QuantizeLinear", (real, codes.scale, codes.zero_point), shape, dtype=dtype)
        return self._op("DequantizeLinear", (code, codes.scale, codes.zero_point), shape)

    def _shaped(self, name: str, shape: Shape, result: str = "") -> str:
        """A tensor in another shape, by the name `result` where one is given."""
        if self.graph.tensors[name].shape == shape and not result:
            return name
        return self._op("Reshape", (name, self._numbers(shape)), shape, result=result)

    def _numbers(self, values: Sequence[int]) -> str:
        return self.graph.constant(f"{self.node.name}_numbers", np.asarray(values, np.int64), DType.I64)

    def _op(
        self, op: str, inputs: Sequence[str], shape: Shape, attributes: Mapping[str, int] | None = None,
        dtype: DType = DType.F32, result: str = "",
    ) -> str:  # fmt: skip
        target = result or self.graph.tensor(f"{self.node.name}_{op.lower()}", dtype, shape)
        self.nodes.append(self.graph.node(f"{self.node.name}_{op}", op, inputs, (target,), attributes, of=self.node))
        return target
