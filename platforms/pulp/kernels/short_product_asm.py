"""Rows times four packed columns that stay in registers, for sums of up to sixteen products, in Xpulp.

Words of the columns s0-s11 and t3-t6, sums a5-a7 and t0, words of a row t1 and t2; pointers a0 (row) and a1 (results).
What else a layer needs of a multiplier, addends and steps goes to registers as far as they last, and is read beside the
columns where they do not.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.numerics import MultiplyHigh, SplitMultiply
from tilewright.platforms.pulp.kernels.block_asm import clip_of
from tilewright.platforms.pulp.kernels.listing import Listing, constant
from tilewright.platforms.pulp.kernels.product_asm import WIDTH

DEEPEST = 16
"""Products of a sum whose columns are sixteen words."""
WORDS = (*(f"s{i}" for i in range(12)), "t3", "t4", "t5", "t6")
SUMS = ("a5", "a6", "a7", "t0")
LOADED = ("t1", "t2")

# bytes in `tilewright_short_product`, and behind the packed columns
X, PACKED, LINES, Y, Y_STEP, ROWS = range(0, 24, 4)
BESIDE = 24
"""Bytes behind the packed columns: starts of the sums, the addend, the step between rows of results."""
STARTS, ADDEND, STEP = 0, 16, 20


class _Registers:
    """Which registers hold what is the same for all rows; what has none lies behind the columns."""

    def __init__(self, words: int, starts: bool, lines: bool, split: bool) -> None:
        free = ["a2", "a3", "a4", "ra", *WORDS[WIDTH * words :]]
        self.lines = free.pop() if lines else None
        wanted = ["multiplier", *["above"] * split, "step", "addend"]
        self.beside = free.pop() if starts or len(wanted) > len(free) else None
        self.of = dict(zip(wanted, free, strict=False))

    def held(self, out: Listing, name: str, otherwise: str, offset: int) -> str:
        """The register of a number, loaded into another one where it has none."""
        if name in self.of:
            return self.of[name]
        out(f"lw {otherwise}, {offset}({self.beside})")
        return otherwise


def short_listing(depth: int, unsigned: bool, starts: bool, lines: bool, form: MultiplyHigh | SplitMultiply) -> Listing:
    """All rows one below the other; columns and rows may have `starts` and `lines` that their sums begin with."""
    words, out = depth // WIDTH, Listing()
    registers = _Registers(words, starts, lines, isinstance(form, SplitMultiply))
    out(f"lw a0, {X}+%[k]", f"lw a1, {Y}+%[k]", f"lw t2, {PACKED}+%[k]", f"lw t1, {ROWS}+%[k]")
    out(*(f"lw {word}, {4 * at}(t2)" for at, word in enumerate(WORDS[: WIDTH * words])))
    if registers.beside:
        out(f"addi {registers.beside}, t2, {4 * WIDTH * words}")
    if registers.lines:
        out(f"lw {registers.lines}, {LINES}+%[k]")
    if "step" in registers.of:
        out(f"lw {registers.of['step']}, {Y_STEP}+%[k]")
    for name, value in _numbers(form).items():
        if name in registers.of:
            out(*constant(registers.of[name], value))
    out.begin_loop("t1")
    first = _begin(out, registers, starts, unsigned)
    _products(out, words, "pv.sdotusp.b" if unsigned else "pv.sdotsp.b", first)
    codes = _codes(out, registers, form)
    low, second, third, high = codes
    step = registers.held(out, "step", next(one for one in (*SUMS, *LOADED) if one not in codes), STEP)
    out(f"pv.packlo.b {low}, {second}, {low}", f"pv.packhi.b {low}, {high}, {third}")
    out(f"p.swr {low}, {step}, a1")
    out.end_loop()
    return out


def _numbers(form: MultiplyHigh | SplitMultiply) -> dict[str, int]:
    if isinstance(form, SplitMultiply):
        return {"multiplier": form.below.values[0], "above": form.above.values[0], "addend": form.addend.values[0]}
    return {"multiplier": form.multiplier.values[0], "addend": form.addend.values[0]}


def _begin(out: Listing, registers: _Registers, starts: bool, unsigned: bool) -> str | None:
    """The sums' first values; the instruction of the first products where there are none to be added to."""
    line, beside = registers.lines, registers.beside
    if starts:
        out(*[f"p.lw t1, 4, {line}"] * (line is not None))
        out(*(f"lw {total}, {STARTS + 4 * at}({beside})" for at, total in enumerate(SUMS)))
        out(*(f"add {total}, {total}, t1" for total in SUMS if line))
    elif line:
        out(*(f"lw {total}, 0({line})" for total in SUMS[:-1]), f"p.lw {SUMS[-1]}, 4, {line}")
    elif not unsigned:
        return "pv.dotsp.b"
    else:
        out(*(f"li {total}, 0" for total in SUMS))
    return None


def _products(out: Listing, words: int, dot: str, first: str | None) -> None:
    """A word of the row is loaded while the one before it is multiplied."""
    out("p.lw t1, 4, a0")
    for word in range(words):
        if word + 1 < words:
            out(f"p.lw {LOADED[(word + 1) % 2]}, 4, a0")
        made = first if first is not None and word == 0 else dot
        columns = WORDS[WIDTH * word : WIDTH * (word + 1)]
        out(*(f"{made} {total}, {LOADED[word % 2]}, {column}" for total, column in zip(SUMS, columns, strict=True)))


def _codes(out: Listing, registers: _Registers, form: MultiplyHigh | SplitMultiply) -> Sequence[str]:
    """The registers of the codes: of a split product half by half, so that two more than the sums are enough."""
    multiplier = registers.of["multiplier"]
    if isinstance(form, SplitMultiply):
        above, shift = registers.of["above"], form.shift
        made = (*LOADED, *SUMS[:2])
        for half in (slice(0, 2), slice(2, 4)):
            parts, sums = made[half], SUMS[half]
            out(*(f"mul {part}, {total}, {multiplier}" for part, total in zip(parts, sums, strict=True)))
            out(*(f"srai {part}, {part}, {form.bits}" for part in parts))
            out(*(f"p.mac {part}, {total}, {above}" for part, total in zip(parts, sums, strict=True)))
        last = out.lines.pop()
        addend = registers.held(out, "addend", SUMS[2], ADDEND)  # two instructions ahead of its use
        out(last)
    else:
        shift, made = form.shift.values[0], SUMS
        addend = registers.held(out, "addend", LOADED[0], ADDEND)
        out(*(f"slli {total}, {total}, {form.pre_shift}" for total in SUMS if form.pre_shift))
        out(*(f"mulh {total}, {total}, {multiplier}" for total in SUMS))
    narrow, bits = clip_of(form) or ("", 0)
    out(*(f"p.addN {code}, {code}, {addend}, {shift}" for code in made))
    out(*(f"{narrow} {code}, {code}, {bits}" for code in made))
    return made
