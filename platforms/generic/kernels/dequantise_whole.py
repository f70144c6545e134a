"""DequantizeLinear of few codes of eight bits on cores without a float unit: whole products, rounded once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.numerics import the_quantisation
from tilewright.platform import Call, Constant, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels.dequantise_table import DequantiseTable
from tilewright.platforms.generic.platform import PLATFORM

TABLE = DequantiseTable()
SMALLEST, LARGEST = 2, 244
"""Exponents of scales whose multiples are normal floats."""


@dataclass(frozen=True)
class DequantiseWholeContext:
    """The code of zero, and the 24 bits and the exponent of the scale."""

    elements: int
    zero: int
    mantissa: int
    top: int


@PLATFORM.kernel(
    "DequantizeLinear", types="qi8|qu8, *... -> f32", template="dequantise_whole.c.mako", layout=("axes", "same"),
    sources=["whole_f32.h", "dequantise_whole.h"], preference=5, requires=Needs(lacks=("fpu",)),
)  # fmt: skip
class DequantiseWhole(KernelMethods):
    """Floats of codes without the kibibyte of a table."""

    def accepts(self, call: Call) -> str | None:
        """One scale that is far from the ends of floats, codes of eight bits."""
        x = call.tensor(0)
        if x.dtype.bits != 8:
            return f"codes have {x.dtype.bits} bits, the kernel multiplies eight"
        if x.quantisation is None or len(x.quantisation.scale) != 1:
            return "the kernel has one scale for all elements, known when compiling"
        near = SMALLEST <= _bits(call) >> 23 <= LARGEST
        return None if near else "its scale is too near to the ends of what floats can be"

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """None: they stand in the text."""
        return ()

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """As with a table: each code is read before its float is written."""
        return TABLE.overlap(operands)

    def cost(self, call: Call) -> float:
        """Of every element."""
        return 38.0 * call.outputs[0].elements

    def context(self, operands: Operands) -> DequantiseWholeContext:
        """The numbers of the scale."""
        call = operands.call
        bits, zero = _bits(call), int(the_quantisation(call.tensor(0)).zero_point[0])
        return DequantiseWholeContext(call.tensor(0).elements, zero, bits & 0x7FFFFF | 0x800000, bits >> 23)


def _bits(call: Call) -> int:
    """The scale as the bits of a float, which has no sign."""
    return int(np.float32(the_quantisation(call.tensor(0)).scale[0]).view(np.uint32))
