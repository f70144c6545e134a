"""DequantizeLinear of codes of eight bits on cores without a float unit: a table holds the real value of every code."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.numerics import dequantise, the_quantisation
from tilewright.platform import Call, Constant, DType, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels.overlap import gap_bytes
from tilewright.platforms.generic.platform import PLATFORM

WORTH_A_TABLE = 256
"""Elements from which on the kibibyte of a table pays: a product of floats in software takes some 170 instructions."""


@dataclass(frozen=True)
class TableContext:
    """A code's place in the table is its distance from the lowest."""

    elements: int
    index: str


def refusal(call: Call) -> str | None:
    """None for one scale that is known and codes of eight bits, of which there are many; else why not."""
    x = call.tensor(0)
    if x.dtype.bits != 8:
        return f"codes have {x.dtype.bits} bits, the table holds the values of eight"
    if x.quantisation is None or len(x.quantisation.scale) != 1:
        return "the kernel has one scale for all elements, known when compiling"
    if x.elements < WORTH_A_TABLE:
        return f"{x.elements} elements are too few to pay for a table of 1,024 bytes"
    return None


def reals(call: Call) -> Constant:
    """The value of every code, from the lowest on."""
    x = call.tensor(0)
    low, high = x.dtype.range
    return Constant("reals", DType.F32, dequantise(np.arange(low, high + 1), the_quantisation(x)))


def table_context(call: Call) -> TableContext:
    """Elements, and the place of the code `x[i]`."""
    low = call.tensor(0).dtype.range[0]
    return TableContext(call.tensor(0).elements, f"x[i] + {-low}" if low else "x[i]")


@PLATFORM.kernel(
    "DequantizeLinear", types="qi8|qu8, *... -> f32", template="dequantise_table.c.mako", layout=("axes", "same"),
    preference=6, requires=Needs(lacks=("fpu",)),
)  # fmt: skip
class DequantiseTable(KernelMethods):
    """Floats of codes by a table."""

    def accepts(self, call: Call) -> str | None:
        """One scale, codes of eight bits, enough of them."""
        return refusal(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """The table."""
        return (reals(operands.call),)

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """The codes may lie in the last quarter of the floats: each is read before its float is written."""
        at = np.arange(operands.call.tensor(0).elements, dtype=np.int64)
        return ((0, 0, gap_bytes((at + 1) * 4, at, reads_before_writing=True)),)

    def cost(self, call: Call) -> float:
        """One look-up an element."""
        return 9.0 * call.outputs[0].elements

    def context(self, operands: Operands) -> TableContext:
        """Elements and the place in the table."""
        return table_context(operands.call)
