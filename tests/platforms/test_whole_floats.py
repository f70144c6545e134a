"""Floats as whole numbers where there is no float unit: rows of every size, and what is no number."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tilewright.conformance.program import STRICT, run_batch
from tilewright.conformance.subject import load_and_pass, place, subject
from tilewright.model import Array
from tilewright.plugins import kernels_of, platform

LENGTH = 24
SIZES = (1e-30, 1e-12, 3e-4, 0.7, 40.0, 3e6, 1e17)


def _rows() -> Array:
    """Rows of every size: drawn ones, one peak, all alike, a small spread far from zero, mixed sizes, zeros."""
    draw, rows = np.random.default_rng(2), list[Array]()
    for size in SIZES:
        drawn = draw.normal(0, size, LENGTH)
        rows += [drawn, np.eye(1, LENGTH)[0] * size, np.full(LENGTH, -size), size * 3 + drawn / 50]
        rows.append(draw.normal(0, size, LENGTH) * 10.0 ** draw.integers(-9, 1, LENGTH))
    masked = draw.normal(0, 2, (4, LENGTH))
    masked[:, LENGTH // 3 :] += np.array([-1e9, -1e4, -3.4e38, -70.0])[:, None]
    rows += [*masked, masked[0] - 5.0]
    rows += [np.zeros(LENGTH), np.full(LENGTH, -0.0), np.full(LENGTH, 1e-42)]
    return np.stack(rows).astype(np.float32)


def _model(op: str, shape: tuple[int, ...], epsilon: float, most: float = 1.0) -> onnx.ModelProto:
    """With factors and addends of which one of each is `most` times as large."""
    draw = np.random.default_rng(5)
    width = {"LayerNormalization": shape[-1], "Softmax": 0, "LogSoftmax": 0}.get(op, shape[1])
    names = ("scale", "bias") if width else ()
    sizes = (np.where(np.arange(width) == one, most, 1.0) for one in range(len(names)))
    drawn = [(draw.normal(1, 0.5, width) * size).astype(np.float32) for size in sizes]
    constants = [numpy_helper.from_array(values, name) for values, name in zip(drawn, names, strict=True)]
    attributes: dict[str, Any] = {"axis": -1} if op in ("LayerNormalization", "Softmax", "LogSoftmax") else {}
    attributes |= {"num_groups": 2} if op == "GroupNormalization" else {}
    attributes |= {"epsilon": epsilon} if width else {}
    node = helper.make_node(op, ["x", *names], ["y"], op, **attributes)
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in "xy"]
    graph = helper.make_graph([node], "g", ports[:1], ports[1:], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def _found(model: onnx.ModelProto, kernel: str, runs: list[Array], folder: Path) -> list[Array]:
    """What the kernel's C gives, on this machine."""
    generic, op = platform("generic"), model.graph.node[0].op_type
    named = [one for one in kernels_of(generic) if (one.name, one.op) in ((kernel, op), ("Relayout", "Relayout"))]
    placed = place(load_and_pass(model, "g"), generic, named)
    assert [instruction.kernel.name for instruction in placed.plan.instructions] == [kernel]
    (outcome,) = run_batch([subject(placed, generic, [[x] for x in runs])], folder, flags=("-O2", *STRICT))
    assert outcome.failure == ""
    return [results[0] for results in outcome.runs]


def _expected(model: onnx.ModelProto, rows: Array, epsilon: float) -> Array:
    """In doubles, of rows that run together."""
    wide = rows.astype(np.float64)
    if model.graph.node[0].op_type == "Softmax":
        powers = np.exp(wide - wide.max(1, keepdims=True))
        return np.asarray(powers / powers.sum(1, keepdims=True))
    scale, bias = (numpy_helper.to_array(one).astype(np.float64) for one in model.graph.initializer)
    spread = wide - wide.mean(1, keepdims=True)
    normal = spread / np.sqrt((spread * spread).mean(1, keepdims=True) + np.float32(epsilon))
    if len(scale) == LENGTH:
        return np.asarray(normal * scale + bias)
    each = {"InstanceNormalization": 2, "GroupNormalization": 2}[model.graph.node[0].op_type]
    parameters = [np.repeat(one, LENGTH * each // len(scale)).reshape(each, LENGTH) for one in (scale, bias)]
    factor, addend = (np.tile(one, (len(rows) // each, 1)) for one in parameters)
    return np.asarray(normal * factor + addend)


KINDS = [
    ("LayerNormalization", (1, LENGTH)), ("InstanceNormalization", (1, 2, 4, 6)),
    ("GroupNormalization", (1, 4, 3, 4)), ("Softmax", (1, LENGTH)),
]  # fmt: skip


@pytest.mark.parametrize("epsilon", [1e-5, 1e-12])
@pytest.mark.parametrize(("op", "shape"), KINDS)
def test_rows_of_every_size(op: str, shape: tuple[int, ...], epsilon: float, tmp_path: Path) -> None:
    rows = _rows()
    rows = rows[: len(rows) // 2 * 2]
    images = len(rows) * LENGTH // int(np.prod(shape))
    model = _model(op, (images, *shape[1:]), epsilon)
    kernel = "WholeSoftmax" if op == "Softmax" else "WholeNorm"
    (found,) = _found(model, kernel, [rows.reshape(images, *shape[1:])], tmp_path)
    expected = _expected(model, rows, epsilon)
    away = np.abs(found.reshape(rows.shape) - expected).max(1)
    spread = rows.astype(np.float64) - rows.astype(np.float64).mean(1, keepdims=True)
    # A mean far from zero beside the spread costs what it costs floats: some of their last bits.
    apart = np.abs(rows).max(1) / np.sqrt((spread * spread).mean(1) + epsilon)
    bound = 1e-6 if op == "Softmax" else 1e-6 * np.abs(expected).max(1) + 2.0**-27 * apart + 2e-7
    assert (away <= bound).all(), (away / bound).max()


@pytest.mark.parametrize(("op", "shape"), KINDS[:3])
def test_one_large_factor_leaves_the_others_their_places(op: str, shape: tuple[int, ...], tmp_path: Path) -> None:
    draw = np.random.default_rng(8)
    rows = draw.normal(0, 1, (8, LENGTH)).astype(np.float32)
    rows[2:4], rows[4:6] = 3.0, np.float32(-1e4)
    images = rows.size // int(np.prod(shape))
    model = _model(op, (images, *shape[1:]), 1e-5, 1e6)
    (found,) = _found(model, "WholeNorm", [rows.reshape(images, *shape[1:])], tmp_path)
    expected = _expected(model, rows, 1e-5)
    places = np.abs(_expected(model, np.zeros_like(rows), 1e-5)) + np.abs(expected)  # of results and addends
    factors = np.abs(expected - _expected(model, np.zeros_like(rows), 1e-5)).max(0) / 2
    assert (np.abs(found.reshape(rows.shape) - expected) <= 2e-7 * places + 1e-6 * factors).all()


@pytest.mark.parametrize(("op", "shape"), KINDS)
def test_what_is_no_number_leaves_none(op: str, shape: tuple[int, ...], tmp_path: Path) -> None:
    rows = np.random.default_rng(3).normal(0, 1, (6, LENGTH)).astype(np.float32)
    rows[0, 5], rows[1, 3], rows[2, 0] = np.nan, np.inf, -np.inf
    rows[3] = -np.inf
    images = rows.size // int(np.prod(shape))
    model = _model(op, (images, *shape[1:]), 1e-5)
    kernel = "WholeSoftmax" if op == "Softmax" else "WholeNorm"
    (found,) = _found(model, kernel, [rows.reshape(images, *shape[1:])], tmp_path)
    missing = np.isnan(found.reshape(rows.shape)).all(1)
    assert missing.tolist() == [True, True, op != "Softmax", True, False, False]
    if op == "Softmax":
        assert found.reshape(rows.shape)[2, 0] == 0
        assert found.reshape(rows.shape)[2].sum() == pytest.approx(1)


def test_logarithms_of_shares(tmp_path: Path) -> None:
    rows = np.concatenate([_rows(), np.full((2, LENGTH), 3.0, np.float32)])
    rows[-1, 2], rows[-2, 4] = -np.inf, 45.0
    model = _model("LogSoftmax", (1, LENGTH), 0.0)
    found = np.concatenate(_found(model, "WholeLogSoftmax", [row[None] for row in rows], tmp_path))
    wide = rows.astype(np.float64)
    apart = wide - wide.max(1, keepdims=True)
    expected = apart - np.log1p(np.exp(apart).sum(1, keepdims=True) - 1)
    assert np.array_equal(np.isneginf(found), np.isneginf(expected))
    real = np.isfinite(expected)
    sizes = np.abs(np.where(apart > -40, wide, 0)).max(1, keepdims=True)  # what is masked takes no place of the others
    near = 3e-7 * np.abs(np.where(real, expected, 0)) + 2.0**-28 * sizes + 3e-8
    assert (np.abs(found[real] - expected[real]) <= near[real]).all()
    broken = np.array([[np.nan, *[1.0] * (LENGTH - 1)], [np.inf, *[0.0] * (LENGTH - 1)]], np.float32)
    assert np.isnan(
        np.concatenate(_found(model, "WholeLogSoftmax", [row[None] for row in broken], tmp_path / "odd"))
    ).all()


@pytest.mark.parametrize("op", ["Softmax", "LogSoftmax"])
def test_rows_may_lie_along_any_axis(op: str, tmp_path: Path) -> None:
    rows = np.random.default_rng(6).normal(0, 4, (2, 3, LENGTH)).astype(np.float32)
    model = _model(op, rows.shape, 0.0)
    (expected,) = _found(model, f"Whole{op}", [rows], tmp_path / "last")
    across = _model(op, (2, LENGTH, 3), 0.0)
    across.graph.node[0].attribute[0].i = 1
    (found,) = _found(across, f"Whole{op}", [rows.transpose(0, 2, 1).copy()], tmp_path / "across")
    assert np.array_equal(found.transpose(0, 2, 1), expected)
