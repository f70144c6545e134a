"""The conversions in the generated header: every half and every tie, with the compiler's own type and without."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tilewright.codegen.emit import HALVES, TEMPLATES
from tilewright.model import DType

STRICT = "-Wall -Wextra -Wconversion -Wpedantic -Wshadow -Werror".split()
PROGRAM = """
#include "tilewright_halves.h"
#include <stdio.h>
int main(void)
{
    unsigned word;
    double value;
    for (word = 0; word < 65536u; word++) {
        const uint16_t bits = (uint16_t)word;
        tilewright_f16 half;
        float wide[2];
        uint16_t back[2];
        memcpy(&half, &bits, sizeof half);
        wide[0] = tilewright_f16_to_float(half);
        wide[1] = tilewright_bf16_to_float(bits);
        half = tilewright_f16_of_float(wide[0]);
        memcpy(&back[0], &half, sizeof half);
        back[1] = tilewright_bf16_of_float(wide[1]);
        fwrite(wide, sizeof wide, 1, stdout);
        fwrite(back, sizeof back, 1, stdout);
    }
    {
        const uint32_t low = 0x7f800001u; /* not a number by its last digit alone */
        float none;
        tilewright_f16 half;
        memcpy(&none, &low, sizeof none);
        half = tilewright_f16_of_float(none);
        if ((tilewright_bf16_of_float(none) & 0x7fffu) <= 0x7f80u || !(isnan(tilewright_f16_to_float(half)))) {
            return 2;
        }
    }
    while (fread(&value, sizeof value, 1, stdin) == 1) {
        const tilewright_f16 once = tilewright_f16_of_double(value), half = tilewright_f16_of_float((float)value);
        const tilewright_bf16 brain = tilewright_bf16_of_float((float)value);
        fwrite(&once, sizeof once, 1, stdout);
        fwrite(&half, sizeof half, 1, stdout);
        fwrite(&brain, sizeof brain, 1, stdout);
    }
    return 0;
}
"""
WORDS: npt.NDArray[np.uint16] = np.arange(1 << 16, dtype=np.uint16)
WAYS = [("gcc", "-O2"), ("gcc", "-O2 -DTILEWRIGHT_F16_BITS"), ("clang", "-O1"), ("g++", "-O1 -x c++"),
        ("gcc", "-O1 -DTILEWRIGHT_F16_BITS -fsanitize=undefined -fno-sanitize-recover")]  # fmt: skip


def numbers() -> npt.NDArray[np.float64]:
    """Every finite float of sixteen bits, every tie between two, and the floats and doubles beside them; both signs."""
    found: list[npt.NDArray[np.float64]] = []
    for kind in (DType.F16.numpy, DType.BF16.numpy):
        with np.errstate(invalid="ignore"):
            sizes = WORDS[:32768].view(kind).astype(np.float64)
        sizes = sizes[np.isfinite(sizes)]
        ends = np.append(sizes, 2 * sizes[-1] - sizes[-2])  # where the next one would be: beyond its tie lies infinity
        ties = (ends[1:] + ends[:-1]) / 2
        near = ties.astype(np.float32)
        found += [sizes, ties, np.nextafter(ties, 0), np.nextafter(ties, np.inf)]
        found += [np.nextafter(near, np.float32(0)).astype(float), np.nextafter(near, np.float32(np.inf)).astype(float)]
    random = np.random.default_rng(3)
    found.append(random.integers(0, 0x7F800000, 50_000, dtype=np.uint32).view(np.float32).astype(np.float64))
    found.append(np.array([np.inf, 1e300, 1e-300, 5e-324, 3.5e38, 1e-45]))
    sizes = np.concatenate(found)
    sizes = sizes[~np.isnan(sizes)]
    return np.concatenate([sizes, -sizes])


def converted(way: tuple[str, str], folder: Path, values: npt.NDArray[np.float64]) -> bytes:
    compiler, flags = way
    (folder / "main.c").write_text(PROGRAM)
    (folder / HALVES).write_text((TEMPLATES / HALVES).read_text())
    standard = ["-std=c++11"] if compiler == "g++" else ["-std=c99"]
    command = [compiler, *standard, *STRICT, *flags.split(), "main.c", "-o", "main", "-lm"]
    subprocess.run(command, cwd=folder, check=True, timeout=60)
    return subprocess.run([folder / "main"], input=values.tobytes(), capture_output=True, check=True, timeout=60).stdout


def quieted(words: npt.NDArray[np.uint16], infinity: int, quiet: int) -> npt.NDArray[Any]:
    """Signalling NaNs made quiet, as every conversion may do."""
    return np.where((words & 0x7FFF) > infinity, words | quiet, words)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: " ".join(way))
def test_conversions_are_those_of_numpy(way: tuple[str, str], tmp_path: Path) -> None:
    values = numbers()
    raw = converted(way, tmp_path, values)
    each = np.frombuffer(raw[: 12 << 16], [("half", "<f4"), ("brain", "<f4"), ("back", "<u2", 2)])
    for name, kind in (("half", DType.F16.numpy), ("brain", DType.BF16.numpy)):
        with np.errstate(invalid="ignore"):
            np.testing.assert_array_equal(each[name], WORDS.view(kind).astype(np.float32))
        np.testing.assert_array_equal(np.signbit(each[name]), WORDS >= 0x8000)
    for back, infinity, quiet in ((each["back"][:, 0], 0x7C00, 0x0200), (each["back"][:, 1], 0x7F80, 0x0040)):
        np.testing.assert_array_equal(quieted(back, infinity, quiet), quieted(WORDS, infinity, quiet))
    found = np.frombuffer(raw[12 << 16 :], "<u2").reshape(-1, 3)
    with np.errstate(over="ignore", under="ignore"):
        np.testing.assert_array_equal(found[:, 0], values.astype(np.float16).view(np.uint16))
        np.testing.assert_array_equal(found[:, 1], values.astype(np.float32).astype(np.float16).view(np.uint16))
        np.testing.assert_array_equal(found[:, 2], values.astype(np.float32).astype(DType.BF16.numpy).view(np.uint16))
