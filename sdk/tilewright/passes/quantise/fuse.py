"""Joins DequantizeLinear, an operator, its activation and QuantizeLinear into one operator on codes.

One walk in the model's order. For every real tensor that is known as codes, `codes` says which tensor holds them; an
operator whose operands are all known so, and whose result is quantised, becomes the same operator on codes. What is
left over reads real numbers through a DequantizeLinear.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tilewright.model import DType, Node, Quantisation
from tilewright.ops.codes import AsIntegers, Converts, Moves
from tilewright.ops.operator import Call
from tilewright.ops.registry import codes_of, find
from tilewright.ops.requantize import dequantise, quantise
from tilewright.passes.quantise.graph import Graph, operand, read_quantisation
from tilewright.passes.quantise.kinds import computes, moves, products
from tilewright.passes.quantise.operands import code_operands, whose_sums_fit
from tilewright.passes.quantise.tail import Tail, find_tail


class Fusion:
    """The walk's state; `run` does it."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.readers = graph.consumers()
        self.writers = graph.producers()
        self.codes: dict[str, str] = {}
        self.alias: dict[str, str] = {}
        self.emitted: list[Node] = []
        self.done: set[str] = set()
        self._reals: dict[str, str] = {}
        self._wanted: dict[str, bool] = {}

    def run(self) -> None:
        """Rewrite the graph's nodes."""
        for node in self.graph.nodes:
            if node.name not in self.done:
                self._visit(node)
        for name in self.graph.outputs:
            self.real(name)
        self.graph.nodes = self.emitted

    def _visit(self, node: Node) -> None:
        if not node.domain and node.op == "QuantizeLinear" and self._quantize(node):
            return
        if not node.domain and node.op == "DequantizeLinear" and self._dequantize(node):
            return
        if computes(node) and self._compute(node):
            return
        if (moved := _moved(node)) is not None and self._move(node, moved):
            return
        if isinstance(codes_of(node), AsIntegers) and (code := self.codes.get(node.inputs[0])):
            self.emitted.append(replace(node, inputs=(code, *node.inputs[1:])))
            return
        inputs = tuple(self._plain(node, self.real(name)) if name else "" for name in node.inputs)
        self.emitted.append(replace(node, inputs=inputs))

    def _plain(self, reader: Node, name: str) -> str:
        """The tensor as a node reads it that knows nothing of codes: what are codes elsewhere are integers there."""
        tensor = self.graph.tensors[name]
        takes_both = isinstance(codes_of(reader), Converts | AsIntegers)
        if takes_both or tensor.quantisation is None or tensor.dtype.bits != 8 or name in self.graph.constants:
            return name
        return self._same_bits(name, None)

    def _same_bits(self, name: str, quantisation: Quantisation | None) -> str:
        """A copy of a tensor of eight bits whose elements mean something else, or nothing beside themselves."""
        tensor = self.graph.tensors[name]
        meaning = "integers" if quantisation is None else "codes"
        copied = self.graph.tensor(f"{name}_{meaning}", tensor.dtype, tensor.shape, quantisation)
        low, high = tensor.dtype.range
        table = np.arange(low, high + 1).astype(tensor.dtype.numpy)
        self.emitted.append(self.graph.node(f"{copied}_table", "Lookup", (name,), (copied,), {"table": table}))
        return copied

    def source(self, name: str) -> str:
        """The tensor that a name of codes stands for by now."""
        while name in self.alias:
            name = self.alias[name]
        return name

    def real(self, name: str) -> str:
        """A tensor that holds the real numbers of `name`: itself, or a DequantizeLinear of its codes."""
        if name not in self.codes:
            return self.source(name)
        if name in self._reals:
            return self._reals[name]
        code = self.codes[name]
        quantisation = self.graph.tensors[code].quantisation
        assert quantisation is not None, code
        if code in self.graph.constants:
            value = dequantise(self.graph.constants[code], quantisation)
            self._reals[name] = self.graph.constant(f"{name}_value", value, DType.F32)
            return self._reals[name]
        target = name if name != code else self.graph.tensor(f"{name}_real", DType.F32, self.graph.tensors[name].shape)
        scale, zero = self._parameters(code, quantisation, self.graph.tensors[code].dtype)
        attributes = {} if quantisation.axis is None else {"axis": quantisation.axis}
        node = self.graph.node(f"{target}_dequantise", "DequantizeLinear", (code, scale, zero), (target,), attributes)
        origin = self.writers.get(name)
        if origin is not None and origin.op == "DequantizeLinear":
            node = replace(node, name=origin.name)
        self.emitted.append(node)
        self._reals[name] = target
        return target

    def _parameters(self, code: str, quantisation: Quantisation, dtype: DType) -> tuple[str, str]:
        """Constants that hold scale and zero point."""
        flat = () if quantisation.axis is None else (-1,)
        scale = np.asarray(quantisation.scale, np.float32).reshape(flat)
        zero = np.asarray(quantisation.zero_point).reshape(flat)
        return (
            self.graph.constant(f"{code}_scale", scale, DType.F32),
            self.graph.constant(f"{code}_zero_point", zero, dtype),
        )

    def _quantize(self, node: Node) -> bool:
        meaning = read_quantisation(self.graph, node)
        if meaning is None:
            return False
        quantisation, dtype = meaning
        source, target = self.source(node.inputs[0]), node.outputs[0]
        self.graph.tensors[target] = replace(self.graph.tensors[target], dtype=dtype, quantisation=quantisation)
        code = self.codes.get(source)
        value = self.graph.value(source)
        if value is not None and code is None and target not in self.graph.outputs:
            self.graph.constants[target] = quantise(value, quantisation, dtype)
            return True
        if quantisation.axis is not None:
            return False
        if code is None:
            self.emitted.append(node)
        elif self._meaning(code) == meaning:
            self._same(code, target, node)
        else:
            self.emitted.append(replace(node, inputs=(code, *node.inputs[1:])))
        return True

    def _meaning(self, code: str) -> tuple[Quantisation | None, DType]:
        tensor = self.graph.tensors[code]
        return tensor.quantisation, tensor.dtype

    def _same(self, code: str, target: str, node: Node) -> None:
        """`target` holds the same codes as `code`: one of the two names is given up."""
        if target not in self.graph.outputs:
            self.alias[target] = code
        elif code in self.graph.outputs or code in self.graph.inputs or code in self.graph.constants:
            self.emitted.append(replace(node, inputs=(code, *node.inputs[1:])))
        else:
            self.alias[code] = target
            self.codes = {real: target if held == code else held for real, held in self.codes.items()}
            self.emitted = [_renamed(done, code, target) for done in self.emitted]

    def _dequantize(self, node: Node) -> bool:
        meaning = read_quantisation(self.graph, node)
        if meaning is None or self.graph.tensors[node.outputs[0]].dtype is not DType.F32:
            return self._fold_blocks(node)
        quantisation, dtype = meaning
        code = self.source(node.inputs[0])
        known = self.graph.tensors[code].quantisation
        if code in self.graph.constants:
            if known is not None and known != quantisation:
                code = self.graph.constant(f"{code}_as", self.graph.constants[code], dtype)
            self.graph.quantise_tensor(code, quantisation)
        elif quantisation.axis is not None or dtype.bits > 16:
            return False
        elif known is None:
            if not self._annotate(code, quantisation):
                if dtype.bits != 8:
                    return False
                code = self._same_bits(code, quantisation)
        elif known != quantisation:
            return False
        self.codes[node.outputs[0]] = code
        return True

    def _fold_blocks(self, node: Node) -> bool:
        """A constant with blocked scales: no integer form, so its real values are computed now."""
        values = [self.graph.value(name) for name in node.inputs]
        operator = find(node.op)
        if operator is None or any(value is None for value in values) or node.outputs[0] in self.graph.outputs:
            return False
        tensors = tuple(self.graph.tensors[name] for name in node.inputs)
        constants = {index: value for index, value in enumerate(values) if value is not None}
        result = self.graph.tensors[node.outputs[0]]
        call = Call(node, tensors, (result,), constants, self.graph.model.opset, operator=operator)
        self.graph.constants[node.outputs[0]] = operator.evaluate(call, values)[0]
        return True

    def _annotate(self, code: str, quantisation: Quantisation) -> bool:
        """Integer tensors that are dequantised later: say so back to the model's input, through moves."""
        writers = {name: node for node in self.emitted for name in node.outputs}
        chain = [code]
        while (writer := writers.get(chain[-1])) is not None:
            moved = moves(writer)
            if moved is None or moved.data is None or self.graph.tensors[writer.inputs[moved.data[0]]].quantisation:
                return False
            chain.append(writer.inputs[moved.data[0]])
        if chain[-1] not in self.graph.inputs:
            return False
        for name in chain:
            self.graph.quantise_tensor(name, quantisation)
        return True

    def _move(self, node: Node, moved: Moves) -> bool:
        """A move of codes; also of integer tensors whose codes are known."""
        first = self.source(node.inputs[moved.data_of(node)[0]])
        known = self.graph.tensors[first].quantisation
        if known is not None and first not in self.codes and node.op != "Relu":
            inputs = self._filled(node, tuple(self.source(name) for name in node.inputs))
            if len({self.graph.tensors[inputs[index]].quantisation for index in moved.data_of(node)}) > 1:
                return False
            for name in moved.results_of(node):
                self.graph.quantise_tensor(name, known)
            self.emitted.append(replace(node, inputs=inputs))
            return True
        if moved.data is None and self._concat(node):
            return True
        if first in self.codes and self._constant_move(node, self.codes[first]):
            return True
        held = [self.codes.get(node.inputs[index], "") for index in moved.data_of(node)]
        results = moved.results_of(node)
        wanted = any(map(self.wanted, results))
        if not all(held) or not (wanted or all(code in self.graph.constants for code in held)):
            return False
        meanings = {self._meaning(code) for code in held}
        if len(meanings) != 1 or next(iter(meanings))[0] is None:
            return False
        quantisation, dtype = meanings.pop()
        assert quantisation is not None
        if quantisation.axis is not None:
            return False
        coded = self._with_codes(node, moved, quantisation, dtype)
        if coded is None:
            return False
        outputs = tuple(self._twin(name, dtype, quantisation) if name in results else name for name in node.outputs)
        self.emitted.append(replace(node, inputs=coded, outputs=outputs))
        return True

    def _filled(self, node: Node, inputs: tuple[str, ...]) -> tuple[str, ...]:
        """The operands of a move of codes; a Pad that names no value fills with the code 0, whatever that means."""
        if node.op != "Pad" or node.attributes.get("mode", "constant") != "constant" or operand(node, 2):
            return inputs
        fill = self.graph.constant(f"{node.name}_fill", np.zeros(()), self.graph.tensors[inputs[0]].dtype)
        return (*inputs[:2], fill, *inputs[3:])

    def _constant_move(self, node: Node, code: str) -> bool:
        """A Transpose of constant codes, done now; the axis that counts channels moves along."""
        if code not in self.graph.constants or node.op != "Transpose":
            return False
        tensor = self.graph.tensors[code]
        perm = node.attributes.get("perm", tuple(reversed(range(len(tensor.shape)))))
        if not isinstance(perm, tuple) or tensor.quantisation is None:
            return False
        order = [int(axis) for axis in perm]
        axis = tensor.quantisation.axis
        moved = replace(tensor.quantisation, axis=None if axis is None else order.index(axis))
        value = np.ascontiguousarray(self.graph.constants[code].transpose(order))
        self.codes[node.outputs[0]] = self.graph.constant(f"{code}_transposed", value, tensor.dtype, moved)
        return True

    def _with_codes(self, node: Node, moved: Moves, quantisation: Quantisation, dtype: DType) -> tuple[str, ...] | None:
        """The operands, codes for the data; the fill of a Pad as a code, None where no code stands for it."""
        data = moved.data_of(node)
        inputs = tuple(self.codes[name] if index in data else name for index, name in enumerate(node.inputs))
        if node.op != "Pad" or node.attributes.get("mode", "constant") != "constant":
            return inputs
        value = self.graph.value(inputs[2]) if operand(node, 2) else np.zeros((), np.float32)
        if value is None:
            return None
        code = quantise(value, quantisation, dtype)
        if not np.array_equal(dequantise(code, quantisation), value.astype(np.float32)):
            return None
        return (*inputs[:2], self.graph.constant(f"{node.name}_fill", code, dtype), *inputs[3:])

    def _twin(self, name: str, dtype: DType, quantisation: Quantisation) -> str:
        self.codes[name] = self.graph.codes(name, dtype, quantisation)
        return self.codes[name]

    def _concat(self, node: Node) -> bool:
        """Operands with scales of their own, joined under the scale of the result."""
        tail = find_tail(self.graph, self.readers, node)
        if tail is None or tail.clamp is not None:
            return False
        quantisation, dtype = tail.quantisation, tail.dtype
        inputs = []
        for name in node.inputs:
            code = self.codes.get(name)
            value = self.graph.value(name)
            if code is None and value is not None:
                codes = quantise(value, quantisation, dtype)
                code = self.graph.constant(f"{name}_codes", codes, dtype, quantisation)
            held = self.graph.tensors[code].quantisation if code else None
            if code is None or held is None or held.axis is not None:
                return False
            inputs.append(code)
        self._emit(node, tuple(self._of_type(code, tail) for code in inputs), tail)
        return True

    def _of_type(self, code: str, tail: Tail) -> str:
        """Codes of the result's type: a tensor of another one, or too wide for a table, is requantised before."""
        tensor = self.graph.tensors[code]
        if tensor.dtype is tail.dtype and (tensor.dtype.bits <= 8 or tensor.quantisation == tail.quantisation):
            return code
        scale, zero = self._parameters(tail.targets[0], tail.quantisation, tail.dtype)
        target = self.graph.tensor(f"{code}_as_{tail.dtype.value}", tail.dtype, tensor.shape, tail.quantisation)
        self.emitted.append(self.graph.node(f"{target}_quantise", "QuantizeLinear", (code, scale, zero), (target,)))
        return target

    def _compute(self, node: Node) -> bool:
        tail = find_tail(self.graph, self.readers, node)
        if tail is None:
            return False
        inputs = code_operands(self.graph, self.codes, node, tail)
        if inputs is None:
            return False
        summed = products(node)
        if summed is not None and (inputs := whose_sums_fit(self.graph, node, inputs, tail)) is None:
            return False
        if summed is not None and not summed.takes_bias and len(inputs) == 3:
            return self._gemm(node, inputs, tail)
        self._emit(node, inputs, tail)
        return True

    def _gemm(self, node: Node, inputs: tuple[str, ...], tail: Tail) -> bool:
        """Sums without a bias and the Add behind them: a Gemm over two axes, reshaped where there are more."""
        code, weights, bias = inputs
        x, w = self.graph.tensors[code], self.graph.tensors[weights]
        if len(w.shape) != 2 or weights not in self.graph.constants:
            return False
        if len(x.shape) == 2:
            self._emit(replace(node, op="Gemm", attributes={}), inputs, tail)
            return True
        rows = x.elements // w.shape[0]
        flat = self._reshaped(node, code, (rows, w.shape[0]), x.quantisation)
        target = tail.targets[0]
        self._emit(replace(node, op="Gemm", attributes={}), (flat, weights, bias), tail)
        shape = self.graph.tensors[target].shape
        inner = self.graph.tensor(f"{target}_rows", tail.dtype, (rows, w.shape[1]), tail.quantisation)
        self.emitted[-1] = replace(self.emitted[-1], outputs=(inner,))
        dims = self.graph.constant(f"{target}_shape", np.asarray(shape, np.int64), DType.I64)
        self.emitted.append(self.graph.node(f"{node.name}_reshape", "Reshape", (inner, dims), (target,), of=node))
        return True

    def _reshaped(self, node: Node, name: str, shape: tuple[int, ...], quantisation: Quantisation | None) -> str:
        dims = self.graph.constant(f"{name}_shape", np.asarray(shape, np.int64), DType.I64)
        output = self.graph.tensor(f"{name}_rows", self.graph.tensors[name].dtype, shape, quantisation)
        self.emitted.append(self.graph.node(f"{node.name}_rows", "Reshape", (name, dims), (output,), of=node))
        return output

    def _emit(self, node: Node, inputs: tuple[str, ...], tail: Tail) -> None:
        """The operator on codes, in the place of everything up to its QuantizeLinear."""
        target = tail.targets[0]
        tensor = self.graph.tensors[target]
        self.graph.tensors[target] = replace(tensor, dtype=tail.dtype, quantisation=tail.quantisation)
        self.emitted.append(replace(node, inputs=inputs, outputs=(target,), clamp=tail.clamp))
        self.done |= tail.nodes
        for other in tail.targets[1:]:
            self.graph.tensors[other] = replace(self.graph.tensors[target], name=other)
            if other in self.graph.outputs:
                quantised = next(reader for reader in self.graph.nodes if other in reader.outputs)
                self.emitted.append(replace(quantised, inputs=(target, *quantised.inputs[1:])))
            else:
                self.alias[other] = target

    def wanted(self, name: str) -> bool:
        """True where something behind `name` takes codes: a quantised operator, a QuantizeLinear, the border."""
        if name not in self._wanted:
            self._wanted[name] = name in self.graph.outputs or any(map(self._wants, self.readers.get(name, ())))
        return self._wanted[name]

    def _wants(self, reader: Node) -> bool:
        if reader.op == "QuantizeLinear" or isinstance(codes_of(reader), AsIntegers):
            return True
        if computes(reader) and find_tail(self.graph, self.readers, reader) is not None:
            return True
        moved = _moved(reader)
        return moved is not None and any(map(self.wanted, moved.results_of(reader)))


def _moved(node: Node) -> Moves | None:
    """Which values the node moves; a Relu that stands alone selects among its operand's."""
    return Moves() if node.op == "Relu" and not node.domain else moves(node)


def _renamed(node: Node, old: str, new: str) -> Node:
    return replace(
        node,
        inputs=tuple(new if name == old else name for name in node.inputs),
        outputs=tuple(new if name == old else name for name in node.outputs),
    )
