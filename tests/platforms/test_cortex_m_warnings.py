"""Layers of sixteen-bit codes on a core with dual multiplies are clean under every warning of a second compiler."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import onnx
import pytest
from board_layers import Layer, Network, kernels, preferring
from integers.qdq_writer import Writer
from tilewright.compile import compile_model, write
from tilewright.options import CompileOptions
from tilewright.platform import Operands
from tilewright.target import load_target

WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Wshadow", "-Wstrict-prototypes", "-Werror")
KERNELS = ("ConvHalvesDsp", "DenseHalvesDsp", "DepthwiseDsp")
LAYERS = (
    Layer("depthwise", (1, 5, 9, 9), (5, 1, 3, 3), x_zero=3, attributes={"pads": [1, 1, 1, 1], "group": 5}),
    Layer("strided", (1, 4, 9, 8), (4, 1, 3, 3), attributes={"strides": [2, 2], "group": 4}),
    Layer("line", (1, 6, 24), (6, 1, 5), attributes={"pads": [4, 0], "group": 6}),
    Layer("wide", (1, 3, 11, 11), (3, 1, 5, 5), attributes={"pads": [2, 2, 2, 2], "group": 3}),
    Layer("nine", (1, 4, 24), (4, 1, 9), attributes={"group": 4}),
    Layer("three_lines", (1, 4, 9, 12), (4, 1, 3, 3), x_zero=7, attributes={"group": 4}),
    Layer("one_result", (1, 4, 3, 3), (4, 1, 3, 3), attributes={"group": 4}),
    Layer("pixels", (1, 8, 5, 5), (6, 8, 1, 1), x_zero=-5),
    Layer("window", (1, 3, 7, 7), (5, 3, 3, 3), attributes={"pads": [1, 1, 1, 1]}),
    Layer("groups", (1, 8, 6, 6), (8, 2, 3, 3), attributes={"group": 4}),
    Layer("odd_groups", (1, 6, 5), (9, 2, 3), attributes={"group": 3}),
    Layer("products", (5, 12), (12, 7), x_zero=9),
    Layer("one", (1, 33), (33, 3)),
)  # fmt: skip


def test_layers_of_sixteen_bits_are_clean(tmp_path: Path) -> None:
    if shutil.which("clang") is None:
        pytest.fail("clang is missing; ci/test installs it")
    network = Network(np.random.default_rng(2), opset=21)
    for layer in LAYERS:
        network.add_sixteen(layer)
    options = CompileOptions(allocator="greedy", disabled_passes=frozenset({"row_chains"}))
    model = network.save(tmp_path / "layers.onnx")
    done = compile_model(model, options, load_target("qemu_mps2_an386"), pipeline=preferring(KERNELS))
    assert set(KERNELS) <= {*kernels(done).values()}
    write(done, tmp_path)
    for source in sorted((tmp_path / "src").glob("*.c")):
        command = ["clang", "-std=c99", "-fsyntax-only", "-D__ARM_FEATURE_SIMD32=1", *WARNINGS, str(source)]
        found = subprocess.run(command, capture_output=True, text=True)
        assert found.returncode == 0, found.stderr[:2000]


@pytest.mark.parametrize(("board", "kernel"), [("qemu_mps2_an386", "QuantiseFpu"), ("qemu_mps3_an547", "QuantiseMve")])
def test_codes_of_floats_have_no_parameters_that_are_not_read(board: str, kernel: str, tmp_path: Path) -> None:
    """Scales and zero points stand in the code: as constants they were flash that nothing read, and a warning."""
    write_pair = Writer(21)
    write_pair.add("Identity", write_pair.pair("x", 0.05, 3), "y")
    onnx.save(write_pair.model({"x": (1, 64)}), tmp_path / "codes.onnx")
    done = compile_model(tmp_path / "codes.onnx", CompileOptions(), load_target(board))
    (node,) = (node for node in done.bound.nodes if node.kernel is not None and node.kernel.name == kernel)
    assert node.kernel is not None
    assert node.kernel.constants(Operands(node.call)) == ()
