"""Rows of floats by weights of four or eight bits in blocks, computed from their codes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.platform import PLATFORM

FOUR_BITS = (DType.I4, DType.U4)
TYPES = "f32, i4|u4|i8|u8, f32, i4|u4|i8|u8?, f32? -> f32"


@dataclass(frozen=True)
class Block:
    """The same for every block: its length, that of the last one, and the zero point where all have one."""

    size: int
    last: int
    count: int
    zero: int | None


@dataclass(frozen=True)
class BlocksContext:
    """`rows` x `depth` times codes of `columns` rows of `row_bytes`; `low` is what stands for the code of bits 0."""

    rows: int
    depth: int
    columns: int
    row_bytes: int
    zero_row: int
    four: bool
    low: int
    block: Block
    bias: bool


def unsigned(call: Call, index: int) -> Array:
    """Codes or zero points from 0 on, so that both signs are read alike."""
    return np.asarray(call.constants[index].astype(np.int32) - call.tensor(index).dtype.range[0], np.uint8)


def blocks_of(call: Call) -> Block:
    """How the sum is cut."""
    depth, size = call.shape(1)[1], call.integer("block_size")
    count = -(-depth // size)
    zero = call.constants.get(3)
    one = 0 if zero is None else int(zero.flat[0]) if zero.size and bool((zero == zero.flat[0]).all()) else None
    size = min(size, depth)
    return Block(size, depth - (count - 1) * size, count, None if one is None else one - call.tensor(1).dtype.range[0])


def even_rows(codes: Array) -> Array:
    """Each row from a whole byte on, where elements have four bits."""
    return np.pad(codes, ((0, 0), (0, codes.shape[1] % 2)))


def code_constants(call: Call) -> tuple[Constant, ...]:
    """Codes and zero points as unsigned numbers of their bits; scales; the bias."""
    four = call.tensor(1).dtype in FOUR_BITS
    dtype = DType.U4 if four else DType.U8
    named = [("codes", unsigned(call, 1))]
    if blocks_of(call).zero is None:
        named.append(("zero_point", unsigned(call, 3)))
    codes = [Constant(name, dtype, (even_rows(value) if four else value).reshape(-1)) for name, value in named]
    scale = Constant("scale", DType.F32, call.constants[2].reshape(-1))
    bias = [Constant("bias", DType.F32, call.constants[4].reshape(-1))] if 4 in call.constants else []
    return (codes[0], scale, *codes[1:], *bias)


@PLATFORM.kernel("MatMulBlocks", types=TYPES, template="matmul_blocks.c.mako", numerics="1e-5")
class MatMulBlocks(KernelMethods):
    """Codes become floats as they are read; of several rows, once for all of them."""

    def accepts(self, call: Call) -> str | None:
        """Blocks that begin with whole bytes."""
        block = blocks_of(call)
        if call.tensor(1).dtype in FOUR_BITS and block.count > 1 and block.size % 2:
            return f"blocks of {block.size} elements of four bits do not begin with a byte"
        return "the result is limited" if call.node.clamp else None

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """The packed weights."""
        return code_constants(operands.call)

    def scratch(self, operands: Operands) -> int:
        """The real weights of one column where several rows read them."""
        call = operands.call
        return 4 * call.shape(1)[1] if call.outputs[0].elements > call.shape(1)[0] else 0

    def cost(self, call: Call) -> float:
        """About seven instructions to make a float of a code, and two for each product."""
        columns, depth = call.shape(1)
        return columns * (7.0 * depth + 2.0 * call.outputs[0].elements / columns * depth + 20)

    def context(self, operands: Operands) -> BlocksContext:
        """The numbers of the loops."""
        call = operands.call
        columns, depth = call.shape(1)
        four, block = call.tensor(1).dtype in FOUR_BITS, blocks_of(call)
        return BlocksContext(
            rows=call.tensor(0).elements // depth, depth=depth, columns=columns,
            row_bytes=-(-depth // 2) if four else depth, zero_row=-(-block.count // 2) * 2 if four else block.count,
            four=four, low=call.tensor(1).dtype.range[0], block=block, bias=4 in call.constants,
        )  # fmt: skip
