"""Composite operators on plain floats as chains of primitive ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import inf

import numpy as np

from tilewright.model import Array, Attribute, Model, Node, Shape, Tensor

PRIMITIVES = frozenset({
    "Add", "Sub", "Mul", "Div", "Pow", "MatMul", "Conv", "Exp", "Log", "Tanh", "Sqrt", "Reciprocal", "Neg", "Abs",
    "Erf", "Max", "Min", "Where", "Sigmoid", "ReduceSum", "ReduceMean", "ReduceMax", "MaxPool", "AveragePool",
    "Reshape", "Transpose", "Concat", "Slice", "Split", "Gather", "Pad", "Cast", "Relu", "Clip", "Identity", "Flatten",
    "Squeeze", "Unsqueeze", "Expand", "QuantizeLinear", "DequantizeLinear",
})  # fmt: skip


@dataclass
class _Trace:
    """The nodes, tensors and constants that take a node's place."""

    model: Model
    node: Node
    nodes: list[Node] = field(default_factory=list)
    tensors: dict[str, Tensor] = field(default_factory=dict)
    constants: dict[str, Array] = field(default_factory=dict)

    def operand(self, index: int) -> Tensor:
        return self.model.tensors[self.node.inputs[index]]

    @property
    def result(self) -> Tensor:
        return self.model.tensors[self.node.outputs[0]]

    def constant(self, value: object) -> Tensor:
        array: Array = np.asarray(value, np.int64 if isinstance(value, list) else self.result.dtype.numpy)
        name = self._fresh("constant")
        self.constants[name] = array
        kind = self.result.dtype if not isinstance(value, list) else type(self.result.dtype).I64
        self.tensors[name] = Tensor(name, kind, array.shape)
        return self.tensors[name]

    def step(self, op: str, *operands: Tensor, shape: Shape | None = None, **attributes: Attribute) -> Tensor:
        """A primitive operation; its result has the shape of the first operand unless told otherwise."""
        name = self._fresh(op.lower())
        made = Tensor(name, self.result.dtype, operands[0].shape if shape is None else shape)
        self.tensors[name] = made
        inputs = tuple(operand.name for operand in operands)
        self.nodes.append(Node(f"{self.node.name}_{len(self.nodes)}_{op}", op, inputs, (name,), attributes))
        return made

    def reduced(self, op: str, x: Tensor, axis: int) -> Tensor:
        """A reduction over one axis that stays with extent 1."""
        shape = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
        if op == "ReduceSum" or self.model.opset >= 18:
            return self.step(op, x, self.constant([axis]), shape=shape, keepdims=1)
        return self.step(op, x, shape=shape, axes=(axis,), keepdims=1)

    def _fresh(self, word: str) -> str:
        name, count = f"{self.node.outputs[0]}_{word}", len(self.tensors)
        while f"{name}_{count}" in self.model.tensors or f"{name}_{count}" in self.tensors:
            count += 1
        return f"{name}_{count}"


Rule = Callable[[_Trace], Tensor | None]


def decompose(model: Model) -> Model:
    """The model with every composite operator and every fused activation taken apart; the same one where none is."""
    nodes, tensors, constants = list[Node](), dict(model.tensors), dict(model.constants)
    changed = False
    for node in model.nodes:
        parts = _apart(model, node)
        if parts is None:
            nodes.append(node)
            continue
        changed = True
        nodes += parts.nodes
        tensors |= parts.tensors
        constants |= parts.constants
    return model.replace(nodes=tuple(nodes), tensors=tensors, constants=constants) if changed else model


def _apart(model: Model, node: Node) -> _Trace | None:
    """The chain that computes what the node computes; None where the node stays as it is."""
    named = [model.tensors[name] for name in (*node.inputs, *node.outputs) if name]
    if len(node.outputs) != 1 or any(tensor.quantisation is not None for tensor in named):
        return None
    trace = _Trace(model, node)
    last: Tensor | None = None
    if node.op in RULES:
        last = RULES[node.op](trace)
    if last is None and node.clamp is None:
        return None
    if last is None:
        unclamped = replace(node, clamp=None, outputs=(trace._fresh("kept"),))
        last = replace(trace.result, name=unclamped.outputs[0])
        trace.tensors[last.name] = last
        trace.nodes.append(unclamped)
    if node.clamp is not None:
        for op, limit, none in (("Max", node.clamp.low, -inf), ("Min", node.clamp.high, inf)):
            if limit != none:
                last = trace.step(op, last, trace.constant(limit), shape=trace.result.shape)
    end = trace.nodes[-1]
    trace.nodes[-1] = replace(end, outputs=node.outputs)
    del trace.tensors[end.outputs[0]]
    return trace


def _axis(trace: _Trace) -> int:
    axis = trace.node.attributes.get("axis", -1)
    assert isinstance(axis, int)
    return axis % max(len(trace.result.shape), 1)


def _softmax(trace: _Trace) -> Tensor | None:
    if trace.model.opset < 13:
        return None
    x, axis = trace.operand(0), _axis(trace)
    power = trace.step("Exp", trace.step("Sub", x, trace.reduced("ReduceMax", x, axis)))
    return trace.step("Div", power, trace.reduced("ReduceSum", power, axis))


def _log_softmax(trace: _Trace) -> Tensor | None:
    if trace.model.opset < 13:
        return None
    x, axis = trace.operand(0), _axis(trace)
    moved = trace.step("Sub", x, trace.reduced("ReduceMax", x, axis))
    return trace.step("Sub", moved, trace.step("Log", trace.reduced("ReduceSum", trace.step("Exp", moved), axis)))


def _gemm(trace: _Trace) -> Tensor | None:
    attributes, operands = trace.node.attributes, [trace.operand(0), trace.operand(1)]
    for index, key in enumerate(("transA", "transB")):
        if attributes.get(key, 0):
            turned = operands[index]
            operands[index] = trace.step("Transpose", turned, shape=turned.shape[::-1], perm=(1, 0))
    product = trace.step("MatMul", *operands, shape=trace.result.shape)
    if attributes.get("alpha", 1.0) != 1.0:
        product = trace.step("Mul", product, trace.constant(attributes["alpha"]))
    if len(trace.node.inputs) < 3 or not trace.node.inputs[2]:
        return product
    addend = trace.operand(2)
    if attributes.get("beta", 1.0) != 1.0:
        addend = trace.step("Mul", addend, trace.constant(attributes["beta"]))
    return trace.step("Add", product, addend)


def _global_average(trace: _Trace) -> Tensor:
    x = trace.operand(0)
    axes = list(range(2, len(x.shape)))
    if trace.model.opset >= 18:
        return trace.step("ReduceMean", x, trace.constant(axes), shape=trace.result.shape, keepdims=1)
    return trace.step("ReduceMean", x, shape=trace.result.shape, axes=tuple(axes), keepdims=1)


def _leaky(trace: _Trace) -> Tensor:
    x, slope = trace.operand(0), trace.node.attributes.get("alpha", 0.01)
    below = trace.step("Mul", trace.step("Min", x, trace.constant(0)), trace.constant(slope))
    return trace.step("Add", trace.step("Max", x, trace.constant(0)), below)


def _relu(trace: _Trace) -> Tensor:
    return trace.step("Max", trace.operand(0), trace.constant(0))


RULES: dict[str, Rule] = {
    "Softmax": _softmax, "LogSoftmax": _log_softmax, "Gemm": _gemm, "GlobalAveragePool": _global_average,
    "LeakyRelu": _leaky, "Relu": _relu,
}  # fmt: skip
