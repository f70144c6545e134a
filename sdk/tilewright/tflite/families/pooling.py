"""AVERAGE_POOL_2D, MAX_POOL_2D, L2_POOL_2D: windows of which what lies outside of the image does not count."""

from __future__ import annotations

from tilewright.errors import ModelError
from tilewright.tflite import schema
from tilewright.tflite.families.convolution import padding
from tilewright.tflite.file import FileOperator
from tilewright.tflite.writer import Writer


def pool(writer: Writer, operator: FileOperator) -> None:
    """Any of the three."""
    x, y, options = operator.inputs[0], operator.outputs[0], schema.Pool2D
    inside = writer.tensor(x).shape
    sizes, strides = (tuple(operator.integer(field) for field in fields) for fields in (options.SIZES, options.STRIDES))
    if len(inside) != 4 or min(*sizes, *strides) < 1:
        why = f"windows of {list(sizes)} by steps of {list(strides)} over a shape of {list(inside)} make no sense"
        raise ModelError(f"operator '{operator.label}' is damaged", why=why, fix="convert it again")
    pads = padding(operator.integer(options.PADDING), inside[1:3], sizes, strides, (1, 1))
    real, kind = writer.value(x, first=True), "AveragePool"
    if operator.name == "MAX_POOL_2D":
        kind = "MaxPool"
    elif operator.name == "L2_POOL_2D":
        real = writer.op("Mul", real, real)
    real = writer.op(kind, real, kernel_shape=sizes, strides=strides, pads=pads)
    if operator.name == "L2_POOL_2D":
        real = writer.op("Sqrt", real)
    writer.define(y, real, first=True, activation=operator.integer(options.ACTIVATION))


OPERATORS = {"AVERAGE_POOL_2D": pool, "MAX_POOL_2D": pool, "L2_POOL_2D": pool}
