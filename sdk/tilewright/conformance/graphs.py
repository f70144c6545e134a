"""Random networks as ONNX models: convolutions, pools, sums, concatenations, activations and a dense end.

A quantised one is written in QDQ form as the exporters write it: every weight an integer constant behind a
DequantizeLinear, every result through QuantizeLinear and DequantizeLinear with a scale that its spread asks for.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.model import Array, Shape

if TYPE_CHECKING:
    import onnx

_OPSET = 17


@dataclass(frozen=True)
class _Value:
    """A tensor of the network: its shape and about how far its values spread; scale and zero point of its codes."""

    name: str
    shape: Shape
    spread: float
    scale: float = 1.0


@dataclass
class _Network:
    """What is written so far."""

    r: random.Random
    quantised: bool
    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)
    values: list[_Value] = field(default_factory=list)
    count: int = 0

    def name(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def constant(self, array: Array) -> str:
        from onnx import numpy_helper

        name = self.name("c")
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def node(self, op: str, inputs: Sequence[str], **attributes: Any) -> str:
        from onnx import helper

        name = self.name("t")
        self.nodes.append(helper.make_node(op, list(inputs), [name], **attributes))
        return name

    def random(self, shape: Shape, spread: float = 1.0) -> Array:
        return np.random.default_rng(self.r.getrandbits(32)).normal(0, spread, shape).astype(np.float32)

    def settled(self, name: str, shape: Shape, spread: float, activation: bool = True) -> _Value:
        """A result, perhaps after an activation, as codes where the network is quantised."""
        if activation and self.r.random() < 0.4:
            name = self._limited(name)
        value = self.coded(name, shape, spread)
        self.values.append(value)
        return value

    def _limited(self, name: str) -> str:
        if self.r.random() < 0.6:
            return self.node("Relu", [name])
        low, high = (self.constant(np.asarray(v, np.float32)) for v in (0.0, 6.0))
        return self.node("Clip", [name, low, high])

    def coded(self, name: str, shape: Shape, spread: float) -> _Value:
        """The tensor through QuantizeLinear and DequantizeLinear."""
        if not self.quantised:
            return _Value(name, shape, spread)
        signed = self.r.random() < 0.7
        low, high = (-128, 127) if signed else (0, 255)
        zero = self.r.choice((0, low, self.r.randint(low, high))) if signed else self.r.choice((0, 128))
        scale = float(np.float32(max(spread, 1e-3) * self.r.uniform(3, 7) / 255))
        names = [
            self.constant(np.asarray(scale, np.float32)),
            self.constant(np.array(zero, np.int8 if signed else np.uint8)),
        ]
        codes = self.node("QuantizeLinear", [name, *names])
        return _Value(self.node("DequantizeLinear", [codes, *names]), shape, spread, scale)

    def weight(self, shape: Shape, spread: float, axis: int | None) -> tuple[str, Array]:
        """A weight, per channel along `axis` or not, and the scale of each channel."""
        if not self.quantised:
            return self.constant(self.random(shape, spread)), np.ones(1, np.float32)
        codes = np.clip(np.rint(self.random(shape, 40)), -127, 127).astype(np.int8)
        count = shape[axis] if axis is not None else 1
        draw = np.random.default_rng(self.r.getrandbits(32)).uniform(0.5, 1.5, count)
        scales = (draw * spread / 40).astype(np.float32)
        stored = scales if axis is not None else scales[0]
        zeros = np.zeros(stored.shape, np.int8)
        names = [self.constant(codes), self.constant(stored), self.constant(zeros)]
        return self.node("DequantizeLinear", names, **({} if axis is None else {"axis": axis})), scales

    def bias(self, count: int, x: _Value, scales: Array) -> str:
        """A bias in units of the product of both scales."""
        values = self.random((count,), 0.5 * x.spread)
        if not self.quantised:
            return self.constant(values)
        unit = (np.float32(x.scale) * np.broadcast_to(scales, (count,))).astype(np.float32)
        codes = np.clip(np.rint(values / unit), -(2**20), 2**20).astype(np.int32)
        per_channel = scales.size > 1
        names = [self.constant(codes), self.constant(unit if per_channel else unit[0])]
        return self.node("DequantizeLinear", names, **({"axis": 0} if per_channel else {}))


def network(seed: int, *, quantised: bool) -> onnx.ModelProto:
    """The random network of a seed; the same seed gives the same bytes."""
    from onnx import TensorProto, helper

    r = random.Random(seed)
    made = _Network(r, quantised)
    shape = (1, r.choice((1, 2, 3, 4, 8)), r.randint(3, 9), r.randint(3, 9))
    made.values.append(made.coded("x", shape, 1.0))
    for _ in range(r.randint(2, 8)):
        r.choice(_STEPS)(made)
    outputs = [made.values[-1].name]
    if r.random() < 0.6:
        outputs = [_tail(made).name]
    if r.random() < 0.2 and len(made.values) > 2:
        outputs.append(made.values[-2].name)
    names = [f"y{i}" for i in range(len(outputs))]
    for name, output in zip(names, outputs, strict=True):
        _rename(made, output, name)
    graph = helper.make_graph(
        made.nodes, "random", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names], made.constants,
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=8)


def _rename(made: _Network, old: str, new: str) -> None:
    """The node that writes `old` writes `new`, and everything else reads it there; an input is copied."""
    from onnx import helper

    if not any(old in node.output for node in made.nodes):
        made.nodes.append(helper.make_node("Identity", [old], [new]))
        return
    for node in made.nodes:
        for names in (node.input, node.output):
            for index, name in enumerate(names):
                if name == old:
                    names[index] = new


# ------------------------------------------------------------------------------------------------ steps
def _pick(made: _Network) -> _Value:
    """Mostly the last tensor, sometimes one before it."""
    return made.values[-1] if made.r.random() < 0.75 else made.r.choice(made.values[-3:])


def _sizes(x: _Value, kernel: int, stride: int, dilation: int, pad: int) -> tuple[int, int] | None:
    sizes = [(size + 2 * pad - (kernel - 1) * dilation - 1) // stride + 1 for size in x.shape[2:]]
    return (sizes[0], sizes[1]) if min(sizes) > 0 else None


def _conv(made: _Network) -> None:
    r, x = made.r, _pick(made)
    kernel, stride, dilation = r.choice((1, 1, 3, 3, 2)), r.choice((1, 1, 2)), r.choice((1, 1, 1, 2))
    pad = r.choice((0, (kernel - 1) * dilation // 2, kernel // 2))
    sizes = _sizes(x, kernel, stride, dilation, pad)
    if sizes is None or max(x.shape) > 40:
        return
    kind = r.choice(("plain", "plain", "depthwise", "grouped"))
    channels = x.shape[1]
    groups = channels if kind == "depthwise" else 2 if kind == "grouped" and channels % 2 == 0 else 1
    count = channels if kind == "depthwise" else groups * r.choice((1, 2, 3, 4, 8))
    shape = (count, channels // groups, kernel, kernel)
    terms = prod(shape[1:])
    weight, scales = made.weight(shape, 1 / sqrt(terms), 0 if r.random() < 0.8 else None)
    inputs = [x.name, weight, *([made.bias(count, x, scales)] if r.random() < 0.7 else [])]
    result = made.node(
        "Conv", inputs, kernel_shape=[kernel] * 2, strides=[stride] * 2, dilations=[dilation] * 2, pads=[pad] * 4,
        group=groups,
    )  # fmt: skip
    made.settled(result, (1, count, *sizes), 1.3 * x.spread)


def _pool(made: _Network) -> None:
    r, x = made.r, _pick(made)
    kernel, stride, pad = r.choice((2, 3)), r.choice((1, 2)), r.choice((0, 0, 1))
    sizes = _sizes(x, kernel, stride, 1, pad)
    if sizes is None:
        return
    op = r.choice(("MaxPool", "AveragePool"))
    more = {"count_include_pad": r.randint(0, 1)} if op == "AveragePool" else {}
    result = made.node(op, [x.name], kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4, **more)
    made.settled(result, (*x.shape[:2], *sizes), x.spread, activation=False)


def _pair(made: _Network) -> None:
    r, x = made.r, _pick(made)
    op = r.choice(("Add", "Add", "Mul", "Sub"))
    alike = [v for v in made.values if v.shape == x.shape]
    if r.random() < 0.7:
        other = r.choice(alike)
    else:
        shape = r.choice(((1, x.shape[1], 1, 1), x.shape, (1,)))
        name, _ = made.weight(shape, x.spread, None)
        other = _Value(name, shape, x.spread)
    pair = [x.name, other.name] if r.random() < 0.7 else [other.name, x.name]
    spread = x.spread * max(other.spread, 0.3) if op == "Mul" else sqrt(x.spread**2 + other.spread**2)
    made.settled(made.node(op, pair), x.shape, spread)


def _activation(made: _Network) -> None:
    x = _pick(made)
    op = made.r.choice(("Sigmoid", "Tanh", "HardSwish", "LeakyRelu", "Elu", "HardSigmoid", "Relu", "Softplus", "Abs"))
    spread = 0.3 if op in ("Sigmoid", "HardSigmoid") else min(x.spread, 1.0) if op == "Tanh" else x.spread
    made.settled(made.node(op, [x.name]), x.shape, spread, activation=False)


def _concat(made: _Network) -> None:
    x = _pick(made)
    alike = [v for v in made.values if v.shape[2:] == x.shape[2:] and len(v.shape) == 4]
    parts = [x, *(made.r.choice(alike) for _ in range(made.r.randint(1, 2)))]
    channels = sum(part.shape[1] for part in parts)
    if channels <= 40:
        result = made.node("Concat", [part.name for part in parts], axis=1)
        made.settled(result, (1, channels, *x.shape[2:]), max(part.spread for part in parts), activation=False)


def _move(made: _Network) -> None:
    """Codes that only change their place."""
    r, x = made.r, _pick(made)
    kind = r.choice(("Pad", "Resize", "Slice", "Transpose"))
    channels, high, wide = x.shape[1:]
    if kind == "Pad":
        pads = [0, 0, r.randint(0, 2), r.randint(0, 2), 0, 0, r.randint(0, 2), r.randint(0, 2)]
        result = made.node("Pad", [x.name, made.constant(np.array(pads, np.int64))])
        shape: Shape = (1, channels, high + pads[2] + pads[6], wide + pads[3] + pads[7])
    elif kind == "Resize":
        scales = made.constant(np.array([1, 1, 2, 2], np.float32))
        result = made.node(
            "Resize", [x.name, "", scales], mode="nearest", coordinate_transformation_mode="asymmetric",
            nearest_mode="floor",
        )  # fmt: skip
        shape = (1, channels, 2 * high, 2 * wide)
    elif kind == "Slice":
        ends = [r.randint(1, channels), r.randint(1, high)]
        names = [made.constant(np.array(v, np.int64)) for v in ([0, 0], ends, [1, 2])]
        result = made.node("Slice", [x.name, *names])
        shape = (1, *ends, wide)
    else:
        result = made.node("Transpose", [x.name], perm=[0, 1, 3, 2])
        shape = (1, channels, wide, high)
    if max(shape) <= 24:
        made.settled(result, shape, x.spread, activation=False)


_STEPS: tuple[Callable[[_Network], None], ...] = (_conv, _conv, _conv, _pool, _pair, _pair, _activation, _concat, _move)


def _tail(made: _Network) -> _Value:
    """Flatten or average, a dense layer, perhaps a softmax."""
    r, x = made.r, made.values[-1]
    if r.random() < 0.5:
        pooled = made.settled(made.node("GlobalAveragePool", [x.name]), (1, x.shape[1], 1, 1), x.spread, False)
        x = pooled
    depth, count = prod(x.shape), r.randint(1, 12)
    flat = made.coded(made.node("Flatten", [x.name]), (1, depth), x.spread) if r.random() < 0.3 else None
    if flat is None:
        flat = _Value(made.node("Flatten", [x.name]), (1, depth), x.spread, x.scale)
    turn = r.random() < 0.5
    weight, scales = made.weight((count, depth) if turn else (depth, count), 1 / sqrt(depth), None)
    bias = made.bias(count, flat, scales)
    value = made.settled(made.node("Gemm", [flat.name, weight, bias], transB=int(turn)), (1, count), 1.3 * x.spread)
    if r.random() < 0.4:
        value = made.settled(made.node("Softmax", [value.name], axis=-1), (1, count), 0.15, activation=False)
    return value
