"""Codes of four output channels, pixel by pixel, from sums of 32 bits: the cores' share of a job, in Xpulp.

Registers: a0 walks over the sums, a1 over the codes, a2 counts; a3 and a4 are the steps; numbers lie at a5; limits are
a5 and a6. Multipliers s0-s3; addends s4-s7 where they are the channels' own, else the addend s4; shifts s8-s11 where
they are the channels' own; of a multiplier in two parts those above s8-s11.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.numerics import Channelwise, MultiplyHigh, SplitMultiply
from tilewright.platform import Array
from tilewright.platforms.pulp.kernels.listing import Listing, constant

WIDTH = 4
TOTALS = ("t0", "t1", "t2", "ra")
PARTS = ("t3", "t4", "t5", "t6")
MULTIPLIERS = ("s0", "s1", "s2", "s3")
ADDENDS = ("s4", "s5", "s6", "s7")
SHIFTS = ABOVE = ("s8", "s9", "s10", "s11")
NARROW = {(-128, 127): ("p.clip", 8), (0, 255): ("p.clipu", 9), (0, 127): ("p.clipu", 8)}
"""The one instruction that limits codes, where there is one."""
ORDER = (1, 2, 3, 0)
"""Channels in the order in which they are loaded, so that nobody waits for what was computed last."""
PRODUCTS = {"mulh": 5, "mul": 2}
"""Cycles of the high half and of the lower one; every other instruction of a loop takes one, `p.mac` too. Measured."""


@dataclass(frozen=True)
class Coding:
    """A requantisation whose numbers lie channel by channel, in the order of `numbers`."""

    form: MultiplyHigh | SplitMultiply

    @property
    def own_shift(self) -> bool:
        """True where every channel brings its shift."""
        return isinstance(self.form, MultiplyHigh) and not self.form.shift.uniform

    @property
    def own_addend(self) -> bool:
        """True where every channel brings its addend."""
        return self.own_shift or not self.form.addend.uniform

    @property
    def numbers(self) -> tuple[Channelwise, ...]:
        """What lies in memory for each channel."""
        form = self.form
        parts = (form.multiplier,) if isinstance(form, MultiplyHigh) else (form.below, form.above)
        addend = (form.addend,) * self.own_addend
        return (*parts, *addend, *((form.shift,) if isinstance(form, MultiplyHigh) and self.own_shift else ()))

    def columns(self, channels: int) -> Array:
        """[channel, number] int32: the numbers in memory."""
        return np.stack([number.spread(channels) for number in self.numbers], axis=1).astype(np.int32)

    def c(self, accumulator: str, array: str) -> str:
        """C expression of a code before it is limited; `array` has the numbers of its channel."""
        held = {number.name: f"{array}[{place}]" for place, number in enumerate(self.numbers)}
        return self.form.c(accumulator, held=held)

    @property
    def cycles(self) -> float:
        """Of one core for one code."""
        return sum(PRODUCTS.get(line.split()[0], 1) for line in _body(self)) / WIDTH


def _body(coding: Coding) -> list[str]:
    """What a turn of the loop does: a pixel of four channels."""
    form, narrow = coding.form, NARROW.get((coding.form.low, coding.form.high))
    lines = [f"lw {TOTALS[channel]}, {4 * channel}(a0)" for channel in ORDER[:-1]]
    lines.append(f"p.lwr {TOTALS[0]}, a3, a0")
    if isinstance(form, SplitMultiply):
        lines += [f"mul {PARTS[c]}, {TOTALS[c]}, {MULTIPLIERS[c]}" for c in ORDER]
        lines += [f"srai {PARTS[c]}, {PARTS[c]}, {form.bits}" for c in ORDER]
        lines += [f"p.mac {PARTS[c]}, {TOTALS[c]}, {ABOVE[c]}" for c in ORDER]
        made, shift = PARTS, form.shift
    else:
        if form.pre_shift:
            lines += [f"slli {TOTALS[c]}, {TOTALS[c]}, {form.pre_shift}" for c in ORDER]
        lines += [f"mulh {TOTALS[c]}, {TOTALS[c]}, {MULTIPLIERS[c]}" for c in ORDER]
        made, shift = TOTALS, form.shift.values[0]
    if coding.own_shift:
        lines += [f"add {made[c]}, {made[c]}, {ADDENDS[c]}" for c in ORDER]
        lines += [f"sra {made[c]}, {made[c]}, {SHIFTS[c]}" for c in ORDER]
    else:
        lines += [f"p.addN {made[c]}, {made[c]}, {ADDENDS[c * coding.own_addend]}, {shift}" for c in ORDER]
    if narrow:
        lines += [f"{narrow[0]} {made[c]}, {made[c]}, {narrow[1]}" for c in ORDER]
    else:
        lines += [
            f"{limit} {made[c]}, {made[c]}, {by}" for limit, by in (("p.max", "a5"), ("p.min", "a6")) for c in ORDER
        ]
    first, second, third, fourth = made
    lines += [f"pv.packlo.b {first}, {second}, {first}", f"pv.packhi.b {first}, {fourth}, {third}"]
    return [*lines, f"sw {first}, 0(a1)", "p.addN a1, a1, a4, 0"]  # an addition


def listing(coding: Coding) -> Listing:
    """One run of pixels."""
    out, form = Listing(), coding.form
    registers = [MULTIPLIERS, *([ABOVE] if isinstance(form, SplitMultiply) else [])]
    registers += [ADDENDS] * coding.own_addend + [SHIFTS] * coding.own_shift
    words = len(coding.numbers)
    for number, those in enumerate(registers):
        out(*(f"lw {register}, {4 * (channel * words + number)}(a5)" for channel, register in enumerate(those)))
    if not coding.own_addend:
        out(*constant(ADDENDS[0], form.addend.values[0]))
    if (form.low, form.high) not in NARROW:
        out(*constant("a5", form.low), *constant("a6", form.high))
    out.begin_loop("a2")
    out(*_body(coding))
    out.end_loop()
    return out
