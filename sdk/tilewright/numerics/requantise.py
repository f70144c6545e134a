"""Which form a requantisation takes.

`MultiplyHigh` where a 32-bit form was proved: a high half of a product, one addition, one shift. `SplitMultiply`,
which a kernel asks for by `split_multiply(proof)`, has two short products in place of the long one. `RoundedDivision`
where there is none: an exact 64-bit product and its quotient, ties to the even one, by the functions of `ROUNDING`.
`RoundedTwice` and `RawAverage` where codes are those of TensorFlow Lite Micro and have no 32-bit form.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tilewright.model import Array, DType
from tilewright.numerics.requantisers import (
    Channelwise,
    MultiplyHigh,
    RawAverage,
    Requantiser,
    RoundedDivision,
    RoundedTwice,
    SplitMultiply,
)
from tilewright.ops.quantised.proof import Proof, split
from tilewright.ops.quantised.twice import RawMean, Twice
from tilewright.ops.requantize import Integers, Requantisation, Rule

SHIFTS = str(Path(__file__).with_name("shifts.h"))
"""The C file of signed shifts to the right."""
ROUNDING = (SHIFTS, str(Path(__file__).with_name("half_even.h")))
"""The C files that a requantisation calls; name them among the `sources` of a kernel that prints one."""


def _too_wide_for(proof: Proof, rule: Rule) -> str | None:
    if isinstance(rule, RawMean):
        reach = proof.bounds.largest + rule.count * abs(rule.zero_point) + rule.count
        return "a sum of codes leaves 32 bits" if reach >= 1 << 31 else None
    if not isinstance(rule, Twice):
        return "its rounding has no 32-bit form"
    if proof.bounds.largest << max(rule.shift, 0) >= 1 << 31:
        return "a sum leaves 32 bits behind its shift"
    return None


def too_wide(proof: Proof) -> str | None:
    """None, or why even the exact sequence does not fit into 64 bits: a kernel refuses such a node."""
    if proof.fixed is not None:
        return None
    if proof.requantisation.rules:
        return next((why for rule in proof.requantisation.rules if (why := _too_wide_for(proof, rule))), None)
    leaves = proof.requantisation.leaves_64_bits(proof.bounds.largest)
    return "the requantisation needs more than 64 bits" if leaves else None


def requantise(proof: Proof, shift_type: DType = DType.I8) -> Requantiser:
    """The form that was proved, or the exact one, of a requantisation that is not `too_wide`.

    Shifts of 32 bits let compilers keep whole vectors where the channel is the innermost loop.
    """
    fixed = proof.fixed
    if fixed is not None:
        return MultiplyHigh(
            fixed.low, fixed.high, fixed.pre_shift, _number("multiplier", DType.I32, fixed.multiplier),
            _number("addend", DType.I32, fixed.addend), _number("shift", shift_type, fixed.shift),
        )  # fmt: skip
    exact = proof.requantisation
    if (twice := rounded_twice(proof, shift_type)) is not None:
        return twice
    if means := [rule for rule in exact.rules if isinstance(rule, RawMean)]:
        (mean,) = means
        shift, offset = mean.count * mean.zero_point, exact.zero_point - mean.zero_point
        return RawAverage(exact.low, exact.high, mean.count, shift, offset)
    residue, numerator, denominator = exact.rational()
    divisors = [int(d) for d in denominator.tolist()]
    if all(d & (d - 1) == 0 for d in divisors):
        below = _number("exponent", shift_type, np.asarray([d.bit_length() - 1 for d in divisors], np.int64))
    else:
        below = _number("divisor", DType.I64, denominator)
    return RoundedDivision(
        exact.low, exact.high, exact.zero_point, exact.bits, _number("residue", DType.I32, residue),
        _number("numerator", DType.I64, numerator), below, _shifts_alone(proof, numerator, denominator),
    )  # fmt: skip


def rounded_twice(proof: Proof, shift_type: DType = DType.I8) -> RoundedTwice | None:
    """The two roundings of TensorFlow Lite Micro as they are, proved in another form or not; None for other codes."""
    twice = [rule for rule in proof.requantisation.rules if isinstance(rule, Twice)]
    if not twice or any(_too_wide_for(proof, rule) for rule in twice):
        return None
    return _rounded_twice(proof.requantisation, twice, shift_type)


def split_multiply(proof: Proof) -> SplitMultiply | None:
    """The form with two short products, proved as that of `requantise` is; None where there is none."""
    bounds = proof.bounds
    form = split(proof.requantisation, bounds.lowest.tobytes(), bounds.highest.tobytes())
    if form is None:
        return None
    bits, multiplier = 32 - form.pre_shift, form.multiplier.astype(np.int64)
    return SplitMultiply(
        form.low, form.high, bits, _number("below", DType.I32, multiplier % (1 << bits)),
        _number("above", DType.I32, multiplier >> bits), _number("addend", DType.I32, form.addend), int(form.shift[0]),
    )  # fmt: skip


def _shifts_alone(proof: Proof, numerator: Integers, denominator: Integers) -> bool:
    """True where sums of 32 bits are divided by one of 2, 4, ... and their rounding leaves no 32 bits."""
    divisor = int(denominator[0])
    power = divisor > 1 and divisor & (divisor - 1) == 0 and bool((denominator == divisor).all())
    plain = proof.requantisation.bits == 0 and bool((numerator == 1).all())
    return power and plain and proof.bounds.largest + divisor // 2 < 1 << 31


def _rounded_twice(exact: Requantisation, rules: Sequence[Twice], shift_type: DType) -> RoundedTwice:
    multipliers = np.asarray([rule.multiplier << max(rule.shift, 0) for rule in rules], np.int64)
    rights = np.asarray([max(-rule.shift, not rule.multiplier) for rule in rules], np.int64)  # nothing, by any shift
    width = DType.I64 if int(multipliers.max()) >= 1 << 31 else DType.I32
    signed = (rights > 0) & np.asarray([not rule.once for rule in rules])
    return RoundedTwice(
        exact.low, exact.high, exact.zero_point, _number("multiplier", width, multipliers),
        _number("right", shift_type, rights), _number("half", DType.I32, np.where(signed, 1 << 30, 0)),
    )  # fmt: skip


def _number(name: str, dtype: DType, values: Array) -> Channelwise:
    """One value where all channels are alike."""
    listed = tuple(int(value) for value in values.reshape(-1).tolist())
    return Channelwise(name, dtype, listed[:1] if len(set(listed)) == 1 else listed)
