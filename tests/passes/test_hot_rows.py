"""A one-hot matrix times a matrix: rows of it, zeros for an index that matches nothing, and only where it is one."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from graphs import execute, node, onnx_model, reference
from tilewright.frontend.load import load
from tilewright.passes import hot_rows
from tilewright.passes.driver import run

ROWS, WIDTH = 5, 3


def embedding(kind: int, expanded: bool = True, weights: np.ndarray | None = None, first: int = 0) -> onnx.ModelProto:
    """`one_hot` of JAX before a dense layer."""
    constants: dict[str, np.ndarray] = {
        "counted": np.arange(first, first + ROWS).astype(onnx.helper.tensor_dtype_to_np_dtype(kind)).reshape(1, 1, -1),
        "w": np.linspace(-1, 1, ROWS * WIDTH, dtype=np.float32).reshape(ROWS, WIDTH) if weights is None else weights,
        "s": np.array([2, 4, ROWS]),
    }
    nodes = [
        *([node("Expand", "i s", "e")] if expanded else []),
        node("Equal", "e counted" if expanded else "counted i", "h"),
        node("Cast", "h", "f", to=1),
        node("MatMul", "f w", "y"),
    ]
    return onnx_model(nodes, {"i": [2, 4, 1]}, ["y"], constants, types={"i": kind})


@pytest.mark.parametrize("kind", [onnx.TensorProto.INT32, onnx.TensorProto.INT64, onnx.TensorProto.UINT8])
@pytest.mark.parametrize("expanded", [True, False])
def test_rows_are_taken_and_nothing_matches_beyond(kind: int, expanded: bool) -> None:
    proto = embedding(kind, expanded)
    model, _ = run(load(proto))
    assert "Gather" in {made.op for made in model.nodes}
    assert "MatMul" not in {made.op for made in model.nodes}
    beyond = 200 if kind == onnx.TensorProto.UINT8 else -1
    values = np.array([0, 1, 2, 3, 4, 5, beyond, 7]).reshape(2, 4, 1)
    feeds = {"i": values.astype(onnx.helper.tensor_dtype_to_np_dtype(kind))}
    np.testing.assert_array_equal(execute(model, feeds)["y"], reference(proto, feeds)["y"])


def test_what_is_no_row_stays_a_product() -> None:
    infinite = np.full((ROWS, WIDTH), np.inf, np.float32)  # zero times infinity is not a number
    for proto in (embedding(6, weights=infinite), embedding(6, first=1)):
        model = load(proto)
        assert hot_rows.apply(model).nodes == model.nodes
