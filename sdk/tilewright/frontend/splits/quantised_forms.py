"""Operators on codes that have no operator of their own here, and the layouts with channels last of those that have.

What is left of these is rewritten by the quantisation pass, with the operators that it knows.
"""

from __future__ import annotations

from typing import Any

from tilewright.frontend.splits.parts import Parts, Rule
from tilewright.frontend.splits.spelling import MICROSOFT, channels_first, channels_last, dequantised, quantised


def _mean(parts: Parts) -> None:
    real = dequantised(parts, 0)
    axes = tuple(int(axis) for axis in parts.numbers("axes"))
    mean = parts.op("ReduceMean", real, parts.constant(axes), keepdims=parts.whole("keepdims", 1))
    quantised(parts, mean, 3, parts.tensor(0).dtype, parts.output(0))


def _where(parts: Parts) -> None:
    condition = parts.op("Cast", parts.input(0), to=9)
    chosen = parts.op("Where", condition, dequantised(parts, 1), dequantised(parts, 4))
    quantised(parts, chosen, 7, parts.tensor(1).dtype, parts.output(0))


def _nhwc_pool(parts: Parts) -> None:
    rank = len(parts.shape(0))
    known = ("auto_pad", "ceil_mode", "dilations", "kernel_shape", "pads", "strides")
    pool = parts.op("MaxPool", channels_first(parts, parts.input(0), rank), **parts.attributes(*known))
    channels_last(parts, pool, rank, parts.output(0))


def _turned(parts: Parts) -> None:
    """The same node on channels behind the batch, between two transpositions; nothing where it is that already."""
    if not parts.whole("channels_last", 0):
        return
    rank, node = len(parts.shape(0)), parts.node
    operands = (channels_first(parts, parts.input(0), rank), *node.inputs[1:])
    attributes: dict[str, Any] = {name: value for name, value in node.attributes.items() if name != "channels_last"}
    result = parts.op(node.op, *operands, domain=MICROSOFT, **attributes)
    channels_last(parts, result, rank, parts.output(0))


_LAYOUTS: tuple[str, ...] = ("QLinearConv", "QLinearAveragePool", "QLinearGlobalAveragePool")
SPLITS: dict[tuple[str, str], Rule] = {
    (MICROSOFT, "QLinearReduceMean"): _mean,
    (MICROSOFT, "QLinearWhere"): _where,
    (MICROSOFT, "NhwcMaxPool"): _nhwc_pool,
    **{(MICROSOFT, op): _turned for op in _LAYOUTS},
}
