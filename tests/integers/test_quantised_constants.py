"""Constants, tables and borders around quantised operators: four bits, gathers, pads, what stays as it is."""

from __future__ import annotations

import numpy as np
import pytest
from graphs import node, onnx_model
from integers.codes import calls, compare
from integers.qdq_writer import RNG, Writer, ops, weight
from onnx import TensorProto, helper
from tilewright.frontend.load import load
from tilewright.model import DType
from tilewright.passes.quantise.lower import lower
from tilewright.passes.quantise.report import quantisation_report


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


def test_sums_beyond_int32_stay_real_numbers() -> None:
    write = Writer(21)
    weights = write.weights("w", np.full((1, 900), 127, np.int8), 0.01)
    real = write.pair("x", 0.0002, 0, np.int16)
    write.add("Gemm", f"{real} {weights}", "c", transB=1)
    write.add("Identity", write.pair("c", 0.03, 0, np.int16), "y")
    lowered, found = compare(write.model({"x": (1, 900)}))
    assert "Gemm" in ops(lowered)
    assert next(each for each in calls(lowered) if each.node.op == "Gemm").outputs[0].dtype.is_float
    assert found.unexplained == 0


def test_attention_on_codes_of_sixteen_bits_stays_real_numbers() -> None:
    write = Writer(21)
    left, right = (write.pair(name, 0.0002, 0, np.int16) for name in "ab")
    write.add("MatMul", f"{left} {right}", "c")
    write.add("Identity", write.pair("c", 0.001, 0, np.int16), "y")
    lowered, found = compare(write.model({"a": (2, 4, 8), "b": (2, 8, 3)}))
    assert next(each for each in calls(lowered) if each.node.op == "MatMul").outputs[0].dtype.is_float
    assert found.unexplained == 0


def test_a_power_of_codes_without_a_table_stays_real_numbers() -> None:
    write = Writer(21)
    wide = write.pair("x", 0.0002, 0, np.int16)
    write.add("Pow", f"{wide} two", "p")
    write.add("Identity", write.pair("p", 0.001, 0, np.int16), "y")
    write.constants["two"] = np.float32(2)
    lowered, found = compare(write.model({"x": (2, 4)}))
    assert next(each for each in calls(lowered) if each.node.op == "Pow").outputs[0].dtype.is_float
    assert found.unexplained == 0


def test_dynamic_quantisation_stays_as_its_operators() -> None:
    write = Writer()
    # Seven bits: with eight, ONNX Runtime saturates on x86-64 without VNNI.
    write.constants |= {"w": weight(6, 4) // 2, "wz": np.int8(0), "ws": np.float32(0.01)}
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
