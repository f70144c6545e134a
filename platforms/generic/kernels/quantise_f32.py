"""QuantizeLinear of floats with one scale: division, saturation, and rounding by one addition."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.numerics import C_TYPES, code_limits, literal, rounds_twice, the_quantisation
from tilewright.platform import Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.kernels.overlap import gap_bytes
from tilewright.platforms.generic.platform import PLATFORM


@dataclass(frozen=True)
class QuantiseContext:
    """`code = zero + nearest(clamp(x / step, low, high))`; the limits are whole, so they may come first.

    `nearest` is the function that says where halves go.
    """

    elements: int
    code_type: str
    step: str
    zero: int
    low: str
    high: str
    nearest: str


@PLATFORM.kernel(
    "QuantizeLinear", types="f32, *... -> qi8|qu8|qi16|qu16", template="quantise_f32.c.mako", layout=("axes", "same"),
    sources=["nearest.h"], preference=5,
)  # fmt: skip
class QuantiseF32(KernelMethods):
    """Codes of floats, without a call of the library per element."""

    def accepts(self, call: Call) -> str | None:
        """One scale and zero point for the whole tensor, and elements to work on."""
        meaning = call.outputs[0].quantisation
        if meaning is None or len(meaning.scale) != 1:
            return "the scale differs by channel, the kernel has one for all"
        return None if call.outputs[0].elements else "the tensor has no elements"

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """None: scale and zero point stand in the expression."""
        return ()

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """Codes of eight bits, which may alias anything: each is written after its float was read."""
        x, y = operands.call.tensor(0), operands.call.outputs[0]
        if y.dtype.bits != 8:
            return ()
        at = np.arange(x.elements, dtype=np.int64)
        return ((0, 0, gap_bytes(at + 1, at * 4, reads_before_writing=True)),)

    def cost(self, call: Call) -> float:
        """Some ten instructions per element."""
        return 10.0 * call.outputs[0].elements

    def context(self, operands: Operands) -> QuantiseContext:
        """The numbers of the expression."""
        y = operands.call.outputs[0]
        meaning = the_quantisation(y)
        zero = int(meaning.zero_point[0])
        low, high = code_limits(operands.call, y)
        return QuantiseContext(
            elements=y.elements,
            code_type=C_TYPES[y.dtype],
            step=literal(DType.F32, meaning.scale[0]),
            zero=zero,
            low=f"{low - zero}.0f",
            high=f"{high - zero}.0f",
            nearest="tilewright_half_away" if rounds_twice(operands.call) else "(int32_t)tilewright_nearest",
        )
