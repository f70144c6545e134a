"""Convolutions of floats where there is no float unit: constant weights are whole numbers, windows become such."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.platform import Call, Constant, DType, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels.blocks import Axis, Groups, cannot_repack, groups_of, joined
from tilewright.platforms.generic.kernels.conv_f32 import operand_axes, rows_overlap, spatial
from tilewright.platforms.generic.kernels.elements import empty
from tilewright.platforms.generic.kernels.whole_products import limited, margin_of, too_long
from tilewright.platforms.generic.kernels.whole_weights import SOURCES, unable, whole_lines
from tilewright.platforms.generic.platform import PLATFORM

AT_ONCE = 16
"""Results of a window that share its whole numbers, a part of the window at a time."""


@dataclass(frozen=True)
class WholeWindowsContext:
    """Every number of one convolution, and what its operand and bias are called in C; strides in elements, weights lie
    [result][kh][kw][channel], `block` results are computed at once."""

    x: str
    bias: str
    h: Axis
    w: Axis
    groups: Groups
    x_group: int
    x_channel: int
    margin: int
    block: int
    clamp: str


def block_of(results: int) -> int:
    """Results at once, multiples of four, so that blocks are alike."""
    blocks = -(-results // AT_ONCE)
    return min(results, -(-results // blocks // 4) * 4)


def windows_cost(pixels: float, groups: Groups) -> float:
    """Four and a half instructions a product, the numbers of a window for every block, and results."""
    length, blocks = groups.weights // groups.results, -(-groups.results // AT_ONCE)
    return pixels * groups.count * (length * (4.5 * groups.results + 16 * blocks + 10) + 100 * groups.results)


@PLATFORM.kernel(
    "Conv", types="f32, f32, f32? -> f32", template="whole_windows.c.mako", layout=("axes", "channels_last"),
    sources=SOURCES, numerics="1e-5", preference=30, requires=Needs(lacks=("fpu",)),
)  # fmt: skip
class WholeConv(KernelMethods):
    """Windows of some pixels as whole numbers, a part at a time, times sixteen results' weights; any group."""

    def accepts(self, call: Call) -> str | None:
        """Constant weights that are finite, at most two spatial axes."""
        refused = cannot_repack(call) or empty(call)
        return refused or too_long(call.constants[1][0].size) or unable(call.constants[1])

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights in the order in which a window is read; the bias as it is."""
        call = operands.call
        weights = np.ascontiguousarray(spatial(call)[0].transpose(0, 2, 3, 1))
        bias = [Constant("b", DType.F32, call.constants[2].reshape(-1))] if 2 in call.constants else []
        return (*whole_lines(weights.reshape(len(weights), -1)), *bias)

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """Rows are written after all that later ones read, where the operand's channels are innermost."""
        numbers = self.context(operands)
        return rows_overlap(operands, numbers.h, numbers.w)

    def cost(self, call: Call) -> float:
        """Of all windows."""
        groups = groups_of(call)
        return windows_cost(call.outputs[0].elements / groups.all_results, groups)

    def context(self, operands: Operands) -> WholeWindowsContext:
        """The numbers of windows and rows."""
        call = operands.call
        h, w, x_channel = operand_axes(operands)
        h, w = joined(h, w)
        groups = groups_of(call)
        return WholeWindowsContext(
            "x", "b" if 2 in call.constants else "NULL", h, w, groups, x_channel * groups.channels, x_channel,
            margin_of(groups.weights // groups.results), block_of(groups.results), limited("v", call.node.clamp),
        )  # fmt: skip
