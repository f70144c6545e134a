"""The network with QuantizeLinear and DequantizeLinear in the standard form, as a `Model`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from tilewright.model import Array, DType, Model, Node, Tensor
from tilewright.ops.requantize import quantise
from tilewright.quantiser.static.codes import Coding, coded_bias, coded_weights
from tilewright.quantiser.static.points import Points, Weighted

MOST_UNITS = 2.0**30
"""What a bias may be in units of the accumulator."""


@dataclass(frozen=True)
class Choice:
    """What is decided: the codes of every group by its name, the type of weights by node, int8 without; in trials
    float32 for those that stay as they are."""

    codings: Mapping[str, Coding]
    weights: Mapping[str, DType] = field(default_factory=dict)

    def coded(self, group: str, coding: Coding) -> Choice:
        """The same with other codes of one group."""
        return replace(self, codings={**self.codings, group: coding})


@dataclass(frozen=True)
class Written:
    """The network in codes; by their names in the float network the scale and zero point of each group, what is read
    of a coded tensor (`reals`), and what is written before its codes where that has another name (`floats`)."""

    model: Model
    scales: Mapping[str, tuple[str, str]]
    reals: Mapping[str, str]
    floats: Mapping[str, str]


def written(model: Model, points: Points, choice: Choice, *, float_bias: bool = False) -> Written:
    """The network in codes; with `float_bias` biases stay real numbers, for trials."""
    return _Writing(model, points, choice, float_bias).go()


class _Writing:
    """Builds the nodes in order; every coded tensor is read through its DequantizeLinear."""

    def __init__(self, model: Model, points: Points, choice: Choice, float_bias: bool) -> None:
        self.model, self.points, self.choice, self.float_bias = model, points, choice, float_bias
        self.tensors, self.constants = dict(model.tensors), dict(model.constants)
        self.nodes: list[Node] = []
        self.group_of = points.group_of
        self.scales: dict[str, tuple[str, str]] = {}
        self.reals: dict[str, str] = {}
        self.floats: dict[str, str] = {}
        self.taken_nodes = {node.name for node in model.nodes}

    def go(self) -> Written:
        """Every node with what stands before and behind it."""
        weighted = {one.node: one for one in self.points.weighted}
        for name in self.model.inputs:
            self._code(name)
        for node in self.model.nodes:
            one = weighted.get(node.name)
            inputs = self._weights(node, one) if one is not None else tuple(map(self._operand, node.inputs))
            outputs = tuple(map(self._result, node.outputs))
            self.nodes.append(replace(node, inputs=inputs, outputs=outputs))
            for name in node.outputs:
                self._code(name)
        model = self.model.replace(nodes=tuple(self.nodes), tensors=self.tensors, constants=self.constants)
        return Written(model, self.scales, self.reals, self.floats)

    def _operand(self, name: str) -> str:
        if name in self.model.constants and name in self.group_of and name not in self.reals:
            self._code_constant(name)
        return self.reals.get(name, name)

    def _result(self, name: str) -> str:
        """What a node writes: an output of the network is its DequantizeLinear, so the float before it is renamed."""
        if name not in self.group_of or name not in self.model.outputs:
            return name
        self.floats[name] = self._tensor(f"{name}_float", self.model.tensors[name])
        return self.floats[name]

    def _code(self, name: str) -> None:
        """QuantizeLinear and DequantizeLinear behind a tensor."""
        if name not in self.group_of:
            return
        coding, (scale, zero) = self._coding(name)
        tensor = self.model.tensors[name]
        codes = self._tensor(f"{name}_codes", replace(tensor, dtype=coding.dtype))
        real = name if name in self.floats else self._tensor(f"{name}_real", tensor)
        self._node("QuantizeLinear", name, (self.floats.get(name, name), scale, zero), codes)
        self._node("DequantizeLinear", name, (codes, scale, zero), real)
        self.reals[name] = real

    def _code_constant(self, name: str) -> None:
        coding, (scale, zero) = self._coding(name)
        codes = quantise(self.model.constants[name], coding.quantisation, coding.dtype)
        held = self._constant(f"{name}_codes", codes, coding.dtype)
        real = self._tensor(f"{name}_real", self.model.tensors[name])
        self._node("DequantizeLinear", name, (held, scale, zero), real)
        self.reals[name] = real

    def _coding(self, name: str) -> tuple[Coding, tuple[str, str]]:
        group = self.group_of[name].name
        coding = self.choice.codings[group]
        if group not in self.scales:
            self.scales[group] = (
                self._constant(f"{group}_scale", np.array(coding.scale, np.float32), DType.F32),
                self._constant(f"{group}_zero_point", np.array(coding.zero_point), coding.dtype),
            )
        return coding, self.scales[group]

    def _weights(self, node: Node, one: Weighted) -> tuple[str, ...]:
        """The operands of a sum of products: weights and bias as codes."""
        dtype = self.choice.weights.get(node.name, DType.I8)
        if dtype.is_float:
            return tuple(map(self._operand, node.inputs))
        coded = coded_weights(self.model.constants[one.weights], one.axis, dtype, self._least_scale(node, one))
        real = self._dequantised(f"{node.name}_weights", coded.codes, coded.scales, one.axis, dtype)
        source = self._operand(node.inputs[0])
        group = self.group_of.get(node.inputs[0])
        bias = one.bias or one.addend
        if bias and group is not None and not self.float_bias:
            units = np.float32(self.choice.codings[group.name].scale) * coded.scales
            read = self._bias(node, bias, units.astype(np.float32))
            if one.bias:
                return (source, real, read, *node.inputs[3:])
            self.reals[bias] = read
        return (source, real, *node.inputs[2:])

    def _bias(self, node: Node, name: str, units: Array) -> str:
        """A bias as codes of 32 bits in units of the accumulator."""
        values = self.model.constants[name]
        long = [axis for axis, size in enumerate(values.shape) if size > 1]
        units = (
            units.reshape(-1) if len(long) == 1 and units.size == values.size else units.max(keepdims=True).reshape(())
        )
        axis = long[0] if units.ndim else None
        spread = units if axis is None else units.reshape([-1 if at == axis else 1 for at in range(values.ndim)])
        return self._dequantised(f"{node.name}_bias", coded_bias(values, spread), units, axis, DType.I32)

    def _least_scale(self, node: Node, one: Weighted) -> Array | float:
        """The least scale of each channel with which its bias is a whole number of 30 bits."""
        name, group = one.bias or one.addend, self.group_of.get(node.inputs[0])
        if not name or group is None or one.axis is None:
            return 0.0
        biases = np.abs(self.model.constants[name].reshape(-1)).astype(np.float64)
        channels = self.model.tensors[one.weights].shape[one.axis]
        return np.broadcast_to(biases, (channels,)) / (self.choice.codings[group.name].scale * MOST_UNITS)

    def _dequantised(self, name: str, codes: Array, scales: Array, axis: int | None, dtype: DType) -> str:
        """A constant in codes, as what reads it sees it."""
        held = self._constant(f"{name}_codes", codes, dtype)
        scale = self._constant(f"{name}_scale", scales, DType.F32)
        zero = self._constant(f"{name}_zero_point", np.zeros(scales.shape, np.int64), dtype)
        real = self._tensor(name, Tensor(name, DType.F32, tuple(codes.shape)))
        self._node("DequantizeLinear", name, (held, scale, zero), real, {} if axis is None else {"axis": axis})
        return real

    def _node(
        self, op: str, name: str, inputs: tuple[str, ...], output: str, attributes: Mapping[str, int] | None = None
    ) -> None:
        self.nodes.append(Node(_free(f"{name}_{op}", self.taken_nodes), op, inputs, (output,), dict(attributes or {})))

    def _tensor(self, name: str, like: Tensor) -> str:
        name = _free(name, self.tensors)
        self.tensors[name] = replace(like, name=name)
        return name

    def _constant(self, name: str, values: Array, dtype: DType) -> str:
        name = _free(name, self.tensors)
        self.tensors[name] = Tensor(name, dtype, tuple(values.shape))
        self.constants[name] = values.astype(dtype.numpy)
        return name


def _free(hint: str, taken: dict[str, Tensor] | set[str]) -> str:
    name, number = hint, 2
    while name in taken:
        name, number = f"{hint}_{number}", number + 1
    if isinstance(taken, set):
        taken.add(name)
    return name
