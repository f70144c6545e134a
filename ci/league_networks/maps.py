"""Networks that make a picture, a mask or boxes of a picture."""

from __future__ import annotations

import numpy as np
import onnx
from make_odd import Sketch

from league_networks.parts import activation, convolved

OPSET = 20


def enlarged(net: Sketch, x: str, mode: str) -> str:
    """Twice the size, by Resize."""
    scales = net.constant(np.array([1, 1, 2, 2], np.float32))
    how = {"nearest": ("asymmetric", "floor"), "linear": ("half_pixel", "round_prefer_floor")}[mode]
    result: str = net.node(
        "Resize", x, "", scales, mode=mode, coordinate_transformation_mode=how[0], nearest_mode=how[1]
    )
    return result


def transposed(net: Sketch, x: str, channels: tuple[int, int], kernel: int, pad: int = 0) -> str:
    """A transposed convolution of stride 2 that doubles the size."""
    weights = net.weight(*channels, kernel, kernel, fan_in=channels[0] * kernel * kernel // 4)
    result: str = net.node(
        "ConvTranspose", x, weights, net.bias(channels[1]),
        kernel_shape=[kernel] * 2, strides=[2, 2], pads=[pad] * 4,
    )  # fmt: skip
    return result


def unet(name: str, mode: str) -> onnx.ModelProto:
    """Two levels down and up again on 32 x 32 pixels; up by a transposed convolution or by Resize."""
    net = Sketch(name)
    x = convolved(net, net.input("image", 1, 3, 32, 32), (3, 16), (3, 3), "relu")
    beside = [x]
    for before, after in ((16, 32), (32, 48)):
        x = net.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
        x = convolved(net, x, (before, after), (3, 3), "relu")
        beside.append(x)
    for before, after, skip in ((48, 32, beside[1]), (32, 16, beside[0])):
        if mode == "transposed":
            x, inner = transposed(net, x, (before, after), 2), 2 * after
        else:
            x, inner = enlarged(net, x, mode), before + after
        x = convolved(net, net.node("Concat", skip, x, axis=1), (inner, after), (3, 3), "relu")
    net.output(net.node("Sigmoid", convolved(net, x, (16, 1), (1, 1))), "mask")
    return net.finish(OPSET)


def unet_transposed() -> onnx.ModelProto:
    """A U-Net with transposed convolutions."""
    return unet("unet_transposed", "transposed")


def unet_resized() -> onnx.ModelProto:
    """A U-Net that is resized linearly."""
    return unet("unet_resized", "linear")


def autoencoder() -> onnx.ModelProto:
    """Strided convolutions down, transposed ones of 4x4 up."""
    net = Sketch("autoencoder")
    x, channels = net.input("image", 1, 1, 32, 32), 1
    for after in (12, 24, 32):
        x, channels = convolved(net, x, (channels, after), (3, 3), "relu", 2), after
    for after, kind in ((24, "relu"), (12, "relu"), (1, "sigmoid")):
        x, channels = activation(net, transposed(net, x, (channels, after), 4, 1), kind), after
    net.output(x, "again")
    return net.finish(OPSET)


def super_resolution() -> onnx.ModelProto:
    """Sub-pixel convolution: three times the size by DepthToSpace."""
    net = Sketch("super_resolution")
    x = convolved(net, net.input("luma", 1, 1, 24, 24), (1, 24), (5, 5), "tanh")
    x = convolved(net, convolved(net, x, (24, 16), (3, 3), "tanh"), (16, 9), (3, 3))
    net.output(net.node("DepthToSpace", x, blocksize=3, mode="CRD"), "large")
    return net.finish(OPSET)


def generator() -> onnx.ModelProto:
    """A generator of pictures: nearest Resize, InstanceNormalization and GroupNormalization, reflected borders."""
    net = Sketch("generator")
    x = net.node("Reshape", net.dense(net.input("noise", 1, 16), 16, 32 * 36), net.constant([1, 32, 6, 6]))
    for before, after, op in ((32, 24, "InstanceNormalization"), (24, 16, "GroupNormalization")):
        x = net.node("Pad", enlarged(net, x, "nearest"), net.constant([0, 0, 1, 1, 0, 0, 1, 1]), mode="reflect")
        x = net.convolution(x, before, after, (3, 3), pads=[0] * 4)
        if op == "InstanceNormalization":
            x = net.node(op, x, net.bias(after), net.bias(after))
        else:
            groups = net.node("Reshape", x, net.constant([1, 4, -1]))
            one = net.constant(np.ones(4, np.float32))
            groups = net.node("InstanceNormalization", groups, one, net.constant(np.zeros(4, np.float32)))
            x = net.node("Reshape", groups, net.constant([1, after, 24, 24]))
            gain = net.constant((1 + net.random.integers(-8, 9, (after, 1, 1)) / 64).astype(np.float32))
            x = net.node("Mul", x, gain)
        x = net.node("LeakyRelu", x, alpha=0.2)
    net.output(net.node("Tanh", convolved(net, x, (16, 3), (3, 3))), "image")
    return net.finish(OPSET)


def pyramid() -> onnx.ModelProto:
    """Atrous spatial pyramid pooling: dilated convolutions and a mean side by side, then a mask."""
    net = Sketch("pyramid")
    x = convolved(net, net.input("image", 1, 3, 40, 40), (3, 16), (3, 3), "relu", 2)
    x = convolved(net, x, (16, 32), (3, 3), "relu", 2)
    sides = [convolved(net, x, (32, 16), (1, 1), "relu")]
    sides += [convolved(net, x, (32, 16), (3, 3), "relu", dilation=size) for size in (2, 4)]
    mean = convolved(net, net.node("GlobalAveragePool", x), (32, 16), (1, 1), "relu")
    sides.append(net.node("Expand", mean, net.constant([1, 16, 10, 10])))
    x = convolved(net, net.node("Concat", *sides, axis=1), (64, 24), (1, 1), "relu")
    x = enlarged(net, enlarged(net, convolved(net, x, (24, 4), (1, 1)), "linear"), "linear")
    net.output(net.node("Softmax", x, axis=1), "mask")
    return net.finish(OPSET)


def split_block(net: Sketch, x: str, channels: int, count: int) -> str:
    """Half of the channels through residual pairs, every step kept."""
    half = channels // 2
    x = convolved(net, x, (channels, channels), (1, 1), "silu")
    steps = list(net.node("Split", x, net.constant([half, half]), axis=1, results=2))
    for _ in range(count):
        y = convolved(net, convolved(net, steps[-1], (half, half), (3, 3), "silu"), (half, half), (3, 3), "silu")
        steps.append(net.node("Add", steps[-1], y))
    joined = net.node("Concat", *steps, axis=1)
    return convolved(net, joined, (half * (count + 2), channels), (1, 1), "silu")


def pooled_pyramid(net: Sketch, x: str, channels: int) -> str:
    """Three poolings of 5x5 one after the other, all kept."""
    half = channels // 2
    parts = [convolved(net, x, (channels, half), (1, 1), "silu")]
    for _ in range(3):
        parts.append(net.node("MaxPool", parts[-1], kernel_shape=[5, 5], strides=[1, 1], pads=[2] * 4))
    return convolved(net, net.node("Concat", *parts, axis=1), (4 * half, channels), (1, 1), "silu")


def yolo() -> onnx.ModelProto:
    """YOLOv8 in small: split blocks, a pooled pyramid, two scales, boxes as distributions, the head's arithmetic."""
    net = Sketch("yolo")
    x = convolved(net, net.input("image", 1, 3, 64, 64), (3, 8), (3, 3), "silu", 2)
    x = split_block(net, convolved(net, x, (8, 16), (3, 3), "silu", 2), 16, 1)
    fine = split_block(net, convolved(net, x, (16, 24), (3, 3), "silu", 2), 24, 1)
    coarse = pooled_pyramid(net, convolved(net, fine, (24, 32), (3, 3), "silu", 2), 32)
    joined = net.node("Concat", enlarged(net, coarse, "nearest"), fine, axis=1)
    fine = convolved(net, joined, (56, 24), (1, 1), "silu")
    heads = []
    for feature, channels, places in ((fine, 24, 64), (coarse, 32, 16)):
        boxes = convolved(net, convolved(net, feature, (channels, 16), (3, 3), "silu"), (16, 32), (1, 1))
        kinds = convolved(net, convolved(net, feature, (channels, 16), (3, 3), "silu"), (16, 3), (1, 1))
        heads.append(net.node("Reshape", net.node("Concat", boxes, kinds, axis=1), net.constant([1, 35, places])))
    both = net.node("Concat", *heads, axis=2)
    sides, kinds = net.node("Split", both, net.constant([32, 3]), axis=1, results=2)
    spread = net.node("Transpose", net.node("Reshape", sides, net.constant([1, 4, 8, 80])), perm=[0, 2, 1, 3])
    steps = net.constant(np.arange(8, dtype=np.float32).reshape(1, 8, 1, 1))
    distance = net.node("Conv", net.node("Softmax", spread, axis=1), steps)
    distance = net.node("Reshape", distance, net.constant([1, 4, 80]))
    near, far = net.node("Split", distance, net.constant([2, 2]), axis=1, results=2)
    anchors = net.constant((net.random.integers(0, 16, (1, 2, 80)) / 2).astype(np.float32))
    first, second = net.node("Sub", anchors, near), net.node("Add", anchors, far)
    middle = net.node("Div", net.node("Add", first, second), net.constant(np.array(2, np.float32)))
    box = net.node("Concat", middle, net.node("Sub", second, first), axis=1)
    scaled = net.node("Mul", box, net.constant(np.repeat([8, 16], [64, 16]).astype(np.float32)))
    net.output(net.node("Concat", scaled, net.node("Sigmoid", kinds), axis=1), "boxes")
    return net.finish(OPSET)
