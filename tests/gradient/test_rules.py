"""The rule of every operator against differences in float64, and gradients that follow from facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pytest
from gradient.networks import differences, gradients, network_of, values, weighed_sum
from tilewright.errors import UnsupportedError, UnsupportedNode
from tilewright.model import Array, Attribute
from tilewright.ops.gradient import no_slope
from tilewright.ops.registry import all_operators, find

TOLERANCE = 1e-7


@dataclass(frozen=True)
class Case:
    """One call: shapes of the drawn operands, then constants; `low` and `high` are where values are drawn."""

    op: str
    shapes: tuple[tuple[int, ...], ...]
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    constants: tuple[Array, ...] = ()
    low: float = -2.0
    high: float = 2.0
    outputs: int = 1
    fixed: tuple[int, ...] = ()

    def __str__(self) -> str:
        return self.op


def whole(*numbers: int) -> Array:
    return np.asarray(numbers, np.int64)


def real(*numbers: float) -> Array:
    return np.asarray(numbers[0] if len(numbers) == 1 else numbers, np.float64)


X = ((2, 3),)
IMAGE = (2, 4, 5, 6)
UNARY = (
    "Exp", "Erf", "Sin", "Cos", "Atan", "Sinh", "Cosh", "Tanh", "Asinh", "Sigmoid", "Softplus", "Softsign", "Mish",
    "HardSwish", "Abs", "Neg", "Relu", "LeakyRelu", "Elu", "Selu", "Celu", "Gelu", "HardSigmoid", "Swish", "Identity",
    "Softmax", "LogSoftmax", "Flatten", "Transpose", "ThresholdedRelu", "Shrink", "Trilu",
)  # fmt: skip
CASES = (
    *(Case(op, X) for op in UNARY),
    *(Case(op, X, low=0.2, high=0.9) for op in ("Log", "Sqrt", "Reciprocal", "Tan", "Asin", "Acos", "Atanh")),
    Case("Acosh", X, low=1.2, high=3.0),
    Case("Gelu", X, {"approximate": "tanh"}),
    Case("Clip", X, constants=(real(-0.7), real(0.8))),
    Case("PRelu", ((2, 3), (3,))),
    *(Case(op, ((2, 3), (2, 1))) for op in ("Add", "Sub", "Mul", "Min", "Max", "Sum", "Mean")),
    Case("Mul", ((3,), (2, 4, 3))),
    Case("Div", ((2, 3), (3,)), low=0.5, high=2),
    Case("Pow", ((2, 3), (3,)), low=0.5, high=2),
    Case("MatMul", ((2, 3), (3, 4))), Case("MatMul", ((2, 2, 3), (3, 4))), Case("MatMul", ((2, 1, 2, 3), (3, 3, 4))),
    Case("MatMul", ((3,), (3, 4))), Case("MatMul", ((2, 3), (3,))), Case("MatMul", ((3,), (3,))),
    *(
        Case("Gemm", ((3, 2) if a else (2, 3), (4, 3) if b else (3, 4), (4,)),
             {"transA": a, "transB": b, "alpha": 0.7, "beta": 1.3})
        for a in (0, 1) for b in (0, 1)
    ),
    Case("Conv", (IMAGE, (3, 4, 3, 2), (3,)), {"strides": (2, 1), "pads": (1, 0, 1, 1)}),
    Case("Conv", (IMAGE, (6, 2, 2, 2)), {"group": 2, "dilations": (2, 1), "strides": (1, 3)}),
    Case("Conv", ((1, 4, 5, 5), (4, 1, 3, 3)), {"group": 4, "auto_pad": "SAME_UPPER", "strides": (2, 2)}),
    Case("Conv", ((1, 4, 3, 3), (2, 4, 1, 1))), Case("Conv", ((2, 3, 7), (2, 3, 3)), {"strides": (3,)}),
    Case("ConvTranspose", ((1, 4, 3, 4), (4, 2, 3, 2), (2,)), {"strides": (2, 1), "pads": (1, 0, 0, 1)}),
    Case("ConvTranspose", ((2, 4, 3, 3), (4, 2, 2, 2)), {"group": 2, "strides": (3, 2), "output_padding": (2, 1)}),
    Case("MaxPool", (IMAGE,), {"kernel_shape": (3, 2), "strides": (2, 2), "pads": (1, 0, 1, 0)}),
    Case("AveragePool", (IMAGE,), {"kernel_shape": (3, 2), "strides": (2, 1), "pads": (1, 1, 0, 0)}),
    Case("AveragePool", (IMAGE,), {"kernel_shape": (2, 3), "pads": (1, 1, 0, 0), "count_include_pad": 1}),
    Case("AveragePool", (IMAGE,), {"kernel_shape": (5, 6)}), Case("GlobalAveragePool", (IMAGE,)),
    *(
        Case(f"Reduce{kind}", ((2, 3, 4),), {"keepdims": keeps}, (whole(0, 2),), low=0.3)
        for kind in ("Sum", "Mean", "Max", "Min", "L1", "L2", "SumSquare", "LogSum", "LogSumExp", "Prod")
        for keeps in (0, 1)
    ),
    Case("BatchNormalization", ((2, 3, 4), (3,), (3,)), constants=(real(1.0, 2.0, 3.0), real(0.5, 1.0, 2.0))),
    Case("LayerNormalization", ((2, 3, 4), (3, 4), (4,)), {"axis": 1}), Case("RMSNormalization", ((2, 3, 4), (4,))),
    Case("Reshape", ((2, 6),), constants=(whole(3, 4),)), Case("Squeeze", ((2, 1, 3),), constants=(whole(1),)),
    Case("Unsqueeze", X, constants=(whole(1),)), Case("Transpose", ((2, 3, 4),), {"perm": (2, 0, 1)}),
    Case("Concat", ((2, 3), (2, 1), (2, 2)), {"axis": 1}),
    Case("Slice", ((4, 5),), constants=(whole(1, 0), whole(3, 4), whole(0, 1))),
    Case("Slice", ((4, 5),), constants=(whole(3), whole(0), whole(1), whole(-2))),
    Case("Split", ((2, 6),), {"axis": 1}, (whole(2, 1, 3),), outputs=3),
    Case("Pad", ((2, 3),), constants=(whole(1, 0, 0, 2), real(0.5))),
    Case("Pad", ((2, 4),), {"mode": "reflect"}, (whole(0, 2, 0, 3),)),
    Case("Expand", ((2, 1),), constants=(whole(3, 2, 4),)), Case("Tile", ((2, 3),), constants=(whole(2, 3),)),
    Case("DepthToSpace", ((1, 8, 2, 3),), {"blocksize": 2}), Case("SpaceToDepth", ((1, 2, 4, 6),), {"blocksize": 2}),
    Case("Gather", ((4, 3),), constants=(whole(0, 2, 2, -1).reshape(2, 2),)),
    Case("Gather", ((2, 4, 3),), {"axis": 1}, (whole(3, 0, 3),)),
    Case("GatherElements", ((2, 3),), {"axis": 1}, (whole(0, 2, 2, 1).reshape(2, 2),)),
    Case("GatherND", ((2, 3, 2),), constants=(whole(0, 1, 1, 2).reshape(2, 2),)),
    Case("Where", ((2, 3), (3,)), fixed=(0,)),
)  # fmt: skip


def operands(case: Case) -> tuple[list[Array], list[int]]:
    """Operands, and the places of those that are constants."""
    draw = np.random.default_rng(3)
    drawn: list[Array] = [draw.uniform(case.low, case.high, shape) for shape in case.shapes]
    fixed = list(range(len(drawn), len(drawn) + len(case.constants)))
    if case.fixed:  # Where: its condition comes first
        return [draw.random(case.shapes[0]) > 0.5, *drawn], [0]
    return [*drawn, *case.constants], fixed


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_rule_agrees_with_differences(case: Case) -> None:
    arrays, fixed = operands(case)
    network = network_of(case.op, arrays, case.attributes, fixed, case.outputs)
    loss = weighed_sum(network, [f"y{index}" for index in range(case.outputs)])
    wanted = [name for name in network.inputs if network.tensor(name).dtype.is_float]
    given = {f"x{index}": value for index, value in enumerate(arrays) if index not in fixed}
    expected = {name: differences(network, loss, given, name) for name in wanted}
    names = gradients(network, loss, wanted)
    known = values(network, given)
    for name in wanted:
        assert known[names[name]].shape == given[name].shape
        np.testing.assert_allclose(known[names[name]], expected[name], rtol=TOLERANCE, atol=TOLERANCE)


def test_every_rule_is_held_against_differences() -> None:
    held = {case.op for case in CASES}
    steps = {"Ceil", "Floor", "Round", "Sign"}
    assert all(find(op) is not None and find(op).gradient is no_slope for op in steps)  # type: ignore[union-attr]
    ruled = {operator.name for operator in all_operators() if operator.gradient is not None}
    assert ruled - held == steps | {"Cast", "CastLike"}


def test_a_wrong_rule_is_found() -> None:
    """Half of a slope is told from the whole one."""
    network = network_of("Tanh", [np.ones((2, 2))], {}, [], 1)
    loss = weighed_sum(network, ["y0"])
    slope = differences(network, loss, {"x0": np.ones((2, 2))}, "x0")
    names = gradients(network, loss, ["x0"])
    halved = network.node("Mul", (names["x0"], network.number(0.5, "x0")))
    with pytest.raises(AssertionError):
        np.testing.assert_allclose(values(network, {"x0": np.ones((2, 2))})[halved], slope, rtol=TOLERANCE)


def test_what_has_no_gradient_is_said() -> None:
    network = network_of("CumSum", [np.ones((2, 2)), np.asarray(0)], {}, [1], 1)
    with pytest.raises(UnsupportedNode, match=r"node 'node' \(CumSum\) has no gradient: its operator has no rule"):
        gradients(network, weighed_sum(network, ["y0"]), ["x0"])
    network = network_of("Floor", [np.ones((2, 2))], {}, [], 1)
    with pytest.raises(UnsupportedError, match="no gradient flows to 'x0'"):
        gradients(network, weighed_sum(network, ["y0"]), ["x0"])
    network = network_of("Abs", [np.ones((2, 2))], {}, [], 1)
    with pytest.raises(UnsupportedError, match="the loss 'y0' is f64\\[2, 2\\]: a gradient is taken of one number"):
        gradients(network, "y0", ["x0"])


def test_a_tensor_with_two_readers_gets_both_gradients() -> None:
    x = np.asarray([[0.3, -0.2]])
    network = network_of("Tanh", [x], {}, [], 1)
    joined = network.node("Mul", ("x0", "y0"))
    loss = weighed_sum(network, [joined])
    expected = differences(network, loss, {"x0": x}, "x0")
    name = gradients(network, loss, ["x0"])["x0"]
    np.testing.assert_allclose(values(network, {"x0": x})[name], expected, rtol=TOLERANCE)
