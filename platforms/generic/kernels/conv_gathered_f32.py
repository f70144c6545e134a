"""Float convolution whose weights change at run time: as the file has them, four pixels by four channels at a time."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from tilewright.operators import conv_window
from tilewright.platform import Call, Clamp, Constant, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels.elements import constants_by_name
from tilewright.platforms.generic.kernels.float_text import limit_texts
from tilewright.platforms.generic.platform import PLATFORM

GATHERED = 256
"""Inputs of a pixel that are gathered at once, where a channel has no more."""

Pair = tuple[int, int]
Steps = tuple[int, int, int, int]


@dataclass(frozen=True)
class GatheredContext:
    """Sizes of a group, the window by rows and columns, and steps in elements by image, channel, row and column.

    `direct` where four neighbouring pixels lie side by side and are all that a result reads; `beside`
    where results of neighbouring pixels do; `open` where they have no limits. `at_once` channels are gathered together.
    """

    images: int
    groups: int
    channels: int
    results: int
    pairs: tuple[Pair, Pair, Pair, Pair, Pair, Pair]
    x: Steps
    y: Steps
    direct: bool
    beside: bool
    at_once: int
    bias: bool
    rectified: bool
    open: bool
    low: str
    high: str


def _two(values: tuple[int, ...], first: int) -> Pair:
    return (first, values[0]) if len(values) == 1 else (values[0], values[1])


def pixel_by_pixel(call: Call) -> bool:
    """True where a result reads its own pixel alone, gathered as a whole, and lies in a plane that the operand has."""
    weights, window = call.shape(1), conv_window(call)
    plain = not any(window.begins) and prod(window.strides) == 1 and call.shape(0)[2:] == call.outputs[0].shape[2:]
    fits = call.integer("group", 1) == prod(weights[2:]) == 1 and weights[0] <= weights[1] <= GATHERED
    return plain and fits


def _steps(strides: tuple[int, ...] | None) -> Steps:
    assert strides is not None, "every axis has a stride"
    image, channel, *spatial = strides
    return image, channel, spatial[0] if len(spatial) == 2 else 0, spatial[-1]


class ConvGatheredF32(KernelMethods):
    """Float convolution with weights of the run time: pixels are gathered, or read where they lie side by side."""

    def accepts(self, call: Call) -> str | None:
        """Weights of the run time, more than one channel in a group or more than one result."""
        if 1 in call.constants:
            return "the weights are constant, other kernels repack them at compile time"
        weights, groups = call.shape(1), call.integer("group", 1)
        if len(weights) not in (3, 4):
            return f"{len(weights) - 2} spatial axes, the kernel handles one or two"
        if groups > 1 and weights[0] < 2 * groups:
            return "every group has one result, the kernel sums four at a time"
        return None if min(call.outputs[0].shape) and min(call.shape(0)) else "there is nothing to compute"

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """An operand or a bias that is constant."""
        return constants_by_name(operands, 0, 2)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Results lie over pixels that were gathered."""
        return ((0, 0),) if pixel_by_pixel(call) else ()

    def scratch(self, operands: Operands) -> int:
        """What four pixels read of the channels that are gathered at once."""
        numbers = self.context(operands)
        return 16 * min(numbers.at_once, numbers.channels) * prod(numbers.pairs[2])

    def cost(self, call: Call) -> float:
        """Forty-two instructions for thirty-two multiply-accumulates, and gathering and storing."""
        weights, y = call.tensor(1), call.outputs[0]
        depth, groups = weights.elements // weights.shape[0], call.integer("group", 1)
        blocks = -(-y.elements // y.shape[1] // 4) * groups
        return blocks * (18.0 * depth + -(-weights.shape[0] // groups // 4) * (21 * depth + 200.0))

    def context(self, operands: Operands) -> GatheredContext:
        """The numbers of the convolution."""
        call = operands.call
        x, w, y, window = call.tensor(0), call.tensor(1), call.outputs[0], conv_window(call)
        groups = call.integer("group", 1)
        size, outs, kernel = _two(x.shape[2:], 1), _two(y.shape[2:], 1), _two(w.shape[2:], 1)
        strides, dilations = _two(window.strides, 1), _two(window.dilations, 1)
        begins = _two(window.begins, 0)
        steps = [_steps(operands.layout(tensor).axis_strides(tensor.shape)) for tensor in (x, y)]
        plain = kernel == strides == (1, 1) and begins == (0, 0) and size == outs
        rows_as_one = size[0] == 1 or steps[0][2] == size[1] * steps[0][3]
        clamp, over = call.node.clamp, bool(self.in_place(call))
        direct = plain and rows_as_one and steps[0][3] == 1 and not over
        return GatheredContext(
            x.shape[0], groups, w.shape[1], w.shape[0] // groups, (size, outs, kernel, strides, dilations, begins),
            steps[0], steps[1], direct,
            steps[1][3] == 1 and (outs[0] == 1 or steps[1][2] == outs[1]),
            min(w.shape[1], max(1, GATHERED // prod(kernel))), call.optional(2) is not None,
            clamp == Clamp(0.0, float("inf")), clamp is None, *limit_texts(clamp),
        )  # fmt: skip


TYPES = "f32, f32, f32? -> f32"
PLATFORM.kernel(
    "Conv", types=TYPES, template="conv_gathered_f32.c.mako", layout=("default", "default"), numerics="1e-5",
    sources=["registers_f32.h", "blocks_f32.h", "products_f32.h", "gathered_f32.h"], preference=10,
    requires=Needs(has=("fpu",)),
)(ConvGatheredF32)  # fmt: skip
