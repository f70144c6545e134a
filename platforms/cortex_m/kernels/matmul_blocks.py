"""Rows of floats by weights of four bits in blocks on cores with the DSP extension: two columns in one 64-bit sum.

Some blocks of a row become integers of about twenty bits with one scale. The product of such a number and a word that
holds one code in its lowest four bits and one in its highest adds both products to a 64-bit sum; with numbers sixteen
times as large they are 32 bits apart, and the codes say how large numbers may be that the sums fit each half.
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
"""What a sum stays below, and that of the numbers of a part."""
WHOLE = 1 << 22
"""What numbers stay below, so that a float holds them beside 1.5 * 2^23."""
NIBBLES = ((0, 2, 4, 6), (7, 1, 3, 5))
"""Where a word holds the codes of four steps, of the lower and of the upper column."""
SEGMENT = 256
"""Values of a row with one scale: as many blocks as this has, one at least."""
LOWER = np.asarray([1 / 16, 1, 1 / 16, 1], np.float32)
"""Numbers are sixteen times what they stand for; in the upper half of a sum they are not."""


@dataclass(frozen=True)
class BlocksContext:
    """`rows` x `depth` times `columns`, `size` steps in a sum, `sums` of them in a block; see `matmul_blocks.h`.

    `zero` is the zero point where all blocks have one, `start` what it comes to. A block takes `block_words` of a
    group of four columns, from word `head` on its codes.
    """

    rows: int
    depth: int
    columns: int
    size: int
    sums: int
    blocks: int
    segment: int
    head: int
    block_words: int
    zero: int | None
    start: int
    bias: bool


def block_of(call: Call) -> int:
    """Steps of a block; no more than the depth, in sixteens."""
    return min(call.integer("block_size"), -(-call.shape(1)[1] // 16) * 16)


def terms(call: Call) -> int:
    """Steps of one sum: a block, or a part of a long one; 0 where none divides it."""
    return next((length for length in LENGTHS if block_of(call) % length == 0), 0)


def segment_of(call: Call) -> int:
    """Values with one scale."""
    return max(1, SEGMENT // block_of(call)) * block_of(call)


def largest(call: Call) -> int:
    """What inputs become at most: no sum of these times the steps of a column reaches its half."""
    (columns, depth), block, size = call.shape(1), block_of(call), terms(call)
    blocks, one = blocks_of(call).count, blocks_of(call).zero
    zero = unsigned(call, 3).astype(np.int64) if one is None else np.full((columns, blocks), one)
    steps = np.zeros((columns, blocks * block), np.int64)
    steps[:, :depth] = np.abs(unsigned(call, 1) - zero.repeat(block, axis=1)[:, :depth])
    most = int(steps.reshape(columns, -1, size).sum(axis=2).max(initial=1))
    return min((HALF - 1) // most, (HALF - 1) // size, WHOLE - 1) - 1  # a quotient may be rounded up


def words_of(nibbles: Array) -> Array:
    """[..., 8] codes of four bits as words, the first lowest."""
    return np.asarray((nibbles.astype(np.uint32) << np.arange(0, 32, 4, dtype=np.uint32)).sum(axis=-1), np.uint32)


def stream(call: Call) -> Array:
    """[group of four columns, block, words]: scales, zero points where blocks have their own, and codes."""
    (columns, depth), block = call.shape(1), block_of(call)
    groups, blocks = -(-columns // 4), blocks_of(call).count
    codes = np.zeros((groups * 4, blocks * block), np.uint8)
    codes[:columns, :depth] = unsigned(call, 1)
    codes[1::2] ^= 8
    nibbles = np.zeros((groups, blocks * block // 4, 2, 8), np.uint8)
    by_word = codes.reshape(groups, 2, 2, blocks * block // 4, 4)
    for upper, places in enumerate(NIBBLES):
        nibbles[..., list(places)] = by_word[:, :, upper].transpose(0, 2, 1, 3)
    scale = _by_four(call.constants[2].astype(np.float32), groups) * LOWER
    parts = [np.ascontiguousarray(scale).view(np.uint32)]
    if blocks_of(call).zero is None:
        zero = _by_four(unsigned(call, 3), groups) ^ np.asarray([0, 8, 0, 8], np.uint8)
        words = np.zeros((groups, blocks, 8), np.uint8)
        words[..., [NIBBLES[0][0], NIBBLES[1][0], NIBBLES[0][1], NIBBLES[1][1]]] = zero
        parts.append(words_of(words)[..., None])
    parts.append(words_of(nibbles).reshape(groups, blocks, block // 2))
    return np.concatenate(parts, axis=2)


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
        """The stream of scales, zero points and codes; the bias."""
        call = operands.call
        limit = np.asarray([largest(call)], np.float32)
        named = [Constant("stream", DType.U32, stream(call).reshape(-1)), Constant("largest", DType.F32, limit)]
        if 4 in call.constants:
            named.append(Constant("bias", DType.F32, call.constants[4].reshape(-1)))
        return tuple(named)

    def scratch(self, operands: Operands) -> int:
        """A row as integers, what each sum begins with, and the heads of segments."""
        call = operands.call
        blocks, block = blocks_of(call).count, block_of(call)
        return blocks * (4 * block + 16 * (block // terms(call))) + 8 * -(-blocks * block // segment_of(call))

    def cost(self, call: Call) -> float:
        """Eighteen instructions for sixteen products, a few for each sum of a column, and the row."""
        columns, depth = call.shape(1)
        rows, sums = call.tensor(0).elements // depth, blocks_of(call).count * (block_of(call) // terms(call))
        padded, steps = -(-columns // 4) * 4, sums * terms(call)
        return float(rows * (1.13 * padded * steps + 4.8 * padded * sums + 12 * padded + 15 * depth + 90))

    def context(self, operands: Operands) -> BlocksContext:
        """The numbers of the loops."""
        call, size = operands.call, terms(operands.call)
        columns, depth = call.shape(1)
        zero, block = blocks_of(call).zero, block_of(call)
        head = 4 if zero is not None else 5
        return BlocksContext(
            rows=call.tensor(0).elements // depth, depth=depth, columns=columns, size=size, sums=block // size,
            blocks=blocks_of(call).count, segment=segment_of(call), head=head, block_words=head + block // 2, zero=zero,
            start=0 if zero is None else (8 - zero) * (1 << 28) - zero, bias=4 in call.constants,
        )  # fmt: skip


def _by_four(values: Array, groups: int) -> Array:
    """[columns, blocks] as [group][block][4]; what is missing is zero."""
    padded = np.zeros((groups * 4, values.shape[1]), values.dtype)
    padded[: len(values)] = values
    return padded.reshape(groups, 4, -1).transpose(0, 2, 1)
