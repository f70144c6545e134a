"""Softmax on codes over lines of a few elements: exact on ties and next to them, in C and on boards."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from random import Random

import numpy as np
import onnx
import pytest
from board_layers import Array, board_or_skip, kernels
from integers.qdq_writer import Writer
from tilewright.compile import compile_model, run_model, write
from tilewright.conformance.program import STRICT, run_batch
from tilewright.conformance.subject import load_and_pass, place, subject
from tilewright.options import CompileOptions, RunOptions
from tilewright.plan.execute import run
from tilewright.platforms.generic.kernels.softmax_few_i8 import quotient_of
from tilewright.plugins import platform
from tilewright.target import load_target

KERNEL = "SoftmaxFewI8"
SCALE, ZERO = 0.07, 3


def shares(shape: tuple[int, ...], axis: int, inverse: float, kind: type) -> onnx.ModelProto:
    """Codes of scale 0.07 as shares of a step of 1 / inverse."""
    write = Writer(21)
    write.add("Softmax", write.pair("x", SCALE, ZERO), "s", axis=axis)
    write.add("Identity", write.pair("s", 1 / inverse, np.iinfo(kind).min, kind), "y")
    return write.model({"x": shape})


def lines(shape: tuple[int, ...], axis: int) -> Array:
    """Codes of every size, equal ones, and one far above the others."""
    draw = np.random.default_rng(shape)
    codes = draw.integers(-128, 128, shape) // np.asarray([1, 4, 16])[draw.integers(0, 3, shape[:1])].reshape(-1, 1, 1)
    codes[0], codes[1] = 5, -128
    np.moveaxis(codes, axis, 0)[-1, 1] = 127
    return np.asarray((codes - ZERO) * np.float32(SCALE), np.float32)


CASES = tuple(((64, length, 3), 1, inverse) for length in range(2, 7) for inverse in (255, 256, 101, 512))


def test_lines_of_few_codes(tmp_path: Path) -> None:
    generic, subjects, expected = platform("generic"), [], []
    for number, (shape, axis, inverse) in enumerate(CASES):
        kind = np.uint8 if number % 2 else np.int8
        placed = place(load_and_pass(shares(shape, axis, inverse, kind), f"few{number}"), generic)
        assert KERNEL in {instruction.kernel.name for instruction in placed.plan.instructions}, shape
        feeds = [lines(shape, axis)]
        subjects.append(subject(placed, generic, [feeds]))
        expected.append(run(placed.plan, feeds)[0])
    for outcome, wanted in zip(run_batch(subjects, tmp_path, flags=("-O2", *STRICT)), expected, strict=True):
        assert outcome.failure == ""
        assert np.array_equal(outcome.runs[0][0], wanted)


@pytest.mark.parametrize("inverse", [255, 256, 101])
def test_every_pair_of_codes_shares(inverse: int, tmp_path: Path) -> None:
    """An odd number of steps makes a tie of each pair of equal codes."""
    codes = np.arange(-128, 128)
    pairs = np.stack(np.meshgrid(codes, codes, indexing="ij"), axis=-1).reshape(-1, 2)
    feeds = [((pairs - ZERO) * np.float32(SCALE)).astype(np.float32)]
    placed = place(load_and_pass(shares((65536, 2), 1, inverse, np.int8), "pairs"), platform("generic"))
    assert KERNEL in {instruction.kernel.name for instruction in placed.plan.instructions}
    (outcome,) = run_batch([subject(placed, platform("generic"), [feeds])], tmp_path, flags=("-O2", *STRICT))
    assert outcome.failure == ""
    assert np.array_equal(outcome.runs[0][0], run(placed.plan, feeds)[0])


@pytest.mark.parametrize("board", ["qemu_mps2_an386", "qemu_mps3_an547", "qemu_rv32imc"])
def test_lines_of_few_codes_on_boards(board: str, tmp_path: Path) -> None:
    board_or_skip(board)
    for number, (shape, axis) in enumerate((((40, 3, 2), 1), ((9, 7, 4), 2))):
        folder = tmp_path / str(number)
        folder.mkdir()
        onnx.save(shares(shape, axis, 256, np.int8), folder / "few.onnx")
        done = compile_model(folder / "few.onnx", CompileOptions(), load_target(board))
        in_one_vector = board == "qemu_mps3_an547" and shape[axis] == 4
        assert ("SoftmaxCodesMve" if in_one_vector else KERNEL) in kernels(done).values()
        write(done, folder / "project")
        np.savez(folder / "calls.npz", allow_pickle=False, x=lines(shape, axis)[None])
        options = RunOptions(frames=folder / "calls.npz", atol=0, rtol=0)
        report = run_model(done, load_target(board), options, folder / "project")
        assert report.run is not None
        assert report.run.match, report.run.frames


def test_products_are_too_large_by_less_than_the_window() -> None:
    """The number that stands for a quotient, at the ends of totals and between, with the power that fits each best."""
    random = Random(5)
    for inverse in (256.0, 255.0, 100.3, 511.9, 31.0):
        placed = place(load_and_pass(shares((4, 6), 1, inverse, np.int8), "window"), platform("generic"))
        (call,) = (each.call for each in placed.plan.instructions if each.kernel.name == KERNEL)
        numbers = quotient_of(call)
        assert numbers is not None
        quotient, scale, window = numbers
        totals = [
            1 << 30,
            (1 << 30) + 1,
            (1 << 30) + (1 << 14) - 1,
            6 << 30,
            *(random.randrange(1 << 30, 6 << 30) for _ in range(3000)),
        ]
        for total in totals:
            multiplier = scale * (0xFFFFFFFF // (total >> 14) + 1)
            power = min(1 << 30, total)
            assert multiplier < 1 << 32
            above = power * (Fraction(multiplier) - Fraction(quotient.numerator, total)) / (1 << 32)
            assert 0 <= above < window - 1
