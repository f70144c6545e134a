"""Networks in float16 and bfloat16 on every kind of board: right, and in half the memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from halves.half_networks import classifier, one_node
from onnx import TensorProto
from tilewright.compile import Compiled, compile_model, write
from tilewright.model import Array, DType, Node, Tensor
from tilewright.ops.operator import Call
from tilewright.ops.registry import find
from tilewright.options import CompileOptions
from tilewright.plan.execute import run
from tilewright.run.build import build
from tilewright.run.compare import compare
from tilewright.run.inputs import input_arrays
from tilewright.run.promises import keep_levels
from tilewright.run.ranges import fence_map
from tilewright.run.simulate import execute
from tilewright.target import Target, load_target, missing_tools

BOARDS = ["host", "qemu_mps2_an386", "qemu_mps3_an547", "qemu_rv32imc", "qemu_rv32gcv", "qemu_pulp"]
HALVES = [DType.F16, DType.BF16]


def compiled(model: onnx.ModelProto, target: Target, folder: Path) -> Compiled:
    folder.mkdir()
    onnx.save(model, folder / "model.onnx")
    done = compile_model(folder / "model.onnx", CompileOptions(), target)
    write(done, folder)
    return done


def outputs(done: Compiled, target: Target, folder: Path, inputs: list[Array]) -> list[Array]:
    """What the board computes, inside its fence where it has one."""
    plan = done.placed.plan
    image = build(folder, done.artifacts.interface, target, folder / "work", trace=target.plugin)
    fence = fence_map(done.placed) if target.plugin else None
    execution = execute(image, [array.tobytes() for array in inputs], fence=fence)
    if fence is not None:
        keep_levels(done.report.memory, image, execution.touched)
    tensors = [plan.slots[slot].tensor for slot in plan.output_slots]
    return [
        np.frombuffer(raw, tensor.dtype.numpy).reshape(tensor.shape)
        for raw, tensor in zip(execution.outputs, tensors, strict=True)
    ]


def board(name: str) -> Target:
    target = load_target(name)
    for tool, _ in missing_tools(target):
        pytest.skip(f"{tool} is not installed")
    return target


@pytest.mark.parametrize("kind", HALVES)
@pytest.mark.parametrize("name", BOARDS)
def test_a_network_of_halves_is_right_on_every_board(name: str, kind: DType, tmp_path: Path) -> None:
    target = board(name)
    for number, model in enumerate((classifier(kind), one_node(kind, "Relu"))):
        done = compiled(model, target, tmp_path / str(number))
        inputs = input_arrays(done.placed.plan, None, 5)
        found = outputs(done, target, tmp_path / str(number), inputs)
        for got, want in zip(found, run(done.placed.plan, inputs), strict=True):
            result = compare(got, want, atol=0, rtol=0 if want.dtype.itemsize == 2 else 1e-2)
            assert result.match, f"{got} instead of {want}"


@pytest.mark.parametrize("kind", HALVES)
def test_a_half_takes_two_bytes(kind: DType, tmp_path: Path) -> None:
    target = load_target("host")
    narrow, wide = (compiled(classifier(k), target, tmp_path / k.value) for k in (kind, DType.F32))
    assert narrow.placed.arena_bytes <= wide.placed.arena_bytes / 2 + 16
    assert narrow.artifacts.constant_bytes <= wide.artifacts.constant_bytes / 2 + 16
    assert f"tilewright_{kind.value} *" in narrow.artifacts.files[f"src/{narrow.placed.plan.name}.h"]
    assert any(path.endswith("tilewright_halves.h") for path in narrow.artifacts.files)
    assert not any(path.endswith("tilewright_halves.h") for path in wide.artifacts.files)


def test_bits_and_the_compilers_own_type_give_the_same_results(tmp_path: Path) -> None:
    target = load_target("host")
    soft = replace(target, compile_flags=(*target.compile_flags, "-DTILEWRIGHT_F16_BITS"))
    for number, model in enumerate((classifier(DType.F16), one_node(DType.F16, "Tanh", (512,)))):
        done = compiled(model, target, tmp_path / str(number))
        inputs = input_arrays(done.placed.plan, None, 6)
        native, bits = (outputs(done, way, tmp_path / str(number), inputs) for way in (target, soft))
        assert [a.tobytes() for a in native] == [a.tobytes() for a in bits]


def test_a_result_of_bfloat16_is_rounded_once(tmp_path: Path) -> None:
    """Softmax and a mean over many elements: totals with eight bits of a number would stand still."""
    target = load_target("host")
    for number, op in enumerate(("Softmax", "ReduceMean", "ReduceLogSumExp", "CumSum")):
        model = one_node(DType.BF16, op, (2000,)) if op != "CumSum" else _running(2000)
        if op.startswith("Reduce"):
            model.graph.output[0].type.tensor_type.shape.dim[0].dim_value = 1
        done = compiled(model, target, tmp_path / str(number))
        (x,) = input_arrays(done.placed.plan, None, 7)
        (got,) = outputs(done, target, tmp_path / str(number), [x])
        values = x.astype(np.float64)
        exact = {
            "Softmax": np.exp(values) / np.exp(values).sum(), "ReduceMean": values.mean(keepdims=True),
            "ReduceLogSumExp": np.log(np.exp(values).sum(keepdims=True)), "CumSum": np.cumsum(values),
        }[op]  # fmt: skip
        step = np.spacing(np.abs(exact).astype(DType.BF16.numpy)).astype(np.float64)
        assert (np.abs(got.astype(np.float64) - exact) <= 0.51 * step + 1e-5).all(), op


def _running(count: int) -> onnx.ModelProto:
    model = one_node(DType.BF16, "CumSum", (count,))
    model.graph.node[0].input.append("axis")
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.array(0, np.int64), "axis"))
    return model


CAST = [0.0, -0.0, 1.0, -2.5, 3.7, 100.3, 127.0, 1 + 2**-9, 1 + 2**-8 + 2**-12, 65519.0, -1e-6, 257.0]


@pytest.mark.parametrize("kind", HALVES)
def test_casts_to_and_from_every_type_are_those_of_numpy(kind: DType, tmp_path: Path) -> None:
    """What an integer type cannot hold has no counterpart in NumPy and is left out."""
    others = [dtype for dtype in DType if dtype.bits >= 8]
    number = {dtype: onnx.helper.np_dtype_to_tensor_dtype(dtype.numpy) for dtype in others}
    nodes, made = [], []
    for other in others:
        there, back = f"as_{other.value}", f"back_{other.value}"
        nodes.append(onnx.helper.make_node("Cast", ["x"], [there], to=number[other]))
        nodes.append(onnx.helper.make_node("Cast", [there], [back], to=number[kind]))
        made.append(onnx.helper.make_tensor_value_info(there, number[other], [len(CAST)]))
        made.append(onnx.helper.make_tensor_value_info(back, number[kind], [len(CAST)]))
    x = onnx.helper.make_tensor_value_info("x", number[kind], [len(CAST)])
    graph = onnx.helper.make_graph(nodes, "casts", [x], made)
    target = replace(load_target("host"), compile_flags=("-O1",))
    imports = [onnx.helper.make_opsetid("", 22)]
    done = compiled(onnx.helper.make_model(graph, opset_imports=imports, ir_version=10), target, tmp_path / "casts")
    array = np.array(CAST).astype(kind.numpy)
    whole = np.trunc(array.astype(np.float64))
    found = outputs(done, target, tmp_path / "casts", [array])
    for name, got in zip(done.placed.plan.output_names, found, strict=True):
        way, _, token = name.partition("_")
        other = DType(token)
        low, high = (-np.inf, np.inf) if other.is_float or other is DType.BOOL else other.range
        held = (whole >= low) & (whole <= high)
        with np.errstate(over="ignore"):
            want = array[held].astype(np.float32).astype(other.numpy)
            want = want if way == "as" else want.astype(kind.numpy)
        assert got[held].tobytes() == want.tobytes(), name


@pytest.mark.parametrize("kind", HALVES)
def test_codes_by_a_half_scale_are_those_of_its_own_division(kind: DType, tmp_path: Path) -> None:
    """The quotient is rounded to the type of the scale before it is rounded to a code: float gives others."""
    number = onnx.helper.np_dtype_to_tensor_dtype(kind.numpy)
    nodes = [
        onnx.helper.make_node("QuantizeLinear", ["x", "s", "z"], ["y"]),
        onnx.helper.make_node("QuantizeLinear", ["wide", "s", "z"], ["v"]),
    ]
    values = np.random.default_rng(2).uniform(0, 150, 3000)
    step = np.asarray(0.7).astype(kind.numpy)
    inputs = [
        onnx.helper.make_tensor_value_info("x", number, [3000]),
        onnx.helper.make_tensor_value_info("wide", TensorProto.FLOAT, [3000]),
    ]
    made = [onnx.helper.make_tensor_value_info(name, TensorProto.UINT8, [3000]) for name in "yv"]
    constants = [onnx.numpy_helper.from_array(step, "s"), onnx.numpy_helper.from_array(np.asarray(3, np.uint8), "z")]
    graph = onnx.helper.make_graph(nodes, "codes", inputs, made, constants)
    target = replace(load_target("host"), compile_flags=("-O1",))
    imports = [onnx.helper.make_opsetid("", 22)]
    done = compiled(onnx.helper.make_model(graph, opset_imports=imports, ir_version=10), target, tmp_path / "codes")
    x, wide = values.astype(kind.numpy), values.astype(np.float32)
    found = outputs(done, target, tmp_path / "codes", [x, wide])
    codes = np.clip(np.rint((x / step).astype(np.float64)) + 3, 0, 255).astype(np.uint8)
    for got in found:
        np.testing.assert_array_equal(got, codes)
    assert (codes != np.rint(x.astype(np.float32) / np.float32(step)) + 3).any()


def test_a_double_becomes_a_half_in_one_step(tmp_path: Path) -> None:
    """A float between would be a tie, and round down; with the compiler's own type and without."""
    model = one_node(DType.F16, "Cast")
    model.graph.node[0].attribute.append(onnx.helper.make_attribute("to", TensorProto.FLOAT16))
    model.graph.input[0].type.tensor_type.elem_type = TensorProto.DOUBLE
    target = replace(load_target("host"), compile_flags=("-O1",))
    done = compiled(model, target, tmp_path / "model")
    x = np.array([1 + 2**-11 + 2**-40, 1 + 2**-11, -1 - 2**-11 - 2**-40, 65520 - 2**-30])
    for way in (target, replace(target, compile_flags=("-O1", "-DTILEWRIGHT_F16_BITS"))):
        (got,) = outputs(done, way, tmp_path / "model", [x])
        assert got.tolist() == [1 + 2**-10, 1.0, -1 - 2**-10, 65504.0]


@pytest.mark.parametrize("op", ["Softmax", "LogSoftmax", "LpNormalization", "MeanVarianceNormalization"])
def test_what_lies_between_the_nests_of_a_bfloat16_operator_is_float32(op: str) -> None:
    """Totals and quotients that only the operator sees keep all their bits; its operands and results are bfloat16."""
    operator = find(op)
    assert operator is not None
    assert operator.nests is not None
    tensors = [Tensor(name, DType.BF16, (2, 3, 4, 5)) for name in ("x", "y")]
    call = Call(Node("node", op, ("x",), ("y",)), (tensors[0],), (tensors[1],), {}, 22, operator=operator)
    kinds: dict[bool, set[DType]] = {True: set(), False: set()}
    ends = {operator.operand(0), operator.result(0)}
    for nest in operator.nests(call):
        for access in nest.operands:
            if not access.tensor.values and not access.tensor.iota:
                kinds[access.tensor.name in ends].add(access.tensor.dtype)
    assert kinds == {True: {DType.BF16}, False: {DType.F32}}
