"""Sigmoid in whole numbers: near the true value for inputs of every size, and what is no number stays that."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

HEADER = Path(__file__).parents[2] / "platforms" / "generic" / "kernels" / "sigmoid_whole.h"
SWEEP = """
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "sigmoid_whole.h"
int main(void)
{
    double farthest = 0;
    for (uint64_t bits = 0; bits < 0x100000000u; bits += 1021) {
        const uint32_t x = (uint32_t)bits, y = tilewright_sigmoid(x);
        float given, found;
        memcpy(&given, &x, sizeof x);
        memcpy(&found, &y, sizeof y);
        if (isnan(given)) {
            farthest = y == x ? farthest : 1;
        } else {
            const double exact = 1 / (1 + exp(-(double)given));
            const double apart = given < -86 ? (found >= 0 && found < 5e-38 ? 0 : 1) : fabs(found - exact) / exact;
            farthest = apart > farthest ? apart : farthest;
        }
    }
    printf("%g", farthest);
    return 0;
}
"""


@pytest.mark.parametrize("wrong", [False, True])
def test_every_size_of_input_is_near_the_true_value(tmp_path: Path, wrong: bool) -> None:
    text, newton = HEADER.read_text(), "(int64_t)quotient * rest"
    assert newton in text
    # a reciprocal without its step of Newton's has sixteen bits
    (tmp_path / HEADER.name).write_text(text.replace(newton, "(int64_t)quotient * (rest & 0)") if wrong else text)
    (tmp_path / "sweep.c").write_text(SWEEP)
    strict = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-fsanitize=undefined"]
    subprocess.run(["gcc", *strict, "sweep.c", "-o", "sweep", "-lm"], cwd=tmp_path, check=True)
    told = subprocess.run([str(tmp_path / "sweep")], check=True, capture_output=True, text=True)
    assert told.stderr == ""
    assert (float(told.stdout) < 1.5e-7) != wrong
