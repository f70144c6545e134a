"""Products on codes whose weights or bias change at run time: weights as the file has them, the scales of the file."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.numerics import (
    C_TYPES,
    ROUNDING,
    Requantiser,
    accumulator,
    channels,
    proof,
    requantise,
    the_quantisation,
    too_wide,
)
from tilewright.operators import DescentTerm, product_term
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.kernels.descent import Steps, steps_of, weight_steps
from tilewright.platforms.generic.kernels.elements import empty
from tilewright.platforms.generic.kernels.nest import operand_names
from tilewright.platforms.generic.platform import PLATFORM

TYPES = "qi8, qi8, i32|i64? -> qi8|qu8"
SOURCES = ["products_f32.h", "learnt_i8.h", "learnt_blocks.h", *ROUNDING]
MOST_TAPS = 25
"""Taps of a depthwise window that are written out."""


@dataclass(frozen=True)
class LearntContext:
    """The product and how its operands lie; `bias` is a C expression of what the sum of a channel starts from.

    A pixel reads `depth` inputs in `runs`: how many, how long, the step of weights within one, columns of the window,
    and the steps of weights by rows and columns of it. Of a depthwise layer `plane` are rows and columns amid zeros.
    """

    product: DescentTerm
    x: str
    w: str
    x_steps: Steps
    y_steps: Steps
    weight_steps: Steps
    zero: int
    depth: int
    runs: tuple[int, int, int, int, int, int]
    plane: tuple[int, int]
    bias: str
    y_type: str
    requantise: Requantiser


def plane_of(term: DescentTerm) -> tuple[int, int]:
    """Rows and columns that the windows of a plane reach."""
    rows, columns = (
        (outs - 1) * stride + (kernel - 1) * dilation + 1
        for outs, stride, kernel, dilation in zip(term.outs, term.strides, term.kernel, term.dilations, strict=True)
    )
    return rows, columns


def row_major(term: DescentTerm) -> Steps:
    """Elements between neighbouring weights by result, channel, row and column, as the file has them."""
    return (*term.weight_steps, 0, 0) if term.matrix else (*term.weight_steps, term.kernel[1], 1)


def runs_of(term: DescentTerm, lying: Steps) -> tuple[int, int, int, int, int, int]:
    """All that a pixel reads as one run where weights lie so, else the channels of each tap."""
    if not term.matrix and lying == row_major(term):
        return 1, term.taps * term.channels, 1, 1, 0, 0
    return term.taps, term.channels, lying[1], term.kernel[1], lying[2], lying[3]


def is_depthwise(term: DescentTerm) -> bool:
    """True for one result of every channel, with few enough taps to be written out."""
    return term.groups > 1 and term.channels == term.results == 1 and term.taps <= MOST_TAPS


def is_single(term: DescentTerm) -> bool:
    """True for a product of one row."""
    return term.matrix and term.size[1] == 1


def refused(call: Call) -> str | None:
    """None for weights or a bias of the run time, one or two axes, a requantisation that fits."""
    if 1 in call.constants and (call.optional(2) is None or 2 in call.constants):
        return "weights and bias are constant, other kernels repack them at compile time"
    if any(the_quantisation(call.tensor(1)).zero_point):
        return "its weights have a zero point"
    if product_term(call) is None:
        return "the kernel takes windows over one or two axes, and rows times a matrix"
    return empty(call) or too_wide(proof(call))


def term_of(call: Call) -> DescentTerm:
    """The sizes of a product that was accepted."""
    term = product_term(call)
    assert term is not None, "it was accepted"
    return term


class LearntI8(KernelMethods):
    """What two neighbouring pixels read is gathered, and meets four rows of weights at a time."""

    def accepts(self, call: Call) -> str | None:
        """More than a single row."""
        return refused(call) or ("it is a product of a single row" if is_single(term_of(call)) else None)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """What is constant of weights and bias, and the requantisation."""
        call, names = operands.call, operand_names(operands.call)
        constants = [Constant(names[1], DType.I8, call.constants[1].reshape(-1))] if 1 in call.constants else []
        if 2 in call.constants and start_of(call).any():
            constants.append(Constant("start", DType.I32, start_of(call)))
        return (*constants, *requantise(proof(call)).constants)

    def scratch(self, operands: Operands) -> int:
        """What two pixels read."""
        term = term_of(operands.call)
        return 4 * term.taps * term.channels

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """Results of two pixels are written behind what these read, where that is nothing but themselves."""
        context = self.context(operands)
        term, steps = context.product, (context.x_steps, context.y_steps)
        alone = (term.size, term.kernel, term.strides) == (
            term.outs,
            (1, 1),
            (1, 1),
        ) and term.groups == term.images == 1
        pixels = term.size[0] * term.size[1]
        beside = all(
            one[1] == 1 and one[3] == size for one, size in zip(steps, (term.channels, term.results), strict=True)
        )
        if not alone or any(term.begins) or not beside:
            return ()
        return ((0, 0, max(0, pixels * (term.results - term.channels))),)

    def cost(self, call: Call) -> float:
        """Three instructions for a multiply-accumulate, and gathering what a pixel reads."""
        term, y = term_of(call), call.outputs[0].elements
        return y * (3.2 * term.channels * term.taps + 25.0) + 6.0 * y / term.results * term.channels * term.taps

    def context(self, operands: Operands) -> LearntContext:
        """The numbers of the product."""
        call = operands.call
        term, (x, w), y = term_of(call), (call.tensor(0), call.tensor(1)), call.outputs[0]
        names, bias = operand_names(call), ""
        if call.optional(2) is not None:
            bias = names[2] if 2 not in call.constants else "start" if start_of(call).any() else ""
        lying = row_major(term) if 1 in call.constants else weight_steps(operands, w, term)
        return LearntContext(
            term, names[0], names[1], steps_of(operands, x, term), steps_of(operands, y, term), lying,
            the_quantisation(x).zero_point[0], term.taps * term.channels, runs_of(term, lying), plane_of(term), bias,
            C_TYPES[y.dtype], requantise(proof(call)),
        )  # fmt: skip


def start_of(call: Call) -> Array:
    """A constant bias in units of the sums, one for each channel."""
    return np.broadcast_to(np.asarray(accumulator(call).bias, np.int32), (channels(call),))


@PLATFORM.kernel(
    "Conv", types=TYPES, template="learnt_i8.c.mako", layout=("axes", "channels_last"), sources=SOURCES, preference=10
)
class LearntConvI8(LearntI8):
    """A convolution, whose weights lie row-major."""

    def accepts(self, call: Call) -> str | None:
        """See `refused`."""
        return refused(call)


PLATFORM.kernel("Gemm", "MatMul", types=TYPES, template="learnt_i8.c.mako", sources=SOURCES, preference=3)(LearntI8)


@PLATFORM.kernel(
    "Conv", types=TYPES, template="learnt_depthwise_i8.c.mako", layout=("axes", "channels_last"),
    sources=["plane_i8.h", *ROUNDING], preference=15,
)  # fmt: skip
class LearntDepthwiseI8(LearntI8):
    """Plane by plane, each copied amid zeros, its weights in registers."""

    def accepts(self, call: Call) -> str | None:
        """A window of every channel."""
        return refused(call) or (None if is_depthwise(term_of(call)) else "it is no depthwise layer of few taps")

    def scratch(self, operands: Operands) -> int:
        """A plane amid zeros."""
        rows, columns = plane_of(term_of(operands.call))
        return 2 * rows * columns

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """A plane is written behind its copy."""
        context = self.context(operands)
        alike = context.x_steps == context.y_steps and context.product.size == context.product.outs
        return ((0, 0, 0),) if alike else ()

    def cost(self, call: Call) -> float:
        """Three instructions for a multiply-accumulate, ten for a result and five for each element of the plane."""
        term = term_of(call)
        rows, columns = plane_of(term)
        return call.outputs[0].elements * (3.2 * term.taps + 14.0) + 5.0 * term.images * term.groups * rows * columns


@PLATFORM.kernel(
    "Gemm", "MatMul", types=TYPES, template="learnt_row_i8.c.mako", sources=["learnt_row_i8.h", *ROUNDING], preference=3
)
class LearntRowI8(LearntI8):
    """Four results of a single row at a time, from weights where they lie."""

    def accepts(self, call: Call) -> str | None:
        """A single row."""
        return refused(call) or (None if is_single(term_of(call)) else "it has more rows than one")

    def scratch(self, operands: Operands) -> int:
        """None."""
        return 0
