"""Classifiers of pictures."""

from __future__ import annotations

import numpy as np
import onnx
from make_odd import Sketch

from league_networks.parts import activation, classes, convolved, squeeze_excite

OPSET = 20


def inverted(
    net: Sketch, x: str, channels: tuple[int, int, int], kernel: int, stride: int, kind: str, gate: str
) -> str:
    """An inverted residual: widened, depthwise, narrowed again, with squeeze-and-excite where `gate` names one."""
    before, inner, after = channels
    y = convolved(net, x, (before, inner), (1, 1), kind)
    y = convolved(net, y, (inner, inner), (kernel, kernel), kind, stride, group=inner)
    y = squeeze_excite(net, y, inner, inner // 4, gate) if gate else y
    y = convolved(net, y, (inner, after), (1, 1))
    result: str = net.node("Add", x, y) if stride == 1 and before == after else y
    return result


def stacked(name: str, kind: str, gate: str, blocks: tuple[tuple[int, int, int, int], ...]) -> onnx.ModelProto:
    """Inverted residuals (inner, outputs, kernel, stride) on 64 x 64 pixels."""
    net = Sketch(name)
    x, channels = convolved(net, net.input("image", 1, 3, 64, 64), (3, 16), (3, 3), kind, 2), 16
    for inner, outputs, kernel, stride in blocks:
        x = inverted(net, x, (channels, inner, outputs), kernel, stride, kind, gate)
        channels = outputs
    x = convolved(net, x, (channels, 160), (1, 1), kind)
    classes(net, x, 160, 20)
    return net.finish(OPSET)


def mobilenet_v2() -> onnx.ModelProto:
    """MobileNetV2 of a third of its width."""
    blocks = ((48, 8, 3, 2), (48, 8, 3, 1), (48, 16, 3, 2), (96, 16, 3, 1), (96, 24, 3, 1), (144, 56, 3, 2))
    return stacked("mobilenet_v2", "relu6", "", blocks)


def mobilenet_v3() -> onnx.ModelProto:
    """MobileNetV3-small: hard swish, squeeze-and-excite with a hard sigmoid, 5x5."""
    blocks = ((16, 16, 3, 2), (72, 24, 3, 1), (96, 40, 5, 2), (120, 40, 5, 1), (144, 48, 5, 1))
    return stacked("mobilenet_v3", "hard_swish", "hard_sigmoid", blocks)


def efficientnet() -> onnx.ModelProto:
    """EfficientNet: SiLU, squeeze-and-excite with a sigmoid."""
    return stacked("efficientnet", "silu", "sigmoid", ((64, 16, 3, 1), (96, 24, 5, 2), (96, 24, 3, 1), (144, 40, 5, 2)))


def shufflenet() -> onnx.ModelProto:
    """ShuffleNetV2: half of the channels pass, the halves are shuffled."""
    net = Sketch("shufflenet")
    x = convolved(net, net.input("image", 1, 3, 48, 48), (3, 24), (3, 3), "relu", 2)
    x = net.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    size = 12
    for before, after, units in ((24, 48, 2), (48, 96, 2)):
        half = after // 2
        left = convolved(
            net, convolved(net, x, (before, before), (3, 3), "", 2, before), (before, half), (1, 1), "relu"
        )
        right = convolved(net, x, (before, half), (1, 1), "relu")
        size //= 2
        for unit in range(units + 1):
            if unit:
                left, right = net.node("Split", x, net.constant([half, half]), axis=1, results=2)
                right = convolved(net, right, (half, half), (1, 1), "relu")
            right = convolved(net, right, (half, half), (3, 3), "", 1 if unit else 2, half)
            both = net.node("Concat", left, convolved(net, right, (half, half), (1, 1), "relu"), axis=1)
            parts = net.node("Reshape", both, net.constant([1, 2, half, size, size]))
            swapped = net.node("Transpose", parts, perm=[0, 2, 1, 3, 4])
            x = net.node("Reshape", swapped, net.constant([1, after, size, size]))
    classes(net, x, 96, 10)
    return net.finish(OPSET)


def resnet() -> onnx.ModelProto:
    """ResNet-18's beginning, 7x7 and a pooling of 3x3, and three of its stages."""
    net = Sketch("resnet")
    x = convolved(net, net.input("image", 1, 3, 56, 56), (3, 16), (7, 7), "relu", 2)
    x = net.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    channels = 16
    for after, stride in ((16, 1), (32, 2), (64, 2)):
        y = convolved(net, x, (channels, after), (3, 3), "relu", stride)
        y = convolved(net, y, (after, after), (3, 3))
        x = x if stride == 1 else convolved(net, x, (channels, after), (1, 1), "", stride)
        x, channels = activation(net, net.node("Add", x, y), "relu"), after
    classes(net, x, 64, 20)
    return net.finish(OPSET)


def squeezenet() -> onnx.ModelProto:
    """SqueezeNet's fire modules: narrow, then 1x1 and 3x3 side by side."""
    net = Sketch("squeezenet")
    x, channels = convolved(net, net.input("image", 1, 3, 49, 49), (3, 24), (3, 3), "relu", 2), 24
    for narrow, wide in ((8, 24), (12, 32), (16, 48)):
        x = net.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2])
        inner = convolved(net, x, (channels, narrow), (1, 1), "relu")
        sides = [convolved(net, inner, (narrow, wide), (size, size), "relu") for size in (1, 3)]
        x, channels = net.node("Concat", *sides, axis=1), 2 * wide
    classes(net, x, channels, 10)
    return net.finish(OPSET)


def convnext() -> onnx.ModelProto:
    """ConvNeXt: depthwise 7x7, a norm over the channels as several nodes, GELU, a learnt scale of every channel."""
    net = Sketch("convnext")
    x = net.convolution(net.input("image", 1, 3, 48, 48), 3, 24, (4, 4), pads=[0] * 4, strides=[4, 4])
    for _ in range(2):
        y = net.node("Transpose", convolved(net, x, (24, 24), (7, 7), "", 1, 24), perm=[0, 2, 3, 1])
        centred = net.node("Sub", y, net.node("ReduceMean", y, net.constant([-1])))
        spread = net.node("ReduceMean", net.node("Mul", centred, centred), net.constant([-1]))
        spread = net.node("Sqrt", net.node("Add", spread, net.constant(np.array(1e-6, np.float32))))
        y = net.node("Add", net.node("Mul", net.node("Div", centred, spread), net.bias(24)), net.bias(24))
        y = net.dense(activation(net, net.dense(y, 24, 96), "erf_gelu"), 96, 24)
        y = net.node("Transpose", net.node("Mul", y, net.bias(24)), perm=[0, 3, 1, 2])
        x = net.node("Add", x, y)
    classes(net, x, 24, 10)
    return net.finish(OPSET)


def keywords() -> onnx.ModelProto:
    """A separable network on spectra with numbers of channels that are no multiples of anything."""
    net = Sketch("keywords")
    x = net.convolution(net.input("spectrum", 1, 1, 49, 10), 1, 37, (10, 4), pads=[4, 1, 5, 2], strides=[2, 2])
    x, channels = net.node("Relu", x), 37
    for after in (51, 67):
        x = convolved(net, x, (channels, channels), (3, 3), "relu", 1, channels)
        x, channels = convolved(net, x, (channels, after), (1, 1), "relu"), after
    flat = net.node("Flatten", net.node("GlobalAveragePool", x))
    net.output(net.node("Softmax", net.dense(flat, channels, 11), axis=-1), "words")
    return net.finish(OPSET)
