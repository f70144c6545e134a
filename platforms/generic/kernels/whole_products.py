"""Products of floats where there is no float unit: sums of whole numbers, or of floats where these are not enough."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.platform import Array, Call, Clamp, Constant, DType, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels.dense_f32 import DenseF32
from tilewright.platforms.generic.kernels.elements import empty
from tilewright.platforms.generic.kernels.float_text import clamp_text
from tilewright.platforms.generic.kernels.product_f32 import refused
from tilewright.platforms.generic.kernels.two_operands import TwoOperands, operand_constants, two_operands
from tilewright.platforms.generic.platform import PLATFORM

SOURCES = ["fixed_room.h", "whole_f32.h", "whole_products.h"]
LONGEST = 1 << 14
"""Products of a sum: whole numbers of a longer one had fewer bits than floats."""
SCRATCH = 12288
"""Bytes of whole numbers, if one line of either operand takes no more."""
BARE = [*SOURCES, "whole_bare.h"]
DENSE = DenseF32()


@dataclass(frozen=True)
class Line:
    """Sums of `length` products: bits of the whole numbers, by what their sizes are shifted when they are added up, and
    how many lines of the first operand meet each line of the second one."""

    length: int
    bits: int
    share: int
    at_once: int

    @property
    def size_bytes(self) -> int:
        """Of all lines that are whole numbers at one time."""
        return 4 * (self.at_once + 1) * self.length


def line_of(length: int, lines: int) -> Line:
    """The whole numbers of sums of so many products, of so many lines of the first operand."""
    digits = (length - 1).bit_length()
    at_once = max(1, min(8, lines, SCRATCH // (4 * length) - 1))
    return Line(length, min(30, (62 - digits) // 2), digits // 2 + 1, at_once)


def too_long(length: int) -> str | None:
    """None for sums that whole numbers can make, or why not."""
    return f"sums of {length} products are too long, {LONGEST} are the most" if length > LONGEST else None


def limited(value: str, clamp: Clamp | None) -> str:
    """A result within the limits of the activation behind its layer, compared as integers where it is a rectifier."""
    if clamp is None or clamp.low != 0.0 or not clamp.high > 0.0:
        return clamp_text(value, clamp)
    return f"tilewright_whole_rectified({value}, 0x{int(np.float32(clamp.high).view(np.uint32)):08X}u)"


@dataclass(frozen=True)
class WholeProductContext:
    """The product of lines, its bias and limits in C."""

    line: Line
    product: TwoOperands
    right: str
    bias: str
    clamp: str


def tops_of(lines: Array) -> Constant:
    """The exponent of the largest of every line, as it stands in floats."""
    bits = np.abs(np.ascontiguousarray(lines, np.float32)).view(np.uint32).max(1)
    return Constant("tops", DType.U8, (bits >> 23).astype(np.uint8))


@PLATFORM.kernel(
    "MatMul", types="f32, f32 -> f32", template="whole_product.c.mako", layout=("axes", "like"), sources=SOURCES,
    numerics="1e-5", preference=25, requires=Needs(lacks=("fpu",)),
)  # fmt: skip
class WholeMatMul(KernelMethods):
    """Products of two operands of the run time, read where they lie."""

    def accepts(self, call: Call) -> str | None:
        """What the float kernel takes."""
        return refused(call) or empty(call) or too_long(call.shape(0)[-1])

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """An operand that is constant."""
        return operand_constants(operands.call)

    def scratch(self, operands: Operands) -> int:
        """Some rows and a column."""
        return self.context(operands).line.size_bytes

    def cost(self, call: Call) -> float:
        """Nine instructions a product, and what becomes whole numbers."""
        return cost(self.context(Operands(call)))

    def context(self, operands: Operands) -> WholeProductContext:
        """The numbers of the product."""
        product = two_operands(operands)
        clamp = limited("v", operands.call.node.clamp)
        return WholeProductContext(line_of(product.depth, product.rows), product, product.place("b"), "", clamp)


@PLATFORM.kernel(
    "MatMul", types="f32, f32 -> f32", template="whole_matmul_bare.c.mako", layout=("axes", "like"), sources=BARE,
    numerics="1e-5", preference=23, requires=Needs(lacks=("fpu",)),
)  # fmt: skip
class BareWholeMatMul(KernelMethods):
    """The same without scratch: rows and columns become whole numbers at every product."""

    def accepts(self, call: Call) -> str | None:
        """What the float kernel takes."""
        return MATRIX.accepts(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """An operand that is constant."""
        return operand_constants(operands.call)

    def cost(self, call: Call) -> float:
        """Of every product."""
        return 60.0 * call.outputs[0].elements * call.shape(0)[-1]

    def context(self, operands: Operands) -> WholeProductContext:
        """The numbers of the product."""
        return MATRIX.context(operands)


MATRIX = WholeMatMul()


def cost(numbers: WholeProductContext) -> float:
    """Instructions of a product: sums, columns for every few rows, rows."""
    product = numbers.product
    each = 10 + 22 / numbers.line.at_once + 22 / product.columns
    return each * product.matrices * product.rows * product.columns * product.depth
