"""Normalisations of floats where there is no float unit: whole numbers between loads and stores of floats."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log2, sqrt

import numpy as np
from tilewright.numerics import Integers, mantissa
from tilewright.operators import NormRows, norm_rows, row_parameter
from tilewright.platform import Call, Constant, DType, KernelMethods, Needs, Operands
from tilewright.platforms.generic.platform import PLATFORM

NORMS = ("LayerNormalization", "InstanceNormalization", "GroupNormalization")
MOST_BITS, WIDEST = 40, 29
"""Bits of fraction of a result, and bits by which epsilon may be shifted under the root."""


@dataclass(frozen=True)
class WholeNormForm:
    """The numbers of rows. Epsilon is `epsilon` * 2^(epsilon_exponent + 2 (shift - top)) for whole numbers that are
    shifted on; a sum over 2^length_bits times `share` over 2^30 is the mean. Results have `bits` of fraction behind a
    move by `exponent`."""

    rows: NormRows
    centred: bool
    epsilon: int
    epsilon_exponent: int
    length_bits: int
    share: int
    factors: Integers
    addends: Integers
    exponent: int
    bits: int

    @property
    def most_shift(self) -> int:
        """The most that whole numbers may be shifted on by, less the exponent of the largest."""
        return (WIDEST - self.epsilon_exponent) // 2 if self.epsilon else 1 << 20


def whole_norm(call: Call) -> WholeNormForm | None:
    """The form of a normalisation with constant factors; None for others, and for factors of no common size."""
    rows, codes = norm_rows(call), call.codes
    scale = None if rows is None else row_parameter(call, 1, rows)
    bias = None if rows is None or call.optional(2) is None else row_parameter(call, 2, rows)
    if rows is None or scale is None or (bias is None and call.optional(2) is not None):
        return None
    length, epsilon_real = rows.length, float(np.float32(call.real("epsilon", 1e-5)))
    factors, addends = scale * sqrt(length), np.zeros_like(scale) if bias is None else bias
    reach = float(np.abs(factors).max()) + float(np.abs(addends).max())
    if length > 1 << 20 or not 2.0**-60 < reach < 2.0**60 or epsilon_real < 0:
        return None
    bits = 30 - ceil(log2(reach))
    epsilon, exponent = mantissa(length * epsilon_real)
    power = mantissa(float(np.abs(factors).max()))[1] if factors.any() else 0
    length_bits, whole = (length - 1).bit_length(), np.rint(factors * 2.0**-power).clip(1 - 2**31, 2**31 - 1)
    return WholeNormForm(
        rows, bool(getattr(codes, "centred", False)), epsilon, exponent + 280, length_bits,
        round((1 << 30 + length_bits) / length), whole.astype(np.int64), np.rint(addends * 2.0**bits).astype(np.int64),
        bits + power + 3, bits,
    )  # fmt: skip


@PLATFORM.kernel(
    *NORMS, types="f32, f32, f32? -> f32", template="whole_norm.c.mako", numerics="1e-5", preference=5,
    sources=[
        "fixed.h", "fixed_down.h", "fixed_moved.h", "fixed_room.h", "fixed_reciprocal.h", "fixed_root.h", "whole_f32.h",
    ],
    requires=Needs(lacks=("fpu",)),
)  # fmt: skip
class WholeNorm(KernelMethods):
    """Rows as whole numbers of one exponent; mean, inverse root and products as those of numbers in fixed point."""

    def accepts(self, call: Call) -> str | None:
        """Constant factors and addends of rows, the only result."""
        if len(call.outputs) != 1 or call.node.clamp is not None:
            return "its statistics are asked for, or the result is limited"
        return None if whole_norm(call) else "its factors are no constants of its rows"

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Factors and addends of every set of rows."""
        form = whole_norm(operands.call)
        assert form is not None, "accepts refuses calls without a form"
        parts = zip(("factors", "addends"), (form.factors, form.addends), strict=True)
        return tuple(Constant(name, DType.I32, values.reshape(-1)) for name, values in parts)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """A row's elements are read one by one when they become whole numbers in their place."""
        return ((0, 0),)

    def cost(self, call: Call) -> float:
        """Five passes over a row."""
        return 70.0 * call.tensor(0).elements

    def context(self, operands: Operands) -> WholeNormForm | None:
        """The form's numbers."""
        return whole_norm(operands.call)
