"""Integer convolutions of one tile by blocks: rows reused in registers, all cores busy whatever the tile's shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from tilewright.operators import conv_window, remembered
from tilewright.platform import Call, Constant, Operands, Rule, TiledKernelMethods, TileView, multiple, whole
from tilewright.platforms.generic.kernels.conv_i8 import accepts, weights_of
from tilewright.platforms.pulp.kernels.block_i8 import (
    MOST_TAPS,
    WIDTH,
    BlockContext,
    Plan,
    Window,
    context,
    cycles,
    plan_of,
    refusal,
    stream,
)
from tilewright.platforms.pulp.kernels.conv_i8 import TYPES
from tilewright.platforms.pulp.kernels.windows import SOURCES, TILE, lines, taps, window_tile
from tilewright.platforms.pulp.platform import PLATFORM

BLOCK_SOURCES = (*SOURCES, "xpulp.h", "block.h", "gather.h")
SUMS_WHOLE = "a sum stays in one register from the first tap to the last"
FOURS = "weights lie in groups of four output channels"
ONE_ROW = (1, 1, 1, 1, 0, 1)
"""Results, taps, stride, dilation, padding and inputs along the rows of a signal, which has one spatial axis."""


@remembered
def window_of(call: Call) -> Window:
    """The convolution as the blocks see it; `ends` is the padding that the last windows really reach into."""
    window = conv_window(call)
    _, depth, *sizes = call.shape(0)
    axes = list(zip(window.outs, window.kernel, window.strides, window.dilations, window.begins, sizes, strict=True))
    (_, kh, sh, dh, top, _), (_, kw, sw, dw, left, _) = ends = axes if len(axes) == 2 else [ONE_ROW, *axes]
    bottom, right = (max(0, (out - 1) * s + (k - 1) * d + 1 - begin - size) for out, k, s, d, begin, size in ends)
    return Window(depth, call.outputs[0].shape[1], (kh, kw), (sh, sw), (dh, dw), (top, left), (bottom, right))


@PLATFORM.kernel(
    "Conv", types=TYPES, template="block_i8.c.mako", layout="channels_last", sources=BLOCK_SOURCES, preference=30,
)  # fmt: skip
class BlockConvI8(TiledKernelMethods):
    """Integer convolution over tiles in L1, by blocks of four pixels and four channels."""

    tile_type = TILE

    def accepts(self, call: Call) -> str | None:
        """One group, one or two spatial axes, weights of eight bits, a requantisation of 32 bits."""
        if call.integer("group", 1) != 1:
            return f"{call.integer('group', 1)} groups, the kernel handles one"
        why = accepts(call)
        return why or refusal(window_of(call), call, weights_of(call)[1])

    def rules(self, call: Call) -> list[Rule]:
        """Input channels and taps stay whole; output channels go in fours."""
        return [*whole("n", "g", "ic", *taps(call), why=SUMS_WHOLE), multiple("oc", WIDTH, why=FOURS)]

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Those of the core that has most blocks."""
        return cycles(plan_of(window_of(call), call), lines(sizes), sizes["ow"], sizes["oc"], _height(call))

    def tile_scratch(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """The same for every tile."""
        return plan_of(window_of(call), call).scratch_bytes

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """One stream per group of four output channels."""
        call = operands.call
        weights, _ = weights_of(call)
        return (stream(plan_of(window_of(call), call), call, np.moveaxis(weights, 1, -1), "oc"),)

    def context(self, operands: Operands) -> BlockContext:
        """The listings of the blocks, and how the cores share them."""
        return context(plan_of(window_of(operands.call), operands.call), operands.call, "x")

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """Sizes and padding of one tile."""
        return window_tile(view, "oc")


def _height(call: Call) -> int:
    """Rows of results; a signal, with one spatial axis, has one."""
    shape = call.outputs[0].shape
    return shape[2] if len(shape) == 4 else 1


def _apart(call: Call) -> Plan:
    """How a depthwise convolution is computed."""
    return plan_of(window_of(call), call, apart=True)


@PLATFORM.kernel(
    "Conv", types=TYPES, template="block_i8.c.mako", layout="channels_last", sources=BLOCK_SOURCES, preference=40,
)  # fmt: skip
class BlockDepthwiseI8(TiledKernelMethods):
    """Integer depthwise convolution over tiles in L1, by blocks of four pixels and four channels."""

    tile_type = TILE

    def accepts(self, call: Call) -> str | None:
        """As many groups as input and output channels, a multiple of four; weights and requantisation as in blocks."""
        channels = call.shape(0)[1]
        if call.integer("group", 1) != channels or call.outputs[0].shape[1] != channels or channels == 1:
            return "the kernel handles as many groups as channels, with one result each"
        if channels % WIDTH:
            return f"{channels} channels are no multiple of {WIDTH}"
        if (why := accepts(call)) is not None:
            return why
        window = window_of(call)
        if window.kernel[1] > MOST_TAPS:
            return f"{window.kernel[1]} taps in a row are more than the {MOST_TAPS} that the kernel unrolls"
        return refusal(window, call, weights_of(call)[1], apart=True)

    def rules(self, call: Call) -> list[Rule]:
        """Taps stay whole; channels go in fours."""
        return [*whole("n", "oc", "ic", *taps(call), why=SUMS_WHOLE), multiple("g", WIDTH, why=FOURS)]

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Those of the core that has most blocks."""
        return cycles(_apart(call), lines(sizes), sizes["ow"], sizes["g"], _height(call))

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """One stream per group of four channels."""
        weights, _ = weights_of(operands.call)
        return (stream(_apart(operands.call), operands.call, np.moveaxis(weights, 1, -1), "g"),)

    def context(self, operands: Operands) -> BlockContext:
        """The listings of the blocks, and how the cores share them."""
        return context(_apart(operands.call), operands.call, "x")

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """Sizes and padding of one tile."""
        return window_tile(view, "g")
