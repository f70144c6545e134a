# mypy: ignore-errors
"""Platforms, each with one kernel that breaks one thing that it declares."""

import numpy as np
from acme_rv32.kernels.matmul_dot4 import MatMulDot4
from tilewright.numerics import ROUNDING as ROUNDING_SOURCES
from tilewright.numerics import proof
from tilewright.platform import Constant, DType, KernelMethods, MemoryLevel, Platform

LEVELS = [MemoryLevel("sram", align=16), MemoryLevel("flash", readonly=True)]


def made(name):
    return Platform(name, f"its kernel has a {name}", LEVELS, compute_in="sram", inherits="generic")


ROUNDING, SCRATCH, OPERAND, LAYOUT = (made(f"wrong_{what}") for what in ("rounding", "scratch", "operand", "layout"))
TYPES, SOURCES = "qi8, qi8 -> qi8", ["../acme_rv32/acme_rv32/kernels/dot4.h", *ROUNDING_SOURCES]


@ROUNDING.kernel("MatMul", types=TYPES, template="rounding.c.mako", sources=SOURCES)
class HalfUp(MatMulDot4):
    """Ties go up instead of to the even code."""

    def constants(self, operands):
        w, start, *_ = super().constants(operands)
        _, numerator, denominator = proof(operands.call).requantisation.rational()
        shift = [int(one).bit_length() - 1 for one in denominator]
        zero = operands.call.outputs[0].quantisation.zero_point
        numbers = {"numerator": numerator, "half": denominator // 2, "shift": shift, "zero": zero}
        each = {
            name: np.broadcast_to(np.asarray(value, np.int64), len(start.values)) for name, value in numbers.items()
        }
        return (w, start, *(Constant(name, DType.I64, values) for name, values in each.items()))


@SCRATCH.kernel("MatMul", types=TYPES, template="scratch.c.mako", sources=SOURCES)
class LongRow(MatMulDot4):
    """Keeps a row of sums in scratch, and declares room for one sum."""

    def scratch(self, operands):
        return 4


@OPERAND.kernel("MatMul", types=TYPES, template="operand.c.mako", sources=SOURCES)
class FourAtATime(MatMulDot4):
    """Pads its weights with zeros to fours and reads operands in fours, past the last."""

    def constants(self, operands):
        w, *others = super().constants(operands)
        depth, columns = operands.call.shape(1)
        padded = np.pad(w.values.reshape(columns, depth), ((0, 0), (0, -depth % 4)))
        return (type(w)("w", w.dtype, padded.reshape(-1)), *others)


@LAYOUT.kernel("GlobalMaxPool", types="f32 -> f32", template="layout.c.mako", layout="channels_last")
class RowMajor(KernelMethods):
    """Declares channels last, and walks row by row."""

    def context(self, operands):
        batch, channels, *spatial = operands.call.shape(0)
        return batch * channels, int(np.prod(spatial))


TEXT, PYTHON = made("wrong_text"), made("wrong_python")


@TEXT.kernel("Neg", types="f32 -> f32", template="text.c.mako", layout="same")
class Untidy(KernelMethods):
    """Its C keeps a variable that nothing reads."""


@PYTHON.kernel("Neg", types="f32 -> f32", template="text.c.mako", layout="same")
class Raises(KernelMethods):
    """Its Python fails."""

    def context(self, operands):
        return {}["count"]
