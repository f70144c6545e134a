"""Operators that say how elements are counted, or move them: shapes, transposes, margins, slices, repetitions."""

from __future__ import annotations

import numpy as np

from tilewright.errors import ModelError, UnsupportedNode
from tilewright.tflite import schema
from tilewright.tflite.file import FileOperator
from tilewright.tflite.writer import Writer, to_first

LAST = (1 << 63) - 1


def reshape(writer: Writer, operator: FileOperator) -> None:
    """RESHAPE, SQUEEZE, EXPAND_DIMS: the file holds the shape of the result."""
    x, y = operator.inputs[0], operator.outputs[0]
    shape = writer.numbers("shape", writer.tensor(y).shape)
    writer.define(y, writer.op("Reshape", writer.value(x), shape))


def transpose(writer: Writer, operator: FileOperator) -> None:
    """TRANSPOSE by a constant order."""
    order = writer.known(operator, 1, "its order")
    writer.define(operator.outputs[0], writer.op("Transpose", writer.value(operator.inputs[0]), perm=order))


def pad(writer: Writer, operator: FileOperator) -> None:
    """PAD with the real zero, PADV2 with a value, MIRROR_PAD with the image turned at its edge."""
    x, y = operator.inputs[0], operator.outputs[0]
    rank = len(writer.tensor(x).shape)
    margins = np.asarray(writer.known(operator, 1, "its margins"), np.int64).reshape(rank, 2)
    image = rank == 4 and not margins[[0, 3]].any()  # a convolution behind it takes such margins in
    first = image or (rank >= 3 and writer.channels_first([x]))
    if first:
        margins = margins[to_first(rank)]
    operands = [writer.value(x, first), writer.numbers("margins", margins.T.reshape(-1).tolist())]
    mode = "constant"
    if operator.name == "MIRROR_PAD":
        mode = "reflect"
        if operator.integer(schema.Single.MODE) == 1:
            raise UnsupportedNode(
                f"operator '{operator.label}': its edge is repeated", why="ONNX mirrors without the edge alone",
                fix="use the mode REFLECT", node=operator.label,
            )  # fmt: skip
    elif operator.name == "PADV2":
        operands.append(writer.op("Reshape", writer.value(operator.inputs[2]), writer.numbers("scalar", [])))
    writer.define(y, writer.op("Pad", *operands, mode=mode), first)


def slice_(writer: Writer, operator: FileOperator) -> None:
    """SLICE: begins and sizes, -1 for all that is left."""
    x, y = operator.inputs[0], operator.outputs[0]
    begins, sizes = (writer.known(operator, place, what) for place, what in ((1, "its begins"), (2, "its sizes")))
    ends = [LAST if size < 0 else begin + size for begin, size in zip(begins, sizes, strict=True)]
    _cut(writer, x, y, begins, ends, [1] * len(begins))


def strided_slice(writer: Writer, operator: FileOperator) -> None:
    """STRIDED_SLICE with begin, end and shrink masks; bits of axes that are made or left out are refused."""
    options, x, y = schema.StridedSlice, operator.inputs[0], operator.outputs[0]
    begins, ends, steps = (
        list(writer.known(operator, place, what))
        for place, what in ((1, "its begins"), (2, "its ends"), (3, "its steps"))
    )
    masks = options.BEGIN_MASK, options.END_MASK, options.SHRINK_MASK
    begin_mask, end_mask, shrink_mask = (operator.integer(field) for field in masks)
    if operator.integer(options.ELLIPSIS_MASK) or operator.integer(options.NEW_AXIS_MASK):
        raise UnsupportedNode(
            f"operator '{operator.label}' makes or leaves out axes", why="its masks of ellipses and new axes are not 0",
            fix="write out all axes before converting", node=operator.label,
        )  # fmt: skip
    if operator.integer(options.OFFSET):
        ends = [begin + end for begin, end in zip(begins, ends, strict=True)]
    for axis, step in enumerate(steps):
        if shrink_mask >> axis & 1:
            ends[axis], steps[axis] = begins[axis] + 1 or LAST, 1
            continue
        if begin_mask >> axis & 1:
            begins[axis] = 0 if step > 0 else LAST
        if end_mask >> axis & 1:
            ends[axis] = LAST if step > 0 else -LAST
    _cut(writer, x, y, begins, ends, steps)


def _cut(writer: Writer, x: int, y: int, begins: list[int], ends: list[int], steps: list[int]) -> None:
    inside, rank = writer.tensor(x).shape, len(writer.tensor(x).shape)
    same_rank = len(writer.tensor(y).shape) == rank
    first = rank >= 3 and same_rank and writer.channels_first([x])
    axes = [axis for axis in range(len(begins))
            if not (begins[axis] == 0 and steps[axis] == 1 and ends[axis] >= inside[axis])]  # fmt: skip
    real = writer.value(x, first)
    if axes:
        places = [to_first(rank).index(axis) for axis in axes] if first else axes
        columns = [[values[axis] for axis in axes] for values in (begins, ends)]
        operands = [writer.numbers("cut", values) for values in (*columns, places, [steps[axis] for axis in axes])]
        real = writer.op("Slice", real, *operands)
    if not same_rank:
        real = writer.op("Reshape", real, writer.numbers("shape", writer.tensor(y).shape))
    writer.define(y, real, first)


def tile(writer: Writer, operator: FileOperator) -> None:
    """TILE."""
    repeats = writer.numbers("repeats", writer.known(operator, 1, "its repeats"))
    writer.define(operator.outputs[0], writer.op("Tile", writer.value(operator.inputs[0]), repeats))


def broadcast(writer: Writer, operator: FileOperator) -> None:
    """BROADCAST_TO."""
    shape = writer.numbers("shape", writer.tensor(operator.outputs[0]).shape)
    writer.define(operator.outputs[0], writer.op("Expand", writer.value(operator.inputs[0]), shape))


def broadcast_shape(writer: Writer, operator: FileOperator) -> None:
    """BROADCAST_ARGS: the shape that two shapes are broadcast to, an axis of one giving way."""
    longest, first = max(writer.tensor(index).elements for index in operator.inputs), writer.tensor(operator.inputs[0])
    assert first.dtype is not None, first.name
    shapes = []
    for index in operator.inputs:
        missing, shape = longest - writer.tensor(index).elements, writer.value(index)
        ones = writer.constant("ones", np.ones(missing, first.dtype.numpy)) if missing else ""
        shapes.append(writer.op("Concat", ones, shape, axis=0) if missing else shape)
    gives_way = writer.op("Equal", shapes[0], writer.constant("one", np.ones((), first.dtype.numpy)))
    writer.define(operator.outputs[0], writer.op("Where", gives_way, shapes[1], shapes[0]))


def update_slice(writer: Writer, operator: FileOperator) -> None:
    """DYNAMIC_UPDATE_SLICE: a part is overwritten from places on that are limited so that all of it fits."""
    x, update = (writer.tensor(index) for index in operator.inputs[:2])
    if len(x.shape) != len(update.shape) or any(
        part > whole for part, whole in zip(update.shape, x.shape, strict=True)
    ):
        why = f"{list(update.shape)} is no part of {list(x.shape)}"
        raise ModelError(f"operator '{operator.label}' is damaged", why=why, fix="convert it again")
    cut = [axis for axis, (part, whole) in enumerate(zip(update.shape, x.shape, strict=True)) if part != whole]
    if not cut or not update.elements:
        writer.define(operator.outputs[0], writer.value(operator.inputs[not cut]))
        return
    axes = cut[-1] + 1  # those behind are written whole
    room = np.asarray([whole - part for part, whole in zip(update.shape, x.shape, strict=True)], np.int64)
    places = writer.op("Cast", writer.value(operator.inputs[2]), to=7)
    places = writer.op("Min", writer.op("Max", places, writer.constant("least", np.zeros(1, np.int64))),
                       writer.constant("most", room))  # fmt: skip
    if axes < len(x.shape):
        places = writer.op("Slice", places, *(writer.numbers("cut", [number]) for number in (0, axes)))
    grid = np.stack(np.meshgrid(*map(np.arange, update.shape[:axes]), indexing="ij"), -1).astype(np.int64)
    places = writer.op("Add", writer.constant("grid", grid), places)
    real = writer.op("ScatterND", writer.value(operator.inputs[0]), places, writer.value(operator.inputs[1]))
    writer.define(operator.outputs[0], real)


def fill(writer: Writer, operator: FileOperator) -> None:
    """FILL with a value, which is operand 1."""
    shape = writer.numbers("shape", writer.tensor(operator.outputs[0]).shape)
    writer.define(operator.outputs[0], writer.op("Expand", writer.value(operator.inputs[1]), shape))


def zeros(writer: Writer, operator: FileOperator) -> None:
    """ZEROS_LIKE."""
    y = writer.tensor(operator.outputs[0])
    assert y.dtype is not None, y.name
    kind = np.dtype(np.float32) if y.scales is not None else y.dtype.numpy
    writer.define(operator.outputs[0], writer.constant("zeros", np.zeros(y.shape, kind)))


def shape_of(writer: Writer, operator: FileOperator) -> None:
    """SHAPE, RANK: known from the file."""
    shape, y = writer.tensor(operator.inputs[0]).shape, writer.tensor(operator.outputs[0])
    assert y.dtype is not None, y.name
    value = np.asarray(shape if operator.name == "SHAPE" else len(shape), y.dtype.numpy)
    writer.define(operator.outputs[0], writer.constant("shape", value))


def reverse(writer: Writer, operator: FileOperator) -> None:
    """REVERSE_V2 along constant axes."""
    axes = writer.known(operator, 1, "its axes")
    steps = [[-1] * len(axes), [-LAST] * len(axes), list(axes), [-1] * len(axes)]
    operands = [writer.numbers("turn", values) for values in steps]
    writer.define(operator.outputs[0], writer.op("Slice", writer.value(operator.inputs[0]), *operands))


OPERATORS = {
    "RESHAPE": reshape, "SQUEEZE": reshape, "EXPAND_DIMS": reshape, "TRANSPOSE": transpose, "PAD": pad, "PADV2": pad,
    "MIRROR_PAD": pad, "SLICE": slice_, "STRIDED_SLICE": strided_slice, "TILE": tile, "BROADCAST_TO": broadcast,
    "FILL": fill, "ZEROS_LIKE": zeros, "SHAPE": shape_of, "RANK": shape_of, "REVERSE_V2": reverse,
    "BROADCAST_ARGS": broadcast_shape, "DYNAMIC_UPDATE_SLICE": update_slice,
}  # fmt: skip
