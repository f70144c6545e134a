"""A convolution whose planes are pooled as they are made: sums of what is above zero, and a bit for each of that."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

from tilewright.operators import DescentTerm, pooled_term
from tilewright.platform import Call, Constant, KernelMethods, Operands
from tilewright.platforms.generic.kernels.conv_gathered_f32 import GATHERED
from tilewright.platforms.generic.kernels.descent import BLOCK, Steps, steps_of
from tilewright.platforms.generic.kernels.elements import constants_by_name, empty
from tilewright.platforms.generic.platform import PLATFORM

TYPES = "f32, f32, f32? -> f32, u8, f32"
SOURCES = ["registers_f32.h", "blocks_f32.h", "products_f32.h", "gathered_f32.h"]


@dataclass(frozen=True)
class PooledContext:
    """Sizes, how the operand lies, pixels that are made and channels that are gathered at once; what the sums are
    divided by."""

    product: DescentTerm
    x_steps: Steps
    at_once: int
    channels_at_once: int
    bias: bool
    share: str


def channels_at_once(term: DescentTerm) -> int:
    """Channels of a pixel that are gathered together."""
    return min(term.channels, max(1, GATHERED // term.taps))


@PLATFORM.kernel(
    "PooledConv", types=TYPES, template="pooled_conv.c.mako", layout=("default", "default"), sources=SOURCES,
    numerics="1e-5",
)  # fmt: skip
class PooledConv(KernelMethods):
    """Four pixels at a time, as any convolution with weights of the run time makes them."""

    def accepts(self, call: Call) -> str | None:
        """One group over one or two axes."""
        if call.integer("group", 1) > 1 or len(call.shape()) not in (3, 4):
            return "it has several groups, or three axes"
        return empty(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Operands that stay."""
        return constants_by_name(operands, 0, 1, 2)

    def scratch(self, operands: Operands) -> int:
        """The results of four pixels, and what they read."""
        term = pooled_term(operands.call)
        return 4 * BLOCK * (term.results + term.taps * channels_at_once(term))

    def cost(self, call: Call) -> float:
        """One and a half instructions for a multiply-accumulate, and eight for a result."""
        return prod(pooled_term(call).outs) * (1.5 * prod(call.shape(1)) + 8.0 * call.shape(1)[0])

    def context(self, operands: Operands) -> PooledContext:
        """The numbers of the call; planes of which each pixel is read alone are a single row."""
        call = operands.call
        term = pooled_term(call)
        steps = steps_of(operands, call.tensor(0), term)
        alone = (term.size, term.kernel, term.strides) == (term.outs, (1, 1), (1, 1)) and not any(term.begins)
        share = f"{prod(term.outs)}.0f"
        if alone and (term.size[0] == 1 or steps[2] == term.size[1] * steps[3]):
            row = (1, prod(term.size))
            term = replace(term, size=row, outs=row, dilations=(1, 1))
        bias = call.optional(2) is not None
        return PooledContext(term, steps, BLOCK, channels_at_once(term), bias, share)
