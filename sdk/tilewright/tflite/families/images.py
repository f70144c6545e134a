"""Images made larger or smaller, and blocks of them moved between rows, columns, channels and the batch."""

from __future__ import annotations

import numpy as np

from tilewright.tflite import schema
from tilewright.tflite.file import FileOperator
from tilewright.tflite.writer import Writer


def resize(writer: Writer, operator: FileOperator) -> None:
    """RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR to the size of the result."""
    x, y = operator.inputs[0], operator.outputs[0]
    inside, outside = writer.tensor(x).shape, writer.tensor(y).shape
    nearest = operator.name == "RESIZE_NEAREST_NEIGHBOR"
    corners, half = (operator.integer(f) for f in (schema.Resize.NEAREST if nearest else schema.Resize.BILINEAR))
    where = "align_corners" if corners else "half_pixel" if half else "asymmetric"
    attributes = {"mode": "nearest" if nearest else "linear", "coordinate_transformation_mode": where}
    if nearest:
        attributes["nearest_mode"] = "floor" if where == "asymmetric" else "round_prefer_ceil"
    sizes = writer.numbers("sizes", (inside[0], inside[3], *outside[1:3]))
    real = writer.op("Resize", writer.value(x, first=True), "", "", sizes, **attributes)
    writer.define(y, real, first=True)


def depth_to_space(writer: Writer, operator: FileOperator) -> None:
    """DEPTH_TO_SPACE: the block's rows and columns are the outer part of the channels."""
    block = operator.integer(schema.Single.NUMBER)
    real = writer.op("DepthToSpace", writer.value(operator.inputs[0], first=True), blocksize=block, mode="DCR")
    writer.define(operator.outputs[0], real, first=True)


def space_to_depth(writer: Writer, operator: FileOperator) -> None:
    """SPACE_TO_DEPTH."""
    block = operator.integer(schema.Single.NUMBER)
    real = writer.op("SpaceToDepth", writer.value(operator.inputs[0], first=True), blocksize=block)
    writer.define(operator.outputs[0], real, first=True)


def space_to_batch(writer: Writer, operator: FileOperator) -> None:
    """SPACE_TO_BATCH_ND: margins, then every block's elements into images of their own."""
    x, y = operator.inputs[0], operator.outputs[0]
    shape = writer.tensor(x).shape
    block = writer.known(operator, 1, "its block")
    count = len(block)
    margins = np.asarray(writer.known(operator, 2, "its margins"), np.int64).reshape(count, 2)
    begins, ends = ([0, *margins[:, side].tolist(), *[0] * (len(shape) - 1 - count)] for side in (0, 1))
    real = writer.op("Pad", writer.value(x), writer.numbers("margins", [*begins, *ends]))
    spread: list[int] = [shape[0]]
    for axis, size in enumerate(block):
        spread += [(shape[1 + axis] + int(margins[axis].sum())) // size, size]
    spread += shape[1 + count :]
    real = writer.op("Reshape", real, writer.numbers("blocks", spread))
    inner, outer = [2 + 2 * axis for axis in range(count)], [1 + 2 * axis for axis in range(count)]
    real = writer.op("Transpose", real, perm=[*inner, 0, *outer, *range(1 + 2 * count, len(spread))])
    writer.define(y, writer.op("Reshape", real, writer.numbers("shape", writer.tensor(y).shape)))


def batch_to_space(writer: Writer, operator: FileOperator) -> None:
    """BATCH_TO_SPACE_ND: the inverse, less margins."""
    x, y = operator.inputs[0], operator.outputs[0]
    shape = writer.tensor(x).shape
    block = writer.known(operator, 1, "its block")
    count = len(block)
    crops = np.asarray(writer.known(operator, 2, "its crops"), np.int64).reshape(count, 2)
    batch = shape[0] // int(np.prod(block))
    real = writer.op("Reshape", writer.value(x), writer.numbers("blocks", [*block, batch, *shape[1:]]))
    order = [count]
    for axis in range(count):
        order += [count + 1 + axis, axis]
    real = writer.op("Transpose", real, perm=[*order, *range(2 * count + 1, count + len(shape))])
    whole = [size * part for size, part in zip(shape[1 : 1 + count], block, strict=True)]
    real = writer.op("Reshape", real, writer.numbers("whole", [batch, *whole, *shape[1 + count :]]))
    begins = crops[:, 0].tolist()
    ends = [size - int(crop) for size, crop in zip(whole, crops[:, 1], strict=True)]
    axes = list(range(1, 1 + count))
    real = writer.op("Slice", real, *(writer.numbers("crop", values) for values in (begins, ends, axes)))
    writer.define(y, real)


OPERATORS = {
    "RESIZE_BILINEAR": resize, "RESIZE_NEAREST_NEIGHBOR": resize, "DEPTH_TO_SPACE": depth_to_space,
    "SPACE_TO_DEPTH": space_to_depth, "SPACE_TO_BATCH_ND": space_to_batch, "BATCH_TO_SPACE_ND": batch_to_space,
}  # fmt: skip
