"""ConvInteger on cores with the DSP or the vector extension: windows are gathered and multiplied as rows of a product.

Some pixels go at a time, so that packing the weights anew for them costs little. See `integer_product.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from tilewright.numerics import C_TYPES, SHIFTS
from tilewright.platform import Call, Constant, DType, KernelMethods, Needs, Operands
from tilewright.platforms.cortex_m.kernels import matrix_i8, mve_product, product_i8
from tilewright.platforms.cortex_m.kernels.integer_product import zeros_of
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels import integer_conv as portable_conv
from tilewright.platforms.generic.kernels import integer_product as portable
from tilewright.platforms.generic.kernels.integer_conv import Axis, axes_of, depth_of

WINDOWS = "../../generic/kernels/integer_conv.h"
MOST_PIXELS = 8
"""Pixels whose windows are gathered at a time."""
MOST_COLUMNS = 16
"""Channels that are packed at a time."""


@dataclass(frozen=True)
class IntegerConvContext:
    """`pixels` at a time times `chunk` channels at a time; `at` are bytes of scratch behind the gathered windows where
    packed weights, and what follows them, lie. `fill` is C of what padding holds, `zeros` of signed zero points."""

    x_type: str
    w_type: str
    images: int
    inputs: int
    h: Axis
    w: Axis
    depth: int
    channels: int
    pixels: int
    at_once: int
    chunk: int
    at: tuple[int, ...]
    shape: tuple[int, ...]
    fill: str
    zeros: tuple[str, str]


def refused(call: Call) -> str | None:
    """None for what the portable kernel takes, of two channels or more."""
    if call.shape(1)[0] < 2:
        return "the kernel computes two channels at once"
    return portable_conv.refused(call)


def pixels_of(call: Call) -> int:
    """Pixels that are gathered at a time."""
    return min(MOST_PIXELS, prod(call.outputs[0].shape[2:]))


def context_of(call: Call, chunk: int, at: tuple[int, ...], at_once: int) -> IntegerConvContext:
    """The numbers of the layer; places of results count bytes, neighbours along a row are neighbours in memory."""
    h, w = axes_of(call)
    x, weights = call.tensor(0), call.tensor(1)
    depth, image = depth_of(call), prod(call.outputs[0].shape[2:])
    flips = [0x80 if tensor.dtype is DType.U8 else 0 for tensor in (x, weights)]
    shape = (pixels_of(call), depth, chunk, depth, 1, flips[0], 0, depth, 1, flips[1], 0, 4, 4 * image)
    return IntegerConvContext(
        x_type=C_TYPES[x.dtype],
        w_type=C_TYPES[weights.dtype],
        images=x.shape[0],
        inputs=x.shape[1],
        h=h,
        w=w,
        depth=depth,
        channels=weights.shape[0],
        pixels=pixels_of(call),
        at_once=at_once,
        chunk=chunk,
        at=at,
        shape=shape,
        fill=portable.zero_of(call, 0),
        zeros=zeros_of(call),
    )


def gathered_bytes(call: Call) -> int:
    """Windows of the pixels, whole words."""
    size = pixels_of(call) * depth_of(call)
    return size + -size % 16


@PLATFORM.kernel(
    "ConvInteger", types=portable.TYPES, template="integer_conv_dsp.c.mako", layout="default",
    sources=[SHIFTS, "dsp.h", "matrix_i8.h", "product_exact.h", "product_dsp.h", WINDOWS], preference=20,
    requires=Needs(has=("dsp",)),
)  # fmt: skip
class IntegerConvDsp(KernelMethods):
    """Sums of products of bytes in dual multiplies."""

    def accepts(self, call: Call) -> str | None:
        """See `refused`."""
        return refused(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Operands that are constant."""
        return portable.given_constants(operands.call)

    def scratch(self, operands: Operands) -> int:
        """Gathered windows, packed channels and widened windows."""
        call = operands.call
        depth = depth_of(call) + -depth_of(call) % 4
        return gathered_bytes(call) + depth * (self._chunk(call) + 2 * matrix_i8.pixels_at_once(pixels_of(call)))

    def cost(self, call: Call) -> float:
        """Some two instructions a product."""
        return 2.0 * call.outputs[0].elements * depth_of(call)

    def context(self, operands: Operands) -> IntegerConvContext:
        """The numbers of the layer."""
        call = operands.call
        chunk, depth = self._chunk(call), depth_of(call) + -depth_of(call) % 4
        at = (gathered_bytes(call), gathered_bytes(call) + chunk * depth)
        return context_of(call, chunk, at, matrix_i8.pixels_at_once(pixels_of(call)))

    def _chunk(self, call: Call) -> int:
        return max(2, product_i8.chunk_of(call.shape(1)[0], MOST_COLUMNS, 4))


@PLATFORM.kernel(
    "ConvInteger", types=portable.TYPES, template="integer_conv_mve.c.mako", layout="default",
    sources=["mve.h", "product_exact.h", "product_mve.h", WINDOWS], preference=40,
    requires=Needs(has=("mve",)),
)  # fmt: skip
class IntegerConvMve(KernelMethods):
    """Sums of products of bytes in vectors."""

    def accepts(self, call: Call) -> str | None:
        """See `refused`."""
        return refused(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Operands that are constant."""
        return portable.given_constants(operands.call)

    def scratch(self, operands: Operands) -> int:
        """Gathered windows, packed channels, their starts, and a window."""
        *_, last = self._at(operands.call)
        return last + mve_product.copied_bytes(depth_of(operands.call))

    def cost(self, call: Call) -> float:
        """Some half an instruction a product."""
        return 0.6 * call.outputs[0].elements * depth_of(call)

    def context(self, operands: Operands) -> IntegerConvContext:
        """The numbers of the layer."""
        call = operands.call
        return context_of(call, self._chunk(call), self._at(call), 1)

    def _at(self, call: Call) -> tuple[int, ...]:
        whole = self._chunk(call) + -self._chunk(call) % mve_product.EIGHT
        packed = gathered_bytes(call) + whole * mve_product.column_bytes(depth_of(call))
        return gathered_bytes(call), packed, packed + 4 * whole

    def _chunk(self, call: Call) -> int:
        return product_i8.chunk_of(call.shape(1)[0], MOST_COLUMNS, mve_product.EIGHT)
