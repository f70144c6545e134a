"""Float depthwise convolution between planes with weights of the run time: `depthwise_tile_f32` channel by channel."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from tilewright.operators import conv_window
from tilewright.platform import Call, Constant, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels.blocks import Axis, axis, not_by_channel
from tilewright.platforms.generic.kernels.depthwise_tile_f32 import (
    LARGEST,
    Tile,
    TileContext,
    cheapest,
    tile_of,
    widest,
)
from tilewright.platforms.generic.kernels.elements import constants_by_name
from tilewright.platforms.generic.kernels.float_text import rectified_text
from tilewright.platforms.generic.platform import PLATFORM


def plane_axes(call: Call) -> tuple[Axis, Axis]:
    """Rows and columns of one channel, whose columns lie side by side."""
    window, sizes, outs = conv_window(call), call.shape(0)[2:], call.outputs[0].shape[2:]
    steps = (1,) if len(sizes) == 1 else (sizes[1], 1)
    axes = [
        axis(size, out, kernel, stride, dilation, begin, step)
        for size, out, kernel, stride, dilation, begin, step in zip(
            sizes, outs, window.kernel, window.strides, window.dilations, window.begins, steps, strict=True
        )
    ]
    return axes[-2] if len(axes) == 2 else axis(1, 1, 1, 1, 1, 0, sizes[0]), axes[-1]


def _chosen(call: Call) -> tuple[Axis, Axis, Tile, float]:
    h, w = plane_axes(call)
    tiles = [tile_of(h, w, 1, columns, 0) for columns in range(1, widest(w) + 1)]
    cost, tile = cheapest(h, w, tiles, call.shape(0)[1], call.node.clamp)
    return h, w, tile, cost


class DepthwisePlanesF32(KernelMethods):
    """Float depthwise convolution with weights as the file has them, neighbouring results of one channel at a time."""

    def accepts(self, call: Call) -> str | None:
        """Weights of the run time, as many groups as channels with one result each, a window of at most 25 taps."""
        x, weights = call.shape(0), call.shape(1)
        if 1 in call.constants:
            return "the weights are constant, other kernels repack them at compile time"
        if len(x) not in (3, 4) or x[0] != 1:
            return "the kernel handles one image of one or two axes"
        if (refused := not_by_channel(call)) is not None:
            return refused
        taps = call.tensor(1).elements // weights[0]
        return None if taps <= LARGEST else f"a window of {taps} taps, the kernel unrolls at most {LARGEST}"

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """An operand or a bias that is constant."""
        return constants_by_name(operands, 0, 2)

    def cost(self, call: Call) -> float:
        """The tiles of all channels."""
        return _chosen(call)[3]

    def context(self, operands: Operands) -> TileContext:
        """The text of the tile."""
        call = operands.call
        h, w, tile, _ = _chosen(call)
        bias = call.optional(2) is not None
        return TileContext(
            h, w, call.shape(0)[1], h.kernel * w.kernel, h.size * w.size, h.out * w.out, bias, "*b" if bias else "0.0f",
            tile, rectified_text("v", call.node.clamp),
        )  # fmt: skip


class DepthwiseCopiedF32(DepthwisePlanesF32):
    """The same from copies of up to four planes, so that results may lie over the operand."""

    def accepts(self, call: Call) -> str | None:
        """Planes that do not grow."""
        if (refused := super().accepts(call)) is not None:
            return refused
        fits = prod(call.outputs[0].shape[2:]) <= prod(call.shape(0)[2:])
        return None if fits else "results are larger than the operand"

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Planes lie over those that were copied."""
        return ((0, 0),)

    def scratch(self, operands: Operands) -> int:
        """The copies."""
        return 4 * _together(operands.call) * prod(operands.call.shape(0)[2:])

    def context(self, operands: Operands) -> TileContext:
        """The text of the tile, for the channels that are copied together."""
        call = operands.call
        each = _together(call)
        return replace(super().context(operands), channels=each, blocks=call.shape(0)[1] // each)


def _together(call: Call) -> int:
    """Channels whose planes are copied together."""
    return next(each for each in (4, 3, 2, 1) if call.shape(0)[1] % each == 0)


TYPES = "f32, f32, f32? -> f32"
for kernel, preference in ((DepthwisePlanesF32, 10), (DepthwiseCopiedF32, 12)):
    PLATFORM.kernel(
        "Conv", types=TYPES, template="depthwise_tile_f32.c.mako", layout=("default", "default"),
        sources=["registers_f32.h", "runs_f32.h"], numerics="1e-5", preference=preference, requires=Needs(has=("fpu",)),
    )(kernel)  # fmt: skip
