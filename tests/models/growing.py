"""A network that grows layer by layer, its seeded weights scaled so that every layer's values stay spread.

Random weights as they come collapse: after ten layers every input gives the same output, and a fault in an early layer
no longer shows. Here each new layer is computed on a batch of samples in float64, and every output channel gets the
gain and the bias that bring its values to standard deviation 1 around a small mean. Weights are whole numbers
times a gain of five significant bits, so that every machine arrives at the same float32 values.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

Values = NDArray[np.float64]
Square = tuple[int, int]


def coarse(values: Values) -> Values:
    """Rounded to five significant bits, exactly representable as float32."""
    fraction, exponent = np.frexp(values)
    return np.ldexp(np.round(fraction * 32) / 32, exponent)


def same_pads(size: Square, kernel: Square, stride: Square) -> list[int]:
    """TensorFlow's SAME padding as ONNX pads: the odd element goes to the end."""
    total = [max((-(-s // t) - 1) * t + k - s, 0) for s, k, t in zip(size, kernel, stride, strict=True)]
    return [t // 2 for t in total] + [t - t // 2 for t in total]


def convolve(x: Values, weights: Values, stride: Square, pads: Sequence[int], group: int) -> Values:
    """What ONNX's Conv computes without its bias, for group 1 and for depthwise filters."""
    top, left, bottom, right = pads
    padded = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)))
    windows = sliding_window_view(padded, weights.shape[2:], axis=(2, 3))[:, :, :: stride[0], :: stride[1]]
    formula = "nohwkl,okl->nohw" if group > 1 else "nchwkl,ockl->nohw"
    result: Values = np.einsum(formula, windows, weights[:, 0] if group > 1 else weights, optimize=True)
    return result


class Growing:
    """The graph so far, the tensor at its end, and that tensor's values for all samples."""

    def __init__(self, name: str, samples: NDArray[np.float32], spread: float) -> None:
        self.name, self.spread = name, spread
        self.random = np.random.default_rng(zlib.crc32(name.encode()))
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.input_shape = [1, *samples.shape[1:]]
        self.end = "input"
        self.values: Values = samples.astype(np.float64)

    def node(self, op: str, inputs: Sequence[str], values: Values, **attributes: Any) -> str:
        """Append a node; its output is the new end."""
        self.end = f"{op.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [self.end], self.end, **attributes))
        self.values = values
        return self.end

    def constant(self, suffix: str, values: NDArray[Any]) -> str:
        """A constant of the layer that comes next."""
        name = f"layer_{len(self.nodes)}.{suffix}"
        self.constants.append(numpy_helper.from_array(values, name))
        return name

    def weights(self, *shape: int) -> Values:
        """Whole numbers from -127 to 127, of mean zero over each filter's inputs but for rounding."""
        raw = self.random.integers(-127, 128, shape).astype(np.float64)
        centred: Values = raw - np.round(raw.mean(tuple(range(1, len(shape))), keepdims=True))
        return np.clip(centred, -127.0, 127.0)

    def levels(self, raw: Values, means: float = 0.25) -> tuple[Values, Values]:
        """Gain and bias of each channel (axis 1) that bring it to the wanted spread, around means up to `means`."""
        axes = tuple(axis for axis in range(raw.ndim) if axis != 1)
        gain = coarse(self.spread / np.maximum(raw.std(axes), 1e-3))
        mean = self.random.integers(-32, 33, len(gain)) / 32 * means * self.spread
        bias = np.round((mean - gain * raw.mean(axes)) * 256) / 256
        return gain, bias

    def convolution(
        self, outputs: int, kernel: Square, stride: Square = (1, 1), depthwise: bool = False, means: float = 0.25
    ) -> str:
        """Conv with TensorFlow's SAME padding; wide `means` survive a global average after it."""
        channels, *size = self.values.shape[1:]
        group = channels if depthwise else 1
        pads = same_pads((size[0], size[1]), kernel, stride)
        weights = self.weights(outputs, 1 if depthwise else channels, *kernel)
        raw = convolve(self.values, weights, stride, pads, group)
        gain, bias = self.levels(raw, means)
        scaled = (weights * gain[:, None, None, None]).astype(np.float32)
        inputs = [self.end, self.constant("weight", scaled), self.constant("bias", bias.astype(np.float32))]
        values = raw * gain[None, :, None, None] + bias[None, :, None, None]
        return self.node(
            "Conv", inputs, values, kernel_shape=kernel, strides=stride, pads=pads, group=group, dilations=[1, 1]
        )

    def dense(self, outputs: int) -> str:
        """MatMul and Add, as TensorFlow's dense layers arrive."""
        weights = self.weights(outputs, self.values.shape[1])
        raw = self.values @ weights.T
        gain, bias = self.levels(raw)
        scaled = np.ascontiguousarray((weights * gain[:, None]).T.astype(np.float32))
        product = self.node("MatMul", [self.end, self.constant("weight", scaled)], raw * gain)
        return self.node("Add", [product, self.constant("bias", bias.astype(np.float32))], self.values + bias)

    def relu(self) -> str:
        """Relu."""
        return self.node("Relu", [self.end], np.maximum(self.values, 0))

    def add(self, other: str, values: Values) -> str:
        """Add of an earlier tensor and the end."""
        return self.node("Add", [other, self.end], self.values + values)

    def transpose_to_channels_first(self) -> str:
        """[n, h, w, c] to [n, c, h, w], with which converted TensorFlow models begin."""
        return self.node("Transpose", [self.end], self.values.transpose(0, 3, 1, 2), perm=[0, 3, 1, 2])

    def reshape(self, *shape: int) -> str:
        """Reshape with -1 for the batch."""
        target = self.constant("shape", np.array([-1, *shape], np.int64))
        return self.node("Reshape", [self.end, target], self.values.reshape(-1, *shape))

    def average_everything(self) -> str:
        """AveragePool whose kernel is the whole image."""
        size = self.values.shape[2:]
        values = self.values.mean((2, 3), keepdims=True)
        return self.node("AveragePool", [self.end], values, kernel_shape=size, strides=size)

    def softmax(self) -> str:
        """Softmax over the last axis."""
        powers = np.exp(self.values - self.values.max(-1, keepdims=True))
        return self.node("Softmax", [self.end], powers / powers.sum(-1, keepdims=True), axis=-1)

    def finish(self) -> onnx.ModelProto:
        """The model, with the end renamed to `output`."""
        self.nodes[-1].output[0] = "output"
        shape = [1, *self.values.shape[1:]]
        graph = helper.make_graph(
            self.nodes, self.name, [helper.make_tensor_value_info("input", TensorProto.FLOAT, self.input_shape)],
            [helper.make_tensor_value_info("output", TensorProto.FLOAT, shape)], self.constants,
        )  # fmt: skip
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)
        onnx.checker.check_model(model, full_check=True)
        return model
