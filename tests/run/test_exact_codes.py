"""What decides between two runtimes: exact codes from the file's own nodes, against our NumPy semantics."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import quantised_nodes as nodes
from onnx import helper
from tilewright.compile import compile_model
from tilewright.model import Array, Tensor
from tilewright.options import CompileOptions
from tilewright.plan.execute import run
from tilewright.run.exact import ExactCodes
from tilewright.run.exact_values import half_even
from tilewright.run.inputs import input_arrays
from tilewright.run.reference import Reference
from tilewright.target import load_target

SUMS: dict[str, Callable[[Path], Path]] = {
    "grouped": nodes.convolution,
    "padded": partial(nodes.convolution, pads=[1, 0, 2, 1], strides=[2, 1], dilations=[1, 2]),
    "same_upper": partial(nodes.convolution, auto_pad="SAME_UPPER", strides=[2, 2]),
    "same_lower": partial(nodes.convolution, auto_pad="SAME_LOWER", strides=[2, 2]),
    "product": nodes.product,
    "general": nodes.general,
    "dense": nodes.dense_between_borders,
    "pool": partial(nodes.one_operand, op="QLinearAveragePool", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
    "whole_pool": partial(
        nodes.one_operand, op="QLinearAveragePool", kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1
    ),
    "mean": partial(nodes.one_operand, op="QLinearGlobalAveragePool", scale=0.06, channels_last=0),
}
ROUNDED: dict[str, Callable[[Path], Path]] = {
    "add": partial(nodes.pair, op="QLinearAdd"),
    "mul": partial(nodes.pair, op="QLinearMul"),
    "softmax": partial(nodes.one_operand, op="QLinearSoftmax", scale=1 / 256, axis=-1, opset=13),
    "flat_softmax": partial(nodes.one_operand, op="QLinearSoftmax", scale=1 / 256, axis=1, opset=12),
    "sigmoid": partial(nodes.one_operand, op="QLinearSigmoid", scale=1 / 256),
    "leaky": partial(nodes.one_operand, op="QLinearLeakyRelu", alpha=0.3),
    "tanh": partial(nodes.function_between_borders, op="Tanh"),
    "relu": partial(nodes.function_between_borders, op="Relu"),
    "hard_sigmoid": partial(nodes.function_between_borders, op="HardSigmoid", alpha=0.17, beta=0.4),
    "hard_swish": partial(nodes.function_between_borders, op="HardSwish"),
}


def codes(path: Path, seed: int = 0) -> tuple[Array, list[tuple[int, int]] | None]:
    """Our codes of the output, and the exact ones of all its places."""
    plan = compile_model(path, CompileOptions(), load_target("host")).plan
    inputs = input_arrays(plan, None, seed)
    (ours,) = run(plan, inputs)
    tensor = plan.slots[plan.output_slots[0]].tensor
    exact = ExactCodes(path, Reference(path, plan, inputs).values)
    return ours.reshape(-1), exact.of(Tensor("y", tensor.dtype, tensor.shape), range(ours.size))


@pytest.mark.parametrize("name", SUMS)
def test_sums_and_means_have_one_right_code(name: str, tmp_path: Path) -> None:
    ours, right = codes(SUMS[name](tmp_path))
    assert right is not None
    assert [low for low, _ in right] == [high for _, high in right] == ours.tolist()
    assert len(set(ours.tolist())) > 2  # codes vary, so that equality says something


@pytest.mark.parametrize("name", ROUNDED)
def test_what_is_rounded_in_float32_has_a_neighbour_only_next_to_a_tie(name: str, tmp_path: Path) -> None:
    ours, right = codes(ROUNDED[name](tmp_path))
    assert right is not None
    assert all(low <= code <= high <= low + 1 for code, (low, high) in zip(ours.tolist(), right, strict=True))
    assert sum(low != high for low, high in right) < 0.05 * len(right)
    assert len(set(ours.tolist())) > 5


def test_halves_go_to_the_even_neighbour() -> None:
    halves = [Fraction(n, 2) for n in (-5, -3, -1, 1, 3, 5)]
    assert [half_even(value) for value in halves] == [-2, -2, 0, 0, 2, 2]
    assert [half_even(Fraction(n, 10)) for n in (-16, -14, 14, 16)] == [-2, -1, 1, 2]


def test_a_tie_of_a_mean_goes_to_the_even_code(tmp_path: Path) -> None:
    path = nodes.one_operand(tmp_path, "QLinearAveragePool", scale=nodes.IN, kernel_shape=[1, 2], strides=[1, 2])
    x = np.zeros((1, 4, 9, 8), np.uint8) + 3
    x[..., 0] += 1  # half a step above the zero point 5, which is rounded away from the odd sum
    x[..., 2] += 3
    right = ExactCodes(path, lambda names: dict.fromkeys(names, x)).of(_uint8(1, 4, 9, 4), [0, 1, 2])
    assert right == [(5, 5), (7, 7), (5, 5)]


def test_what_is_not_known_is_left_to_others(tmp_path: Path) -> None:
    unknown = nodes.function_between_borders(tmp_path, "Softsign")
    assert codes(unknown)[1] is None
    drawn = nodes.Drawn(0)
    drawn.add("half", 0.5, np.float32)
    mixed = helper.make_node("Mul", ["real", "half"], ["sum"], "mixed")
    path = nodes.between_borders(tmp_path, [mixed], drawn, [1, 4, 9, 8], 0.03)
    assert ExactCodes(path, lambda names: {}).of(_uint8(1, 4, 9, 8), [0]) is None
    assert ExactCodes(path, lambda names: {}).of(Tensor("x", _uint8().dtype, ()), [0]) is None


def _uint8(*shape: int) -> Tensor:
    from tilewright.model import DType

    return Tensor("y", DType.U8, shape)
