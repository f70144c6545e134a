"""Linear interpolation of images of codes between two rows and two columns with weights of any length.

Two rows are joined first, some channels at a time, in scratch: unsigned codes by weights of at most 24 bits fit 32.
Sums of two joined columns have 64 bits, and are exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
from tilewright.numerics import ROUNDING, Requantiser, requantise, resize_proof, the_quantisation, too_wide
from tilewright.platform import Call, Constant, KernelMethods, Operands
from tilewright.platforms.generic.kernels.codes_resize import form_of
from tilewright.platforms.generic.kernels.resized_images import (
    MOST_CHANNELS,
    ResizedImages,
    images_of,
    refused,
    source_constants,
    sources,
    unsigned_zero,
)
from tilewright.platforms.generic.platform import PLATFORM

MOST_CODE = 255


@dataclass(frozen=True)
class JoinedContext:
    """`flip` makes unsigned codes, whose sum with a row's weights `a`, `b` and a column's `p`, `q` has `offset` taken
    off; `shift` bits of the sum are rounded off, ties to even.
    """

    extent: ResizedImages
    flip: str
    offset: str
    shift: int
    requantise: Requantiser


def offset_text(call: Call, zero: int, *, wide: bool = True) -> str:
    """What the zero point adds to a sum, in 64 bits where that is `wide`, else in 32; rounded weights may add up to a
    little more or less than one whole."""
    wholes = [np.unique(weights.sum(axis=1)) for _, weights in sources(call)]
    if zero == 0 or all(whole.size == 1 for whole in wholes):
        return f"{zero * prod(int(whole.max(initial=0)) for whole in wholes)}{'LL' if wide else ''}"
    word = "int64_t" if wide else "int32_t"
    return f"({word})((u{word})(a + b) * (p + q)) * {zero}"


@PLATFORM.kernel(
    "Resize", "Upsample", types="qi8|qu8, *... -> qi8|qu8", template="resize_joined_i8.c.mako", layout="channels_last",
    sources=["saturate.h", *ROUNDING], preference=14,
)  # fmt: skip
class ResizeJoinedI8(KernelMethods):
    """Images scaled by any factor: rows joined once, then columns, in 64 bits."""

    def accepts(self, call: Call) -> str | None:
        """An interpolation of images whose joined rows fit 32 bits."""
        if (why := refused(call)) is not None:
            return why
        (_, rows), (_, columns) = sources(call)
        if min(rows.min(initial=0), columns.min(initial=0)) < 0:
            return "a weight is below zero"
        if MOST_CODE * int(rows.sum(axis=1).max(initial=0)) >= 1 << 32:
            return "joined rows do not fit 32 bits"
        return too_wide(resize_proof(call, form_of(call)))

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Places and weights of the sources, columns among joined ones."""
        return source_constants(operands.call, min(operands.call.shape()[1], MOST_CHANNELS))

    def scratch(self, operands: Operands) -> int:
        """A joined row of some channels, four bytes for a code."""
        shape = operands.call.shape()
        return 4 * min(shape[1], MOST_CHANNELS) * shape[3]

    def cost(self, call: Call) -> float:
        """Some thirty instructions per result, what a pixel takes, and eight for a code of a joined row."""
        x, y = call.tensor(0), call.outputs[0]
        joined = y.shape[0] * y.shape[1] * y.shape[2] * x.shape[3]
        return 30.0 * y.elements + 20.0 * y.elements / max(1, y.shape[1]) + 8.0 * joined

    def context(self, operands: Operands) -> JoinedContext:
        """The numbers of the layer."""
        call = operands.call
        form, x = form_of(call), call.tensor(0)
        flip, zero = unsigned_zero(the_quantisation(x).zero_point[0], x.dtype)
        extent = images_of(call, min(call.shape()[1], MOST_CHANNELS))
        requantiser = requantise(resize_proof(call, form))
        return JoinedContext(extent, flip, offset_text(call, zero), form.bits - form.kept, requantiser)
