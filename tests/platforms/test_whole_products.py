"""Products of floats as whole numbers where there is no float unit: lines of every size, and what is no number."""

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

DEPTH, ROWS, COLUMNS = 27, 30, 5
NEAR = 2.0**-20 + DEPTH * 2.0**-24
"""What sums may be off by, of the sizes of their products: a whole one's bound, or a float one's."""


def _lines(count: int, seed: int) -> Array:
    """Lines of every size: drawn ones, one element, mixed sizes, zeros, the smallest and the largest of floats."""
    draw, lines = np.random.default_rng(seed), list[Array]()
    for size in (1e-35, 1e-18, 3e-4, 0.7, 4e6, 1e17):
        drawn = draw.normal(0, size, DEPTH)
        lines += [drawn, np.eye(1, DEPTH, 3)[0] * size, drawn * 10.0 ** draw.integers(-9, 1, DEPTH)]
        lines.append(np.where(np.arange(DEPTH) == seed % DEPTH, size, size * 1e-8))
    lines += [np.zeros(DEPTH), np.full(DEPTH, -0.0), np.full(DEPTH, 1e-42), draw.normal(0, 1, DEPTH)]
    return np.stack([lines[at % len(lines)] for at in range(seed, seed + count)]).astype(np.float32)


def _model(op: str, rows: Array, columns: Array) -> onnx.ModelProto:
    """Rows times columns, as a product or as a convolution whose window is all of an image."""
    dynamic = op == "dynamic"
    shape: tuple[int, ...] = rows.shape
    out: tuple[int, ...] = (len(rows), len(columns))
    if op == "Conv":
        shape, out = (1, 3, 3, 3), (1, len(columns), 1, 1)
    if op == "RNN":
        return _cell(rows, columns)
    kind = "MatMul" if dynamic else op
    weights = columns.reshape(-1, 3, 3, 3) if op == "Conv" else np.ascontiguousarray(columns.T)
    ports = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)]
    ports += [helper.make_tensor_value_info("w", TensorProto.FLOAT, weights.shape)] if dynamic else []
    made = [] if dynamic else [numpy_helper.from_array(weights, "w")]
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, out)
    graph = helper.make_graph([helper.make_node(kind, ["x", "w"], ["y"], kind)], "g", ports, [result], made)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def _cell(rows: Array, columns: Array) -> onnx.ModelProto:
    """Rows times columns as an RNN's first step from no state, without a function behind it."""
    count, width = len(rows), len(columns)
    ports = [helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, *rows.shape))]
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, count, width))
    made = [
        numpy_helper.from_array(columns[None], "w"),
        numpy_helper.from_array(np.zeros((1, width, width), np.float32), "r"),
    ]
    cell: dict[str, Any] = {
        "hidden_size": width,
        "activations": ["Affine"],
        "activation_alpha": [1.0],
        "activation_beta": [0.0],
    }
    graph = helper.make_graph(
        [helper.make_node("RNN", ["x", "w", "r"], ["", "y"], "RNN", **cell)], "g", ports, [result], made
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def _found(op: str, kernel: str, rows: Array, columns: Array, folder: Path) -> Array:
    """What the kernel's C gives, on this machine."""
    generic, model = platform("generic"), _model(op, rows, columns)
    kind = model.graph.node[0].op_type
    named = [one for one in kernels_of(generic) if (one.name, one.op) in ((kernel, kind), ("Relayout", "Relayout"))]
    placed = place(load_and_pass(model, "g"), generic, named)
    assert kernel in [instruction.kernel.name for instruction in placed.plan.instructions]
    runs: list[Any] = [[row.reshape(1, 3, 3, 3)] for row in rows] if op == "Conv" else [[rows]]
    runs = [[rows[None]]] if op == "RNN" else runs
    runs = [[rows, np.ascontiguousarray(columns.T)]] if op == "dynamic" else runs
    (outcome,) = run_batch([subject(placed, generic, runs)], folder, flags=("-O2", *STRICT))
    assert outcome.failure == ""
    return np.concatenate([results[0].reshape(-1, len(columns)) for results in outcome.runs])


KERNELS = [
    ("Gemm", "WholeDense"), ("dynamic", "WholeMatMul"),
    ("Conv", "WholeConv"),
    ("RNN", "WholeRecurrent"),
]  # fmt: skip


@pytest.mark.parametrize(("op", "kernel"), KERNELS)
def test_lines_of_every_size(op: str, kernel: str, tmp_path: Path) -> None:
    rows = _lines(ROWS, 0)
    for seed in range(0, ROWS - COLUMNS, COLUMNS):
        columns = _lines(COLUMNS, seed)
        found = _found(op, kernel, rows, columns, tmp_path / str(seed)).astype(np.float64)
        left, right = rows.astype(np.float64), columns.astype(np.float64).T
        exact, sizes = left @ right, np.abs(left) @ np.abs(right)
        away = np.abs(found - exact)
        # Below the smallest normal float products are rounded to whole steps.
        assert (away <= NEAR * sizes + DEPTH * 2.0**-149).all(), np.argwhere(away > NEAR * sizes)[0]


@pytest.mark.parametrize(("op", "kernel"), KERNELS)
def test_what_is_infinite_or_no_number(op: str, kernel: str, tmp_path: Path) -> None:
    draw = np.random.default_rng(4)
    rows, columns = (draw.normal(0, 1, (count, DEPTH)).astype(np.float32) for count in (ROWS, COLUMNS))
    rows[0, 5], rows[1, 3], rows[2, 0], rows[3, 7], columns[1, 7] = np.nan, np.inf, -np.inf, np.inf, 0
    rows[4], columns[2] = 3e38, 2
    found = _found(op, kernel, rows, columns, tmp_path)
    with np.errstate(all="ignore"):
        expected = np.zeros((ROWS, COLUMNS), np.float32)
        for at in range(DEPTH):
            expected += rows[:, at, None] * columns[None, :, at]
    odd = ~np.isfinite(expected)
    assert np.isnan(expected[0]).all()
    assert np.isnan(expected[3, 1])
    assert expected[4, 2] == np.inf
    assert np.array_equal(found[odd], expected[odd], equal_nan=True)
    assert np.allclose(found[5:], expected[5:], rtol=1e-4, atol=1e-5)
