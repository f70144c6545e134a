"""Four rows times four packed columns in Xpulp, block below block: sums that stay in registers until they are codes."""

from __future__ import annotations

from tilewright.numerics import MultiplyHigh
from tilewright.platforms.pulp.kernels.block_asm import LARGEST_OFFSET, clip_of
from tilewright.platforms.pulp.kernels.listing import Listing, constant

WIDTH = 4
ROWS = ("a0", "a1", "a2", "a3")
COLUMNS = ("a5", "a6", "a7", "t0")
SUMS = ("s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t4", "t5", "t6", "ra")

# bytes in `tilewright_product_block`, whose first members are the rows
PACKED, STARTS, LINES, Y, Y_STEP, UNITS = range(16, 40, 4)


def listing(depth: int, unsigned: bool, lines: bool, form: MultiplyHigh | None) -> Listing:
    """Blocks one below the other; `lines` have starts of their own. Codes of the `form`, or the sums as words."""
    out = Listing()
    out(*(f"lw {row}, {4 * at}+%[k]" for at, row in enumerate(ROWS)), f"lw t3, {Y}+%[k]", f"lw t1, {UNITS}+%[k]")
    out.begin_loop("t1")
    _begin(out, lines)
    out(f"lw a4, {PACKED}+%[k]", f"li t1, {depth // WIDTH}")
    _products(out, "pv.sdotusp.b" if unsigned else "pv.sdotsp.b")
    further = (WIDTH - 1) * depth
    if further <= LARGEST_OFFSET:
        out(*(f"addi {row}, {row}, {further}" for row in ROWS))
    else:
        out(f"li t1, {further}", *(f"add {row}, {row}, t1" for row in ROWS))
    if form is not None:
        _codes(out, form)
    out(*[f"lw a7, {Y_STEP}+%[k]"] * (form is not None))
    for row in range(WIDTH):
        sums = SUMS[WIDTH * row : WIDTH * (row + 1)]
        if form is None:
            out(*(f"p.sw {total}, 4, t3" for total in sums))
        else:
            out(f"pv.packlo.b {sums[0]}, {sums[1]}, {sums[0]}", f"pv.packhi.b {sums[0]}, {sums[3]}, {sums[2]}")
            out(f"p.swr {sums[0]}, a7, t3")
    out.end_loop()
    return out


def _begin(out: Listing, lines: bool) -> None:
    """Starts of the sums: a column's, and a row's beside it."""
    out(f"lw t2, {STARTS}+%[k]", *[f"lw t1, {LINES}+%[k]"] * lines)
    out(*(f"lw {column}, {4 * at}(t2)" for at, column in enumerate(COLUMNS)))
    if not lines:
        out(*(f"mv {total}, {COLUMNS[at % WIDTH]}" for at, total in enumerate(SUMS)))
        return
    out(*(f"p.lw {total}, 4, t1" for total in SUMS[WIDTH - 1 :: WIDTH]))
    for row in range(WIDTH):
        sums = SUMS[WIDTH * row : WIDTH * (row + 1)]
        out(*(f"add {total}, {column}, {sums[-1]}" for total, column in zip(sums, COLUMNS, strict=True)))
    out(f"sw t1, {LINES}+%[k]")


def _products(out: Listing, dot: str) -> None:
    """One step of a hardware loop for every four inputs."""
    out.begin_loop("t1")
    out(*(f"p.lw {column}, 4, a4" for column in COLUMNS))
    out("p.lw t1, 4, a0")
    loaded = ("t1", "t2", "t1", "t2")
    for row in range(WIDTH):
        if row + 1 < WIDTH:
            out(f"p.lw {loaded[row + 1]}, 4, {ROWS[row + 1]}")
        sums = SUMS[WIDTH * row : WIDTH * (row + 1)]
        out(*(f"{dot} {total}, {loaded[row]}, {column}" for total, column in zip(sums, COLUMNS, strict=True)))
    out.end_loop()


def _codes(out: Listing, form: MultiplyHigh) -> None:
    """Sums to codes."""
    narrow = clip_of(form)
    out(*constant("a5", form.multiplier.values[0]), *constant("a6", form.addend.values[0]))
    if narrow is None:
        out(*constant("t0", form.low), *constant("t1", form.high))
    if form.pre_shift:
        out(*(f"slli {total}, {total}, {form.pre_shift}" for total in SUMS))
    out(*(f"mulh {total}, {total}, a5" for total in SUMS))
    out(*(f"p.addN {total}, {total}, a6, {form.shift.values[0]}" for total in SUMS))
    if narrow is None:
        out(*(f"p.max {total}, {total}, t0" for total in SUMS), *(f"p.min {total}, {total}, t1" for total in SUMS))
    else:
        out(*(f"{narrow[0]} {total}, {total}, {narrow[1]}" for total in SUMS))


def row_sums(depth: int, unsigned: bool, factor: int) -> Listing:
    """Sums of rows times a factor: a0 walks over `a2` rows, a1 over their sums, a3 holds four ones."""
    out, words = Listing(), depth // WIDTH
    dot = "pv.sdotusp.b" if unsigned else "pv.sdotsp.b"
    out(*constant("a4", factor))
    out.begin_loop("a2")
    together = 1 + (words % 2 == 0)
    out("li t0, 0", f"li t1, {words // together}")
    out.begin_loop("t1")
    out(*(("p.lw t2, 4, a0", "p.lw t3, 4, a0") if together == 2 else ("p.lw t2, 4, a0", "nop")))
    out(*(f"{dot} t0, {word}, a3" for word in ("t2", "t3")[:together]))
    out.end_loop()
    out("mul t0, t0, a4", "p.sw t0, 4, a1")
    out.end_loop()
    return out


def packing(depth: int, flipped: bool, sums: bool) -> Listing:
    """Four columns as words: a0 walks down their rows, a1 bytes apart, a2 over the words; s2 to s5 sum codes up."""
    out = Listing()
    out("li a3, 0x05010400", "li a4, 0x07030602", "li a5, 0x07060302", f"li t6, {depth // WIDTH}")
    out(*["li a6, 0x01010101"] * sums, *["li a7, 0x80808080"] * flipped)
    out.begin_loop("t6")
    out(*(f"p.lwr {row}, a1, a0" for row in ("t0", "t1", "t2", "t3")))
    out(*(f"xor {row}, {row}, a7" for row in ("t0", "t1", "t2", "t3") if flipped))
    out("mv t4, t0", "mv t5, t2")
    out("pv.shuffle2.b t4, t1, a3", "pv.shuffle2.b t5, t3, a3")  # two rows of the first two columns
    out("pv.shuffle2.b t0, t1, a4", "pv.shuffle2.b t2, t3, a4")  # and of the last two
    out("pv.pack.h t1, t5, t4", "pv.shuffle2.b t4, t5, a5", "pv.pack.h t3, t2, t0", "pv.shuffle2.b t0, t2, a5")
    columns = ("t1", "t4", "t3", "t0")
    out(*(f"pv.sdotsp.b s{2 + at}, {column}, a6" for at, column in enumerate(columns) if sums))
    out(*(f"p.sw {column}, 4, a2" for column in columns))
    out.end_loop()
    return out
