"""bfloat16 outside of the C: files of arrays, saved plans, comparisons, passes, divisions by a half scale."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from graphs import execute, node, onnx_model
from halves.half_networks import classifier
from onnx import TensorProto
from tilewright.compile import compile_model
from tilewright.errors import UsageError
from tilewright.frontend.load import frozen_inputs, load
from tilewright.graphs.saved import load_plan, save_plan
from tilewright.model import Array, DType, Node, Tensor, restored
from tilewright.ops.index.body import body
from tilewright.ops.operator import Call
from tilewright.ops.registry import find
from tilewright.options import CompileOptions
from tilewright.passes.driver import run as run_passes
from tilewright.plan.execute import run
from tilewright.plan.plan import ExecutionPlan
from tilewright.run.compare import compare
from tilewright.run.inputs import input_arrays, random_values
from tilewright.run.reference import differing
from tilewright.target import load_target

BRAIN = DType.BF16.numpy


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> ExecutionPlan:
    path = tmp_path_factory.mktemp("brain") / "model.onnx"
    onnx.save(classifier(DType.BF16), path)
    return compile_model(path, CompileOptions(), load_target("host")).placed.plan


def test_the_type_knows_itself() -> None:
    assert (DType.BF16.bits, DType.BF16.is_float, DType.BF16.is_signed) == (16, True, True)
    assert DType.of(BRAIN) is DType.BF16
    assert (DType.BOOL.bits, DType.BOOL.is_float, DType.BOOL.is_signed) == (8, False, False)
    assert Tensor("t", DType.BF16, (3,)).type_token == "bf16"


def test_inputs_come_from_files_of_bfloat16_or_of_floats_that_are_such_numbers(
    plan: ExecutionPlan, tmp_path: Path
) -> None:
    x = random_values(Tensor("x", DType.BF16, (1, 2, 8, 8)), np.random.default_rng(1))
    assert x.dtype == BRAIN
    for given in (x, x.astype(np.float32)):
        np.savez(tmp_path / "in.npz", x=given)
        (read,) = input_arrays(plan, tmp_path / "in.npz", 0)
        assert read.dtype == BRAIN
        np.testing.assert_array_equal(read, x)
    np.savez(tmp_path / "in.npz", x=np.full(x.shape, 1.001, np.float32))
    with pytest.raises(UsageError, match=r"'x' in .* is float32.*the model has bfloat16"):
        input_arrays(plan, tmp_path / "in.npz", 0)


def test_a_frozen_input_may_be_bfloat16(tmp_path: Path) -> None:
    np.save(tmp_path / "k.npy", np.array([1.5, 2], BRAIN))
    frozen = frozen_inputs({"k": tmp_path / "k.npy"})
    assert frozen["k"].dtype == BRAIN
    proto = onnx_model(
        [node("Add", "x k", "y")], {"x": [2], "k": [2]}, ["y"], types=dict.fromkeys("xky", TensorProto.BFLOAT16)
    )
    assert load(proto, frozen=frozen).constants["k"].tolist() == [1.5, 2.0]


def test_a_saved_plan_keeps_its_bfloat16_weights(plan: ExecutionPlan, tmp_path: Path) -> None:
    save_plan(plan, tmp_path / "plan")
    again = load_plan(tmp_path / "plan")
    assert {slot.constant.values.dtype for slot in again.frozen_slots} >= {BRAIN}
    inputs = input_arrays(plan, None, 3)
    for one, same in zip(run(again, inputs), run(plan, inputs), strict=True):
        assert one.tobytes() == same.tobytes()
    assert restored(np.zeros(2, np.float32)).dtype == np.float32


def test_bfloat16_may_be_four_of_its_steps_apart() -> None:
    expected = np.array([0.25, 100.0, 1e-3], BRAIN)
    step = np.spacing(expected)
    near, far = ((expected.astype(np.float32) + n * step.astype(np.float32)).astype(BRAIN) for n in (4, 5))
    assert compare(near, expected, atol=0, rtol=0).match
    assert compare(far, expected, atol=0, rtol=0).mismatches == 3
    assert compare(near, expected, atol=0, rtol=0, exact=True).mismatches == 3
    assert differing(near[1:2], expected[1:2]) == 1
    assert differing((expected + step)[1:2], expected[1:2]) == 0


def test_constants_of_bfloat16_are_not_folded_into_one_another() -> None:
    """Each further rounding would be seen; the same network in float32 is one Conv."""
    found = {}
    for kind, number in ((np.dtype(np.float32), TensorProto.FLOAT), (BRAIN, TensorProto.BFLOAT16)):
        constants = {"w": np.full((2, 2, 1, 1), 1.3).astype(kind), "k": np.full((1, 2, 1, 1), 3.0).astype(kind)}
        nodes = [node("Conv", "x w", "c"), node("Div", "c k", "d"), node("Relu", "d", "y")]
        proto = onnx_model(nodes, {"x": [1, 2, 4, 4]}, ["y"], constants, types=dict.fromkeys("xy", number))
        model, _ = run_passes(load(proto))
        found[kind.name] = [one.op for one in model.nodes]
    assert found["float32"] == ["Conv"]
    assert found["bfloat16"][:2] == ["Conv", "Div"]


def test_a_padded_maximum_begins_at_the_lowest_bfloat16() -> None:
    lowest = np.array(-3.3895313892515355e38).astype(BRAIN)
    nodes = [node("Pad", "x p v", "t"), node("MaxPool", "t", "y", kernel_shape=[2, 2])]
    constants = {"p": np.array([0, 0, 1, 1, 0, 0, 1, 1]), "v": lowest}
    types = dict.fromkeys("xy", TensorProto.BFLOAT16)
    model, _ = run_passes(load(onnx_model(nodes, {"x": [1, 1, 4, 4]}, ["y"], constants, opset=22, types=types)))
    assert [one.op for one in model.nodes] == ["MaxPool"]


@pytest.mark.parametrize("kind", [DType.F16, DType.BF16])
def test_an_operator_on_constants_is_rounded_once(kind: DType) -> None:
    """1 + 3 * 2^-9 lies between two bfloat16; a mean of such products must not round on its way."""
    x = np.linspace(1, 2, 257).astype(kind.numpy)
    types = {"x": TensorProto.BFLOAT16 if kind is DType.BF16 else TensorProto.FLOAT16}
    model = load(onnx_model([node("ReduceProd", "x", "y")], {"x": [257]}, ["y"], types={**types, "y": types["x"]}))
    small = (x.astype(np.float64) * 0.6).astype(kind.numpy)
    got = execute(model, {"x": small})["y"]
    exact = np.prod(small.astype(np.float64))
    step = float(np.spacing(np.asarray(exact).astype(kind.numpy)))
    assert abs(float(got.reshape(-1)[0]) - exact) <= 0.6 * step


@pytest.mark.parametrize("kind", [DType.F16, DType.BF16])
@pytest.mark.parametrize("data", ["own", "float32"])
def test_a_half_scale_divides_in_its_own_type(kind: DType, data: str) -> None:
    operator = find("QuantizeLinear")
    assert operator is not None
    x = Tensor("x", kind if data == "own" else DType.F32, (4,))
    scale, zero = Tensor("s", kind, ()), Tensor("z", DType.U8, ())
    step = np.asarray(0.7).astype(kind.numpy)
    values = (np.array([101.3, 20.0, 60.1, 88.9]) * 0.7).astype(x.dtype.numpy)
    node_of = Node("q", "QuantizeLinear", ("x", "s", "z"), ("y",))
    call = Call(node_of, (x, scale, zero), (Tensor("y", DType.U8, (4,)),), operator=operator)
    arrays: list[Array] = [values, step, np.asarray(3, np.uint8)]
    (got,) = operator.evaluate(call, arrays)
    quotient = (values.astype(kind.numpy) / step).astype(np.float64)
    np.testing.assert_array_equal(got, np.clip(np.rint(quotient) + 3, 0, 255).astype(np.uint8))
    assert operator.nests is not None
    (nest,) = operator.nests(call)
    assert nest.body == body("quantise", 0, 255)
