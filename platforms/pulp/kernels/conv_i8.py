"""Integer convolution of one tile: every core takes some pixels, or some channels where there are few pixels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from tilewright.numerics import C_TYPES, ROUNDING, Requantiser, accumulator, proof, requantise, the_quantisation
from tilewright.operators import conv_window
from tilewright.platform import Call, Constant, DType, Operands, Rule, TiledKernelMethods, TileView
from tilewright.platforms.generic.kernels.blocks import not_by_channel
from tilewright.platforms.generic.kernels.conv_i8 import accepts, weights_of
from tilewright.platforms.pulp.kernels.windows import (
    SOURCES,
    TILE,
    per_channel,
    two_axes,
    window_cycles,
    window_rules,
    window_tile,
)
from tilewright.platforms.pulp.platform import PLATFORM

TYPES = "qi8|qu8|qi16|qu16, qi8|qu8|qi4|qu4|qi16, i32|i64? -> qi8|qu8|qi16|qu16"


@dataclass(frozen=True)
class ConvContext:
    """The numbers of one convolution that all its tiles share. `depth` input channels enter one result."""

    x_type: str
    w_type: str
    y_type: str
    depth: int
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    zero_point: int
    requantise: Requantiser


class ConvMethods(TiledKernelMethods):
    """What both kernels answer alike; `_channels` is the loop over the output channels."""

    tile_type = TILE
    _channels: ClassVar[str]

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights as [output channel][kh][kw][input channel], folded starts, requantisation; all cut by channels."""
        call = operands.call
        weights, dtype = weights_of(call)
        channels = weights.shape[0]
        start = np.asarray(accumulator(call).start, np.int32)
        requantisation = requantise(proof(call)).constants
        packed = Constant("w", dtype, np.moveaxis(weights, 1, -1).reshape(-1), along=(self._channels,))
        return (packed, *per_channel((Constant("b", DType.I32, start), *requantisation), channels, self._channels))

    def context(self, operands: Operands) -> ConvContext:
        """The numbers of the layer."""
        call = operands.call
        window = conv_window(call)
        return ConvContext(
            C_TYPES[call.tensor(0).dtype], C_TYPES[weights_of(call)[1]], C_TYPES[call.outputs[0].dtype],
            call.shape(1)[1], window.kernel, window.strides, window.dilations,
            the_quantisation(call.tensor(0)).zero_point[0], requantise(proof(call)),
        )  # fmt: skip

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        """Sizes and padding of one tile."""
        return window_tile(view, self._channels)


@PLATFORM.kernel(
    "Conv", types=TYPES, template="conv_i8.c.mako", layout="channels_last", sources=[*SOURCES, *ROUNDING],
    preference=10,
)  # fmt: skip
class TiledConvI8(ConvMethods):
    """Integer convolution over tiles in L1, all input channels at once."""

    _channels = "oc"

    def accepts(self, call: Call) -> str | None:
        """One group, two spatial axes, and what every integer convolution asks for."""
        if call.integer("group", 1) != 1:
            return f"{call.integer('group', 1)} groups, the kernel handles one"
        return two_axes(call) or accepts(call)

    def rules(self, call: Call) -> list[Rule]:
        """Input channels and taps stay whole."""
        return window_rules("n", "g", "ic", "kh", "kw")

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Twelve cycles for a multiplication and its share of the loops."""
        return window_cycles(call, sizes, sizes["ic"] * sizes["kh"] * sizes["kw"], sizes["oc"], 12)


@PLATFORM.kernel(
    "Conv", types=TYPES, template="depthwise_i8.c.mako", layout="channels_last", sources=[*SOURCES, *ROUNDING],
    preference=20,
)  # fmt: skip
class TiledDepthwiseI8(ConvMethods):
    """Integer depthwise convolution over tiles in L1."""

    _channels = "g"

    def accepts(self, call: Call) -> str | None:
        """As many groups as input and output channels."""
        return not_by_channel(call) or two_axes(call) or accepts(call)

    def rules(self, call: Call) -> list[Rule]:
        """Taps stay whole."""
        return window_rules("n", "oc", "ic", "kh", "kw")

    def cycles(self, call: Call, sizes: Mapping[str, Any]) -> Any:
        """Twenty-six cycles a tap."""
        return window_cycles(call, sizes, sizes["kh"] * sizes["kw"], sizes["g"], 26)
