"""C for a proved requantisation, and the constant arrays that it reads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.ops.quantised.proof import Proof
from tilewright.platform import Array, Constant, DType

LARGEST_EXPONENT = 62


@dataclass(frozen=True)
class RequantiseText:
    """Prints `code(acc, channel)`; `names` are the arrays that a function needs as pointers, in order."""

    names: tuple[str, ...]
    types: tuple[str, ...]
    form: str
    low: int
    high: int

    def code(self, acc: str, channel: str) -> str:
        """The unclamped code of accumulator `acc` of output channel `channel`, as an int32_t or int64_t expression."""
        return self.form.replace("ACC", acc).replace("CHANNEL", channel)

    @property
    def parameters(self) -> str:
        """Declarations of the arrays, each followed by a comma."""
        return "".join(f"const {t} *restrict {n}, " for t, n in zip(self.types, self.names, strict=True))

    def arguments(self, offset: str) -> str:
        """The arrays from channel `offset` on, each followed by a comma."""
        return "".join(f"{name} + {offset}, " for name in self.names)


def refusal(proof: Proof) -> str | None:
    """None, or why even the exact sequence does not fit into 64 bits."""
    if proof.fixed is not None:
        return None
    _, numerator, denominator = proof.requantisation.rational()
    top = ((proof.bounds.largest + 1) << proof.requantisation.bits) * max(abs(int(n)) for n in numerator.tolist())
    if top >= 1 << LARGEST_EXPONENT or max(int(d) for d in denominator.tolist()) >= 1 << LARGEST_EXPONENT:
        return "the requantisation needs more than 64 bits"
    return None


def requantise_text(
    proof: Proof, channels: int, shifts: DType = DType.I8
) -> tuple[RequantiseText, tuple[Constant, ...]]:
    """The C of a proof, and its constants: one value per channel, or literals where all channels are alike.

    Shifts of 32 bits let compilers keep whole vectors where the channel is the innermost loop.
    """
    found: list[Constant] = []

    def operand(name: str, values: Array, dtype: DType) -> str:
        spread = np.broadcast_to(np.asarray(values).reshape(-1), (channels,))
        if (spread == spread[0]).all():
            return f"INT64_C({int(spread[0])})" if dtype is DType.I64 else str(int(spread[0]))
        found.append(Constant(name, dtype, np.asarray(spread, dtype.numpy)))
        return f"{name}[CHANNEL]"

    fixed = proof.fixed
    if fixed is not None:
        multiplier = operand("multiplier", fixed.multiplier, DType.I32)
        addend = operand("addend", fixed.addend, DType.I32)
        shift = operand("shift", fixed.shift, shifts)
        before = f"ACC * {1 << fixed.pre_shift}" if fixed.pre_shift else "ACC"
        form = f"((int32_t)(((int64_t)({before}) * {multiplier}) >> 32) + {addend}) >> {shift}"
        low, high = fixed.low, fixed.high
    else:
        exact = proof.requantisation
        residue, numerator, denominator = exact.rational()
        divisors = [int(d) for d in denominator.tolist()]
        exponent = np.asarray([(d & -d).bit_length() - 1 for d in divisors], np.int64)
        odd = np.asarray([d >> int(e) for d, e in zip(divisors, exponent, strict=True)], np.int64)
        top = operand("numerator", numerator, DType.I64)
        shift = operand("exponent", exponent, shifts)
        rest = operand("residue", residue, DType.I32)
        wide = f"((int64_t)(ACC) * {1 << exact.bits} + {rest})" if exact.bits else "(int64_t)(ACC)"
        if (odd == 1).all():
            form = f"{exact.zero_point} + tilewright_divide_half_even({wide} * {top}, {shift})"
        else:
            divisor = operand("divisor", odd << exponent, DType.I64)
            form = f"{exact.zero_point} + tilewright_quotient_half_even({wide} * {top}, {divisor})"
        low, high = exact.low, exact.high
    names, types = tuple(c.name for c in found), tuple(_C[c.dtype] for c in found)
    return RequantiseText(names, types, form, low, high), tuple(found)


_C = {DType.I8: "int8_t", DType.I32: "int32_t", DType.I64: "int64_t"}
