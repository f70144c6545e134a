"""Softmax of a line of codes in Xpulp: its largest code and the sum of its exponentials, then its shares.

The exponential of a code lies four bytes a step before that of the largest. What a share is short of the next code
decides whether it lies next to a tie; the least of them all is handed back, so that no loop branches on data.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.platforms.pulp.kernels.listing import Listing, constant

FOUR = ("t0", "t1", "t2", "t3")
CLIPS = {(-128, 127): "p.clip {0}, {0}, 8", (0, 255): "p.clipu {0}, {0}, 9", (0, 127): "p.clipu {0}, {0}, 8"}


def sums(rounds: Sequence[tuple[int, int, int]], load: str) -> Listing:
    """a0: the codes; a1: the exponentials, then that of the largest code; a3, a4: both halves of their sum."""
    out = Listing()
    out("mv a6, a0", f"{load} a2, 0, a6", "li a3, 0", "li a4, 0")
    for begin, end, step in rounds:
        out(f"li a5, {(end - begin) // step}")
        out.begin_loop("a5")
        out(*(f"{load} {code}, 1, a6" for code in FOUR[:step]), *["nop"] * (step == 1))
        out(*(f"p.max a2, a2, {code}" for code in FOUR[:step]))
        out.end_loop()
    out("slli a2, a2, 2", "add a1, a1, a2")
    for begin, end, step in rounds:
        out(f"li a5, {(end - begin) // step}")
        out.begin_loop("a5")
        _powers(out, FOUR[:step], load)
        if step > 1:
            out("add t0, t0, t1", "add t2, t2, t3")  # each is at most 2^30
            out("add a3, a3, t0", "sltu t1, a3, t0", "add a4, a4, t1")
        last = FOUR[2 * (step > 1)]
        out(f"add a3, a3, {last}", f"sltu t1, a3, {last}", "p.addN a4, a4, t1, 0")  # an addition
        out.end_loop()
    return out


def shares(rounds: Sequence[tuple[int, int, int]], load: str, shift: int, limits: tuple[int, int]) -> Listing:
    """a0: the codes; a1: where the exponential of the largest is; a2: the multiplier; a3: the results; a4: the least
    fraction; a5: what is added to the high word of a product; a6: the bits of the fraction."""
    out, narrow = Listing(), CLIPS.get(limits)
    if narrow is None:
        out(*constant("a7", limits[0]), *constant("t6", limits[1]))
    for begin, end, step in rounds:
        out(f"li t4, {(end - begin) // step}")
        out.begin_loop("t4")
        some = FOUR[:step]
        _powers(out, some, load)
        out(*(f"mulhu {share}, {share}, a2" for share in some), *(f"add {share}, {share}, a5" for share in some))
        for share in some:
            out(f"and t4, {share}, a6", f"srai {share}, {share}, {shift}", "p.min a4, a4, t4")
        for limit in [narrow] if narrow else ["p.max {0}, {0}, a7", "p.min {0}, {0}, t6"]:
            out(*(limit.format(share) for share in some))
        out(*(f"p.sb {share}, 1, a3" for share in some))
        out.end_loop()
    return out


def _powers(out: Listing, some: Sequence[str], load: str) -> None:
    """The exponentials of the next codes; a1 is where that of the largest code is."""
    out(*(f"{load} {code}, 1, a0" for code in some), *(f"slli {code}, {code}, 2" for code in some))
    out(*(f"sub {code}, a1, {code}" for code in some), *(f"lw {code}, 0({code})" for code in some))
