"""DeformConv as standard nodes: one GridSample gathers what every place of the window reads, a 1x1 Conv sums it up.

Source: Dai et al., Deformable Convolutional Networks, 2017; with a mask: Zhu et al., Deformable ConvNets v2, 2019.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from tilewright.frontend.splits.parts import Parts
from tilewright.model import Array


def _whole(parts: Parts, name: str, default: tuple[int, ...]) -> tuple[int, ...]:
    values = tuple(int(value) for value in parts.numbers(name, default))
    if len(values) != len(default):
        raise parts.invalid(f"attribute '{name}' must hold {len(default)} integers")
    return values


def _bases(parts: Parts, kernel: tuple[int, ...], size: tuple[int, ...]) -> Array:
    """Where every place of the window would read without offsets: [window, (y, x), rows, columns], in elements."""
    strides, dilations = _whole(parts, "strides", (1, 1)), _whole(parts, "dilations", (1, 1))
    pads = _whole(parts, "pads", (0, 0, 0, 0))[:2]
    lines = [np.arange(size[axis]) * strides[axis] - pads[axis] for axis in range(2)]
    rows, columns = np.meshgrid(*lines, indexing="ij")
    places = product(*(range(extent) for extent in kernel))
    return np.array([[rows + i * dilations[0], columns + j * dilations[1]] for i, j in places], np.float64)


def _deform_conv(parts: Parts) -> None:
    shape, weights = parts.shape(0), parts.shape(1)
    if len(shape) != 4 or len(weights) != 4:
        why = f"an image of shape {shape} has not two spatial axes"
        raise parts.unsupported(why, "export it with images of two axes, [batch, channels, height, width]")
    images, channels, *extents = shape
    filters, _, *sides = weights
    kernel = _whole(parts, "kernel_shape", (sides[0], sides[1]))
    groups, window = parts.whole("offset_group", 1), kernel[0] * kernel[1]
    rows, columns = parts.shape(2)[2:]
    if parts.shape(2) != (images, groups * window * 2, rows, columns) or channels % groups or kernel != tuple(sides):
        raise parts.invalid("offset must be [batch, offset_group * window * 2, rows, columns], window as the weights'")
    pads, strides = _whole(parts, "pads", (0, 0, 0, 0)), _whole(parts, "strides", (1, 1))
    dilations = _whole(parts, "dilations", (1, 1))
    for axis, size in enumerate((rows, columns)):
        reach = dilations[axis] * (kernel[axis] - 1) + 1
        if size != (extents[axis] + pads[axis] + pads[axis + 2] - reach) // strides[axis] + 1:
            raise parts.invalid(f"offset has {size} places along axis {axis + 2}, the convolution another number")
    sizes = np.array(extents, np.float64).reshape(1, 2, 1, 1)
    offsets = parts.reshape(parts.input(2), (images * groups, window, 2, rows * columns))
    scaled = parts.op("Mul", offsets, parts.like(0, 2 / sizes.reshape(1, 1, 2, 1)))
    base = (2 * _bases(parts, kernel, (rows, columns)) + 1) / sizes - 1
    grid = parts.op("Add", scaled, parts.like(0, base.reshape(1, window, 2, rows * columns)))
    # GridSample wants the coordinate along the last axis first.
    turned = parts.op("Gather", parts.op("Transpose", grid, perm=(0, 1, 3, 2)), parts.constant([1, 0]), axis=3)
    image = parts.reshape(parts.input(0), (images * groups, channels // groups, *extents))
    values = parts.op("GridSample", image, turned, mode="linear", padding_mode="zeros", align_corners=0)
    if parts.input(4):
        values = parts.op("Mul", values, parts.reshape(parts.input(4), (images * groups, 1, window, rows * columns)))
    gathered = parts.reshape(values, (images, channels * window, rows, columns))
    flat = parts.reshape(parts.input(1), (filters, weights[1] * window, 1, 1))
    group = parts.whole("group", 1)
    parts.op("Conv", gathered, flat, parts.input(3), group=group, into=parts.output(0))


SPLITS = {("", "DeformConv"): _deform_conv}
