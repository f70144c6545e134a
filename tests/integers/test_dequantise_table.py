"""DequantizeLinear of eight bits without a float unit: the float of every code, also over the codes themselves."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from board_layers import board_or_skip
from onnx import TensorProto, helper, numpy_helper
from tilewright.compile import Compiled, compile_model, run_model, write
from tilewright.options import CompileOptions, RunOptions
from tilewright.platforms.generic.kernels.dequantise_table import WORTH_A_TABLE
from tilewright.platforms.generic.kernels.dequantise_whole import LARGEST, SMALLEST
from tilewright.target import load_target

CASES = [(0.0173, -5, np.int8), (3.0, 0, np.uint8), (1e-44, 127, np.int8), (2e37, -128, np.int8), (0.5, 128, np.uint8)]
KINDS = [kind for _, _, kind in CASES]
BOARDS = ("qemu_rv32imc", "qemu_microbit", "qemu_pulp")
KERNELS = Path(__file__).parents[2] / "platforms" / "generic" / "kernels"
PROGRAM = """#include <stdint.h>
#include <stdio.h>
#include "dequantise_whole.h"
int main(void)
{
    int32_t triple[3];
    while (fread(triple, sizeof triple, 1, stdin) == 1) {
        const uint32_t word = tilewright_whole_scaled(triple[0], (uint32_t)triple[1], (uint32_t)triple[2]);
        (void)fwrite(&word, sizeof word, 1, stdout);
    }
    return 0;
}
"""


def compiled(path: Path, board: str, elements: int = 512) -> Compiled:
    nodes, held, given, outputs = [], [], [], []
    for at, (scale, zero, kind) in enumerate(CASES):
        held.append(numpy_helper.from_array(np.asarray(scale, np.float32), f"s{at}"))
        held.append(numpy_helper.from_array(np.asarray(zero, kind), f"z{at}"))
        nodes.append(helper.make_node("DequantizeLinear", [f"x{at}", f"s{at}", f"z{at}"], [f"y{at}"], f"d{at}"))
        code = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
        given.append(helper.make_tensor_value_info(f"x{at}", code, [1, elements]))
        outputs.append(helper.make_tensor_value_info(f"y{at}", TensorProto.FLOAT, None))
    graph = helper.make_graph(nodes, "reals", given, outputs, held)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path / "reals.onnx")
    return compile_model(path / "reals.onnx", CompileOptions(), load_target(board))


@pytest.mark.parametrize("board", BOARDS)
def test_every_code_takes_its_float(board: str, tmp_path: Path) -> None:
    board_or_skip(board)
    done = compiled(tmp_path, board)
    kernels = [i.kernel.name for i in done.plan.instructions if i.call.node.op == "DequantizeLinear"]
    assert all("DequantiseTable" in name for name in kernels)
    (tmp_path / "project").mkdir()
    write(done, tmp_path / "project")
    codes = np.concatenate([np.arange(256), np.arange(255, -1, -1)]).astype(np.uint8)[None]
    given: dict[str, Any] = {f"x{at}": codes.view(kind) for at, (_, _, kind) in enumerate(CASES)}
    np.savez(tmp_path / "x.npz", **given)
    report = run_model(done, load_target(board), RunOptions(inputs=tmp_path / "x.npz"), tmp_path / "project")
    assert report.run is not None
    assert report.run.match


@pytest.mark.parametrize("board", BOARDS[:2])
def test_few_codes_take_their_floats_without_a_table(board: str, tmp_path: Path) -> None:
    board_or_skip(board)
    done = compiled(tmp_path, board, WORTH_A_TABLE - 1)
    assert {i.kernel.name for i in done.plan.instructions} == {"DequantiseWhole", "BorderCodes"}
    (tmp_path / "project").mkdir()
    write(done, tmp_path / "project")
    given: dict[str, Any] = {f"x{at}": np.arange(255, dtype=np.uint8)[None].view(kind) for at, kind in enumerate(KINDS)}
    np.savez(tmp_path / "x.npz", **given)
    report = run_model(done, load_target(board), RunOptions(inputs=tmp_path / "x.npz"), tmp_path / "project")
    assert report.run is not None
    assert report.run.match


def test_whole_products_have_the_bits_of_ieee_754(tmp_path: Path) -> None:
    """Every code beside every code of zero, times scales of every size and of few and of many bits."""
    draw = np.random.default_rng(7)
    scales = (draw.integers(0, 1 << 23, 300) | draw.integers(SMALLEST, LARGEST + 1, 300) << 23).astype(np.uint32)
    ends = [SMALLEST << 23, (LARGEST + 1 << 23) - 1, 0x3F800000, 0x3FFFFFFF, 0x3C23D70A]
    bits, numbers = (one.reshape(-1) for one in np.meshgrid(np.append(scales, ends), np.arange(-255, 256)))
    triples = np.stack([numbers, bits & 0x7FFFFF | 0x800000, bits >> 23], -1).astype(np.int32)
    (tmp_path / "main.c").write_text(PROGRAM)
    flags = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Wconversion", "-Werror", f"-I{KERNELS}"]
    subprocess.run(["gcc", *flags, "-o", tmp_path / "main", tmp_path / "main.c"], check=True)
    made = subprocess.run([tmp_path / "main"], input=triples.tobytes(), capture_output=True, check=True)
    wanted = numbers.astype(np.float32) * bits.astype(np.uint32).view(np.float32)
    assert np.array_equal(np.frombuffer(made.stdout, np.float32), wanted)


@pytest.mark.parametrize(
    ("board", "elements", "kernel"),
    [("qemu_rv32imafc", WORTH_A_TABLE, "BorderCodes")],
)
def test_float_units_multiply(board: str, elements: int, kernel: str, tmp_path: Path) -> None:
    done = compiled(tmp_path, board, elements)
    assert {i.kernel.name for i in done.plan.instructions} == {kernel}
