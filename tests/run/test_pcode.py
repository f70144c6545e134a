"""What all who lift machine code have to know of it."""

from __future__ import annotations

import pytest
from tilewright.run.pcode import governed


@pytest.mark.parametrize(
    ("half", "count"),
    [(0xBF08, 1), (0xBF0C, 2), (0xBF04, 2), (0xBF02, 3), (0xBF1F, 4), (0xBF01, 4), (0xBF00, 0), (0x4770, 0)],
)
def test_an_it_governs_as_many_instructions_as_its_mask_says(half: int, count: int) -> None:
    """IT, ITE, ITT, ITTT, and blocks of four of the Armv7-M manual; a NOP and a return govern none."""
    assert governed(half.to_bytes(2, "little") + b"\0\0") == count
