"""What real exporters write around quantised operators: activations, moves, biases, borders, several readers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from integers.codes import calls, compare, feeds_for, run_codes
from integers.qdq_writer import I8, RNG, Writer, conv, inner, ops, weight
from onnx import TensorProto
from tilewright.model import Clamp, DType
from tilewright.ops.quantised.linear import proof
from tilewright.ops.quantised.meaning import table
from tilewright.ops.quantised.resize import resize_form, resize_proof
from tilewright.ops.registry import find
from tilewright.passes.quantise.lower import integer_border
from tilewright.passes.quantise.report import quantisation_report


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


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_codes_that_are_interpolated_as_plain_integers_are_no_codes_there(dtype: type) -> None:
    """ONNX Runtime's operators on codes leave Resize as it is: it cuts off what QuantizeLinear would round."""
    write = Writer()
    write.constants["scales"] = np.asarray([1, 1, 2, 2], np.float32)
    real = write.pair(conv(write, write.pair("x", 0.02, 5, dtype), "c"), 0.04, 7, dtype)
    codes = real.removesuffix("d") + "q"
    resized = write.add("Resize", f"{codes} - scales", "r", mode="linear")
    again = write.add("DequantizeLinear", f"{resized} {codes}_s {codes}_z", "again")
    write.add("Identity", write.pair(write.add("HardSwish", again, "h"), 0.03, 0, dtype), "y")
    lowered, found = compare(write.model({"x": (1, 3, 6, 4)}))
    assert ops(lowered)[2:6] == ["Lookup", "Resize", "Lookup", "HardSwish"]
    assert quantisation_report(lowered).float_tensors == ()
    assert (found.mismatches, found.unexplained) == (0, 0)


@pytest.mark.parametrize("target", [TensorProto.FLOAT, TensorProto.INT32])
def test_codes_that_are_cast_are_plain_integers(target: int) -> None:
    write = Writer()
    write.pair("x", 0.02, 5)
    write.add("Cast", write.add("Cast", "x_q", "c", to=target), "y", to=TensorProto.FLOAT)
    lowered, found = compare(write.model({"x": (2, 9)}))
    assert ops(lowered)[:2] == ["QuantizeLinear", "Lookup"]
    assert found.float_error == 0


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


def stepwise(write: Writer, op: str, inputs: str, name: str, scale: float, zero: int) -> str:
    """An operator whose result is rounded to codes."""
    return write.pair(write.add(op, inputs, name), scale, zero)


def rounded_silu(write: Writer, x: str) -> str:
    return stepwise(write, "Mul", f"{x} {stepwise(write, 'Sigmoid', x, 's', 1 / 256, -128)}", "m", 0.03, -110)


def rounded_gelu(write: Writer, x: str) -> str:
    """GELU as older exporters write it, its constants quantised too, a rounding after every step."""
    write.constants |= {"root": np.full((1, 1, 1, 1), 2**0.5, np.float32), "half": np.float32(0.5)}
    one = write.weights("one", np.full((1, 1, 1, 1), 100, np.int8), 0.01)
    inner_code = stepwise(write, "Erf", stepwise(write, "Div", f"{x} root", "d", 0.04, 3), "e", 1 / 128, 0)
    factor = stepwise(write, "Add", f"{inner_code} {one}", "a", 1 / 127, -128)
    return stepwise(write, "Mul", f"{stepwise(write, 'Mul', f'{x} {factor}', 'm', 0.06, -100)} half", "h", 0.03, -100)


@pytest.mark.parametrize("chain", [rounded_silu, rounded_gelu])
def test_steps_that_are_each_rounded_to_codes_are_one_table(chain: Any) -> None:
    write = Writer()
    write.add("Identity", chain(write, write.pair("x", 0.05, 3)), "y")
    lowered, found = compare(write.model({"x": (1, 2, 8, 16)}))
    assert inner(lowered)[:1] == ["Lookup"]
    assert inner(lowered).count("Lookup") == 1
    assert (found.unexplained, found.codes > 100) == (0, True)


@pytest.mark.parametrize(("elements", "expected"), [(1023, "Mul"), (1024, "Lookup")])
def test_one_operator_with_a_constant_is_a_table_where_that_pays(elements: int, expected: str) -> None:
    write = Writer()
    write.constants["third"] = np.float32(1 / 3)
    write.add("Identity", write.pair(write.add("Mul", f"{write.pair('x')} third", "m"), 0.02), "y")
    lowered, found = compare(write.model({"x": (1, elements)}))
    assert expected in inner(lowered)
    assert (found.unexplained, found.codes > 100) == (0, True)


@pytest.mark.parametrize("op", ["Sub", "Div"])
def test_one_operator_with_a_real_constant_first_is_a_table_however_few_elements(op: str) -> None:
    write = Writer()
    write.constants["one"] = np.float32(1)
    write.add("Identity", write.pair(write.add(op, f"one {write.pair('x', 0.01, -128)}", "y0"), 0.02, 0), "y")
    lowered, found = compare(write.model({"x": (1, 6)}))
    assert inner(lowered)[:1] == ["Lookup"]
    assert found.unexplained == 0


def test_a_chain_that_somebody_else_reads_is_no_table() -> None:
    write = Writer()
    x = write.pair("x")
    sigmoid = stepwise(write, "Sigmoid", x, "s", 1 / 256, -128)
    product = stepwise(write, "Mul", f"{x} {sigmoid}", "m", 0.03, -110)
    write.add("Add", f"{product} {sigmoid}", "y")
    lowered, found = compare(write.model({"x": (1, 2, 8, 16)}))
    assert "Lookup" not in ops(lowered)
    assert found.unexplained == 0
