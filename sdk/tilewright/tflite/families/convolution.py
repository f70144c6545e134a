"""CONV_2D, DEPTHWISE_CONV_2D, TRANSPOSE_CONV: kernels of [out, row, column, in] over images with channels last."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tilewright.errors import ModelError, UnsupportedNode
from tilewright.model import DType
from tilewright.tflite import schema
from tilewright.tflite.file import FileOperator, Scales
from tilewright.tflite.flatbuffer import Integer
from tilewright.tflite.unlike import MISREAD_BIAS, NARROW_SUMS
from tilewright.tflite.writer import Writer, operand


def conv(writer: Writer, operator: FileOperator) -> None:
    """CONV_2D; fewer input channels in the kernel than in the image make groups."""
    x, w = operator.inputs[:2]
    inside, kernel = writer.tensor(x).shape, writer.tensor(w).shape
    if len(inside) != 4 or len(kernel) != 4 or not kernel[3] or inside[3] % kernel[3]:
        raise _shapes(operator, inside, kernel)
    _write(writer, operator, schema.Conv2D, writer.value(w, first=True), inside[3] // kernel[3])


def depthwise(writer: Writer, operator: FileOperator) -> None:
    """DEPTHWISE_CONV_2D; a kernel of [1, row, column, channel * multiplier]."""
    x, w = operator.inputs[:2]
    inside, kernel = writer.tensor(x).shape, writer.tensor(w).shape
    if len(inside) != 4 or len(kernel) != 4 or kernel[0] != 1 or not inside[3] or kernel[3] % inside[3]:
        raise _shapes(operator, inside, kernel)
    data = writer.tensor(w).data
    if data is None:
        weights = writer.op("Transpose", writer.value(w), perm=(3, 0, 1, 2))
    else:
        weights = writer.parameters(w, data.transpose(3, 0, 1, 2), 0)
    _write(writer, operator, schema.DepthwiseConv2D, weights, inside[3])


def _write(
    writer: Writer,
    operator: FileOperator,
    options: type[schema.Conv2D] | type[schema.DepthwiseConv2D],
    weights: str,
    groups: int,
) -> None:
    x, w, y = *operator.inputs[:2], operator.outputs[0]
    sizes = writer.tensor(w).shape[1:3]
    strides, dilations = (_positive(operator, fields) for fields in (options.STRIDES, options.DILATIONS))
    pads = padding(operator.integer(options.PADDING), writer.tensor(x).shape[1:3], sizes, strides, dilations)
    operands = [writer.value(x, first=True), weights, *bias(writer, operator, 2, x, w)]
    real = writer.op(
        "Conv", *operands, kernel_shape=sizes, strides=strides, dilations=dilations, pads=pads, group=groups
    )
    told = operator.integer(schema.Conv2D.BIAS_TYPE) if options is schema.Conv2D else 0
    note_sums(writer, operator, real, told)
    writer.define(y, real, first=True, activation=operator.integer(options.ACTIVATION))


def transposed(writer: Writer, operator: FileOperator) -> None:
    """TRANSPOSE_CONV; operand 0 is the result's shape, which the file holds anyway."""
    w, x, y = *operator.inputs[1:3], operator.outputs[0]
    kernel, inside, outside = (writer.tensor(index).shape for index in (w, x, y))
    if len(inside) != 4 or len(kernel) != 4 or kernel[3] != inside[3]:
        raise _shapes(operator, inside, kernel)
    strides = _positive(operator, schema.TransposeConv.STRIDES)
    begins, ends, rests = [], [], []
    for axis in range(2):
        over = (inside[1 + axis] - 1) * strides[axis] + kernel[1 + axis] - outside[1 + axis]
        begins.append(max(over, 0) // 2)
        ends.append(max(over, 0) - begins[-1])
        rests.append(max(-over, 0))
    data, held = writer.tensor(w).data, writer.tensor(w).scales
    if data is None:
        weights = writer.op("Transpose", writer.value(w), perm=(3, 0, 1, 2))
    else:
        weights = writer.parameters(w, data.transpose(3, 0, 1, 2), 1, held)
    operands = [writer.value(x, first=True), weights, *bias(writer, operator, 3, x, w)]
    real = writer.op("ConvTranspose", *operands, kernel_shape=kernel[1:3], strides=strides, pads=[*begins, *ends],
                     output_padding=rests)  # fmt: skip
    note_sums(writer, operator, real, 0)
    writer.define(y, real, first=True, activation=operator.integer(schema.TransposeConv.ACTIVATION))


def padding(
    kind: int, inside: Sequence[int], sizes: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> list[int]:
    """ONNX's pads: begins of rows and columns, then ends. An odd element goes to the end."""
    if kind != schema.SAME:
        return [0, 0, 0, 0]
    totals = [
        max((-(-size // stride) - 1) * stride + (taps - 1) * dilation + 1 - size, 0)
        for size, taps, stride, dilation in zip(inside, sizes, strides, dilations, strict=True)
    ]
    return [*(total // 2 for total in totals), *(total - total // 2 for total in totals)]


def bias(writer: Writer, operator: FileOperator, place: int, x: int, w: int) -> tuple[str, ...]:
    """The bias as real numbers, nothing where it is omitted; codes count units of the sum, whatever their own scale."""
    index = operand(operator, place)
    if index < 0:
        return ()
    tensor, given, weights = (writer.tensor(each) for each in (index, x, w))
    if tensor.data is None or tensor.data.dtype.kind == "f" or given.scales is None or weights.scales is None:
        return (writer.value(index),)
    if np.abs(tensor.data.astype(np.float64)).max(initial=0) >= 1 << 31:
        raise UnsupportedNode(
            f"operator '{operator.label}': its bias does not fit into 32 bits", why="sums have 32 bits",
            fix="quantise the network with smaller weights", node=operator.label,
        )  # fmt: skip
    units = np.float32(given.scales.scale[0]) * weights.scales.scale.astype(np.float32)
    scales = Scales(units.astype(np.float32), np.zeros(units.size, np.int64), 0)
    return (writer.whole_parameters(index, tensor.data.astype(np.int32), scales),)


def note_sums(writer: Writer, operator: FileOperator, real: str, told: int) -> None:
    """Say of a layer of 16-bit codes that it adds up in 32 bits: its bias has them, or it is `told` so without one.

    Kernels of depthwise and transposed convolutions know biases of 64 bits alone.
    """
    x, place = (2, 3) if operator.name == "TRANSPOSE_CONV" else (0, 2)
    if writer.tensor(operator.inputs[x]).dtype is not DType.I16:
        return
    index = operand(operator, place)
    if operator.name in ("DEPTHWISE_CONV_2D", "TRANSPOSE_CONV"):
        if index >= 0 and writer.tensor(index).dtype is DType.I32:
            writer.unlike[real] = MISREAD_BIAS
        return
    narrow = schema.ELEMENT_TYPES.get(told) is DType.I32 if index < 0 else writer.tensor(index).dtype is DType.I32
    if narrow:
        writer.unlike[real] = NARROW_SUMS


def _positive(operator: FileOperator, fields: tuple[Integer, Integer]) -> tuple[int, int]:
    rows, columns = (operator.integer(field) for field in fields)
    if min(rows, columns) < 1:
        raise ModelError(f"operator '{operator.label}' is damaged", why="a stride or dilation is below 1")
    return rows, columns


def _shapes(operator: FileOperator, inside: Sequence[int], kernel: Sequence[int]) -> ModelError:
    why = f"an image of shape {list(inside)} and a kernel of shape {list(kernel)} do not go together"
    return ModelError(f"operator '{operator.label}' is damaged", why=why, fix="convert it again", node=operator.label)


OPERATORS = {"CONV_2D": conv, "DEPTHWISE_CONV_2D": depthwise, "TRANSPOSE_CONV": transposed}
