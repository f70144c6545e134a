"""Mul of floats on RISC-V without a float unit: the bits of IEEE 754, and the kernel that has them on the board."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import onnx
from board_layers import board_or_skip
from graphs import node, onnx_model
from tilewright.cli import main
from tilewright.compile import compile_model
from tilewright.options import CompileOptions
from tilewright.target import load_target

PLATFORMS = Path(__file__).parents[2] / "platforms"
PROGRAM = """#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "whole_f32.h"
#include "whole_mul.h"
int main(void)
{
    float pair[2];
    while (fread(pair, sizeof pair, 1, stdin) == 1) {
        const float result = tilewright_whole_multiplied(pair[0], pair[1]);
        (void)fwrite(&result, sizeof result, 1, stdout);
    }
    return 0;
}
"""
BOARD = "qemu_rv32imc"


def test_products_have_the_bits_of_ieee_754(tmp_path: Path) -> None:
    """Drawn floats of every size, short ones whose products tie, zeros, infinities, no numbers, ends of normal ones."""
    draw = np.random.default_rng(9)
    drawn = draw.integers(0, 1 << 32, (40_000, 2), dtype=np.uint32)
    near = drawn[:20_000] & 0x807FFFFF | draw.integers(60, 195, (20_000, 2), dtype=np.uint32) << 23
    ties = near & np.array([0xFFFFF000, 0xFFFFE000], np.uint32)
    ends = np.array([0, 1 << 31, 1, 0x7FFFFF, 0x800000, 0x800001, 0x3F800000, 0x3F7FFFFF, 0x7F7FFFFF, 0x7F800000,
                     0xFF800000, 0x7FC00000, 0x20000000, 0x1FFFFFFF, 0x5F800000], np.uint32)  # fmt: skip
    pairs = np.concatenate([drawn, near, ties, np.stack(np.meshgrid(ends, ends), -1).reshape(-1, 2)]).view(np.float32)
    (tmp_path / "main.c").write_text(PROGRAM)
    folders = [f"-I{PLATFORMS / name / 'kernels'}" for name in ("generic", "riscv")]
    flags = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Wconversion", "-Werror", *folders]
    subprocess.run(["gcc", *flags, "-o", tmp_path / "main", tmp_path / "main.c"], check=True)
    made = subprocess.run([tmp_path / "main"], input=pairs.tobytes(), capture_output=True, check=True)
    found = np.frombuffer(made.stdout, np.float32)
    with np.errstate(all="ignore"):
        wanted = pairs[:, 0] * pairs[:, 1]
    numbers = ~np.isnan(wanted)
    assert np.array_equal(np.isnan(found), ~numbers)
    assert np.array_equal(found[numbers].view(np.uint32), wanted[numbers].view(np.uint32))


def test_products_on_the_board(tmp_path: Path) -> None:
    board_or_skip(BOARD)
    factor = np.random.default_rng(2).normal(0, 1, (3, 1)).astype(np.float32)
    nodes = [node("Mul", "x c", "a"), node("Relu", "a", "y"), node("Mul", "x w", "z")]
    model = onnx_model(nodes, {"x": (2, 3, 5), "w": (5,)}, ["y", "z"], constants={"c": factor})
    onnx.save(model, tmp_path / "net.onnx")
    done = compile_model(tmp_path / "net.onnx", CompileOptions(), load_target(BOARD))
    assert [one.kernel.name for one in done.plan.instructions] == ["WholeMul", "WholeMul"]
    assert main(["run", str(tmp_path / "net.onnx"), "-t", BOARD, "-q"]) == 0
