"""MatMulNBits and GatherBlockQuantized: weights of 2, 4 or 8 bits in blocks, each with a scale.

They become a DequantizeLinear with blocks, as the standard writes it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tilewright.frontend.splits.parts import Parts
from tilewright.frontend.splits.spelling import MICROSOFT
from tilewright.model import Array, DType

Codes = npt.NDArray[np.uint8]


def unpacked(packed: Array, bits: int) -> Codes:
    """The codes of bytes along the last axis, the lowest bits first."""
    steps = np.arange(0, 8, bits, dtype=np.uint8)
    codes = packed.astype(np.uint8)[..., None] >> steps & np.uint8((1 << bits) - 1)
    return np.asarray(codes, np.uint8).reshape(*packed.shape[:-1], -1)


def _matmul(parts: Parts) -> None:
    bits, block, rows, inner = (parts.whole(name, default) for name, default in
                                (("bits", 4), ("block_size", None), ("N", None), ("K", None)))  # fmt: skip
    if bits not in (2, 4, 8) or block < 1 or rows < 1 or inner < 1:
        raise parts.unsupported(f"its weights have {bits} bits in blocks of {block}", "quantise to 4 or 8 bits")
    if parts.input(4) or parts.whole("weight_prepacked", 0):
        raise parts.unsupported("its weights lie in an order of their own", "quantise the model without g_idx")
    blocks = -(-inner // block)
    packed, scales = parts.known(1, "its weights"), parts.known(2, "its scales")
    if packed.size * 8 != rows * blocks * block * bits or scales.size != rows * blocks:
        raise parts.invalid(
            f"weights of shape {list(packed.shape)} are not {rows} rows of {inner} in blocks of {block}"
        )
    codes = unpacked(packed.reshape(rows, -1), bits)[:, :inner]
    zeros = _zeros(parts, bits, (rows, blocks))
    dtype = DType.U8 if bits == 8 else DType.U4
    if zeros.dtype.kind == "f":
        weights = (codes - np.repeat(zeros, block, 1)[:, :inner]) * np.repeat(scales.reshape(rows, -1), block, 1)[
            :, :inner
        ]
        laid = parts.like(0, np.ascontiguousarray(weights.T))
    else:
        names = (
            parts.constant(codes.T, dtype),
            parts.like(0, scales.reshape(rows, blocks).T),
            parts.constant(zeros.T, dtype),
        )
        laid = parts.op("DequantizeLinear", *names, axis=0, block_size=block)
    into = "" if parts.input(5) else parts.output(0)
    product = parts.op("MatMul", parts.input(0), laid, into=into)
    if parts.input(5):
        parts.op("Add", product, parts.input(5), into=parts.output(0))


def _zeros(parts: Parts, bits: int, shape: tuple[int, int]) -> Array:
    """A zero point for each block; floats where the file holds such."""
    if not parts.input(3):
        return np.full(shape, 1 << bits - 1, np.uint8)
    zeros = parts.known(3, "its zero points")
    if zeros.dtype.kind == "f":
        return zeros.reshape(shape)
    return unpacked(zeros.reshape(shape[0], -1), bits)[:, : shape[1]]


def _gather(parts: Parts) -> None:
    """Rows of a table of codes."""
    data, bits = parts.known(0, "its table"), parts.whole("bits", 4)
    rank, block = data.ndim, parts.whole("block_size", 128)
    axis, taken = (parts.whole(name, default) % rank for name, default in (("quantize_axis", 1), ("gather_axis", 0)))
    dtype, zeros = parts.tensor(0).dtype, parts.value(3)
    if dtype is DType.U8:
        middle = np.uint8(1 << bits - 1)
        data = unpacked(data, bits)
        shape = parts.shape(2)
        zeros = np.full(shape, middle) if zeros is None else unpacked(zeros, bits)[..., : shape[-1]]
    elif zeros is None:
        zeros = np.zeros(parts.shape(2), np.int8)
    names = (parts.constant(data, dtype), parts.input(2), parts.constant(zeros, dtype))
    table = parts.op("DequantizeLinear", *names, axis=axis, block_size=block)
    parts.op("Gather", table, parts.input(1), into=parts.output(0), axis=taken)


SPLITS = {(MICROSOFT, "MatMulNBits"): _matmul, (MICROSOFT, "GatherBlockQuantized"): _gather}
