"""Codes of floats by a step of the run time where there is no float unit: those of float32, at every size."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest
from board_layers import board_or_skip
from graphs import node, onnx_model
from onnx import TensorProto
from tilewright.cli import main
from tilewright.compile import compile_model
from tilewright.conformance.program import STRICT, run_batch
from tilewright.conformance.subject import load_and_pass, place, subject
from tilewright.model import Array
from tilewright.options import CompileOptions
from tilewright.plan.execute import run
from tilewright.plugins import kernels_of, platform
from tilewright.target import load_target

COUNT = 4096
TYPES = {"y": TensorProto.UINT8, "z": TensorProto.UINT8}


def network(*shape: int) -> onnx.ModelProto:
    return onnx_model([node("DynamicQuantizeLinear", "x", "y s z")], {"x": shape}, ["y", "s", "z"], types=TYPES)


def halves(size: float) -> Array:
    """The ends of a range, halves of its steps, the floats next to them, and zeros."""
    step = np.float32(np.float32(size) / np.float32(255))
    at = (np.repeat(np.arange(0, 255), 5) - 90.5).astype(np.float32) * step
    bits = at.view(np.int32) + np.tile(np.arange(-2, 3), 255).astype(np.int32)
    ends = np.array([-90 * float(step), size - 90 * float(step)], np.float32)
    near = np.clip(bits.view(np.float32), *ends)
    return np.concatenate([ends, near, np.zeros(COUNT - near.size - 2)]).astype(np.float32)


def rows() -> Iterator[Array]:
    """Of every size: drawn ones of both signs and of one, halves of steps; zeros; what is infinite or no number."""
    draw = np.random.default_rng(4)
    for size in (1e-44, 1e-38, 1e-33, 1e-20, 3e-4, 0.7, 255.0, 3e6, 1e30, 3e38):
        yield draw.uniform(-0.5 * size, 0.5 * size, COUNT).astype(np.float32)
        yield -np.abs(draw.normal(0, size / 9, COUNT)).astype(np.float32)
        yield draw.integers(0, 256, COUNT).astype(np.float32) * np.float32(size / 255)
        yield halves(size)
    yield np.zeros(COUNT, np.float32)
    yield np.full(COUNT, -0.0, np.float32)
    for strange in (np.nan, np.inf, -np.inf):
        row = draw.normal(0, 1, COUNT).astype(np.float32)
        row[7] = strange
        yield row
    yield np.full(COUNT, -np.nan, np.float32)


def test_codes_are_those_of_float32(tmp_path: Path) -> None:
    generic = platform("generic")
    placed = place(
        load_and_pass(network(COUNT), "g"), generic, [k for k in kernels_of(generic) if k.name == "WholeCodes"]
    )
    every = list(rows())
    (outcome,) = run_batch([subject(placed, generic, [[row] for row in every])], tmp_path, flags=("-O2", *STRICT))
    assert outcome.failure == ""
    for row, found in zip(every, outcome.runs, strict=True):
        for got, wanted in zip(found, run(placed.plan, [row]), strict=True):
            assert np.array_equal(got, wanted, equal_nan=True), row[:4]


@pytest.mark.parametrize("board", ["qemu_pulp", "gvsoc_pulp_open"])
@pytest.mark.parametrize("shape", [(1,), (3, 5), (2, 7, 33)])
def test_the_cores_share_the_elements(board: str, shape: tuple[int, ...], tmp_path: Path) -> None:
    board_or_skip(board)
    onnx.save(network(*shape), tmp_path / "net.onnx")
    done = compile_model(tmp_path / "net.onnx", CompileOptions(), load_target(board))
    assert [one.kernel.name for one in done.plan.instructions] == ["TiledWholeCodes"]
    assert main(["run", str(tmp_path / "net.onnx"), "-t", board, "-q"]) == 0


def test_a_tensor_larger_than_l1_stays_on_one_core(tmp_path: Path) -> None:
    onnx.save(network(100, 200), tmp_path / "net.onnx")
    done = compile_model(tmp_path / "net.onnx", CompileOptions(), load_target("gvsoc_pulp_open"))
    assert [one.kernel.name for one in done.plan.instructions] == ["WholeCodes"]


def product() -> onnx.ModelProto:
    """Codes times codes, and both scales, whose product is written over the first."""
    draw = np.random.default_rng(6)
    constants = {
        "w": draw.integers(-128, 128, (32, 24)).astype(np.int8), "zero": np.int8(0), "other": np.float32(0.001),
    }  # fmt: skip
    nodes = [
        node("DynamicQuantizeLinear", "x", "q s z"), node("Mul", "s other", "scale"),
        node("MatMulInteger", "q w z zero", "sums"), node("Cast", "sums", "real", to=TensorProto.FLOAT),
        node("Mul", "real scale", "y"),
    ]  # fmt: skip
    return onnx_model(nodes, {"x": (8, 32)}, ["y"], constants)


@pytest.mark.parametrize("board", ["qemu_pulp", "gvsoc_pulp_open"])
def test_layers_of_a_sitting_are_compared_where_nothing_lies_over_them(board: str, tmp_path: Path) -> None:
    board_or_skip(board)
    onnx.save(product(), tmp_path / "net.onnx")
    assert main(["run", str(tmp_path / "net.onnx"), "-t", board, "-q", "--layers"]) == 0
