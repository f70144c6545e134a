"""A requantisation in double precision, proved equal to the exact one for every sum that can occur.

    code = low + clamp((int)(sum * scale + offset), 0, high - low)      one multiply-add between two conversions

The result grows with the sum, so it is right everywhere if it passes each of its at most 255 thresholds at the same sum
as the exact sequence. The offset is chosen so that at every threshold the real value keeps `MARGIN` away from the
integer: more than all rounding that a compiler may or may not spare by fusing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.numerics import Integers, Proof, thresholds
from tilewright.platform import Array, Constant, DType

MARGIN = 2.0**-32
WIDEST = 1 << 10
LARGEST = float(1 << 16)
"""Magnitude of a bias in steps of the result: a product that is added to it is rounded by less than 2^-36."""


@dataclass(frozen=True)
class RealForm:
    """Scale and offset per channel, and the range of codes."""

    scale: Array
    offset: Array
    low: int
    span: int

    def constants(self) -> tuple[Constant, ...]:
        """One value per channel."""
        return (Constant("scale", DType.F64, self.scale), Constant("offset", DType.F64, self.offset))


def real_form(proof: Proof, bias: Integers) -> RealForm | None:
    """The form for sums to which `bias` is still to be added; None where no offset keeps the margin."""
    exact, bounds = proof.requantisation, proof.bounds
    if exact.high - exact.low >= WIDEST or min(exact.multipliers) <= 0:
        return None
    channels = proof.channels
    scale = np.broadcast_to(np.asarray([float(m) for m in exact.multipliers]), (channels,))
    lowest, highest = (np.broadcast_to(part, (channels,))[:, None] for part in (bounds.lowest, bounds.highest))
    limits = np.asarray(thresholds(exact))
    reached = np.clip(np.broadcast_to(limits, (channels, limits.shape[1])), lowest, highest + 1).astype(np.float64)
    steps = np.arange(1, exact.high - exact.low + 1, dtype=np.float64)[None, :]
    at, before = steps - scale[:, None] * reached, steps - scale[:, None] * (reached - 1)
    least = np.where(reached <= highest, at, -np.inf).max(axis=1, initial=-np.inf) + MARGIN
    most = np.where(reached > lowest, before, np.inf).min(axis=1, initial=np.inf) - MARGIN
    if (least > most).any() or (np.abs(scale * bias) > LARGEST).any() or (scale > 1).any():
        return None
    nominal = np.full(channels, exact.zero_point - exact.low + 0.5)
    offset = np.clip(nominal, least, most) + scale * bias
    return RealForm(scale.astype(np.float64), offset, exact.low, exact.high - exact.low)
