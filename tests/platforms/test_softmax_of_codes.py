"""Softmax on codes in vectors on a simulated board: quotients on ties and next to them, lines of any length."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from board_layers import board_or_skip, kernels, preferring
from integers.qdq_writer import Writer
from tilewright.compile import compile_model, run_model, write
from tilewright.options import CompileOptions, RunOptions
from tilewright.target import load_target

BOARD = "qemu_mps3_an547"


LENGTHS = [(512, 256), (128, 192), (96, 240), (37, 256), (11, 256), (4, 256), (1, 256)]
ABOVE_TIES = [(22, 77), (44, 154)]
"""Inverses whose reciprocals are rounded down as floats: three halves and more, by less than a unit of a word."""


@pytest.mark.parametrize(("length", "inverse"), [*LENGTHS, *ABOVE_TIES])
def test_distributions_of_codes_in_vectors(length: int, inverse: int, tmp_path: Path) -> None:
    """`length` equal codes are `inverse / length` steps each, a number of halves for some."""
    board_or_skip(BOARD)
    writer, target = Writer(21), load_target(BOARD)
    writer.add("Softmax", writer.pair("x", 0.11, 3), "s", axis=-1)
    writer.add("Identity", writer.pair("s", 1 / inverse, -128), "y")
    path = tmp_path / "softmax.onnx"
    onnx.save(writer.model({"x": (3, length)}), path)
    done = compile_model(path, CompileOptions(), target, pipeline=preferring(("SoftmaxCodesMve",)))
    assert "SoftmaxCodesMve" in kernels(done).values()
    write(done, tmp_path / "project")
    drawn = np.random.default_rng(length).normal(0, 3, (3, length)).astype(np.float32)
    calls = [np.full((3, length), 0.5, np.float32), drawn, np.where(drawn > 1.5, 9, -9).astype(np.float32)]
    np.savez(tmp_path / "calls.npz", allow_pickle=False, x=np.stack(calls))
    report = run_model(done, target, RunOptions(frames=tmp_path / "calls.npz", atol=0, rtol=0), tmp_path / "project")
    assert report.run is not None
    assert report.run.match, report.run.frames
