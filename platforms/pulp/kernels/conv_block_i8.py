"""Integer convolutions of one tile by blocks: rows reused in registers, all cores busy whatever the tile's shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from tilewright.numerics import ROUNDING
from tilewright.operators import conv_window, remembered
from tilewright.platform import Array, Call, Constant, Operands, Rule, TiledKernelMethods, TileView, multiple, whole
from tilewright.platforms.generic.kernels.blocks import not_by_channel
from tilewright.platforms.generic.kernels.conv_i8 import accepts, weights_of
from tilewright.platforms.pulp.kernels.block_costs import cycles
from tilewright.platforms.pulp.kernels.block_i8 import (
    BlockContext,
    context,
    exact,
    plan_of,
    refusal,
    stream,
)
from tilewright.platforms.pulp.kernels.block_plan import WIDTH, Plan
from tilewright.platforms.pulp.kernels.block_window import Window
from tilewright.platforms.pulp.kernels.conv_i8 import TYPES
from tilewright.platforms.pulp.kernels.windows import SOURCES, TILE, lines, taps, window_tile
from tilewright.platforms.pulp.platform import PLATFORM

BLOCK_SOURCES = (*ROUNDING, *SOURCES, "xpulp.h", "block.h", "gather.h")
SUMS_WHOLE = "a sum stays in one register from the first tap to the last"
FOURS = "weights lie in groups of four output channels"
LAST = "the last channels are computed over those before them"
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
    size_bytes = depth * call.tensor(0).dtype.bits // 8
    return Window(
        size_bytes, call.outputs[0].shape[1], (kh, kw), (sh, sw), (dh, dw), (top, left), (bottom, right), sizes[-1],
        window.outs[-1], len(axes) == 1,
    )  # fmt: skip


MOST_TAPS_APART = 11
"""Taps in a row of a depthwise convolution; behind five of them its loop no longer fits into a core's own cache."""
LARGEST_SPREAD = 24 * 1024
"""Bytes of the weights of several groups with the zeros between them."""


def spread_weights(call: Call) -> Array:
    """Weights of several groups as those of one: [OC, IC, KH, KW], zero where a channel is of another group."""
    weights, _ = weights_of(call)
    groups, own = call.integer("group", 1), weights.shape[1]
    whole = np.zeros((weights.shape[0], call.shape(0)[1], *weights.shape[2:]), weights.dtype)
    for group, channels in enumerate(np.split(np.arange(weights.shape[0]), groups)):
        whole[channels, group * own : (group + 1) * own] = weights[channels]
    return whole


def _width(call: Call) -> int:
    """Channels of a word of inputs."""
    return 2 if call.tensor(0).dtype.bits == 16 else WIDTH


@remembered
def _together(call: Call) -> Plan:
    """How a convolution is computed whose results read all channels."""
    return plan_of(window_of(call), call)


@remembered
def _apart(call: Call) -> Plan:
    """How a depthwise convolution is computed."""
    return plan_of(window_of(call), call, apart=True)


@PLATFORM.kernel(
    "Conv", types=TYPES, template="block_i8.c.mako", layout="channels_last", sources=BLOCK_SOURCES, preference=25,
)  # fmt: skip
class BlockGroupedI8(TiledKernelMethods):
    """Integer convolution of several groups by the blocks of one: four products an instruction outweigh the zeros."""

    tile_type = TILE

    def accepts(self, call: Call) -> str | None:
        """Few bytes of zeros; weights of eight bits, a requantisation of 32 bits."""
        groups, depth = call.integer("group", 1), call.shape(0)[1]
        if groups == 1:
            return "1 group, the kernel spreads the weights of several"
        if (why := accepts(call)) is not None:
            return why
        size_bytes = call.tensor(1).elements * groups
        if size_bytes > LARGEST_SPREAD:
            return f"{size_bytes:,} B of weights with zeros between groups, the kernel takes {LARGEST_SPREAD:,}"
        return refusal(window_of(call), call, weights_of(call)[1]) if depth > 1 else "the operand has one channel"

    def rules(self, call: Call) -> list[Rule]:
        """All channels stay together, and the taps."""
        return whole("n", "g", "oc", "ic", *taps(call), why=SUMS_WHOLE)

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Those of the core that has most blocks."""
        channels = call.outputs[0].shape[1]
        return cycles(_together(call), lines(sizes), sizes["ow"], channels, _height(call))

    def tile_scratch(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """The same for every tile."""
        return _together(call).scratch_bytes

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """One stream per group of four output channels."""
        call = operands.call
        plan = _together(call)
        return (stream(plan, call, np.moveaxis(spread_weights(call), 1, -1), ""), *exact(plan, call, ""))

    def context(self, operands: Operands) -> BlockContext:
        """The listings of the blocks, and how the cores share them."""
        return context(_together(operands.call), operands.call, "x")

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """Sizes and padding of one tile."""
        return {**window_tile(view, "oc"), "channels": call.outputs[0].shape[1]}


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
        return cycles(_together(call), lines(sizes), sizes["ow"], sizes["oc"], _height(call))

    def tile_scratch(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """The same for every tile."""
        return _together(call).scratch_bytes

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """One stream per group of four output channels."""
        call = operands.call
        weights, _ = weights_of(call)
        plan = _together(call)
        return (stream(plan, call, np.moveaxis(weights, 1, -1), "oc"), *exact(plan, call, "oc"))

    def context(self, operands: Operands) -> BlockContext:
        """The listings of the blocks, and how the cores share them."""
        return context(_together(operands.call), operands.call, "x")

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """Sizes and padding of one tile."""
        return window_tile(view, "oc")


def _height(call: Call) -> int:
    """Rows of results; a signal, with one spatial axis, has one."""
    shape = call.outputs[0].shape
    return shape[2] if len(shape) == 4 else 1


@PLATFORM.kernel(
    "Conv", types=TYPES, template="block_i8.c.mako", layout="channels_last", sources=BLOCK_SOURCES, preference=40,
)  # fmt: skip
class BlockDepthwiseI8(TiledKernelMethods):
    """Integer depthwise convolution over tiles in L1, by blocks of four pixels and four channels."""

    tile_type = TILE

    def accepts(self, call: Call) -> str | None:
        """As many groups as input and output channels, a word of them; weights and requantisation as in blocks."""
        if (why := not_by_channel(call)) is not None:
            return why
        channels = call.shape(0)[1]
        if channels < (width := _width(call)):
            return f"{channels} channels, the kernel computes {width} at once"
        if (why := accepts(call)) is not None:
            return why
        window = window_of(call)
        if window.kernel[1] > MOST_TAPS_APART:
            return f"{window.kernel[1]} taps in a row are more than the {MOST_TAPS_APART} that the kernel unrolls"
        return refusal(window, call, weights_of(call)[1], apart=True)

    def rules(self, call: Call) -> list[Rule]:
        """Taps stay whole; channels go in words, or stay together where they are no whole number of words."""
        width = _width(call)
        channels = whole("g", why=LAST) if call.shape(0)[1] % width else [multiple("g", width, why=FOURS)]
        return [*whole("n", "oc", "ic", *taps(call), why=SUMS_WHOLE), *channels]

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Those of the core that has most blocks."""
        return cycles(_apart(call), lines(sizes), sizes["ow"], sizes["g"], _height(call))

    def tile_scratch(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """The same for every tile."""
        return _apart(call).scratch_bytes

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """One stream per word of channels."""
        call = operands.call
        loop = "" if call.shape(0)[1] % _width(call) else "g"
        plan = _apart(call)
        return (stream(plan, call, np.moveaxis(weights_of(call)[0], 1, -1), loop), *exact(plan, call, loop))

    def context(self, operands: Operands) -> BlockContext:
        """The listings of the blocks, and how the cores share them."""
        return context(_apart(operands.call), operands.call, "x")

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """Sizes and padding of one tile."""
        return window_tile(view, "g")
