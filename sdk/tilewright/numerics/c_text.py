"""C of small integer expressions that kernels share."""

from __future__ import annotations

from pathlib import Path

from tilewright.numerics.requantise import SHIFTS
from tilewright.ops.quantised.add import PairForm

OF_PAIRS = (SHIFTS, str(Path(__file__).with_name("ties.h")))
"""The C files that `pair_text` calls; name them among the `sources` of a kernel that prints a pair."""


def minus(value: str, zero_point: int, suffix: str = "") -> str:
    """`value - zero_point`, a negative one added: C has `- -`, and readers stumble over it."""
    return f"{value} {'-' if zero_point >= 0 else '+'} {abs(zero_point)}{suffix}"


def pair_text(form: PairForm) -> str:
    """The unclamped code of two codes `e0` and `e1`; it calls the functions of `OF_PAIRS`."""
    if form.product:
        a, b = form.zero_points
        total = f"({minus('e0', a)}) * ({minus('e1', b)}) * {form.left} + {form.addend}"
    else:
        total = f"e0 * {form.left} + e1 * {form.right} + {form.addend}"
    if form.shift == 0:
        return total
    if form.ties != "up":
        return f"tilewright_tied({total}, {form.shift}u, {int(form.ties == 'odd')})"
    return f"tilewright_floor({total}, {form.shift}u)" if form.bits == 32 else f"({total}) >> {form.shift}"
