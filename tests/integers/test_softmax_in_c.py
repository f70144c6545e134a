"""Softmax on codes where quotients lie on a tie or next to one: they must be decided exactly."""

from __future__ import annotations

import subprocess
from fractions import Fraction
from pathlib import Path
from random import Random

import numpy as np
import pytest
from integers.qdq_writer import Writer
from tilewright.conformance.program import STRICT, run_batch
from tilewright.conformance.subject import load_and_pass, place, subject
from tilewright.numerics import SHIFTS
from tilewright.plan.execute import run
from tilewright.platforms.generic import kernels
from tilewright.plugins import platform

NEXT_TO_TIES = """#include <stdint.h>
#include <stdio.h>
#include "softmax.h"

int main(void)
{
    unsigned long long product, total;
    unsigned below;
    while (scanf("%llu %llu %u", &product, &total, &below) == 3) {
        printf("%u\\n", (unsigned)tilewright_softmax_exact(product, total, below));
    }
    return 0;
}
"""


MULTIPLIERS = """#include <stdint.h>
#include <stdio.h>
#include "shifts.h"
#include "fixed.h"
#include "fixed_reciprocal.h"
#include "softmax_multiplier.h"

int main(void)
{
    unsigned long long numerator, total;
    while (scanf("%llu %llu", &numerator, &total) == 2) {
        printf("%u\\n", (unsigned)tilewright_softmax_multiplier((uint32_t)numerator, total));
    }
    return 0;
}
"""


@pytest.mark.parametrize(("length", "inverse"), [(512, 256), (128, 192), (96, 240), (1024, 512)])
def test_equal_codes_share_a_tie(length: int, inverse: int, tmp_path: Path) -> None:
    """`length` equal codes are `inverse / length` steps each, a number of halves."""
    write = Writer(21)
    write.add("Softmax", write.pair("x", 0.11, 3), "s", axis=-1)
    write.add("Identity", write.pair("s", 1 / inverse, -128), "y")
    placed = place(load_and_pass(write.model({"x": (3, length)}), "ties"), platform("generic"))
    assert "SoftmaxI8" in {instruction.kernel.name for instruction in placed.plan.instructions}
    equal = np.full((3, length), 0.5, np.float32)
    drawn = np.random.default_rng(length).normal(size=(3, length)).astype(np.float32)
    alone = np.full_like(equal, -9)
    alone[:, length // 2] = 9
    runs = [[equal], [drawn], [np.where(drawn > 1.5, 9, -9).astype(np.float32)], [alone]]
    (outcome,) = run_batch([subject(placed, platform("generic"), runs)], tmp_path, flags=("-O1", *STRICT))
    assert not outcome.failure
    for inputs, (found,) in zip(runs, outcome.runs, strict=True):
        assert np.array_equal(found, run(placed.plan, inputs)[0])


def test_what_lies_next_to_a_tie_goes_to_the_nearest_integer(tmp_path: Path) -> None:
    """Products on both sides of (below + 1/2) * total, and those two, against fractions."""
    random, cases = Random(7), list[tuple[int, int, int]]()
    for below in (0, 1, 2, 127, 254, 2046):
        for bits in (30, 38, 51):
            total = random.randrange(1 << bits, 2 << bits) * 2
            cases += [((2 * below + 1) * total // 2 + away, total, below) for away in (-1, 0, 1, -(total >> 21))]
    (tmp_path / "main.c").write_text(NEXT_TO_TIES)
    headers = Path(next(iter(kernels.__path__)))
    subprocess.run(["gcc", "-O1", f"-I{headers}", tmp_path / "main.c", "-o", tmp_path / "main"], check=True)
    told = subprocess.run(
        [tmp_path / "main"], input="\n".join(" ".join(map(str, case)) for case in cases),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert list(map(int, told.stdout.split())) == [round(Fraction(product, total)) for product, total, _ in cases]


def test_multipliers_are_a_little_too_large_and_never_too_small(tmp_path: Path) -> None:
    """Totals at the ends of every power of 2 and between, under numerators at their ends."""
    random, cases = Random(11), list[tuple[int, int]]()
    for bits in range(30, 43):
        ends = [(1 << bits) + away for away in (0, 1, 2, 3)] + [(2 << bits) - away for away in (1, 2, 3)]
        totals = [*ends, *(random.randrange(1 << bits, 2 << bits) for _ in range(400))]
        numerators = (1 << 30, (1 << 31) - 1, 1 << 31, (1 << 32) - 8, random.randrange(1 << 30, (1 << 32) - 8))
        cases += [(numerator, total) for total in totals for numerator in numerators]
    (tmp_path / "main.c").write_text(MULTIPLIERS)
    headers = (Path(next(iter(kernels.__path__))), Path(SHIFTS).parent)
    found = [f"-I{folder}" for folder in headers]
    subprocess.run(["gcc", "-O1", *found, tmp_path / "main.c", "-o", tmp_path / "main"], check=True)
    told = subprocess.run(
        [tmp_path / "main"], input="\n".join(" ".join(map(str, case)) for case in cases),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    for (numerator, total), multiplier in zip(cases, map(int, told.stdout.split()), strict=True):
        assert 0 <= Fraction(multiplier) - Fraction(numerator << 30, total) < Fraction(31, 10), (numerator, total)
