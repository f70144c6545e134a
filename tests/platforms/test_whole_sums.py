"""Sums, means and lengths of floats where there is no float unit: rows of every size along any axes, no numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tilewright.conformance.program import STRICT, run_batch
from tilewright.conformance.subject import load_and_pass, place, subject
from tilewright.model import Array
from tilewright.plugins import kernels_of, platform

SHAPE = (3, 4, 5)
SIZES = (1e-30, 1e-15, 3e-4, 0.7, 4e6, 1e17)
KINDS = [
    ("ReduceSum", (2,), 1), ("ReduceSum", (0, 2), 0), ("ReduceMean", (1,), 0), ("ReduceMean", (0, 1, 2), 1),
    ("ReduceL1", (0,), 1), ("ReduceL1", (1, 2), 0), ("ReduceL2", (2,), 0), ("ReduceL2", (0, 2), 1),
    ("ReduceSumSquare", (1,), 1), ("ReduceSumSquare", (1, 2), 0),
]  # fmt: skip


def _model(op: str, axes: tuple[int, ...], keeps: int) -> onnx.ModelProto:
    shape = [1 if axis in axes else size for axis, size in enumerate(SHAPE) if keeps or axis not in axes]
    ports = [helper.make_tensor_value_info(*port) for port in (("x", TensorProto.FLOAT, SHAPE), ("y", 1, shape))]
    made = [numpy_helper.from_array(np.array(axes), "axes")]
    graph = helper.make_graph(
        [helper.make_node(op, ["x", "axes"], ["y"], op, keepdims=keeps)], "g", ports[:1], ports[1:], made
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def _found(model: onnx.ModelProto, runs: list[Array], folder: Path) -> list[Array]:
    """What the kernel's C gives, on this machine; some of these layers are read as pools."""
    generic = platform("generic")
    named = [one for one in kernels_of(generic) if one.name == "WholeSums"]
    placed = place(load_and_pass(model, "g"), generic, named)
    (outcome,) = run_batch([subject(placed, generic, [[x] for x in runs])], folder, flags=("-O2", *STRICT))
    assert outcome.failure == ""
    return [results[0] for results in outcome.runs]


def _wanted(op: str, x: Array, axes: tuple[int, ...], keeps: int) -> Array:
    """In doubles."""
    wide = x.astype(np.float64)
    if op in ("ReduceL2", "ReduceSumSquare"):
        wide = np.square(wide)
    total = np.asarray((np.abs(wide) if op == "ReduceL1" else wide).sum(axis=axes, keepdims=bool(keeps)))
    if op == "ReduceMean":
        return total / np.prod([SHAPE[axis] for axis in axes])
    return np.sqrt(total) if op == "ReduceL2" else total


@pytest.mark.parametrize(("op", "axes", "keeps"), KINDS)
def test_sums_of_every_size(op: str, axes: tuple[int, ...], keeps: int, tmp_path: Path) -> None:
    draw = np.random.default_rng(5)
    runs = []
    for size in SIZES:
        plain = draw.normal(0, size, SHAPE)
        outlier = plain.copy()
        outlier[1, 2, 3] *= 1e5
        runs += [plain, outlier, plain * 10.0 ** draw.integers(-9, 1, SHAPE), np.full(SHAPE, -size)]
    runs += [np.maximum(draw.normal(-1, 1, SHAPE), 0), np.zeros(SHAPE), np.full(SHAPE, -0.0), np.full(SHAPE, 1e-42)]
    drawn = [one.astype(np.float32) for one in runs]
    for x, found in zip(drawn, _found(_model(op, axes, keeps), drawn, tmp_path), strict=True):
        wanted, sizes = _wanted(op, x, axes, keeps), _wanted(op, np.abs(x), axes, keeps)
        with np.errstate(over="ignore"):
            infinite = np.abs(wanted) ** (2 if op == "ReduceL2" else 1) > np.finfo(np.float32).max
        assert np.array_equal(found[infinite], np.sign(wanted[infinite]) * np.inf)
        small = 1e-22 if op == "ReduceL2" else 1e-37  # squares below the smallest normal float
        away = np.abs(found[~infinite] - wanted[~infinite])
        assert (away <= 3e-7 * sizes[~infinite] + small).all()


@pytest.mark.parametrize(("op", "axes", "keeps"), KINDS)
def test_what_is_infinite_or_no_number(op: str, axes: tuple[int, ...], keeps: int, tmp_path: Path) -> None:
    x = np.random.default_rng(3).normal(0, 1, (3, *SHAPE)).astype(np.float32)
    x[0, 1, 2, 3], x[1, 0, 1, 2], x[2, 2, 0, 1] = np.nan, np.inf, -np.inf
    for one, found in zip(x, _found(_model(op, axes, keeps), list(x), tmp_path), strict=True):
        wanted = _wanted(op, one, axes, keeps)
        odd = ~np.isfinite(wanted)
        assert odd.any()
        assert np.array_equal(found[odd].astype(np.float64), wanted[odd], equal_nan=True)
        assert np.allclose(found[~odd], wanted[~odd], rtol=1e-6, atol=1e-6)
