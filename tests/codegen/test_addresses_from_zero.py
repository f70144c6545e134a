"""gcc 12 leaves out calls whose loops address memory as a distance from zero; files forbid what leads to it."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable

import pytest
from conftest import NetworkFiles
from tilewright.compile import compile_model
from tilewright.options import CompileOptions
from tilewright.target import load_target

PROBE = """
#include <stdint.h>
static unsigned char arena[3328] __attribute__((aligned(16)));
static void copy(const int8_t *x, int8_t *y)
{
    for (int i0 = 0; i0 < 2; i0++) {
        for (int i1 = 0; i1 < 2; i1++) {
            for (int i2 = 0; i2 < 8; i2++) {
                for (int i3 = 0; i3 < 16; i3++) {
                    y[i0 * 256 + i1 * 128 + i2 * 16 + i3] = x[i0 * 8 + i1 * 256 + i2 + i3 * 16];
                }
            }
        }
    }
}
void use(void *at);
void run(void)
{
    copy((const int8_t *)(void *)arena, (int8_t *)(void *)(arena + 2560));
    use(arena);
    copy((const int8_t *)(void *)arena, (int8_t *)(void *)(arena + 2560));
    use(arena);
}
"""
GUARD = re.compile(r"#if defined\(__GNUC__\) && !defined\(__clang__\)\n/\*[^\n]*\n#pragma GCC optimize[^\n]*\n#endif\n")


@pytest.mark.parametrize("target", ["qemu_mps2_an386", "qemu_rv32imc", "host"])
def test_two_calls_with_the_same_addresses_stay(network: Callable[[str], NetworkFiles], target: str) -> None:
    compiled = compile_model(network("digits").model, CompileOptions(), load_target(target))
    text = compiled.artifacts.text(compiled.artifacts.parts.code)
    head = GUARD.findall(text[: text.index("_version[]")])
    assert len(head) == 1
    compiler = "arm-none-eabi-gcc"
    assert shutil.which(compiler), f"{compiler} is not installed"
    flags = ["-mcpu=cortex-m4", "-mthumb", "-O2", "-S", "-xc", "-", "-o", "-"]
    made = subprocess.run([compiler, *flags], input=head[0] + PROBE, capture_output=True, text=True, check=True).stdout
    assert len(re.findall(r"\tbl\tcopy\S*\n", made)) == 2
