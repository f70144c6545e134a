"""The two loops of attention over codes as listings: scores of a block's rows, and what their shares make of values."""

from __future__ import annotations

from tilewright.platforms.pulp.kernels.listing import Listing

HELD_WORDS = 4
"""Words of a row of keys whose queries stay in registers."""
COLUMNS = 8
"""Sums that stay in registers."""


def scores(words: int, four: bool) -> Listing:
    """Of so many words of keys each; `four` says codes of four bits, whose low halves come first.

    A sum of high bytes is shifted and goes on with low bytes: products of two bytes and a code in 32 bits.
    """
    out, loaded = Listing(), [f"t{1 + n}" for n in range(words)]
    out("mv t0, %[rows]")
    out.begin_loop("t0")
    out(*(f"p.lw {key}, 4, %[key]" for key in loaded[: words // 2 if four else words]), "p.lw t5, 4, %[factor]")
    if four:
        for low, high in zip(loaded[: words // 2], loaded[words // 2 :], strict=True):
            out(f"and {high}, {low}, %[mask]", f"slli {low}, {low}, 4", f"and {low}, {low}, %[mask]")
    for n, key in enumerate(loaded):
        out(f"pv.{'s' if n else ''}dotsp.b t6, %[high{n}], {key}")
    out("slli t6, t6, 8", *(f"pv.sdotusp.b t6, %[low{n}], {key}" for n, key in enumerate(loaded)))
    out("mulh t6, t6, t5", "p.sw t6, 4, %[score]", "p.max %[most], %[most], t6")
    out.end_loop()
    return out


def shares(out: Listing, total_shift: int) -> None:
    """The share t1 of a row whose score is t1: its power of 2 of two tables, times its factor, rounded."""
    out("sub t1, %[above], t1", "srl t1, t1, %[shift]", "p.min t1, t1, %[limit]")
    out("srli t2, t1, 4", "andi t2, t2, 126", "add t2, t2, %[coarse]", "lhu t2, 0(t2)")
    out("andi t3, t1, 31", "slli t3, t3, 1", "add t3, t3, %[fine]", "lhu t3, 0(t3)")
    out("srli t1, t1, 11", "p.lw t4, 4, %[factor]", "mul t2, t2, t3", "srl t2, t2, t1")
    out(f"srli t3, t2, {total_shift}", "add %[total], %[total], t3")
    out("mulhu t1, t2, t4", "addi t1, t1, 1", "srli t1, t1, 1")


def shared(total_shift: int) -> Listing:
    """Scores that become shares where they lie."""
    out = Listing()
    out("mv t0, %[rows]")
    out.begin_loop("t0")
    out("lw t1, 0(%[score])")
    shares(out, total_shift)
    out("p.sw t1, 4, %[score]")
    out.end_loop()
    return out


def mixed(columns: int, row_bytes: int, high: int, total_shift: int | None) -> Listing:
    """So many sums of values times shares: those of scores with a `total_shift`, else as they lie.

    Of codes of four bits `high` is where the sums of high halves lie, in bytes behind those of low ones; else 0.
    """
    out, sums = Listing(), [f"s{n}" for n in range(columns)]
    places = [4 * n + high * half for half in range(2 if high else 1) for n in range(columns // (2 if high else 1))]
    out(*(f"lw {total}, {at}(%[sums])" for total, at in zip(sums, places, strict=True)), "mv t0, %[rows]")
    out.begin_loop("t0")
    out("p.lw t1, 4, %[score]")
    if total_shift is not None:
        shares(out, total_shift)
    lanes = columns // (2 if high else 1)
    order = [*range(1, lanes), 0]  # the last one moves on: it reads where the pointer is
    for place, lane in enumerate(order):
        code = ("t2", "t3")[place % 2]
        out(f"p.lb {code}, {row_bytes}, %[value]" if lane == 0 else f"lb {code}, {lane}(%[value])")
        if high:
            out(f"andi t4, {code}, -16", f"slli {code}, {code}, 28", f"srai {code}, {code}, 24")
            out(f"p.mac {sums[lane]}, t1, {code}", f"p.mac {sums[lanes + lane]}, t1, t4")
        elif place:
            out(f"p.mac {sums[order[place - 1]]}, t1, {('t2', 't3')[(place - 1) % 2]}")
    if not high:
        out(f"p.mac {sums[0]}, t1, {('t2', 't3')[(lanes - 1) % 2]}")
    out.end_loop()
    out(*(f"sw {total}, {at}(%[sums])" for total, at in zip(sums, places, strict=True)))
    return out
