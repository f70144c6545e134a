"""The core of the Xpulp kernels: some pixels times four output channels at a time, sixteen sums in registers.

Per word of four input channels every column that the pixels' windows share is loaded once and serves all taps that
read it; four weights of one output channel are one word, and one instruction makes four products. Weights lie as one
stream in the order of use: starts of the sums; words [row of taps][word of channels][tap][output channel]; numbers of
the requantisation. Columns that padding leaves out are a constant register, rows are skipped.

Where channels stay apart (depthwise), a word of input holds four channels of one pixel, and a weight is a word with
three zero bytes: the same dot product then makes one product. Codes of sixteen bits lie two in a word, and so do their
weights: one instruction makes two products. The pointer steps from pixel to pixel by a register.

Registers: sums s0-s11 and t3-t6, columns a4-a7, weights t0 and t1, pointers a0 (input), a1 (weights), a2 (output);
a3 is the step to the next row, ra four zero points for columns that are missing, t2 the addend of the requantisation.
Where channels stay apart, ra is the step from one pixel's column to the next one's, t2 that from one tap to the next.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.numerics import MultiplyHigh, SplitMultiply
from tilewright.platform import Array
from tilewright.platforms.pulp.kernels.listing import Listing, constant

SUMS = (*(f"s{i}" for i in range(12)), "t3", "t4", "t5", "t6")
COLUMNS = ("a4", "a5", "a6", "a7")
WEIGHTS = ("t0", "t1")
CLOBBERED = (*SUMS, *COLUMNS, *WEIGHTS, "a0", "a1", "a2", "a3", "t2", "ra")
LARGEST_OFFSET = 2047

# bytes in `tilewright_block`
X, W, Y, Y_END, Y_STEP, ROW_STEP, ROWS, STARTS, WORDS, REST, X_STEP, UNITS, X_UNIT, Y_UNIT = range(0, 56, 4)


@dataclass(frozen=True)
class Streamed:
    """A requantisation whose multipliers stand in the stream of weights, and addends and shifts where they are `own`:
    where one of the two differs from channel to channel."""

    form: MultiplyHigh

    @property
    def own(self) -> bool:
        """True where every channel brings its addend and shift."""
        return not (self.form.addend.uniform and self.form.shift.uniform)

    @property
    def words(self) -> int:
        """Words per channel behind its weights."""
        return 3 if self.own else 1

    def c(self, accumulator: str, *words: str) -> str:
        """The code of an accumulator before it is limited; `words` are C expressions of the words in the stream."""
        return self.form.c(accumulator, held=dict(zip(("multiplier", "addend", "shift"), words, strict=False)))

    def columns(self, channels: int) -> Array:
        """[channel, words] int32: the numbers in the stream."""
        form = self.form
        numbers = (form.multiplier, form.addend, form.shift)[: self.words]
        return np.stack([number.spread(channels) for number in numbers], axis=1).astype(np.int32)


@dataclass(frozen=True)
class Geometry:
    """What is the same for every block of a layer. `depth` in bytes; `starts` are variants for missing rows. `parts`
    taps behind each other read the same column: a weight is the sum of theirs."""

    depth: int
    taps: int
    stride: int
    dilation: int
    many_rows: bool
    zero_point: int
    unsigned: bool
    starts: int
    padded_rows: bool
    requantise: Streamed | None
    apart: bool = False
    halves: bool = False
    y_bytes: int = 1
    parts: int = 1

    @property
    def numbers(self) -> int:
        """Words per channel behind its weights; none where sums are stored as they are."""
        return 0 if self.requantise is None else self.requantise.words

    @property
    def lanes(self) -> int:
        """Codes of a word."""
        return 2 if self.halves else 4

    @property
    def dot(self) -> str:
        """The instruction that adds the products of two words."""
        return f"pv.sdot{'usp' if self.unsigned else 'sp'}.{'h' if self.halves else 'b'}"

    @property
    def zeros(self) -> int:
        """A word of zero points."""
        return (self.zero_point & 0xFFFF) * 0x00010001 if self.halves else (self.zero_point & 0xFF) * 0x01010101

    @property
    def places(self) -> int:
        """Taps that read columns of their own."""
        return self.taps // self.parts

    def columns(self, pixels: int) -> list[list[int]]:
        """For every tap the columns that the pixels read."""
        places = [tap // self.parts * self.dilation for tap in range(self.taps)]
        return [[p * self.stride + place for p in range(pixels)] for place in places]

    def reach(self, pixels: int) -> int:
        """Columns from the first that a block reads to the last."""
        return self.columns(pixels)[-1][-1] + 1

    def advance(self, pixels: int) -> int:
        """Columns by which the pointer has moved behind a row of taps where channels stay apart."""
        return (self.places - 1) * self.dilation + pixels * self.stride


def listing(geometry: Geometry, pixels: int, channels: int, left: int, right: int) -> Listing:
    """Blocks one after the other, of each all output channels. `left` and `right` columns of its reach lie outside the
    tile."""
    out = Listing()
    sums = [[SUMS[channel * pixels + p] for p in range(pixels)] for channel in range(channels)]
    out(f"lw a3, {ROW_STEP}+%[k]")
    if geometry.apart:
        out(
            f"lw ra, {X_STEP}+%[k]",
            f"li t2, {geometry.dilation - pixels * geometry.stride}",
            f"li t0, {geometry.stride}",
        )
        out("mul t2, t2, ra", "mul ra, ra, t0")
    else:
        if left + right:
            out(*constant("ra", geometry.zeros))
        if geometry.requantise is not None and not geometry.requantise.own:
            out(*constant("t2", geometry.requantise.form.addend.values[0]))
    unit, group = out.label(), out.label()
    out.here(unit)
    out(f"lw a1, {W}+%[k]", f"lw a2, {Y}+%[k]")
    out.here(group)
    _begin(out, geometry, sums, left)
    if geometry.many_rows:
        out.begin_loop("a6")
    (_taps if geometry.apart else _words)(out, geometry, sums, left, geometry.reach(pixels) - right)
    if geometry.many_rows:
        out("nop", "p.addN a0, a0, a3, 0")  # an addition; the nop keeps the ends of the loops apart
        out.end_loop()
    if geometry.requantise is not None:
        _requantise(out, geometry, geometry.requantise, sums)
    _store(out, sums, geometry.y_bytes)
    if geometry.apart:
        out(f"lw a4, {X}+%[k]", "nop", "addi a4, a4, 4", f"sw a4, {X}+%[k]")
    out(f"lw a4, {Y_END}+%[k]", f"addi a2, a2, {channels * geometry.y_bytes}", f"bltu a2, a4, {group}")
    _next_unit(out, geometry, unit)
    return out


def _next_unit(out: Listing, geometry: Geometry, unit: str) -> None:
    """On to the next block, where there is one; a4 is the end of this one's results."""
    out(f"lw a5, {UNITS}+%[k]", f"lw a6, {Y_UNIT}+%[k]", f"lw a7, {Y}+%[k]", "addi a5, a5, -1", f"sw a5, {UNITS}+%[k]")
    out("add a4, a4, a6", f"sw a4, {Y_END}+%[k]", f"lw a4, {X}+%[k]", "add a6, a6, a7", f"sw a6, {Y}+%[k]")
    out(f"lw a6, {X_UNIT}+%[k]")
    if geometry.apart:  # the groups have moved the pointer on as far as that of the results
        out("sub a7, a2, a7", "sub a4, a4, a7")
    out("add a4, a4, a6", f"sw a4, {X}+%[k]", f"bnez a5, {unit}")


def _begin(out: Listing, geometry: Geometry, sums: list[list[str]], left: int) -> None:
    """Starts of the sums, the pointer to the first row."""
    channels = len(sums)
    at = "a1"
    if geometry.padded_rows:
        out(f"lw a4, {STARTS}+%[k]", f"lw a5, {WORDS}+%[k]", "add a4, a4, a1")
        at = "a4"
    out(f"lw a0, {X}+%[k]")
    if geometry.apart and left:
        out(f"lw a6, {X_STEP}+%[k]", "nop", *["sub a0, a0, a6"] * left)
    out(*(f"lw {row[0]}, {4 * channel}({at})" for channel, row in enumerate(sums)))
    out("add a1, a1, a5" if geometry.padded_rows else f"addi a1, a1, {4 * channels * geometry.starts}")
    if geometry.many_rows:
        out(f"lw a6, {ROWS}+%[k]")
    out(*(f"mv {other}, {row[0]}" for row in sums for other in row[1:]))


def _words(out: Listing, geometry: Geometry, sums: list[list[str]], first: int, end: int) -> None:
    """One row of taps: the loop over words of input channels. Columns from `first` to `end` lie in the tile."""
    words = geometry.depth // 4
    if words > 1:
        out(f"li a4, {words}")
        out.begin_loop("a4")
    pixels = len(sums[0])
    places = _Columns(out, geometry, first, end)
    needed = geometry.columns(pixels)
    for column in sorted(set(needed[0]), key=lambda c: c == first):  # the post-increment last
        places.fetch(column, places.free())
    out(f"p.lw {WEIGHTS[0]}, 4, a1")
    order = [(tap, channel) for tap in range(geometry.taps) for channel in range(len(sums))]
    dot = geometry.dot
    for at, (tap, channel) in enumerate(order):
        if at + 1 < len(order):
            out(f"p.lw {WEIGHTS[(at + 1) % 2]}, 4, a1")
        last = channel == len(sums) - 1 and tap + 1 < geometry.taps
        later = needed[tap + 1] if last else []
        for p in range(pixels):
            out(f"{dot} {sums[channel][p]}, {places.of(needed[tap][p])}, {WEIGHTS[at % 2]}")
            if last:
                places.renew(needed[tap][p + 1 :], later)
    places.finish()
    if words > 1:
        out.end_loop()


def _taps(out: Listing, geometry: Geometry, sums: list[list[str]], first: int, end: int) -> None:
    """One row of taps where channels stay apart. The pointer walks over the columns in order, or tap by tap."""
    pixels, needed = len(sums[0]), geometry.columns(len(sums[0]))
    shared = geometry.stride == 1 and geometry.dilation == 1
    held: dict[str, tuple[int, int]] = {}

    def fetch(register: str, tap: int, p: int) -> None:
        column = needed[tap][p]
        held[register] = (-1 if shared else tap // geometry.parts, column)
        if first <= column < end:
            out(f"p.lwr {register}, ra, a0")
        else:
            out("add a0, a0, ra", *constant(register, geometry.zeros))

    def register_of(tap: int, p: int) -> str:
        key = (-1 if shared else tap // geometry.parts, needed[tap][p])
        return next(register for register, what in held.items() if what == key)

    for p in range(pixels):
        fetch(COLUMNS[p], 0, p)
    out(f"p.lw {WEIGHTS[0]}, 4, a1")
    order = [(tap, channel) for tap in range(geometry.taps) for channel in range(len(sums))]
    dot = geometry.dot
    for at, (tap, channel) in enumerate(order):
        more = at + 1 < len(order)
        if more:
            out(f"p.lw {WEIGHTS[(at + 1) % 2]}, 4, a1")
        last = channel == len(sums) - 1 and tap + 1 < geometry.taps and (tap + 1) % geometry.parts == 0
        if last and not shared:
            out("add a0, a0, t2")
        for p in range(pixels):
            register = register_of(tap, p)
            out(f"{dot} {sums[channel][p]}, {register}, {WEIGHTS[at % 2]}")
            if last and not shared:
                fetch(register, tap + 1, p)
            elif last and p == 0:
                fetch(register, tap + 1, pixels - 1)


class _Columns:
    """Which column each of the four registers holds; the first column's load moves the pointer on by a word."""

    def __init__(self, out: Listing, geometry: Geometry, first: int, end: int) -> None:
        self.out, self.geometry, self.first, self.end = out, geometry, first, end
        self.held: dict[str, int | None] = dict.fromkeys(COLUMNS)
        self.moved = False

    def of(self, column: int) -> str:
        """The register of a column."""
        if not self.first <= column < self.end:
            return "ra"
        return next(register for register, held in self.held.items() if held == column)

    def free(self) -> str:
        """A register that holds nothing."""
        return next(register for register, held in self.held.items() if held is None)

    def fetch(self, column: int, register: str) -> None:
        """Load a column; one that padding leaves out needs no register of its own."""
        if not self.first <= column < self.end:
            return
        self.held[register] = column
        offset = (column - self.first) * self.geometry.depth - (4 if self.moved else 0)
        assert offset <= LARGEST_OFFSET
        if column == self.first and not self.moved:
            self.out(f"p.lw {register}, 4, a0")
            self.moved = True
        else:
            self.out(f"lw {register}, {offset}(a0)")

    def renew(self, now: list[int], later: list[int]) -> None:
        """Give the registers that neither the rest of this tap nor the next needs to columns of the next."""
        wanted = [column for column in dict.fromkeys(later) if self.first <= column < self.end]
        missing = [column for column in wanted if column not in self.held.values()]
        for register, held in self.held.items():
            if missing and (held is None or (held not in now and held not in later)):
                self.fetch(missing.pop(0), register)

    def finish(self) -> None:
        """Move the pointer where no column in reach was the first: one dot product must stay last."""
        if not self.moved:
            self.out.lines.insert(len(self.out.lines) - 1, "addi a0, a0, 4")


def _requantise(out: Listing, geometry: Geometry, requantise: Streamed, sums: list[list[str]]) -> None:
    """Sums to codes; the numbers of the next channel are loaded before this one's are needed."""
    form, own = requantise.form, requantise.own
    if geometry.padded_rows:
        out(f"lw a4, {REST}+%[k]")
    addend = "a7" if geometry.apart or own else "t2"
    if geometry.apart and not own:
        out(*constant("a7", form.addend.values[0]))
    if geometry.padded_rows:
        out("add a1, a1, a4")
    narrow = clip_of(form)
    if not narrow:
        out(*constant("a5", form.low), *constant("a6", form.high))
    out(f"p.lw {WEIGHTS[0]}, 4, a1")
    for channel, row in enumerate(sums):
        multiplier = WEIGHTS[channel % 2]
        if own:
            out("p.lw a7, 4, a1", "p.lw a4, 4, a1")
        if channel + 1 < len(sums):
            out(f"p.lw {WEIGHTS[(channel + 1) % 2]}, 4, a1")
        if form.pre_shift:
            out(*(f"slli {r}, {r}, {form.pre_shift}" for r in row))
        out(*(f"mulh {r}, {r}, {multiplier}" for r in row))
        if own:
            out(*(f"add {r}, {r}, a7" for r in row), *(f"sra {r}, {r}, a4" for r in row))
        else:
            out(*(f"p.addN {r}, {r}, {addend}, {form.shift.values[0]}" for r in row))
        if narrow:
            out(*(f"{narrow[0]} {r}, {r}, {narrow[1]}" for r in row))
        else:
            out(*(f"p.max {r}, {r}, a5" for r in row), *(f"p.min {r}, {r}, a6" for r in row))


def clip_of(form: MultiplyHigh | SplitMultiply) -> tuple[str, int] | None:
    """The one instruction that clamps, where there is one."""
    limits = (form.low, form.high)
    signed = {(-128, 127): 8, (-32768, 32767): 16}
    unsigned = {(0, 127): 8, (0, 255): 9, (0, 32767): 16, (0, 65535): 17}
    if limits in signed:
        return "p.clip", signed[limits]
    return ("p.clipu", unsigned[limits]) if limits in unsigned else None


def _store(out: Listing, sums: list[list[str]], y_bytes: int) -> None:
    """The codes of every pixel, side by side."""
    pixels, channels = len(sums[0]), len(sums)
    if pixels > 1:
        out(f"lw a4, {Y_STEP}+%[k]")
    at = "a2"
    for p in range(pixels):
        codes = [row[p] for row in sums]
        if p:
            out(f"add a5, {at}, a4")
            at = "a5"
        if channels == 4 and y_bytes == 1:
            out(f"pv.packlo.b {codes[0]}, {codes[1]}, {codes[0]}", f"pv.packhi.b {codes[0]}, {codes[3]}, {codes[2]}")
            out(f"sw {codes[0]}, 0({at})")
        elif y_bytes == 1:
            out(*(f"sb {code}, {i}({at})" for i, code in enumerate(codes)))
        elif y_bytes == 4:
            out(*(f"sw {code}, {4 * i}({at})" for i, code in enumerate(codes)))
        else:
            for i in range(0, channels - 1, 2):
                out(f"pv.pack.h {codes[i]}, {codes[i + 1]}, {codes[i]}", f"sw {codes[i]}, {2 * i}({at})")
            if channels % 2:
                out(f"sh {codes[-1]}, {2 * (channels - 1)}({at})")
