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
WIDEST = 29
"""Bits by which epsilon may be shifted under the root."""
ENOUGH, APART = 20, 4
"""Results share so many bits of fraction; where they would share fewer, and a factor is this many powers of 2 smaller
than the largest, each has its own."""
LEAST_MOVE = 60
"""A factor that is so small beside its addend adds nothing to it."""


@dataclass(frozen=True)
class WholeNormForm:
    """The numbers of rows. Epsilon is `epsilon` * 2^(epsilon_exponent + 2 (shift - top)) for whole numbers that are
    shifted on; a sum over 2^length_bits times `share` over 2^30 is nearly the mean. Results have `all_bits` of fraction
    behind a move by `exponents`: of every factor, or of all of them."""

    rows: NormRows
    centred: bool
    epsilon: int
    epsilon_exponent: int
    length_bits: int
    share: int
    factors: Integers
    addends: Integers
    exponents: Integers
    all_bits: Integers

    @property
    def places(self) -> bool:
        """Whether every factor has a move and bits of its own."""
        return self.all_bits.ndim > 0

    @property
    def exponent(self) -> int:
        """The move of all results."""
        return int(self.exponents)

    @property
    def bits(self) -> int:
        """Bits of fraction of all results."""
        return int(self.all_bits)

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
    reach = np.abs(factors) + np.abs(addends)
    largest = float(np.abs(factors).max()) + float(np.abs(addends).max())
    if length > 1 << 20 or not 2.0**-60 < largest < 2.0**60 or epsilon_real < 0:
        return None
    bits = np.asarray(30 - ceil(log2(largest)))
    powers = np.asarray(mantissa(float(np.abs(factors).max()))[1] if factors.any() else 0)
    apart = bits < ENOUGH and float(reach.min()) < largest / 2**APART
    if apart:
        bits = 30 - np.ceil(np.log2(np.maximum(reach, 2.0**-60))).astype(np.int64)
        powers = np.array([mantissa(float(one))[1] for one in np.abs(factors).reshape(-1)]).reshape(bits.shape)
        powers = np.where(factors == 0, -bits - 3, np.maximum(powers, -bits - LEAST_MOVE))
    epsilon, exponent = mantissa(length * epsilon_real)
    length_bits, whole = (length - 1).bit_length(), np.rint(factors * 2.0**-powers).clip(1 - 2**31, 2**31 - 1)
    return WholeNormForm(
        rows, bool(getattr(codes, "centred", False)), epsilon, exponent + 280, length_bits,
        round((1 << 30 + length_bits) / length), whole.astype(np.int64), np.rint(addends * 2.0**bits).astype(np.int64),
        np.asarray(bits + powers + 3), np.asarray(bits),
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
        constants = [Constant(name, DType.I32, values.reshape(-1)) for name, values in parts]
        if form.places:
            pairs = np.stack([form.exponents, form.all_bits], axis=-1).astype(np.int8)
            constants.append(Constant("places", DType.I8, pairs.reshape(-1)))
        return tuple(constants)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """A row's elements are read one by one when they become whole numbers in their place."""
        return ((0, 0),)

    def cost(self, call: Call) -> float:
        """Five passes over a row."""
        return 70.0 * call.tensor(0).elements

    def context(self, operands: Operands) -> WholeNormForm | None:
        """The form's numbers."""
        return whole_norm(operands.call)
