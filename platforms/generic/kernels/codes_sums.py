"""Sums of products of codes as plain loops: what the blocked kernels do not take, and ConvTranspose.

Two operands of the run time, batches, three spatial axes, transposed operands: int32 sums over centred codes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.numerics import (
    C_TYPES,
    ROUNDING,
    accumulator,
    by_channel,
    channel_axis,
    channels,
    code_limits,
    minus,
    proof,
    real_call,
    requantise,
    the_quantisation,
    too_wide,
)
from tilewright.operators import transposed_window, unmapped
from tilewright.ops.index.loop_nest import Guard, Loop, LoopNest, Loops, Part
from tilewright.ops.index.nest import Nest
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.kernels.codes import Q, context_of
from tilewright.platforms.generic.kernels.conv_i8 import weights_of
from tilewright.platforms.generic.kernels.nest import NestContext, nests_of, operand_names, strides_of
from tilewright.platforms.generic.kernels.nest_loops import Codes
from tilewright.platforms.generic.platform import PLATFORM

WEIGHTS = f"{Q}|qi4|qu4"


def products(call: Call) -> Call:
    """The call over real numbers without its bias: what the index maps are asked about."""
    return real_call(call, DType.F32, operands=2)


def sum_constants(operands: Operands) -> tuple[Constant, ...]:
    """A constant left operand as it is, centred weights where they are constant, the bias, the requantisation."""
    call = operands.call
    constants: list[Constant] = []
    if 0 in call.constants:
        constants.append(Constant(operand_names(call)[0], call.tensor(0).dtype, call.constants[0].reshape(-1)))
    if 1 in call.constants:
        values, dtype = weights_of(call)
        constants.append(Constant(operand_names(call)[1], dtype, values.reshape(-1)))
    start = start_of(call)
    if start.any():
        constants.append(Constant("start", DType.I32, start))
    return (*constants, *requantise(proof(call)).constants)


def start_of(call: Call) -> Array:
    """The bias in accumulator units, one per channel."""
    return np.broadcast_to(np.asarray(accumulator(call).bias, np.int32), (channels(call),))


def centred_text(call: Call, index: int, name: str) -> str:
    """A code less its zero point; constant weights lie centred already."""
    centred = index == 1 and index in call.constants
    zero = 0 if centred else the_quantisation(call.tensor(index)).zero_point[0]
    return f"({minus(name, zero)})" if zero else name


def finished(call: Call, channel: str) -> str:
    """The unclamped code of the sum `acc`."""
    total = f"(acc + start[{channel}])" if start_of(call).any() else "acc"
    return requantise(proof(call)).c(total, channel)


def loop_text(nest: Nest, axis: int) -> str:
    """C expression of one subscript of the result over the loops that move."""
    sub = nest.out.subscripts[axis]
    terms = [(name, c) for name, c in getattr(sub, "terms", ()) if name in nest.space.moving]
    return " + ".join(name if c == 1 else f"{name} * {c}" for name, c in terms) or "0"


@PLATFORM.kernel(
    "Conv", "Gemm", "MatMul", types=f"{Q}, {WEIGHTS}, i32|i64? -> {Q}", template="nest.c.mako", layout=("axes", "like"),
    sources=[*ROUNDING], preference=-5,
)  # fmt: skip
class SumCodes(KernelMethods):
    """Plain loops from the index maps, one int32 sum per result."""

    def accepts(self, call: Call) -> str | None:
        """A constant bias, weights with one zero point where they are computed, a requantisation that fits."""
        if call.optional(2) is not None and 2 not in call.constants:
            return "the bias is computed at run time"
        if 1 not in call.constants and len(set(the_quantisation(call.tensor(1)).zero_point)) > 1:
            return "weights of the run time have a zero point per channel"
        if call.tensor(1).dtype.bits < 8 and 1 not in call.constants:
            return "weights of four bits are computed at run time"
        if len(nests_of(products(call))) != 1:
            return unmapped(call)[0]
        return too_wide(proof(call))

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Centred weights where they are constant, the bias, the requantisation."""
        return sum_constants(operands)

    def context(self, operands: Operands) -> NestContext:
        """The printed loops."""
        call = operands.call
        (nest,) = nests_of(products(call))
        y = call.outputs[0]
        body = f"{centred_text(call, 0, 'e0')} * {centred_text(call, 1, 'e1')}"
        channel = loop_text(nest, channel_axis(call)) if y.shape else "0"
        codes = Codes(body, finished(call, channel), C_TYPES[y.dtype], *code_limits(call, y))
        return context_of(operands, (nest,), [codes], ())


@dataclass(frozen=True)
class _Line:
    """One axis of a ConvTranspose: sizes and the loop names that its lines use."""

    letter: str
    size: int
    out: int
    kernel: int
    stride: int
    dilation: int
    begin: int


@PLATFORM.kernel(
    "ConvTranspose", types=f"{Q}, {WEIGHTS}, i32|i64? -> {Q}", template="nest.c.mako", layout=("axes", "like"),
    sources=[*ROUNDING], preference=-5,
)  # fmt: skip
class TransposedSumCodes(KernelMethods):
    """Every result gathers the taps that reach it; one int32 sum per result."""

    def accepts(self, call: Call) -> str | None:
        """Constant weights and bias, a requantisation that fits."""
        if 1 not in call.constants or (call.optional(2) is not None and 2 not in call.constants):
            return "weights or bias are computed at run time"
        return too_wide(proof(call))

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights as [output channel, input channel, taps], bias, requantisation."""
        call = operands.call
        plain = sum_constants(operands)
        values, dtype = weights_of(call)
        return (Constant("w", dtype, by_channel(call, values).reshape(-1)), *plain[1:])

    def context(self, operands: Operands) -> NestContext:
        """Loops over results and taps."""
        call = operands.call
        geometry, groups = transposed_window(products(call)), call.integer("group", 1)
        x, y = call.tensor(0), call.outputs[0]
        parts = zip(
            x.shape[2:], geometry.outs, geometry.kernel, geometry.strides, geometry.dilations, geometry.begins,
            strict=True,
        )  # fmt: skip
        axes = tuple(_Line(str(number), *part) for number, part in enumerate(parts))
        strides = strides_of(operands)
        inner, outer = x.shape[1] // groups, y.shape[1] // groups
        total = _sum_parts(call, axes, strides.get("x", row_major(x.shape)), inner, outer)
        limits = code_limits(call, y)
        finish = (
            f"const int32_t code = (int32_t)({finished(call, 'c')});",
            f"y[{_address('n', 'c', 'o', axes, strides.get('y', row_major(y.shape)))}] = "
            f"({C_TYPES[y.dtype]})(code < {limits[0]} ? {limits[0]} : code > {limits[1]} ? {limits[1]} : code);",
        )
        sizes = (("n", y.shape[0]), ("c", y.shape[1]), *((f"o{a.letter}", a.out) for a in axes))
        around = tuple(Loop(name, size, parallel=True) for name, size in sizes)
        comment = f"y[n, c, o] = sum of x[n, i, (o + begin - k*dilation) / stride] * w, kernel {geometry.kernel}"
        return NestContext((), (LoopNest(comment, (Loops(around, (*total, *finish)),)),))


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Element strides of a dense tensor."""
    return tuple(int(np.prod(shape[axis + 1 :])) for axis in range(len(shape)))


def _address(batch: str, channel: str, prefix: str, axes: tuple[_Line, ...], strides: tuple[int, ...]) -> str:
    names = (batch, channel, *(f"{prefix}{axis.letter}" for axis in axes))
    return " + ".join(f"{name} * {stride}" for name, stride in zip(names, strides, strict=True))


def _sum_parts(
    call: Call, axes: tuple[_Line, ...], strides: tuple[int, ...], inner: int, outer: int
) -> tuple[Part, ...]:
    """The sum of one result: taps that meet an input position, then the group's input channels."""
    taps = int(np.prod([axis.kernel for axis in axes]))
    tap = "0"
    for axis in axes:
        tap = f"({tap}) * {axis.kernel} + k{axis.letter}"
    place = _address("n", f"(c / {outer} * {inner} + i)", "p", axes, strides)
    term = f"acc += {centred_text(call, 0, f'(int32_t)x[{place}]')} * w[(c * {inner} + i) * {taps} + {tap}];"
    part: Part = Loops((Loop("i", inner),), (term,))
    for axis in reversed(axes):
        a = axis.letter
        at = f"t{a} / {axis.stride}"
        skip = Guard((f"t{a} < 0 || t{a} % {axis.stride} != 0 || {at} >= {axis.size}",), ("continue;",))
        place = f"const int t{a} = o{a} + {axis.begin} - k{a} * {axis.dilation};"
        part = Loops((Loop(f"k{a}", axis.kernel),), (place, skip, f"const int p{a} = {at};", part))
    return ("int32_t acc = 0;", part)
