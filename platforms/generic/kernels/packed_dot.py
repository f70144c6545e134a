"""Dot products whose weights of four bits stay packed in read-only memory: some channels at a time are unpacked.

Patches are gathered anew for every few channels, which costs less than a tenth of their products.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from tilewright.numerics import ROUNDING, accumulator, proof, requantise, the_quantisation
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.kernels.codes import Q
from tilewright.platforms.generic.kernels.dot_i8 import (
    ConvDotI8,
    DenseDotI8,
    DotContext,
    Packed,
    is_direct,
    padded_depth,
)
from tilewright.platforms.generic.platform import PLATFORM

TYPES = f"{Q}, qi4|qu4, i32|i64? -> {Q}"
TOGETHER = 8
"""Channels that are unpacked at once."""
UNPACKING = 4
"""Instructions for a weight that is unpacked."""


def packed_rows(call: Call, codes: Array) -> Constant:
    """[channel, depth] two to a byte: a byte holds a code of the first half of its row and one of the second."""
    width = padded_depth(codes.shape[1])
    zero = the_quantisation(call.tensor(1)).zero_point[0]
    wide = np.pad(codes, ((0, 0), (0, width - codes.shape[1])), constant_values=zero)
    halves = wide.reshape(len(codes), 2, width // 2).transpose(0, 2, 1)
    return Constant("w", call.tensor(1).dtype, np.ascontiguousarray(halves).reshape(-1))


def refusal(call: Call) -> str | None:
    """One zero point for all weights."""
    if len(set(the_quantisation(call.tensor(1)).zero_point)) > 1:
        return "the weights have a zero point per channel"
    return None


def packed_context(call: Call, wide: DotContext) -> DotContext:
    """The numbers of the same kernel with weights in bytes, and how those of four bits are unpacked for it."""
    results = wide.groups.results
    channels = min(TOGETHER, results)
    zero = the_quantisation(call.tensor(1)).zero_point[0]
    packed = Packed(channels, -(-results // channels), call.tensor(1).dtype is DType.I4, zero)
    return replace(wide, w_type="int8_t", packed=packed)


def unpacked_bytes(depth: int, results: int) -> int:
    """Of the weights that are unpacked at once."""
    return min(TOGETHER, results) * padded_depth(depth)


@PLATFORM.kernel(
    "Conv", types=TYPES, template="dot_i8.c.mako", layout="channels_last",
    sources=["vectorised.h", *ROUNDING], preference=9,
)  # fmt: skip
class PackedConvDot(KernelMethods):
    """Integer convolution as dot products over gathered patches, with weights of four bits."""

    _wide = ConvDotI8()

    def accepts(self, call: Call) -> str | None:
        """What the kernel takes that holds weights in bytes, with one zero point."""
        return self._wide.accepts(call) or refusal(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights as [channel][kh][kw][ic], packed; folded starts; requantisation."""
        call = operands.call
        codes = np.moveaxis(call.constants[1], 1, -1).reshape(call.tensor(1).shape[0], -1)
        start = np.asarray(accumulator(call).start, np.int32)
        return (packed_rows(call, codes), Constant("b", DType.I32, start), *requantise(proof(call)).constants)

    def scratch(self, operands: Operands) -> int:
        """The widened patches, and the weights of some channels."""
        weights = operands.call.tensor(1)
        results = weights.shape[0] // operands.call.integer("group", 1)
        return self._wide.scratch(operands) + unpacked_bytes(weights.elements // weights.shape[0], results)

    def cost(self, call: Call) -> float:
        """As with weights in bytes, and what unpacking takes."""
        return self._wide.cost(call) + UNPACKING * call.tensor(1).elements

    def context(self, operands: Operands) -> DotContext:
        """The numbers of the patches."""
        return packed_context(operands.call, self._wide.context(operands))


@PLATFORM.kernel(
    "Gemm", "MatMul", types=TYPES, template="dot_i8.c.mako", layout="default",
    sources=["vectorised.h", *ROUNDING], preference=9,
)  # fmt: skip
class PackedDenseDot(KernelMethods):
    """Integer matrix product as dot products of rows, with weights of four bits."""

    _wide = DenseDotI8()

    def accepts(self, call: Call) -> str | None:
        """What the kernel takes that holds weights in bytes, with one zero point, for more than one row."""
        if reason := self._wide.accepts(call) or refusal(call):
            return reason
        rows = call.tensor(0).elements // call.shape(0)[-1]
        return "each weight is unpacked for a single row" if rows == 1 or is_direct(call) else None

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights as [column][depth], packed."""
        call = operands.call
        codes = call.constants[1]
        codes = codes.T if call.node.op == "Gemm" and call.integer("transB", 0) else codes
        start = np.broadcast_to(accumulator(call).start, (codes.shape[1],)).astype(np.int32)
        return (packed_rows(call, codes.T), Constant("bias", DType.I32, start), *requantise(proof(call)).constants)

    def scratch(self, operands: Operands) -> int:
        """The widened rows, and the weights of some columns."""
        call = operands.call
        return self._wide.scratch(operands) + unpacked_bytes(call.shape(0)[-1], call.outputs[0].shape[-1])

    def cost(self, call: Call) -> float:
        """As with weights in bytes, and what unpacking takes."""
        return self._wide.cost(call) + UNPACKING * call.tensor(1).elements

    def context(self, operands: Operands) -> DotContext:
        """The numbers of the rows."""
        return packed_context(operands.call, self._wide.context(operands))
