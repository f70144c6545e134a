"""Means and sums of codes over nothing: integers have their meaning, the kernel refuses them in words."""

from __future__ import annotations

import numpy as np
import pytest
from tilewright.model import DType, Node, Quantisation, Tensor
from tilewright.ops.operator import Call
from tilewright.ops.registry import call_of
from tilewright.platforms.generic.kernels.codes import MeanCodes


def reduced(op: str, shape: tuple[int, ...], axes: list[int], result: tuple[int, ...]) -> Call:
    step = Quantisation((0.05,), (3,))
    x, y = (Tensor(name, DType.I8, size, step) for name, size in (("x", shape), ("y", result)))
    node = Node("it", op, ("x", "axes"), ("y",), {"keepdims": int(len(result) == len(shape))})
    return call_of(node, (x, Tensor("axes", DType.I64, (len(axes),))), (y,), {1: np.array(axes)}, 18)


@pytest.mark.parametrize(
    ("op", "shape", "axes", "result"),
    [("ReduceMean", (2, 0, 5), [2], (2, 0)), ("ReduceSum", (0, 4), [0, 1], (1, 1))],
)
def test_nothing_is_reduced(op: str, shape: tuple[int, ...], axes: list[int], result: tuple[int, ...]) -> None:
    call = reduced(op, shape, axes, result)
    assert MeanCodes().accepts(call) == f"'x' of shape {list(shape)} has no elements"
    assert call.operator is not None
    (found,) = call.operator.evaluate(call, [np.zeros(shape, np.int8), np.array(axes)])
    assert found.shape == result
    assert (found == 3).all()
