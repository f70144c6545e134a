"""Rules of rounding: each is its own adjoint's, each holds for what float32 computes, and none may be left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from conftest import NetworkFiles
from tilewright.errors import TilewrightError
from tilewright.evidence.error_bounds.compose import (
    analyse,
    at_vector,
    calls_of,
    output_bound,
    over_ranges,
    require_complete,
)
from tilewright.evidence.error_bounds.elementwise import limited
from tilewright.evidence.error_bounds.in_order import in_order
from tilewright.evidence.error_bounds.likely import likely_errors
from tilewright.evidence.error_bounds.rules import rule_for
from tilewright.evidence.error_bounds.value import Known, Step
from tilewright.frontend.load import load
from tilewright.model import Array, DType, Node, Tensor
from tilewright.ops.operator import Call
from tilewright.ops.registry import call_of
from tilewright.plan.execute import evaluate_call


@dataclass(frozen=True)
class Case:
    """An operator on operands of these shapes, the last ones constant."""

    op: str
    shapes: tuple[tuple[int, ...], ...]
    constants: int = 0
    attributes: tuple[tuple[str, Any], ...] = ()


CASES = (
    Case("Conv", ((1, 4, 7, 6), (6, 2, 3, 2), (6,)), 2, (("group", 2), ("strides", (2, 1)), ("pads", (1, 0, 1, 1)))),
    Case("Conv", ((1, 3, 5), (2, 3, 3)), 1, (("dilations", (2,)),)),
    Case("Gemm", ((2, 5), (4, 5), (4,)), 2, (("transB", 1), ("alpha", 0.5))),
    Case("Gemm", ((5, 2), (5, 3)), 1, (("transA", 1),)),
    Case("MatMul", ((2, 3, 4), (4, 5)), 1),
    Case("Add", ((2, 3, 4), (3, 1))),
    Case("Sub", ((3,), (2, 3))),
    Case("Mul", ((2, 3), (2, 3))),
    Case("Relu", ((3, 4),)),
    Case("Tanh", ((3, 4),)),
    Case("Sigmoid", ((3, 4),)),
    Case("Softmax", ((2, 5),)),
    Case("AveragePool", ((1, 2, 5, 5),), 0, (("kernel_shape", (3, 3)), ("pads", (1, 1, 1, 1)))),
    Case("GlobalAveragePool", ((1, 2, 4, 3),)),
    Case("MaxPool", ((1, 2, 4, 4),), 0, (("kernel_shape", (2, 2)), ("strides", (2, 2)))),
    Case("Transpose", ((2, 3, 4),), 0, (("perm", (2, 0, 1)),)),
    Case("Concat", ((2, 3), (2, 4)), 0, (("axis", 1),)),
    Case("MatMul", ((2, 1, 3, 4), (3, 4, 5))),
    Case("Div", ((2, 3), (1, 3)), 1),
    Case("ReduceMean", ((2, 3, 4),), 0, (("axes", (1,)), ("keepdims", 0))),
    Case("ReduceSum", ((2, 3, 4),)),
    Case("LayerNormalization", ((2, 3, 8), (8,), (8,)), 2, (("axis", -1),)),
    Case("RMSNormalization", ((2, 8), (8,)), 1),
    Case("InstanceNormalization", ((2, 3, 5), (3,), (3,)), 2),
    Case("ConvTranspose", ((1, 4, 3, 2), (4, 3, 3, 2)), 1, (("group", 2), ("strides", (2, 1)), ("pads", (1, 0, 0, 1)))),
    Case("ConvTranspose", ((2, 3, 4), (3, 2, 3), (2,)), 2, (("dilations", (2,)),)),
    Case("Erf", ((3, 4),)),
    Case("Gelu", ((3, 4),)),
    Case("Swish", ((3, 4),)),
    Case("Softplus", ((3, 4),)),
    Case("HardSwish", ((4, 40),)),
    Case("HardSigmoid", ((4, 40),)),
    Case("Elu", ((3, 4),)),
    Case("LeakyRelu", ((3, 4),), 0, (("alpha", 0.3),)),
    Case("PRelu", ((3, 4), (4,)), 1),
    Case("Abs", ((3, 4),)),
    Case("Neg", ((3, 4),)),
    Case("GRU", ((4, 1, 3), (1, 6, 3), (1, 6, 2), (1, 12)), 3),
    Case("GRU", ((4, 1, 3), (1, 6, 3), (1, 6, 2)), 2, (("linear_before_reset", 1),)),
    Case("LSTM", ((4, 2, 3), (1, 8, 3), (1, 8, 2), (1, 16)), 3),
    Case("RNN", ((4, 1, 3), (1, 2, 3), (1, 2, 2)), 2),
)


def _call(case: Case, generator: np.random.Generator) -> tuple[Call, list[Array]]:
    names = [f"x{i}" for i in range(len(case.shapes))]
    values = [generator.normal(size=shape).astype(np.float32) for shape in case.shapes]
    tensors = [Tensor(name, DType.F32, shape) for name, shape in zip(names, case.shapes, strict=True)]
    first = len(case.shapes) - case.constants
    constants = {index: values[index] for index in range(first, len(values))}
    node = Node("n", case.op, tuple(names), ("y",), dict(case.attributes))
    call = call_of(node, tensors, (), constants)
    assert call.operator is not None
    results = [Tensor("y", kind.dtype, kind.shape) for kind in call.operator.infer(call)]
    return call_of(node, tensors, results, constants), values


def _step(case: Case, size: float) -> tuple[Call, Step, list[Known], list[Array]]:
    call, values = _call(case, np.random.default_rng(3))
    rule = rule_for(call)
    assert not isinstance(rule, str), rule
    exact = [value.astype(np.float64) for value in values]
    known = [Known(x, x, np.full_like(x, 0.0 if i in call.constants else size)) for i, x in enumerate(exact)]
    step = rule(call, known, 1e-6)
    assert isinstance(step, Step), step
    return call, step, known, values


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.op}{len(case.shapes)}")
def test_ahead_and_back_are_adjoint_and_the_bound_holds(case: Case) -> None:
    call, step, known, values = _step(case, 1e-3)
    generator = np.random.default_rng(5)
    free = [i for i in range(len(values)) if i not in call.constants]
    errors = [generator.uniform(-1, 1, (3, *k.low.shape)) * k.error for k in known]
    weights = generator.normal(size=(3, *step.low.shape))
    ahead = np.broadcast_to(step.ahead(errors), weights.shape)
    pairs = zip(errors, step.back(weights), strict=False)
    other = sum(float((e * b).sum()) for e, b in pairs if b is not None)
    assert float((ahead * weights).sum()) == pytest.approx(other, rel=1e-9, abs=1e-15)
    assert (step.reach([np.abs(e[0]) for e in errors]) >= np.abs(ahead[0]) * (1 - 1e-12) - 1e-300).all()
    for row in range(3):
        moved = [
            (x.astype(np.float64) + errors[i][row]).astype(np.float32) if i in free else x for i, x in enumerate(values)
        ]
        given = [np.abs(moved[i].astype(np.float64) - values[i]).max() <= known[i].error.max() + 1e-7 for i in free]
        assert all(given)
        computed = evaluate_call(call, moved)[0].astype(np.float64)
        middle, radius = (step.low + step.high) / 2, (step.high - step.low) / 2
        assert (np.abs(computed - middle) <= radius + step.known.error * (1 + 1e-3) + 1e-9).all()
        assert (np.abs(computed - middle - ahead[row]) <= radius + step.fresh * (1 + 1e-3) + 2e-6).all()


def test_float32_alone_stays_inside_of_its_rounding() -> None:
    """With exact operands what is left are the roundings: their bound holds, and is at most 200 times too wide."""
    for case in (CASES[0], CASES[2], CASES[4], CASES[13]):
        call, step, _, values = _step(case, 0.0)
        off = np.abs(evaluate_call(call, values)[0].astype(np.float64) - (step.low + step.high) / 2)
        assert 0 < off.max()
        assert (off <= step.known.error).all()
        assert step.known.error.max() < 200 * off.max()


def test_sums_in_order_round_by_what_operands_may_have_become() -> None:
    """Just below two a half distance is 2^-24; what the operands are off lifts the sums of two terms beyond it."""
    call, _ = _call(Case("Gemm", ((1, 4), (4, 1)), 1), np.random.default_rng(1))
    call = replace(call, constants={1: np.ones((4, 1), np.float32)})
    x = np.array([[1.0, 1.0 - 2.0**-20, 0.0, 0.0]])
    steps = []
    for error in (0.0, 2.0**-12):
        operands = [Known(x, x, np.where(x > 0, error, 0.0)), Known(np.ones((4, 1)), np.ones((4, 1)), np.zeros((4, 1)))]
        rule = rule_for(call)
        assert not isinstance(rule, str)
        step = rule(call, operands, 1e-6)
        assert isinstance(step, Step)
        steps.append(in_order(call, operands[0], replace(step, rounding=np.ones((1, 1)), spread=np.ones((1, 1)))))
    exact, off = (float(step.rounding.max()) for step in steps)
    assert off - exact >= 2.0**-24  # the second sum, which may be two and more


def test_a_limit_that_an_error_crosses_passes_all_of_it() -> None:
    near, far = np.array([1e-4, -5.0]), np.array([1e-3, 1e-3])
    step = limited(Known(near, near, far), 0.0, np.inf)
    assert list(step.known.error) == [1e-3, 0.0]


def test_a_network_is_inside_of_its_bounds(network: Callable[[str], NetworkFiles]) -> None:
    files = network("digits")
    model = load(files.model)
    inputs, outputs = files.arrays()
    declared = {node.name: 1e-6 for node in model.nodes if node.op == "Softmax"}
    analysis = analyse(model, at_vector(model, inputs), declared)
    require_complete(model, analysis)
    output = model.outputs[0]
    bound = output_bound(analysis, output)
    off = np.abs(outputs[output].astype(np.float64) - analysis.known[output].centre)
    assert (off <= bound.certain).all()
    likely = likely_errors(model, at_vector(model, inputs), declared)[output]
    assert off.max() <= likely.max() < bound.certain.max() < 1e-2
    boxes = {name: (float(value.min()), float(value.max())) for name, value in inputs.items()}
    wide = analyse(model, over_ranges(model, boxes), declared, follow_back=False).known[output]
    assert (wide.error >= bound.certain * 0.99).all()


def test_a_bound_that_leaves_a_node_out_is_refused(network: Callable[[str], NetworkFiles]) -> None:
    files = network("digits")
    model = load(files.model)
    analysis = analyse(model, at_vector(model, files.arrays()[0]), {})
    assert any("no bound" in why for _, why in analysis.refused.values()), "no accuracy of the softmax is declared"
    first = next(call.node.name for call in calls_of(model) if call.node.op == "Conv")
    short = replace(analysis, steps=tuple(step for step in analysis.steps if step.node != first))
    with pytest.raises(TilewrightError, match=f"leaves out node '{first}'"):
        require_complete(model, short)


def test_an_operator_without_a_rule_says_so() -> None:
    tensor = Tensor("x", DType.F32, (2,))
    call = call_of(Node("n", "Asinh", ("x",), ("y",)), [tensor], [replace(tensor, name="y")])
    assert rule_for(call) == "no bound: nothing is known of how Asinh rounds"


@pytest.mark.parametrize("op", ["ReduceMax", "ReduceMin"])
def test_what_compares_values_moves_none(op: str) -> None:
    """Which element stands in the result changes with an error, so that it is no copy of one."""
    x, y = Tensor("x", DType.F32, (2, 3)), Tensor("y", DType.F32, (2,))
    call = call_of(Node("n", op, ("x",), ("y",), {"axes": (1,), "keepdims": 0}), [x], [y], {}, 13)
    assert rule_for(call) == f"no bound: nothing is known of how {op} rounds"


@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_resizing_is_its_own_adjoint_and_its_bound_holds(mode: str) -> None:
    x, scales = Tensor("x", DType.F32, (1, 2, 3, 5)), np.array([1, 1, 2, 1.4], np.float32)
    node = Node("n", "Resize", ("x", "", "s"), ("y",), {"mode": mode})
    call = call_of(node, [x, None, Tensor("s", DType.F32, (4,))], [Tensor("y", DType.F32, (1, 2, 6, 7))], {2: scales})
    rule = rule_for(call)
    assert not isinstance(rule, str), rule
    generator = np.random.default_rng(7)
    value = generator.normal(size=x.shape).astype(np.float32)
    exact = value.astype(np.float64)
    step = rule(call, [Known(exact, exact, np.full_like(exact, 1e-3))], 0.0)
    assert isinstance(step, Step), step
    error, weight = generator.uniform(-1e-3, 1e-3, (1, *x.shape)), generator.normal(size=(1, *step.low.shape))
    back = step.back(weight)[0]
    assert back is not None
    assert float((step.ahead([error]) * weight).sum()) == pytest.approx(float((error * back).sum()), rel=1e-9)
    computed = evaluate_call(call, [(exact + error[0]).astype(np.float32), None, scales])[0]
    assert (np.abs(computed - (step.low + step.high) / 2) <= step.known.error * 1.001 + 1e-9).all()
    alone = evaluate_call(call, [value, None, scales])[0] - (step.low + step.high) / 2
    assert (np.abs(alone) <= step.fresh + 1e-12).all()
