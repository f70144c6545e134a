"""ConvInteger: windows of some pixels are gathered and multiplied as rows of a product of bytes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

from tilewright.operators import conv_window
from tilewright.platform import Call, Constant, KernelMethods, Operands
from tilewright.platforms.generic.kernels.integer_product import (
    DEEPEST,
    TYPES,
    IntegerProductContext,
    IntegerWindows,
    given_constants,
    numbers_of,
)
from tilewright.platforms.generic.kernels.two_operands import TwoOperands
from tilewright.platforms.generic.platform import PLATFORM

PIXELS = 4
"""Windows that are gathered at a time."""


@dataclass(frozen=True)
class Axis:
    """One spatial axis: sizes of input, window and result, and how the window stands over the input."""

    size: int
    kernel: int
    out: int
    stride: int
    dilation: int
    pad: int

    @property
    def text(self) -> str:
        """The fields of `tilewright_window_axis`."""
        return f"{{{self.size}, {self.kernel}, {self.stride}, {self.dilation}, {self.pad}}}"


def axes_of(call: Call) -> tuple[Axis, Axis]:
    """The two spatial axes."""
    window = conv_window(replace(call, inputs=call.inputs[:2]))
    parts = (window.kernel, window.outs, window.strides, window.dilations, window.begins)
    h, w = (Axis(*each) for each in zip(call.shape(0)[2:], *parts, strict=True))
    return h, w


def depth_of(call: Call) -> int:
    """Products of one sum."""
    return prod(call.shape(1)[1:])


def refused(call: Call) -> str | None:
    """None for one group over images, one zero point for each operand, and sums that int32 holds."""
    if len(call.shape(0)) != 4 or call.integer("group", 1) != 1:
        return "the kernel handles one group over images"
    if any(zero is not None and zero.elements != 1 for zero in (call.optional(2), call.optional(3))):
        return "it has a zero point per channel, the kernel takes one for each operand"
    if depth_of(call) >= DEEPEST:
        return f"{depth_of(call)} products of bytes may leave int32"
    return None if call.outputs[0].elements and depth_of(call) else "the tensor has no elements"


def windows_of(call: Call, most: int, *, columns_first: bool = False) -> tuple[TwoOperands, IntegerWindows]:
    """The product of `most` pixels' windows and the weights as they are, or [products][channels], and its windows."""
    h, w = axes_of(call)
    depth, channels, image = depth_of(call), call.shape(1)[0], prod(call.outputs[0].shape[2:])
    pixels = min(most, image)
    step, column = (channels, 1) if columns_first else (1, depth)
    product = TwoOperands((), pixels, depth, channels, depth, 1, step, column, 1, image)
    windows = IntegerWindows(call.shape(0)[0], call.shape(0)[1], h.text, w.text, h.size * w.size, w.out, image)
    return product, windows


def gathered_bytes(call: Call, most: int) -> int:
    """Windows of so many pixels."""
    return min(most, prod(call.outputs[0].shape[2:])) * depth_of(call)


@PLATFORM.kernel(
    "ConvInteger", types=TYPES, template="integer_product.c.mako", layout="default",
    sources=["vectorised.h", "integer_conv.h"], preference=5,
)  # fmt: skip
class IntegerConv(KernelMethods):
    """Blocks of pixels and channels, less their zero points where they are read."""

    def accepts(self, call: Call) -> str | None:
        """See `refused`."""
        return refused(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Operands that are constant."""
        return given_constants(operands.call)

    def scratch(self, operands: Operands) -> int:
        """The gathered windows."""
        return gathered_bytes(operands.call, PIXELS)

    def context(self, operands: Operands) -> IntegerProductContext:
        """The numbers of the product."""
        call = operands.call
        product, windows = windows_of(call, PIXELS)
        return numbers_of(call, product, windows)
