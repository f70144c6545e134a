"""FusedConv and its kin: a convolution, the sum with another tensor, an activation."""

from __future__ import annotations

from tilewright.frontend.splits.parts import Parts
from tilewright.frontend.splits.spelling import MICROSOFT, activate, channels_first, channels_last

_CONV = ("auto_pad", "dilations", "group", "kernel_shape", "pads", "strides")


def _fused(parts: Parts) -> None:
    result = parts.op("Conv", *(parts.input(index) for index in range(3)), **parts.attributes(*_CONV))
    if parts.input(3):
        result = parts.op("Add", result, parts.input(3))
    activate(parts, result, parts.numbers("activation_params"), parts.output(0))


def _nhwc(parts: Parts) -> None:
    rank = len(parts.shape(0))
    operands = (channels_first(parts, parts.input(0), rank), parts.input(1), parts.input(2))
    result = parts.op("Conv", *operands, **parts.attributes(*_CONV))
    if parts.input(3):
        result = parts.op("Add", result, channels_first(parts, parts.input(3), rank))
    result = activate(parts, result, parts.numbers("activation_params"))
    channels_last(parts, result, rank, parts.output(0))


SPLITS = {(MICROSOFT, "FusedConv"): _fused, (MICROSOFT, "NhwcFusedConv"): _nhwc, (MICROSOFT, "NhwcConv"): _nhwc}
