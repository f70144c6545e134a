"""Operators that change the type: real numbers to codes and back, and casts."""

from __future__ import annotations

import numpy as np

from tilewright.errors import UnsupportedNode
from tilewright.model import DType
from tilewright.tflite.file import FileOperator
from tilewright.tflite.writer import QUANTISED, Writer


def quantise(writer: Writer, operator: FileOperator) -> None:
    """QUANTIZE, also of codes under another scale; DEQUANTIZE."""
    y = writer.tensor(operator.outputs[0])
    if y.dtype is DType.I32 and y.scales is not None and y.scales.single and not y.scales.zero_point.any():
        writer.define_whole(operator.outputs[0], writer.value(operator.inputs[0]))
        return
    if y.scales is not None and y.dtype not in QUANTISED:
        raise UnsupportedNode(
            f"operator '{operator.label}' makes codes of {y.dtype.numpy.name if y.dtype else 'handles'}",
            why="only codes of 4, 8 and 16 bits are made, and those of 32 without a zero point",
            fix="cut the network before it", node=operator.label,
        )  # fmt: skip
    (real,), first = writer.together(operator)
    writer.define(operator.outputs[0], real, first)


def dequantise(writer: Writer, operator: FileOperator) -> None:
    """DEQUANTIZE; weights of 16-bit floats become those of 32 bits here."""
    x = writer.tensor(operator.inputs[0])
    if x.dtype is DType.F16 and x.data is not None:
        writer.define(operator.outputs[0], writer.constant(f"{x.name}/value", x.data.astype(np.float32)))
    elif x.dtype is DType.F16:
        writer.define(operator.outputs[0], writer.op("Cast", writer.value(operator.inputs[0]), to=1))
    else:
        quantise(writer, operator)


def cast(writer: Writer, operator: FileOperator) -> None:
    """CAST; of codes it takes the numbers that the codes are, and gives such."""
    x, y = operator.inputs[0], operator.outputs[0]
    writer.define_codes(y, writer.cast(writer.codes(x), y))


OPERATORS = {"QUANTIZE": quantise, "DEQUANTIZE": dequantise, "CAST": cast}
