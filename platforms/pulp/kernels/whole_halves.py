"""Sums of products of floats as whole numbers in two halves of 16 bits, whose products are two an instruction."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.platforms.generic.kernels.whole_products import margin_of
from tilewright.platforms.pulp.kernels.listing import Listing

BLOCK = 8
"""Pairs of numbers whose products fit in 32 bits: uppers and lowers are 2^13 at most, and 16 times 2^27 are 2^31."""


@dataclass(frozen=True)
class Halves:
    """Lines of `length` numbers, of which `lanes` are multiplied with another one at once; `text` is the loop, `seen`
    that over the parts of two lines."""

    length: int
    lanes: int
    text: str
    seen: str

    @property
    def pairs(self) -> int:
        """Pairs of numbers, of which the last may lack one."""
        return -(-self.length // 2)

    @property
    def words(self) -> int:
        """Words of a line with its parts."""
        return 2 * self.pairs + self.part_words

    @property
    def part_words(self) -> int:
        """Words of its parts."""
        return -(-self.pairs // 2)

    @property
    def margin(self) -> int:
        """See `margin_of`."""
        return margin_of(self.length)


def line_words(length: int) -> int:
    """Words of a line of so many numbers with its parts."""
    return Halves(length, 1, "", "").words


def halves_of(length: int, lanes: int) -> Halves:
    """Lines of so many numbers, and the loop over a block of them."""
    out, words = Listing(), (("t3", "t4"), ("t5", "t6"))
    out("mv t0, %[count]")
    out.begin_loop("t0")
    out("p.lw t1, 4, %[x]", "p.lw t2, 4, %[x]", *(f"p.lw {word}, 4, %[w0]" for word in words[0]))
    for lane in range(lanes):
        upper, lower = words[lane % 2]
        if lane + 1 < lanes:
            out(*(f"p.lw {word}, 4, %[w{lane + 1}]" for word in words[(lane + 1) % 2]))
        out(f"pv.sdotsp.h %[h{lane}], t1, {upper}", f"pv.sdotsp.h %[c{lane}], t1, {lower}",
            f"pv.sdotsp.h %[c{lane}], t2, {upper}")  # fmt: skip
    out.end_loop()
    seen = Listing()
    seen("mv t0, %[count]")
    seen.begin_loop("t0")
    seen("p.lw t1, 4, %[x]", "p.lw t2, 4, %[w]", "pv.sdotsp.b %[sum], t1, t2")
    seen.end_loop()
    return Halves(length, lanes, out.text(" " * 12), seen.text(" " * 8))
