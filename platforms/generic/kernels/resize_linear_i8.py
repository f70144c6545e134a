"""Linear interpolation of images of codes between two rows and two columns, two channels in a word.

Weights of both axes together are small where an image is enlarged by two or four, so that the sums of two channels fit
the halves of one 32-bit word. Two rows are joined first, some channels at a time, in scratch.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.numerics import ROUNDING, Requantiser, requantise, resize_proof, the_quantisation, too_wide
from tilewright.platform import Call, Constant, KernelMethods, Operands
from tilewright.platforms.generic.kernels.codes_resize import form_of
from tilewright.platforms.generic.kernels.resized_images import (
    MOST_CHANNELS,
    ResizedImages,
    images_of,
    refused,
    source_constants,
    unsigned_zero,
)
from tilewright.platforms.generic.platform import PLATFORM

MOST_BITS = 8
"""Of all weights together: 255 times their sum stays below 2^16."""


@dataclass(frozen=True)
class ResizeContext:
    """`flip` makes unsigned codes, whose sum has `offset` taken off."""

    extent: ResizedImages
    flip: str
    offset: int
    requantise: Requantiser


def at_once(channels: int) -> int:
    """Channels that are joined at a time, whole fours."""
    return min(channels - channels % 4, MOST_CHANNELS)


@PLATFORM.kernel(
    "Resize", "Upsample", types="qi8|qu8, *... -> qi8|qu8", template="resize_linear_i8.c.mako", layout="channels_last",
    sources=["saturate.h", *ROUNDING], preference=15,
)  # fmt: skip
class ResizeLinearI8(KernelMethods):
    """Enlarging by two and its like: weights that are short binary fractions."""

    def accepts(self, call: Call) -> str | None:
        """An interpolation of images with short weights."""
        if (why := refused(call)) is not None:
            return why
        form = form_of(call)
        if form.bits > MOST_BITS or form.kept < form.bits:
            return f"its weights have {form.bits} bits, the kernel adds up in sixteen"
        return too_wide(resize_proof(call, form))

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Places and weights of the sources."""
        return source_constants(operands.call, 1)

    def scratch(self, operands: Operands) -> int:
        """Two joined rows of some channels, two bytes for a code."""
        shape = operands.call.shape()
        return 2 * at_once(shape[1]) * shape[3]

    def cost(self, call: Call) -> float:
        """Some thirteen instructions per result, and what a pixel takes."""
        y = call.outputs[0]
        return 13.0 * y.elements + 30.0 * y.elements / y.shape[1]

    def context(self, operands: Operands) -> ResizeContext:
        """The numbers of the layer."""
        call = operands.call
        form, x = form_of(call), call.tensor(0)
        flip, zero = unsigned_zero(the_quantisation(x).zero_point[0], x.dtype)
        extent = images_of(call, at_once(call.shape()[1]))
        return ResizeContext(extent, flip, zero << form.bits, requantise(resize_proof(call, form)))
