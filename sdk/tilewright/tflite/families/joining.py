"""Tensors joined and taken apart along an axis, and parts picked by index."""

from __future__ import annotations

from tilewright.errors import UnsupportedNode
from tilewright.tflite import schema
from tilewright.tflite.file import FileOperator
from tilewright.tflite.writer import Writer, first_axis


def concatenation(writer: Writer, operator: FileOperator) -> None:
    """CONCATENATION."""
    y, options = operator.outputs[0], schema.Concatenation
    rank = len(writer.tensor(y).shape)
    axis = operator.axis(operator.integer(options.AXIS), rank)
    first = rank >= 3 and writer.channels_first(operator.inputs)
    operands = [writer.value(index, first) for index in operator.inputs]
    real = writer.op("Concat", *operands, axis=first_axis(axis, rank) if first else axis)
    writer.define(y, real, first, operator.integer(options.ACTIVATION))


def pack(writer: Writer, operator: FileOperator) -> None:
    """PACK: a new axis counts the operands."""
    rank = len(writer.tensor(operator.outputs[0]).shape)
    axis = operator.axis(operator.integer(schema.Pack.AXIS), rank)
    axes = writer.numbers("axis", [axis])
    operands = [writer.op("Unsqueeze", writer.value(index), axes) for index in operator.inputs]
    writer.define(operator.outputs[0], writer.op("Concat", *operands, axis=axis))


def unpack(writer: Writer, operator: FileOperator) -> None:
    """UNPACK: one result for each index of an axis."""
    x = operator.inputs[0]
    axis = operator.axis(operator.integer(schema.Pack.AXIS), len(writer.tensor(x).shape))
    shape = writer.numbers("shape", writer.tensor(operator.outputs[0]).shape)
    for part, y in zip(_split(writer, operator, x, axis, [1] * len(operator.outputs), False), operator.outputs,
                       strict=True):  # fmt: skip
        writer.define(y, writer.op("Reshape", part, shape))


def split(writer: Writer, operator: FileOperator) -> None:
    """SPLIT in equal parts, SPLIT_V in given ones; the sizes are those of the results."""
    place, x = (0, operator.inputs[1]) if operator.name == "SPLIT" else (2, operator.inputs[0])
    rank = len(writer.tensor(x).shape)
    (axis,) = writer.known(operator, place, "its axis")
    axis = operator.axis(axis, rank)
    first = rank >= 3 and writer.channels_first([x])
    sizes = [writer.tensor(y).shape[axis] for y in operator.outputs]
    parts = _split(writer, operator, x, first_axis(axis, rank) if first else axis, sizes, first)
    for part, y in zip(parts, operator.outputs, strict=True):
        writer.define(y, part, first)


def _split(writer: Writer, operator: FileOperator, x: int, axis: int, sizes: list[int], first: bool) -> list[str]:
    names = [writer.fresh(f"{writer.names[y]}/part") for y in operator.outputs]
    operands = (writer.value(x, first), writer.numbers("sizes", sizes))
    return writer.ops("Split", operands, names, {"axis": axis})


def gather(writer: Writer, operator: FileOperator) -> None:
    """GATHER along an axis; EMBEDDING_LOOKUP, whose indices stand first."""
    table, indices, axis = *operator.inputs[:2], operator.integer(schema.Gather.AXIS)
    if operator.name == "EMBEDDING_LOOKUP":
        table, indices, axis = indices, table, 0
    elif operator.integer(schema.Gather.BATCH_AXES):
        raise UnsupportedNode(
            f"operator '{operator.label}' gathers by batch", why="each batch has indices of its own",
            fix="gather with batch_dims = 0", node=operator.label,
        )  # fmt: skip
    writer.define(operator.outputs[0], writer.op("Gather", writer.value(table), writer.value(indices), axis=axis))


def gather_nd(writer: Writer, operator: FileOperator) -> None:
    """GATHER_ND."""
    indices = writer.op("Cast", writer.value(operator.inputs[1]), to=7)
    writer.define(operator.outputs[0], writer.op("GatherND", writer.value(operator.inputs[0]), indices))


OPERATORS = {
    "CONCATENATION": concatenation, "PACK": pack, "UNPACK": unpack, "SPLIT": split, "SPLIT_V": split,
    "GATHER": gather, "EMBEDDING_LOOKUP": gather, "GATHER_ND": gather_nd,
}  # fmt: skip
