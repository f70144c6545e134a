"""The exact sequence in C at the ends of 64 bits: what is accepted never overflows there, what could is refused."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tilewright.numerics import ROUNDING, Bounds, Proof, Requantisation, prove, requantise, too_wide

LARGEST = (1 << 31) - 1
RESIDUES = (0, 1, -32768, 32767)


def proof(multiplier: Fraction, residue: int = 0, largest: int = LARGEST) -> Proof:
    """Of codes of sixteen bits without a form of 32; a residue gives the sum sixteen bits more."""
    exact = Requantisation((multiplier,), 3, -32768, 32767, (residue,) if residue else ())
    bounds = Bounds(np.asarray([-largest - 1 + (largest == LARGEST)]), np.asarray([largest]))
    return Proof("exact_sequence", 1, 0, exact, bounds, None, "the test asks for it")


ACCEPTED = [
    *(proof(Fraction((1 << 15) - 1, 1 << 30), residue) for residue in RESIDUES[1:]),
    *(proof(Fraction((1 << 24) - 1, 1 << exponent)) for exponent in (1, 24, 40, 55, 61)),
    *(proof(Fraction((1 << 15) - 1, 3 * (1 << exponent)), 32767) for exponent in (0, 10, 40)),
    *(proof(Fraction((1 << 24) - 1, 7 * (1 << exponent))) for exponent in (0, 20, 58)),
    proof(Fraction(1, 1 << 61)),
    proof(Fraction(1, 2)),
    proof(Fraction(3, 4)),
    proof(Fraction((1 << 31) - 1, 1 << 46)),
]
"""Forms whose products come near 2^62, or whose denominators do."""


def test_what_is_accepted_is_exact_and_defined(tmp_path: Path) -> None:
    sums = [-LARGEST, -LARGEST + 1, -(1 << 30) - 1, -2, -1, 0, 1, 2, 3, 6, 12345, (1 << 30) + 1, LARGEST - 1, LARGEST]
    assert [too_wide(one) for one in ACCEPTED] == [None] * len(ACCEPTED)
    wanted = codes(ACCEPTED, sums)
    assert in_c(ACCEPTED, sums, tmp_path) == wanted
    assert len(set(wanted)) > len(ACCEPTED)


@pytest.mark.parametrize("bits", [1, 2, 6, 17, 30])
def test_a_sum_that_is_only_shifted_stays_inside_32_bits(bits: int, tmp_path: Path) -> None:
    half = 1 << (bits - 1)
    largest = LARGEST - half - 1  # the least sum is one further from zero
    sums = sorted({sign * n + near for n in (0, half, 2 * half, 3 * half) for near in (-1, 0, 1) for sign in (-1, 1)})
    sums = [-largest, *(n for n in sums if abs(n) <= largest), largest]
    narrow, wide = (proof(Fraction(1, 1 << bits), largest=limit) for limit in (largest, largest + 1))
    assert "int64_t" not in requantise(narrow).c("acc")
    assert "int64_t" in requantise(wide).c("acc")
    assert in_c([narrow], sums, tmp_path) == codes([narrow], sums)


def codes(proofs: Sequence[Proof], sums: Sequence[int]) -> list[int]:
    return [int(one.requantisation.apply(np.asarray([value]))[0]) for one in proofs for value in sums]


def in_c(proofs: Sequence[Proof], sums: Sequence[int], folder: Path) -> list[int]:
    """What the printed expressions give for all sums, where nothing is undefined."""
    cases = [f"int64_t code = {requantise(one).c('acc')};" for one in proofs]
    functions = [
        f"static int64_t code{i}(int32_t acc)\n{{\n    {case}\n"
        f"    return code < -32768 ? -32768 : code > 32767 ? 32767 : code;\n}}\n"
        for i, case in enumerate(cases)
    ]
    prints = [
        f'    for (i = 0; i < {len(sums)}; i++) printf("%ld\\n", (long)code{i}(sums[i]));' for i in range(len(cases))
    ]
    listed = ", ".join(map(str, sums))
    main = "\n".join(
        ["#include <stdint.h>", "#include <stdio.h>", *(Path(file).read_text() for file in ROUNDING), *functions,
         f"static const int32_t sums[] = {{{listed}}};", "int main(void)", "{", "    int i;", *prints,
         "    return 0;", "}"]
    )  # fmt: skip
    (folder / "main.c").write_text(main)
    flags = ["-std=gnu99", "-Wall", "-Wextra", "-Werror", "-fsanitize=undefined", "-fno-sanitize-recover=all"]
    subprocess.run(["gcc", *flags, folder / "main.c", "-o", folder / "program"], check=True)
    done = subprocess.run([folder / "program"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [int(line) for line in done.stdout.split()]


@pytest.mark.parametrize(
    "wide",
    [
        proof(Fraction((1 << 15) + 1, 1 << 30), 1),
        proof(Fraction((1 << 17) - 1, 1 << 30), 1),
        proof(Fraction((1 << 31) + 1, 1 << 46)),
        proof(Fraction(1 << 31)),
        proof(Fraction(1, 1 << 62)),
        proof(Fraction(1, 3 * (1 << 61))),
    ],
)
def test_one_bit_more_is_refused(wide: Proof) -> None:
    assert too_wide(wide) == "the requantisation needs more than 64 bits"


def test_a_proved_form_needs_no_64_bits() -> None:
    exact = Requantisation((Fraction(1, 1000),), 0, -128, 127)
    assert too_wide(prove(exact, Bounds(np.asarray([-100000]), np.asarray([100000])))) is None
