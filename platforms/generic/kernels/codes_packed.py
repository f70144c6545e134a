"""Weights of four bits, packed two to a byte in read-only memory: one output channel at a time is unpacked."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
from tilewright.numerics import (
    C_TYPES,
    ROUNDING,
    accumulator,
    by_channel,
    code_limits,
    proof,
    requantise,
    the_quantisation,
    too_wide,
)
from tilewright.operators import conv_window
from tilewright.ops.index.loop_nest import Guard, Loop, LoopNest, Loops, Part
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.kernels.codes import Q, context_of
from tilewright.platforms.generic.kernels.codes_sums import products, row_major
from tilewright.platforms.generic.kernels.nest import NestContext, strides_of
from tilewright.platforms.generic.kernels.nest_address import minus_text
from tilewright.platforms.generic.platform import PLATFORM

TYPES = f"{Q}, qi4|qu4, i32|i64? -> {Q}"


@dataclass(frozen=True)
class _Axis:
    """One spatial axis of a convolution."""

    size: int
    out: int
    kernel: int
    stride: int
    dilation: int
    begin: int

    @property
    def inside(self) -> bool:
        """True where no window reaches over the edge."""
        return self.begin == 0 and (self.out - 1) * self.stride + (self.kernel - 1) * self.dilation < self.size


def spatial(call: Call) -> tuple[_Axis, ...]:
    """The spatial axes; none for a matrix product."""
    if call.node.op != "Conv":
        return ()
    window = conv_window(products(call))
    sizes = call.shape(0)[2:]
    parts = zip(sizes, window.outs, window.kernel, window.strides, window.dilations, window.begins, strict=True)
    return tuple(_Axis(*part) for part in parts)


def matrix(call: Call) -> Array:
    """Codes of the weights as [output channel, everything that one result sums over]."""
    return by_channel(call, call.constants[1])


def unpacking(call: Call, depth: int) -> Loops:
    """The loop that widens the weights of channel `c`, less their zero point."""
    signed = call.tensor(1).dtype is DType.I4
    value = minus_text("((nibble ^ 8) - 8)" if signed else "nibble", the_quantisation(call.tensor(1)).zero_point[0])
    nibble = f"const int32_t nibble = (w[c * {(depth + 1) // 2} + k / 2] >> (k % 2 * 4)) & 15;"
    return Loops((Loop("k", depth, parallel=True),), (nibble, f"weights[k] = (int8_t)({value});"))


def sum_parts(
    call: Call, x: str, axes: tuple[_Axis, ...], strides: tuple[int, ...], inner: int, outer: int
) -> tuple[Part, ...]:
    """The sum of one result, with the zero point of the input `x` taken off where padding leaves taps out."""
    folded = all(axis.inside for axis in axes)
    zero = 0 if folded else the_quantisation(call.tensor(0)).zero_point[0]
    place = [f"n * {strides[0]}", f"(c / {outer} * {inner} + i) * {strides[1]}"]
    place += [f"p{number} * {stride}" for number, stride in enumerate(strides[2:])]
    tap = "i"
    for number, axis in enumerate(axes):
        tap = f"({tap}) * {axis.kernel} + k{number}"
    code = f"(int32_t){x}[{' + '.join(place)}]"
    term = f"({minus_text(code, zero)})" if zero else code
    parts: tuple[Part, ...] = (f"acc += {term} * weights[{tap}];",)
    for number, axis in reversed(list(enumerate(axes))):
        at = f"const int p{number} = o{number} * {axis.stride} + k{number} * {axis.dilation} - {axis.begin};"
        skip = () if axis.inside else (Guard((f"p{number} < 0 || p{number} >= {axis.size}",), ("continue;",)),)
        parts = (Loops((Loop(f"k{number}", axis.kernel),), (at, *skip, *parts)),)
    return ("int32_t acc = start[c];", Loops((Loop("i", inner),), parts))


class PackedCodes(KernelMethods):
    """Integer convolution and matrix product with weights of four bits, packed two to a byte."""

    def accepts(self, call: Call) -> str | None:
        """Constant weights with one zero point, constant bias, a requantisation that fits."""
        if 1 not in call.constants or (call.optional(2) is not None and 2 not in call.constants):
            return "weights or bias are computed at run time"
        if len(set(the_quantisation(call.tensor(1)).zero_point)) > 1:
            return "the weights have a zero point per channel"
        if call.node.op != "Conv":
            if call.constants[1].ndim != 2 or len(call.shape(0)) < 2 or call.integer("transA", 0):
                return "the kernel handles rows times a constant matrix"
        return too_wide(proof(call))

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Packed weights, each channel from a whole byte on; starts; requantisation."""
        call = operands.call
        codes = matrix(call)
        if codes.shape[1] % 2:
            codes = np.pad(codes, ((0, 0), (0, 1)))
        sums = accumulator(call)
        start = sums.start if all(axis.inside for axis in spatial(call)) else sums.bias
        start = np.broadcast_to(np.asarray(start, np.int32), (codes.shape[0],))
        requantisation = requantise(proof(call)).constants
        return (Constant("w", call.tensor(1).dtype, codes.reshape(-1)), Constant("start", DType.I32, start),
                *requantisation)  # fmt: skip

    def scratch(self, operands: Operands) -> int:
        """The weights of one channel."""
        return int(matrix(operands.call).shape[1])

    def cost(self, call: Call) -> float:
        """About nine instructions per multiply-accumulate, since no loop of it is a vector."""
        return 9.0 * call.outputs[0].elements * int(matrix(call).shape[1])

    def context(self, operands: Operands) -> NestContext:
        """Loops over channels, then results."""
        call = operands.call
        x, y, axes = call.tensor(0), call.outputs[0], spatial(call)
        channels, depth = matrix(call).shape
        groups = call.integer("group", 1) if axes else 1
        inner = depth // prod(axis.kernel for axis in axes)
        if axes:
            known = strides_of(operands)
            strides = known.get("x", row_major(x.shape)), known.get("y", row_major(y.shape))
            rows = x.shape[0]
        else:
            strides, rows = ((depth, 1), (channels, 1)), x.elements // depth
        form = requantise(proof(call))
        low, high = code_limits(call, y)
        place = [f"n * {strides[1][0]}", f"c * {strides[1][1]}"]
        place += [f"o{number} * {stride}" for number, stride in enumerate(strides[1][2:])]
        total = sum_parts(call, "x" if axes else "a", axes, strides[0], inner, channels // groups)
        finish = (
            f"const int32_t code = (int32_t)({form.c('acc', 'c')});",
            f"y[{' + '.join(place)}] = ({C_TYPES[y.dtype]})(code < {low} ? {low} : code > {high} ? {high} : code);",
        )
        sizes = (("n", rows), *((f"o{number}", axis.out) for number, axis in enumerate(axes)))
        results = Loops(tuple(Loop(name, size, parallel=True) for name, size in sizes), (*total, *finish))
        body = Loops((Loop("c", channels),), (unpacking(call, depth), results))
        comment = f"y[n, c] = sum over {depth} weights of channel c, unpacked from four bits"
        empty = context_of(operands, (), [], ("int8_t *const weights = (int8_t *)scratch;",))
        return NestContext(empty.declarations, (LoopNest(comment, (body,)),))


PLATFORM.kernel(
    "Conv", types=TYPES, template="nest.c.mako", layout=("axes", "like"), sources=[*ROUNDING], preference=8
)(PackedCodes)
PLATFORM.kernel(
    "Gemm", "MatMul", types=TYPES, template="nest.c.mako", layout="default", sources=[*ROUNDING], preference=8
)(PackedCodes)
