"""Sums, means and extremes along axes, their places, and running sums."""

from __future__ import annotations

import numpy as np

from tilewright.tflite import schema
from tilewright.tflite.file import FileOperator
from tilewright.tflite.writer import Writer, first_axis

REDUCE = {
    "MEAN": "ReduceMean", "SUM": "ReduceSum", "REDUCE_MAX": "ReduceMax", "REDUCE_MIN": "ReduceMin",
    "REDUCE_PROD": "ReduceProd",
}  # fmt: skip
LOGICAL = {"REDUCE_ANY": "ReduceMax", "REDUCE_ALL": "ReduceMin"}


def reduce(writer: Writer, operator: FileOperator) -> None:
    """Over constant axes. Channels that come first stay there where rows and columns go."""
    x, y = operator.inputs[0], operator.outputs[0]
    rank, keep = len(writer.tensor(x).shape), int(bool(operator.integer(schema.Reducer.KEEP_DIMENSIONS)))
    axes = sorted({operator.axis(axis, rank) for axis in writer.known(operator, 1, "its axes")}) if rank else []
    first = rank >= 3 and writer.channels_first([x]) and (bool(keep) or axes == list(range(1, rank - 1)))
    placed = [first_axis(axis, rank) for axis in axes] if first else axes
    real = writer.value(x, first)
    if operator.name in LOGICAL:
        real = writer.op("Cast", real, to=6)
        kind = LOGICAL[operator.name]
    else:
        kind = REDUCE[operator.name]
    if placed:
        real = writer.op(kind, real, writer.numbers("axes", sorted(placed)), keepdims=keep)
    if operator.name in LOGICAL:
        real = writer.op("Cast", real, to=9)
    writer.define(y, real, first and bool(keep))


def place(writer: Writer, operator: FileOperator) -> None:
    """ARG_MAX and ARG_MIN: the first of equal elements."""
    (axis,) = writer.known(operator, 1, "its axis")
    kind = {"ARG_MAX": "ArgMax", "ARG_MIN": "ArgMin"}[operator.name]
    real = writer.op(kind, writer.value(operator.inputs[0]), axis=axis, keepdims=0)
    writer.define(operator.outputs[0], writer.cast(real, operator.outputs[0]))


def running(writer: Writer, operator: FileOperator) -> None:
    """CUMSUM."""
    options = schema.Cumsum
    (axis,) = writer.known(operator, 1, "its axis")
    exclusive, reverse = operator.integer(options.EXCLUSIVE), operator.integer(options.REVERSE)
    along = writer.constant("axis", np.asarray(axis, np.int64))
    real = writer.op("CumSum", writer.value(operator.inputs[0]), along, exclusive=exclusive, reverse=reverse)
    writer.define(operator.outputs[0], real)


OPERATORS = {
    **dict.fromkeys((*REDUCE, *LOGICAL), reduce), "ARG_MAX": place, "ARG_MIN": place, "CUMSUM": running,
}  # fmt: skip
