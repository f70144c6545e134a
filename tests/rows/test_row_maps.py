"""How nodes read rows: derived from index maps, and a band of a node is the same operator on fewer rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tilewright.model import DType, Node, Tensor
from tilewright.ops.operator import Call
from tilewright.ops.registry import find
from tilewright.plan.execute import evaluate_call
from tilewright.rows.bands import RowMap, RowWise, band, row_wise


def call_of(op: str, shapes: list[tuple[int, ...]], constants: dict[int, Any] | None = None, **attributes: Any) -> Call:
    """A float call with its inferred result."""
    names = tuple(f"t{index}" for index in range(len(shapes)))
    inputs = tuple(Tensor(name, DType.F32, shape) for name, shape in zip(names, shapes, strict=True))
    operator = find(op)
    assert operator is not None
    call = Call(Node("node", op, names, ("y",), attributes), inputs, (), constants or {}, operator=operator)
    (kind,) = operator.infer(call)
    return replace(call, outputs=(Tensor("y", kind.dtype, kind.shape),))


def convolution(kernel: int, stride: int, dilation: int, pads: tuple[int, int]) -> Call:
    weights = np.random.default_rng(kernel).standard_normal((3, 2, kernel, 2)).astype(np.float32)
    return call_of(
        "Conv", [(1, 2, 13, 6), weights.shape], {1: weights}, strides=(stride, 1), dilations=(dilation, 1),
        pads=(pads[0], 0, pads[1], 1),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("kernel", "stride", "dilation", "pads"),
    [(3, 1, 1, (1, 1)), (3, 2, 1, (0, 1)), (2, 1, 3, (3, 0)), (1, 2, 1, (0, 0))],
)
def test_bands_of_a_convolution_are_its_rows(kernel: int, stride: int, dilation: int, pads: tuple[int, int]) -> None:
    call = convolution(kernel, stride, dilation, pads)
    node = row_wise(call)
    assert isinstance(node, RowWise)
    reads = node.maps[0]
    assert reads == RowMap((kernel - 1) * dilation + 1, stride, pads[0])
    x = np.random.default_rng(0).standard_normal(call.shape(0)).astype(np.float32)
    (whole,) = evaluate_call(call, [x, None])
    outside = np.pad(x, ((0, 0), (0, 0), (pads[0], pads[1] + 8), (0, 0)))
    for rows in (1, 2, 3):
        part = band(node, rows)
        for row in range(0, node.rows - rows + 1):
            first = row * stride
            (found,) = evaluate_call(part, [outside[:, :, first : first + reads.count(rows)], None])
            np.testing.assert_allclose(found, whole[:, :, row : row + rows], rtol=1e-5, atol=1e-6)


def test_elementwise_nodes_read_the_row_that_they_write() -> None:
    node = row_wise(call_of("Add", [(1, 2, 5, 3), (1, 2, 5, 3)]))
    assert isinstance(node, RowWise)
    assert dict(node.maps) == {0: RowMap(1, 1, 0), 1: RowMap(1, 1, 0)}


def test_a_table_reads_the_row_that_it_writes() -> None:
    operator, codes = find("Lookup"), [Tensor(name, DType.I8, (1, 2, 5, 3)) for name in "xy"]
    node = Node("node", "Lookup", ("x",), ("y",), {"table": np.zeros(256, np.int8)})
    found = row_wise(Call(node, (codes[0],), (codes[1],), operator=operator))
    assert isinstance(found, RowWise)
    assert dict(found.maps) == {0: RowMap(1, 1, 0)}


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (call_of("Add", [(1, 2, 5, 3), (1, 2, 1, 1)]), "it does not read whole rows of 't1'"),
        (call_of("Add", [(2, 2, 5, 3), (2, 2, 5, 3)]), "its result is no batch of one with several rows"),
        (call_of("Add", [(1, 2, 5, 3), (1, 2, 5, 3)], {1: np.ones((1, 2, 5, 3), np.float32)}),
         "a constant has values for every row"),
        (call_of("Softmax", [(1, 2, 5, 3)], axis=2), "it is not one loop nest"),
        (call_of("GlobalAveragePool", [(1, 2, 5, 3)]), "its result is no batch of one with several rows"),
    ],
)  # fmt: skip
def test_what_cannot_be_computed_by_rows_says_why(call: Call, why: str) -> None:
    assert row_wise(call) == why


def test_an_average_with_rows_outside_is_refused() -> None:
    call = call_of("AveragePool", [(1, 2, 6, 6)], kernel_shape=(3, 3), pads=(1, 1, 1, 1))
    assert row_wise(call) == "its windows reach over the first or last row"
