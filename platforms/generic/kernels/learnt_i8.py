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
SOURCES = ["products_f32.h", "learnt_i8.h", *ROUNDING]


@dataclass(frozen=True)
class LearntContext:
    """The product and how its operands lie; `bias` is a C expression of what the sum of a channel starts from."""

    product: DescentTerm
    x: str
    w: str
    x_steps: Steps
    y_steps: Steps
    weight_steps: Steps
    zero: int
    taken: int
    depthwise: bool
    bias: str
    y_type: str
    requantise: Requantiser


def is_single(term: DescentTerm) -> bool:
    """True for a product of one row."""
    return term.matrix and term.size[1] == 1


class LearntI8(KernelMethods):
    """Four results of two neighbouring pixels at a time; a depthwise layer four channels of one."""

    _single = False

    def accepts(self, call: Call) -> str | None:
        """Weights or a bias of the run time."""
        if 1 in call.constants and (call.optional(2) is None or 2 in call.constants):
            return "weights and bias are constant, other kernels repack them at compile time"
        if any(the_quantisation(call.tensor(1)).zero_point):
            return "its weights have a zero point"
        term = product_term(call)
        if term is None:
            return "the kernel takes windows over one or two axes, and rows times a matrix"
        if is_single(term) != self._single:
            return "it is a product of a single row" if is_single(term) else "it has more rows than one"
        return empty(call) or too_wide(proof(call))

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """What is constant of weights and bias, and the requantisation."""
        call = operands.call
        constants = (
            [Constant(operand_names(call)[1], DType.I8, call.constants[1].reshape(-1))] if 1 in call.constants else []
        )
        if 2 in call.constants and start_of(call).any():
            constants.append(Constant("start", DType.I32, start_of(call)))
        return (*constants, *requantise(proof(call)).constants)

    def scratch(self, operands: Operands) -> int:
        """Weights of four results, and their sums at each tap."""
        term = product_term(operands.call)
        assert term is not None, "it was accepted"
        return 0 if is_single(term) else 16 * term.taps + 4 * term.taps * term.channels

    def cost(self, call: Call) -> float:
        """Three instructions for a multiply-accumulate, and putting weights aside."""
        term = product_term(call)
        assert term is not None, "it was accepted"
        y = call.outputs[0].elements
        each = 6.0 if term.groups > 1 or is_single(term) else 3.0
        return y * (each * term.channels * term.taps + 20.0) + 8.0 * call.tensor(1).elements

    def context(self, operands: Operands) -> LearntContext:
        """The numbers of the product."""
        call = operands.call
        term, (x, w), y = product_term(call), (call.tensor(0), call.tensor(1)), call.outputs[0]
        assert term is not None, "it was accepted"
        names = operand_names(call)
        bias = ""
        if call.optional(2) is not None:
            bias = names[2] if 2 not in call.constants else "start" if start_of(call).any() else ""
        steps = term.weight_steps
        constant = (*steps, 0, 0) if term.matrix else (*steps, term.kernel[1], 1)
        return LearntContext(
            term, names[0], names[1], steps_of(operands, x, term), steps_of(operands, y, term),
            constant if 1 in call.constants else weight_steps(operands, w, term), the_quantisation(x).zero_point[0],
            16 * term.taps, term.groups > 1 and term.channels == term.results == 1, bias,
            C_TYPES[y.dtype], requantise(proof(call)),
        )  # fmt: skip


def start_of(call: Call) -> Array:
    """A constant bias in units of the sums, one for each channel."""
    return np.broadcast_to(np.asarray(accumulator(call).bias, np.int32), (channels(call),))


PLATFORM.kernel(
    "Conv", types=TYPES, template="learnt_i8.c.mako", layout=("axes", "channels_last"), sources=SOURCES, preference=10
)(LearntI8)
PLATFORM.kernel("Gemm", "MatMul", types=TYPES, template="learnt_i8.c.mako", sources=SOURCES, preference=3)(LearntI8)


@PLATFORM.kernel(
    "Gemm", "MatMul", types=TYPES, template="learnt_row_i8.c.mako",
    sources=["learnt_row_i8.h", *ROUNDING], preference=3,
)  # fmt: skip
class LearntRowI8(LearntI8):
    """Four results of a single row at a time, from weights where they lie."""

    _single = True
