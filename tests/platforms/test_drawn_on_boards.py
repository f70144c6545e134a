"""Kernels of boards on calls that are drawn for them, bit for bit or within their bound."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from board_layers import board_or_skip
from tilewright.cli import main

CALLS = 6
"""Drawn calls of each operator."""


@pytest.mark.parametrize(
    ("platform", "board", "kernel"),
    [
        ("cortex_m", "qemu_mps2_an386", "TransposedDsp"),
        ("cortex_m", "qemu_mps2_an386", "TransposedFpu"),
        ("cortex_m", "qemu_mps2_an386", "RecurrentFpu"),
        ("cortex_m", "qemu_mps3_an547", "RecurrentMve"),
        ("riscv", "qemu_rv32gcv", "RecurrentVectorF32"),
        ("riscv", "qemu_rv32gcv", "IntegerProductVector"),
        ("riscv", "qemu_rv32gcv", "ProductVectorF32"),
        ("riscv", "qemu_rv32gcv", "FunctionsVectorF32"),
        ("cortex_m", "qemu_mps2_an386", "ConvGatheredF32"),
        ("cortex_m", "qemu_mps2_an386", "VectorProductF32"),
        ("cortex_m", "qemu_mps2_an386", "DescentInPlace"),
        ("cortex_m", "qemu_mps2_an386", "DescentPair"),
        ("cortex_m", "qemu_mps3_an547", "TransposedMve"),
        ("cortex_m", "qemu_mps2_an386", "IntegerProductDsp"),
        ("cortex_m", "qemu_mps3_an547", "IntegerProductMve"),
        ("cortex_m", "qemu_mps2_an386", "IntegerConvDsp"),
        ("cortex_m", "qemu_mps3_an547", "IntegerConvMve"),
        ("cortex_m", "qemu_mps2_an386", "CodedAttentionDsp"),
        ("cortex_m", "qemu_mps3_an547", "CodedAttentionMve"),
        ("cortex_m", "qemu_mps3_an547", "CodeProductMve"),
        ("cortex_m", "qemu_mps2_an386", "ConvHalvesDsp"),
        ("cortex_m", "qemu_mps2_an386", "DenseHalvesDsp"),
        ("cortex_m", "qemu_mps2_an386", "DepthwiseDsp"),
        ("cortex_m", "qemu_mps3_an547", "ConvWideMve"),
        ("cortex_m", "qemu_mps3_an547", "DenseWideMve"),
        ("cortex_m", "qemu_mps3_an547", "FunctionsMve"),
        ("cortex_m", "qemu_mps3_an547", "SoftmaxFloatMve"),
        ("cortex_m", "qemu_mps3_an547", "SoftmaxCodesMve"),
        ("cortex_m", "qemu_mps3_an547", "QuantiseMve"),
        ("cortex_m", "qemu_mps3_an547", "DynamicMve"),
        ("cortex_m", "qemu_mps2_an386", "QuantiseFpu"),
        ("cortex_m", "qemu_mps2_an386", "DynamicFpu"),
        ("cortex_m", "qemu_mps3_an547", "ConvFloatMve"),
        ("cortex_m", "qemu_mps3_an547", "DenseFloatMve"),
        ("cortex_m", "qemu_mps3_an547", "DepthwiseFloatMve"),
        ("pulp", "qemu_pulp", "TiledCodeProduct"),
        ("pulp", "qemu_pulp", "WordCodeRows"),
        ("pulp", "qemu_pulp", "TiledCodedAttention"),
        ("pulp", "qemu_pulp", "TiledRowCodes"),
        ("pulp", "qemu_pulp", "TiledNormF32"),
        ("pulp", "qemu_pulp", "TiledRootF32"),
        ("pulp", "qemu_pulp", "TiledConvF32"),
        ("pulp", "qemu_pulp", "TiledDescentF32"),
        ("pulp", "qemu_pulp", "TiledDescentVector"),
        ("pulp", "qemu_pulp", "TiledNormalisedI8"),
        ("generic", "host", "NormalisedI8"),
        ("generic", "host", "LearntConvI8"),
    ],
)
def test_drawn_calls_of_a_kernel(platform: str, board: str, kernel: str, tmp_path: Path) -> None:
    board_or_skip(board)
    answer = tmp_path / "answer.json"
    words = ["conform", platform, "-t", board, "--kernel", kernel, "--each", str(CALLS), "--json", str(answer), "-q"]
    assert main(words) == 0
    rows = json.loads(answer.read_text())["rows"]
    assert kernel in {row["kernel"] for row in rows}  # a name may be a part of another kernel's
    assert min(calls for row in rows for calls in row["operators"].values()) >= CALLS
