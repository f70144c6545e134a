"""Codes of four output channels, pixel by pixel, from sums of 32 bits: the cores' share of a job, in Xpulp.

Registers: a0 walks over the sums, a1 over the codes, a2 counts; a3 and a4 are the steps; numbers lie at a5. Multipliers
s0-s3; addends s4-s7 and shifts s8-s11 where they are the channels' own, else the addend s4; limits a5 and a6.
"""

from __future__ import annotations

from tilewright.platforms.pulp.kernels.block_asm import Streamed
from tilewright.platforms.pulp.kernels.listing import Listing, constant

WIDTH = 4
TOTALS = ("t0", "t1", "t2", "ra")
MULTIPLIERS = ("s0", "s1", "s2", "s3")
ADDENDS = ("s4", "s5", "s6", "s7")
SHIFTS = ("s8", "s9", "s10", "s11")
NARROW = {(-128, 127): ("p.clip", 8), (0, 255): ("p.clipu", 9), (0, 127): ("p.clipu", 8)}
"""The one instruction that limits codes, where there is one."""


def listing(requantise: Streamed) -> Listing:
    """One run of pixels."""
    out, form = Listing(), requantise.form
    narrow = NARROW.get((form.low, form.high))
    for channel, register in enumerate(MULTIPLIERS):
        out(f"lw {register}, {4 * channel * requantise.words}(a5)")
        if requantise.own:
            out(f"lw {ADDENDS[channel]}, {4 * channel * requantise.words + 4}(a5)")
            out(f"lw {SHIFTS[channel]}, {4 * channel * requantise.words + 8}(a5)")
    if not requantise.own:
        out(*constant(ADDENDS[0], form.addend.values[0]))
    if narrow is None:
        out(*constant("a5", form.low), *constant("a6", form.high))
    out.begin_loop("a2")
    out(*(f"lw {total}, {4 * channel}(a0)" for channel, total in enumerate(TOTALS) if channel))
    out(f"p.lwr {TOTALS[0]}, a3, a0")
    if form.pre_shift:
        out(*(f"slli {total}, {total}, {form.pre_shift}" for total in TOTALS))
    out(*(f"mulh {total}, {total}, {by}" for total, by in zip(TOTALS, MULTIPLIERS, strict=True)))
    if requantise.own:
        out(*(f"add {total}, {total}, {by}" for total, by in zip(TOTALS, ADDENDS, strict=True)))
        out(*(f"sra {total}, {total}, {by}" for total, by in zip(TOTALS, SHIFTS, strict=True)))
    else:
        out(*(f"p.addN {total}, {total}, {ADDENDS[0]}, {form.shift.values[0]}" for total in TOTALS))
    if narrow:
        out(*(f"{narrow[0]} {total}, {total}, {narrow[1]}" for total in TOTALS))
    else:
        out(*(f"p.max {total}, {total}, a5" for total in TOTALS), *(f"p.min {total}, {total}, a6" for total in TOTALS))
    first, second, third, fourth = TOTALS
    out(f"pv.packlo.b {first}, {second}, {first}", f"pv.packhi.b {first}, {fourth}, {third}")
    out(f"sw {first}, 0(a1)", "p.addN a1, a1, a4, 0")  # an addition
    out.end_loop()
    return out
