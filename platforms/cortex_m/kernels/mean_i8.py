"""Means of whole maps of codes, channels innermost: four channels at a time in two words of halves."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.numerics import (
    C_TYPES,
    ROUNDING,
    MultiplyHigh,
    Requantiser,
    RoundedDivision,
    code_limits,
    mean_proof,
    plus,
    requantise,
    times,
    too_wide,
    window_counts,
)
from tilewright.platform import Call, DType, KernelMethods, Needs, Operands, Work
from tilewright.platforms.cortex_m.platform import PLATFORM


@dataclass(frozen=True)
class MeanWork(Work):
    """Operands by fours; means; calls."""

    fours: float
    means: float
    calls: float


PRICES = MeanWork(fours=6.1, means=13.0, calls=0.0)
"""Instructions for one unit of each kind of work."""
MOST_PIXELS = 256
"""Codes whose sum fits sixteen bits."""


@dataclass(frozen=True)
class MeanContext:
    """`pixels` x `channels` codes; `code` is the requantised sum `acc` as a C expression."""

    y_type: str
    pixels: int
    channels: int
    offset: int
    code: str
    low: int
    high: int


def work(call: Call) -> MeanWork:
    """The work of one call."""
    return MeanWork(fours=call.tensor(0).elements / 4, means=call.outputs[0].elements, calls=1)


def _code(form: Requantiser) -> str:
    """The unclamped code of the sum `acc`, by the core's own instructions where it has them."""
    if isinstance(form, MultiplyHigh):
        multiplier, addend, shift = (number.c("0") for number in form.numbers)
        high = f"tilewright_scale({times('acc', 1 << form.pre_shift)}, {multiplier}, {addend})"
        return f"tilewright_floor({high}, {shift})"
    if isinstance(form, RoundedDivision) and form.narrow:
        bits = form.denominator.values[0]
        half = plus("acc", (1 << bits - 1) - 1)
        return plus(f"tilewright_floor({half} + tilewright_bit(acc, {bits}), {bits})", form.zero_point)
    return f"(int32_t)({form.c('acc')})"


@PLATFORM.kernel(
    "AveragePool", "GlobalAveragePool", types="qi8 -> qi8|qu8", template="mean_i8.c.mako",
    layout="channels_last", sources=["dsp.h", *ROUNDING], preference=20,
    requires=Needs(has=("dsp",)),
)  # fmt: skip
class MeanDsp(KernelMethods):
    """Means of whole maps in sums of halves."""

    def accepts(self, call: Call) -> str | None:
        """One mean per channel over at most 256 pixels, channels in fours, batch 1."""
        x, y = call.tensor(0), call.outputs[0]
        counts = window_counts(call)
        pixels = x.elements // x.shape[1] if len(x.shape) > 2 else 0
        if x.shape[0] != 1 or y.elements != x.shape[1] or counts.size != 1 or int(counts[0]) != pixels:
            return "the kernel takes means of whole maps"
        if x.shape[1] % 4 or pixels > MOST_PIXELS:
            return f"the kernel takes channels in fours and up to {MOST_PIXELS} pixels"
        return too_wide(mean_proof(call, pixels))

    def cost(self, call: Call) -> float:
        """Work at the prices of its kinds."""
        return work(call).priced(PRICES)

    def context(self, operands: Operands) -> MeanContext:
        """The numbers of the layer."""
        call = operands.call
        x, y = call.tensor(0), call.outputs[0]
        assert x.quantisation is not None
        pixels = x.elements // x.shape[1]
        form = requantise(mean_proof(call, pixels))
        low, high = code_limits(call, y)
        assert x.dtype is DType.I8
        return MeanContext(
            y_type=C_TYPES[y.dtype],
            pixels=pixels,
            channels=x.shape[1],
            offset=pixels * x.quantisation.zero_point[0],
            code=_code(form),
            low=low,
            high=high,
        )
