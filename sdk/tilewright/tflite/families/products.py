"""FULLY_CONNECTED and BATCH_MATMUL."""

from __future__ import annotations

from tilewright.errors import ModelError, UnsupportedNode
from tilewright.tflite import schema
from tilewright.tflite.families.convolution import bias, note_sums
from tilewright.tflite.file import FileOperator
from tilewright.tflite.writer import Writer


def fully_connected(writer: Writer, operator: FileOperator) -> None:
    """FULLY_CONNECTED; the image lies flat in rows as long as those of the [out, in] weights."""
    x, w, y = *operator.inputs[:2], operator.outputs[0]
    weights, inside, outside = (writer.tensor(index) for index in (w, x, y))
    if operator.integer(schema.FullyConnected.WEIGHTS_FORMAT):
        raise UnsupportedNode(
            f"operator '{operator.label}': its weights are shuffled", why="only weights row by row are read",
            fix="convert the network again without shuffled weights", node=operator.label,
        )  # fmt: skip
    if len(weights.shape) != 2 or not weights.shape[1] or inside.elements % weights.shape[1]:
        why = f"{inside.elements} elements and weights of shape {list(weights.shape)} do not go together"
        raise ModelError(f"operator '{operator.label}' is damaged", why=why, fix="convert it again")
    rows = (inside.elements // weights.shape[1], weights.shape[1])
    real = writer.value(x)
    if inside.shape != rows:
        real = writer.op("Reshape", real, writer.numbers("rows", rows), name=f"{writer.names[x]}/rows")
    real = writer.op("Gemm", real, writer.value(w), *bias(writer, operator, 2, x, w), transB=1)
    note_sums(writer, operator, real, operator.integer(schema.FullyConnected.BIAS_TYPE))
    writer.define(y, real, activation=operator.integer(schema.FullyConnected.ACTIVATION))
    if outside.shape != (rows[0], weights.shape[0]):
        writer.reshape_defined(y, outside.shape)


def batch_matmul(writer: Writer, operator: FileOperator) -> None:
    """BATCH_MATMUL, of which either operand may lie transposed."""
    operands = []
    for index, field in zip(operator.inputs[:2], schema.BatchMatMul.TRANSPOSED, strict=True):
        rank = len(writer.tensor(index).shape)
        real = writer.value(index)
        if operator.integer(field):
            real = writer.op("Transpose", real, perm=[*range(rank - 2), rank - 1, rank - 2])
        operands.append(real)
    writer.define(operator.outputs[0], writer.op("MatMul", *operands))


OPERATORS = {"FULLY_CONNECTED": fully_connected, "BATCH_MATMUL": batch_matmul}
