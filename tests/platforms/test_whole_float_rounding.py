"""A whole number and an exponent become the nearest float, ties to the even one: held against NumPy's own rounding."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np

HEADERS = Path(__file__).parents[2] / "platforms" / "generic" / "kernels"
PROGRAM = """#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <stdbool.h>
#include "fixed.h"
#include "whole_f32.h"
int main(void)
{
    int32_t pair[2];
    while (fread(pair, sizeof pair, 1, stdin) == 1) {
        const uint32_t word = tilewright_whole_float(pair[0], pair[1]);
        (void)fwrite(&word, sizeof word, 1, stdout);
    }
    return 0;
}
"""


def test_whole_numbers_round_as_numpy_does(tmp_path: Path) -> None:
    """Ties and their neighbours at every length, carries into the exponent, both signs, drawn numbers."""
    generator = np.random.default_rng(4)
    values = [0, 1, -1, 2**31 - 1, -(2**31) + 1, 2**31 - 64, 2**31 - 65]
    for length in range(25, 32):
        tie = 1 << (length - 25)
        for upper in (1 << 23, (1 << 24) - 1, (1 << 24) - 2, *generator.integers(1 << 23, 1 << 24, 9)):
            values += [int(upper) * 2 * tie + tie + step for step in (-1, 0, 1)]
    values += [int(value) for value in generator.integers(-(2**31) + 1, 2**31, 4_000)]
    values = [value for value in values if abs(value) < 2**31]
    pairs = np.array([(sign * value, shift) for value in values for sign, shift in ((1, -20), (-1, 3))], np.int64)
    (tmp_path / "main.c").write_text(PROGRAM)
    subprocess.run(["gcc", "-O1", f"-I{HEADERS}", "main.c", "-o", "main"], cwd=tmp_path, check=True)
    given = pairs.astype(np.int32).tobytes()
    found = subprocess.run([tmp_path / "main"], input=given, capture_output=True, check=True).stdout
    wanted = np.ldexp(pairs[:, 0].astype(np.float64), pairs[:, 1]).astype(np.float32)
    np.testing.assert_array_equal(np.frombuffer(found, np.float32), wanted)
