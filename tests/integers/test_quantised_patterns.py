"""What real exporters write around quantised operators: activations, moves, biases, borders, several readers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from graphs import node, onnx_model
from integers.codes import calls, compare, feeds_for, run_codes
from onnx import TensorProto, helper
from tilewright.errors import UnsupportedNode
from tilewright.frontend.load import load
from tilewright.model import Clamp, DType, Model
from tilewright.ops.quantised_linear import proof
from tilewright.ops.quantised_meaning import table
from tilewright.ops.quantised_resize import resize_form, resize_proof
from tilewright.ops.registry import find
from tilewright.passes.quantise import integer_border, lower
from tilewright.passes.quantise_report import quantisation_report

Constants = dict[str, npt.ArrayLike]
RNG = np.random.default_rng(11)
I8, U8, I16 = TensorProto.INT8, TensorProto.UINT8, TensorProto.INT16
BORDER = ("QuantizeLinear", "DequantizeLinear")


class Writer:
    """Collects nodes and constants of a QDQ model."""

    def __init__(self, opset: int = 17) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: Constants = {}
        self.opset = opset

    def add(self, op: str, inputs: str, output: str, **attributes: Any) -> str:
        self.nodes.append(node(op, inputs, output, f"n_{output.split()[0]}", **attributes))
        return output

    def parameters(self, name: str, scale: npt.ArrayLike, zero: npt.ArrayLike, dtype: type = np.int8) -> str:
        self.constants[f"{name}_s"] = np.asarray(scale, np.float32)
        self.constants[f"{name}_z"] = np.broadcast_to(np.asarray(zero, dtype), np.shape(scale)).astype(dtype)
        return f"{name}_s {name}_z"

    def pair(self, real: str, scale: float = 0.05, zero: int = 3, dtype: type = np.int8) -> str:
        """QuantizeLinear and DequantizeLinear behind a tensor; returns the name of the real result."""
        parameters = self.parameters(f"{real}_q", scale, zero, dtype)
        self.add("QuantizeLinear", f"{real} {parameters}", f"{real}_q")
        return self.add("DequantizeLinear", f"{real}_q {parameters}", f"{real}_d")

    def weights(self, name: str, value: npt.NDArray[Any], scale: npt.ArrayLike, axis: int = 0) -> str:
        parameters = self.parameters(name, scale, 0, value.dtype.type)
        self.constants[name] = value
        return self.add("DequantizeLinear", f"{name} {parameters}", f"{name}_d", axis=axis)

    def model(self, inputs: dict[str, tuple[int, ...]], types: dict[str, int] | None = None) -> onnx.ModelProto:
        return onnx_model(self.nodes, inputs, ["y"], self.constants, opset=self.opset, types=types)


def weight(*shape: int) -> npt.NDArray[np.int8]:
    return RNG.integers(-127, 128, shape).astype(np.int8)


def ops(model: Model) -> list[str]:
    return [each.op for each in model.nodes]


def inner(model: Model) -> list[str]:
    return [op for op in ops(model) if op not in BORDER]


def conv(write: Writer, source: str, name: str, outputs: int = 4, inputs: int = 3, bias: str = "") -> str:
    weights = write.weights(f"{name}_w", weight(outputs, inputs, 3, 3), RNG.uniform(0.002, 0.01, outputs))
    return write.add("Conv", f"{source} {weights} {bias}".strip(), name, pads=[1, 1, 1, 1])


@pytest.mark.parametrize(
    ("activation", "clamp"),
    [("Relu", Clamp(0, np.inf)), ("Clip", Clamp(0, 6)), ("both", Clamp(0, 6)), ("none", None)],
)
def test_an_activation_before_the_quantisation_becomes_a_clamp(activation: str, clamp: Clamp | None) -> None:
    write = Writer()
    write.constants |= {"zero": np.float32(0), "six": np.float32(6)}
    name = conv(write, write.pair("x"), "c")
    if activation in ("Relu", "both"):
        name = write.add("Relu", name, "r")
    if activation in ("Clip", "both"):
        name = write.add("Clip", f"{name} zero six", "k")
    write.add("Identity", write.pair(name), "y")
    lowered, found = compare(write.model({"x": (1, 3, 6, 6)}))
    assert inner(lowered)[:1] == ["Conv"]
    assert lowered.nodes[1].clamp == clamp
    assert "Relu" not in ops(lowered)
    assert "Clip" not in ops(lowered)
    assert (found.unexplained, found.codes > 100) == (0, True)


def test_pooling_and_reshape_between_an_operator_and_its_quantisation_work_on_codes() -> None:
    write = Writer()
    write.constants["shape"] = np.asarray([1, -1])
    name = write.add("Relu", conv(write, write.pair("x"), "c"), "r")
    name = write.add("MaxPool", name, "m", kernel_shape=[2, 2], strides=[2, 2])
    name = write.add("Reshape", f"{name} shape", "s")
    write.add("Identity", write.pair(name), "y")
    lowered, found = compare(write.model({"x": (1, 3, 6, 6)}))
    assert inner(lowered)[:3] == ["Conv", "MaxPool", "Reshape"]
    assert quantisation_report(lowered).float_tensors == ()
    assert found.unexplained == 0


def test_a_transpose_of_the_input_moves_codes_and_the_border_is_one_quantisation() -> None:
    write = Writer()
    turned = write.add("Transpose", "x", "t", perm=[0, 3, 1, 2])
    write.add("Identity", write.pair(conv(write, write.pair(turned), "c")), "y")
    proto = write.model({"x": (1, 6, 6, 3)})
    lowered, found = compare(proto)
    assert ops(lowered)[:3] == ["QuantizeLinear", "Transpose", "Conv"]
    assert found.unexplained == 0
    border = integer_border(lowered)
    assert border.tensors["x"].dtype is DType.I8
    assert border.tensors["x"].shape == (1, 6, 6, 3)
    assert border.tensors["y"].quantisation is not None


def test_an_integer_input_is_known_through_its_reshape() -> None:
    write = Writer()
    write.constants["shape"] = np.asarray([1, 3, 6, 6])
    write.add("Reshape", "x shape", "s")
    real = write.add("DequantizeLinear", f"s {write.parameters('s', 0.1, -128)}", "d")
    name = write.add("Relu", conv(write, real, "c"), "r")
    write.add("QuantizeLinear", f"{name} {write.parameters('out', 0.3, -128)}", "y")
    lowered, found = compare(write.model({"x": (1, 108)}, {"x": I8, "y": I8}))
    assert ops(lowered) == ["Reshape", "Conv"]
    assert lowered.tensors["x"].quantisation is not None
    assert found.unexplained == 0


def test_residuals_concat_and_split_of_different_scales() -> None:
    write = Writer()
    real = write.pair("x")
    left = write.pair(conv(write, real, "a"), 0.07, 5)
    right = write.pair(conv(write, real, "b"), 0.11, -3)
    total = write.pair(write.add("Relu", write.add("Add", f"{left} {right}", "sum"), "act"), 0.09, -128)
    joined = write.pair(write.add("Concat", f"{total} {right}", "cat", axis=1), 0.1, -20)
    first = write.add("Split", joined, "p q", axis=1).split()[0]
    write.add("Identity", write.pair(first, 0.1, -20), "y")
    lowered, found = compare(write.model({"x": (1, 3, 6, 6)}))
    assert quantisation_report(lowered).float_tensors == ()
    assert {"Add", "Concat", "Split"} <= set(ops(lowered))
    assert found.unexplained == 0


@pytest.mark.parametrize("form", ["none", "int32", "float", "scalar"])
def test_a_bias_may_be_missing_quantised_or_real(form: str) -> None:
    write = Writer()
    real = write.pair("x", 0.0371, 3)
    weights = write.weights("w", weight(4, 3, 3, 3), RNG.uniform(0.002, 0.01, 4))
    bias = ""
    if form == "int32":
        write.constants |= {
            "b": RNG.integers(-4000, 4000, 4).astype(np.int32), "bz": np.zeros(4, np.int32),
            "bs": np.float32(0.0371) * np.asarray(write.constants["w_s"]),
        }  # fmt: skip
        bias = write.add("DequantizeLinear", "b bs bz", "bd", axis=0)
    elif form in ("float", "scalar"):
        write.constants["b"] = RNG.standard_normal(4).astype(np.float32)
        bias = "b"
    write.add("Conv", f"{real} {weights} {bias}".strip(), "c", pads=[1, 1, 1, 1])
    write.add("Identity", write.pair("c", 0.013, 0), "y")
    lowered, found = compare(write.model({"x": (1, 3, 16, 16)}))
    (call,) = (call for call in calls(lowered) if call.node.op == "Conv")
    expected = {"none": None, "int32": DType.I32, "float": DType.I64, "scalar": DType.I64}[form]
    held = call.optional(2)
    assert (held.dtype if held else None) is expected
    assert found.unexplained == 0
    assert proof(call).status == "proved"


def test_matmul_and_its_bias_become_one_gemm_also_over_three_axes() -> None:
    for shape, wanted in (((5, 6), ["Gemm"]), ((2, 5, 6), ["Reshape", "Gemm", "Reshape"])):
        write = Writer()
        real = write.pair("x", 0.02, -4)
        weights = write.weights("w", weight(6, 7), RNG.uniform(0.002, 0.01, 7), axis=1)
        write.constants["b"] = RNG.standard_normal(7).astype(np.float32)
        name = write.add("Add", f"{write.add('MatMul', f'{real} {weights}', 'm')} b", "a")
        write.add("Identity", write.pair(name, 0.01), "y")
        lowered, found = compare(write.model({"x": shape}))
        assert inner(lowered)[: len(wanted)] == wanted
        assert found.unexplained == 0


def test_transposed_weights_stay_codes() -> None:
    write = Writer()
    real = write.pair("x", 0.02, -4)
    weights = write.add("Transpose", write.weights("w", weight(7, 6), RNG.uniform(0.002, 0.01, 7)), "wt", perm=[1, 0])
    write.add("Identity", write.pair(write.add("MatMul", f"{real} {weights}", "m"), 0.01), "y")
    lowered, found = compare(write.model({"x": (5, 6)}))
    assert inner(lowered)[:1] == ["MatMul"]
    assert found.unexplained == 0


def test_weights_and_constants_may_be_shared() -> None:
    write = Writer()
    write.constants["half"] = np.float32(0.5)
    weights = write.weights("w", weight(3, 3, 3, 3), RNG.uniform(0.002, 0.01, 3))
    first = write.pair(write.add("Conv", f"{write.pair('x')} {weights}", "a", pads=[1] * 4))
    second = write.pair(write.add("Conv", f"{first} {weights}", "b", pads=[1] * 4), 0.02)
    write.add("Identity", write.pair(write.add("Mul", f"{second} half", "h"), 0.01), "y")
    lowered, found = compare(write.model({"x": (1, 3, 6, 6)}))
    assert quantisation_report(lowered).float_tensors == ()
    assert found.unexplained == 0


@pytest.mark.parametrize(
    ("op", "attributes"),
    [
        ("Relu", {}), ("LeakyRelu", {"alpha": 0.2}), ("Sigmoid", {}), ("Tanh", {}), ("HardSigmoid", {}),
        ("HardSwish", {}), ("Elu", {}), ("Softplus", {}), ("Abs", {}), ("Exp", {}), ("Sqrt", {}), ("Neg", {}),
    ],
)  # fmt: skip
def test_functions_of_one_number_are_tables(op: str, attributes: dict[str, Any]) -> None:
    write = Writer()
    write.add("Identity", write.pair(write.add(op, write.pair("x", 0.04, -9), "f", **attributes), 0.03, -20), "y")
    lowered, found = compare(write.model({"x": (3, 200)}))
    (call,) = (call for call in calls(lowered) if call.node.op == op)
    operator = find(op)
    assert operator is not None
    codes = table(operator, call)
    assert codes.shape == (256,)
    values = run_codes(lowered, feeds_for(lowered))
    assert np.array_equal(values[call.outputs[0].name], codes[values[call.tensor(0).name].astype(int) + 128])
    assert found.unexplained == 0


@pytest.mark.parametrize("op", ["Add", "Sub", "Mul", "Div", "Min", "Max"])
def test_functions_of_two_numbers_follow_float32(op: str) -> None:
    write = Writer()
    left, right = write.pair("x", 0.04, -9), write.pair("v", 0.02, -128)
    write.add("Identity", write.pair(write.add(op, f"{left} {right}", "f"), 0.05, 1), "y")
    lowered, found = compare(write.model({"x": (30, 40), "v": (30, 40)}))
    assert inner(lowered)[:1] == [op]
    assert (found.mismatches, found.codes > 1200) == (0, True)


def test_means_over_padding_axes_and_whole_images() -> None:
    write = Writer(18)
    write.constants["axes"] = np.asarray([2, 3])
    real = write.pair("x", 0.04, -9)
    pool = write.add("AveragePool", real, "p", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    pool = write.pair(pool, 0.02, 4)
    mean = write.pair(write.add("ReduceMean", f"{pool} axes", "m", keepdims=1), 0.01)
    all_ = write.pair(write.add("GlobalAveragePool", pool, "g"), 0.01)
    write.add("Identity", write.pair(write.add("Add", f"{mean} {all_}", "s"), 0.02), "y")
    lowered, found = compare(write.model({"x": (1, 3, 9, 9)}))
    assert quantisation_report(lowered).float_tensors == ()
    assert found.unexplained == 0


def test_nearest_resize_pad_and_depth_to_space_move_codes() -> None:
    write = Writer()
    write.constants |= {"scales": np.asarray([1, 1, 2, 2], np.float32), "pads": np.asarray([0, 0, 1, 1, 0, 0, 1, 1])}
    name = write.pair(conv(write, write.pair("x"), "c"))
    name = write.add("Resize", f"{name} - scales", "r", mode="nearest", nearest_mode="floor",
                     coordinate_transformation_mode="asymmetric")  # fmt: skip
    name = write.add("Pad", f"{name} pads", "p")
    name = write.add("DepthToSpace", name, "d", blocksize=2)
    write.add("Identity", write.pair(name), "y")
    lowered, found = compare(write.model({"x": (1, 3, 5, 5)}))
    assert quantisation_report(lowered).float_tensors == ()
    assert found.unexplained == 0


@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("coordinates", ["half_pixel", "asymmetric", "align_corners"])
@pytest.mark.parametrize("scales", [(2, 2), (3, 1.5), (0.5, 4)])
def test_interpolation_sums_codes_with_integer_weights(mode: str, coordinates: str, scales: tuple[float, ...]) -> None:
    if coordinates == "align_corners" and scales != (2, 2):
        return
    write = Writer()
    write.constants["scales"] = np.asarray([1, 1, *scales], np.float32)
    name = write.add(
        "Resize", f"{write.pair('x')} - scales", "r", mode=mode, coordinate_transformation_mode=coordinates
    )
    write.add("Identity", write.pair(name, 0.043, -20), "y")
    lowered, found = compare(write.model({"x": (1, 3, 6, 4)}))
    assert quantisation_report(lowered).float_tensors == ()
    assert found.unexplained == 0
    (call,) = (call for call in calls(lowered) if call.node.op == "Resize")
    form = resize_form(call)
    assert form is not None
    assert resize_proof(call, form).status == "proved"
    if scales == (2, 2) and (mode, coordinates) == ("linear", "half_pixel"):
        assert form.bits == 4
        assert {int(w) for each in form.axes for w in each.weights.reshape(-1)} == {0, 1, 3, 4}


def test_interpolation_that_extrapolates_stays_float() -> None:
    write = Writer()
    write.constants |= {
        "roi": np.asarray([0, 0, 0.0, -0.5, 1, 1, 1, 1.5], np.float32),
        "sizes": np.asarray([1, 3, 6, 6]),
    }
    name = write.add("Resize", f"{write.pair('x')} roi - sizes", "r", mode="linear",
                     coordinate_transformation_mode="tf_crop_and_resize")  # fmt: skip
    write.add("Identity", write.pair(name), "y")
    lowered, found = compare(write.model({"x": (1, 3, 6, 4)}))
    assert quantisation_report(lowered).first_float_node == "n_r"
    assert found.float_error < 1e-5


def test_a_result_with_a_float_reader_stays_float_and_is_named() -> None:
    write = Writer()
    name = conv(write, write.pair("x"), "c")
    quantised = write.pair(name)
    write.add("Sub", f"{name} {quantised}", "y")
    lowered, found = compare(write.model({"x": (1, 3, 6, 6)}))
    report = quantisation_report(lowered)
    assert report.first_float_node == "n_c"
    assert "c" in report.float_tensors
    assert found.float_error < 1e-4


def test_sixteen_bit_activations() -> None:
    write = Writer(21)
    weights = write.weights("w", weight(4, 3, 3, 3), RNG.uniform(0.002, 0.01, 4))
    real = write.pair("x", 0.0002, 0, np.int16)
    write.add("Conv", f"{real} {weights}", "c")
    write.add("Identity", write.pair("c", 0.0003, 0, np.int16), "y")
    lowered, found = compare(write.model({"x": (1, 3, 6, 6)}))
    assert inner(lowered)[:1] == ["Conv"]
    assert lowered.tensors["c_q"].dtype is DType.I16
    assert found.codes > 0
    # Sixteen bits show float32's own rounding: 2**-16 of a step is less than its last bit there.
    assert found.mismatches <= 2


def test_four_bit_weights_are_constants_of_four_bits() -> None:
    write = Writer(21)
    real = write.pair("x", 0.02, -4)
    values = RNG.integers(-8, 8, (6, 7))
    scales = RNG.uniform(0.01, 0.1, 7).astype(np.float32)
    write.add("DequantizeLinear", "w ws wz", "wd", axis=1)
    write.constants["ws"] = scales
    write.add("Identity", write.pair(write.add("MatMul", f"{real} wd", "m"), 0.02), "y")
    proto = write.model({"x": (5, 6)})
    for name, array in (("w", values), ("wz", np.zeros(7, int))):
        proto.graph.initializer.append(
            helper.make_tensor(name, TensorProto.INT4, array.shape, array.reshape(-1).tolist())
        )
    lowered, found = compare(proto)
    (call,) = (call for call in calls(lowered) if call.node.op == "MatMul")
    assert call.tensor(1).dtype is DType.I4
    assert call.tensor(1).size_bytes == 21
    assert found.unexplained == 0


def test_an_accumulator_beyond_int32_is_refused() -> None:
    write = Writer(21)
    weights = write.weights("w", np.full((1, 900), 127, np.int8), 0.01)
    real = write.pair("x", 0.0002, 0, np.int16)
    write.add("Gemm", f"{real} {weights}", "c", transB=1)
    write.add("Identity", write.pair("c", 0.03, 0, np.int16), "y")
    with pytest.raises(UnsupportedNode, match="32 bits do not hold") as caught:
        lower(load(write.model({"x": (1, 900)})))
    assert caught.value.where.node == "n_c"


def test_dynamic_quantisation_stays_as_its_operators() -> None:
    write = Writer()
    write.constants |= {"w": weight(6, 4), "wz": np.int8(0), "ws": np.float32(0.01)}
    write.nodes.append(node("DynamicQuantizeLinear", "x", "q s z", "dynamic"))
    write.add("MatMulInteger", "q w z wz", "i")
    write.add("Cast", "i", "f", to=TensorProto.FLOAT)
    write.add("Mul", "s ws", "k")
    write.add("Mul", "f k", "y")
    lowered, found = compare(write.model({"x": (5, 6)}))
    assert "DynamicQuantizeLinear" in ops(lowered)
    assert lowered.quantisation_form == "QOperator"
    assert found.float_error < 1e-5


def test_a_float_network_passes_through() -> None:
    plain = load(onnx_model([node("Relu", "x", "y", "act")], {"x": (4,)}, ["y"]))
    assert lower(plain) is plain or ops(lower(plain)) == ["Relu"]
    assert lower(plain).quantisation_form == ""


@pytest.mark.parametrize("form", ["hard_swish", "swish", "gelu"])
def test_a_chain_of_functions_of_one_tensor_is_one_table(form: str) -> None:
    write = Writer()
    write.constants |= {
        "three": np.float32(3), "zero": np.float32(0), "six": np.float32(6), "root": np.float32(2**0.5),
        "one": np.float32(1), "half": np.float32(0.5),
    }  # fmt: skip
    real = write.pair("x", 0.04, -9)
    if form == "hard_swish":
        gate = write.add("Clip", f"{write.add('Add', f'{real} three', 'a')} zero six", "k")
        name = write.add("Div", f"{write.add('Mul', f'{real} {gate}', 'm')} six", "d")
    elif form == "swish":
        name = write.add("Mul", f"{real} {write.add('Sigmoid', real, 's')}", "m")
    else:
        erf = write.add("Erf", write.add("Div", f"{real} root", "a"), "e")
        name = write.add("Mul", f"{write.add('Mul', f'{real} half', 'h')} {write.add('Add', f'{erf} one', 'p')}", "m")
    write.add("Identity", write.pair(name, 0.03, -100), "y")
    lowered, found = compare(write.model({"x": (3, 200)}))
    assert ops(lowered)[:2] == ["QuantizeLinear", "Lookup"]
    assert quantisation_report(lowered).float_tensors == ()
    assert (found.codes, found.mismatches) == (1200, 0)


def test_weight_only_quantisation_leaves_real_constants_and_no_conversion_at_run_time() -> None:
    write = Writer()
    weights = write.weights("w", weight(6, 7), RNG.uniform(0.002, 0.01, 7), axis=1)
    write.add("MatMul", f"x {weights}", "y")
    lowered, found = compare(write.model({"x": (5, 6)}))
    assert ops(lowered) == ["MatMul"]
    assert found.float_error < 1e-5


def test_rows_of_a_quantised_table_are_gathered_before_they_become_real() -> None:
    write = Writer()
    table_ = write.weights("w", weight(50, 4), 0.02)
    write.add("Sin", write.add("Gather", f"{table_} x", "g"), "y")
    lowered, found = compare(write.model({"x": (5,)}, {"x": TensorProto.INT64}), {"x": np.arange(5)})
    assert ops(lowered) == ["Gather", "DequantizeLinear", "Sin"]
    assert found.float_error < 1e-6


def test_a_pad_fills_with_the_code_of_its_value() -> None:
    write = Writer()
    write.constants |= {"pads": np.asarray([1, 0]), "fill": np.float32(0.1)}
    name = write.add("Pad", f"{write.pair('x', 0.05, 3)} pads fill", "p")
    write.add("Identity", write.pair(name, 0.05, 3), "y")
    lowered, found = compare(write.model({"x": (6,)}))
    (call,) = (call for call in calls(lowered) if call.node.op == "Pad")
    assert call.constants[2].tolist() == 5
    assert found.unexplained == 0
