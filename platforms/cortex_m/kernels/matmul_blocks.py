"""Rows of floats by weights of four bits in blocks on cores with the DSP extension: two columns in one 64-bit sum.

A row becomes integers of nineteen bits, with a scale for each block. The product of such a number and a word that
holds one code in its lowest four bits and one in its highest adds both products to a 64-bit sum, 28 bits apart; 32
terms of 15 steps (64 where numbers have eighteen bits) stay below 2**27, so the lower sum never reaches into the upper.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Needs, Operands
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels.matmul_blocks import blocks_of, unsigned

LENGTHS = (64, 32, 16)
"""Terms of one sum."""
HALF = 1 << 27
"""What a lower sum stays below."""
NIBBLES = ((0, 2, 4, 6), (7, 1, 3, 5))
"""Where a word holds the codes of four steps, of the lower and of the upper column."""


@dataclass(frozen=True)
class BlocksContext:
    """`rows` x `depth` times `columns`, `size` steps in a sum; see `matmul_blocks.h`.

    `zero` is the zero point where all blocks have one; inputs become numbers up to `largest`.
    """

    rows: int
    depth: int
    columns: int
    size: int
    sums: int
    per_scale: int
    blocks: int
    zero: int | None
    bias: bool
    largest: int


def terms(call: Call) -> int:
    """Steps of one sum: a block, or a part of a long one; 0 where none divides it."""
    return next((length for length in LENGTHS if call.integer("block_size") % length == 0), 0)


@PLATFORM.kernel(
    "MatMulBlocks", types="f32, i4|u4, f32, i4|u4?, f32? -> f32", template="matmul_blocks.c.mako",
    sources=["dsp.h", "matmul_blocks.h"], numerics="1e-5", preference=20, requires=Needs(has=("dsp",)),
)  # fmt: skip
class MatMulBlocksDsp(KernelMethods):
    """Codes stay packed; one multiplication serves two columns."""

    def accepts(self, call: Call) -> str | None:
        """Blocks of whole words."""
        if not terms(call):
            return f"blocks of {call.integer('block_size')} are no multiple of sixteen"
        return "the result is limited" if call.node.clamp else None

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Words of two columns and four steps; scales and zero points of four columns beside each other; the bias."""
        call, size = operands.call, terms(operands.call)
        columns, depth = call.shape(1)
        padded, height = -(-columns // 4) * 4, -(-depth // size) * size
        codes = np.zeros((padded, height), np.uint8)
        codes[:columns, :depth] = unsigned(call, 1)
        codes[1::2] ^= 8
        nibbles = np.zeros((padded // 4, height // 4, 2, 8), np.uint8)
        by_word = codes.reshape(padded // 4, 2, 2, height // 4, 4)
        for upper, places in enumerate(NIBBLES):
            nibbles[..., list(places)] = by_word[:, :, upper].transpose(0, 2, 1, 3)
        scale = _by_four(call.constants[2].astype(np.float32), padded)
        named = [Constant("codes", DType.U4, nibbles.reshape(-1)), Constant("scale", DType.F32, scale)]
        if blocks_of(call).zero is None:
            named.append(Constant("zero_point", DType.U4, _by_four(unsigned(call, 3), padded)))
        if 4 in call.constants:
            named.append(Constant("bias", DType.F32, call.constants[4].reshape(-1)))
        return tuple(named)

    def scratch(self, operands: Operands) -> int:
        """A row as integers, and of each sum its scale and what it begins with."""
        size = terms(operands.call)
        sums = -(-operands.call.shape(1)[1] // size)
        return sums * (4 * size + 16)

    def cost(self, call: Call) -> float:
        """Nineteen instructions for sixteen products, nine for each sum of a column, and the row."""
        columns, depth = call.shape(1)
        rows, sums = call.tensor(0).elements // depth, -(-depth // terms(call))
        return float(rows * (1.2 * columns * depth + 10 * columns * sums + 20 * depth + 30))

    def context(self, operands: Operands) -> BlocksContext:
        """The numbers of the loops."""
        call, size = operands.call, terms(operands.call)
        columns, depth = call.shape(1)
        return BlocksContext(
            rows=call.tensor(0).elements // depth, depth=depth, columns=columns, size=size, sums=-(-depth // size),
            per_scale=call.integer("block_size") // size, blocks=blocks_of(call).count, zero=blocks_of(call).zero,
            bias=4 in call.constants, largest=(HALF - 1) // (15 * size),
        )  # fmt: skip


def _by_four(values: Array, columns: int) -> Array:
    """[columns, blocks] as [columns / 4][block][4]; what is missing is zero."""
    padded = np.zeros((columns, values.shape[1]), values.dtype)
    padded[: len(values)] = values
    return padded.reshape(columns // 4, 4, -1).transpose(0, 2, 1).reshape(-1)
