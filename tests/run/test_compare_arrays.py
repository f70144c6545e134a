"""What counts as equal: integers exactly, floats within bounds, with the place of the first difference."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
from graphs import onnx_model
from onnx import helper
from tilewright.compile import compile_model
from tilewright.options import CompileOptions, RunOptions
from tilewright.report.build import LayerReport, RunReport
from tilewright.run.compare import Comparison, compare, compared, outcome
from tilewright.run.fence import PlacedRange, nearest
from tilewright.run.slot_comparison import compare_slot
from tilewright.target import load_target


def test_integers_are_compared_exactly() -> None:
    expected = np.array([[1, -128], [127, 4]], np.int8)
    assert compare(expected.copy(), expected) == Comparison(True, 0.0, 0, 0, 4)
    actual = np.array([[1, 127], [127, 5]], np.int8)
    assert compare(actual, expected) == Comparison(False, 255.0, 255, 2, 4, (0, 1))


def test_wide_integers_do_not_overflow() -> None:
    result = compare(np.array([2**63 - 1]), np.array([-(2**63)]))
    assert result.max_lsb_error == 2**64 - 1


def test_floats_have_bounds() -> None:
    expected = np.array([1.0, 100.0, 0.0], np.float32)
    assert compare(expected + np.float32(5e-5), expected).match
    assert compare(np.array([1.0, 100.009, 0.0], np.float32), expected).match
    result = compare(np.array([1.0, 100.0, 1e-3], np.float32), expected)
    assert (result.match, result.mismatches, result.first, result.max_lsb_error) == (False, 1, (2,), None)
    assert not compare(expected + np.float32(1e-6), expected, exact=True).match


def test_what_is_no_number_equals_only_itself() -> None:
    strange = np.array([np.nan, np.inf, -np.inf], np.float32)
    assert compare(strange, strange).match
    result = compare(np.array([0.0, -np.inf, np.nan], np.float32), strange)
    assert (result.mismatches, result.max_abs_error) == (3, np.inf)
    assert not compare(strange, np.zeros(3, np.float32)).match


def test_other_shapes_and_types_do_not_match() -> None:
    zeros = np.zeros((2, 3), np.float32)
    assert compare(np.zeros(6, np.float32), zeros).mismatches == 6
    assert not compare(np.zeros((2, 3), np.int32), zeros).match
    assert compare(np.zeros((0,), np.float32), np.zeros((0,), np.float32)).match


def test_half_floats_may_be_four_of_their_steps_apart() -> None:
    expected = np.array([0.25, 100.0, 0.0], np.float16)
    step = np.spacing(expected)
    assert compare(expected + 4 * step, expected, atol=0, rtol=0).match
    assert compare(expected + 5 * step, expected, atol=0, rtol=0).mismatches == 3
    assert compare(expected + 4 * step, expected, atol=0, rtol=0, exact=True).mismatches == 3


def test_an_outcome_adds_up_outputs_and_layers() -> None:
    same, off = Comparison(True, 0.0, 0, 0, 4), Comparison(False, 3.0, 3, 2, 6, (1,))
    assert outcome([same, off, off], []) == RunReport(False, 3.0, 3, 4, 16)
    assert outcome([same], [same]) == RunReport(True, 0.0, 0, 0, 4)
    assert outcome([same], [same, off]) == RunReport(False, 0.0, 0, 0, 4)
    floats = Comparison(True, 1e-6, None, 0, 5)
    assert outcome([floats, replace(floats, max_abs_error=1e-5)], []) == RunReport(True, 1e-5, None, 0, 10)


def test_a_layer_takes_its_comparison() -> None:
    row = LayerReport("a", "Relu", "ReluF32", "exact", None, 1, 0, {}, None, None)
    assert compared(row, None) == row
    found = compared(row, Comparison(False, 3.0, 3, 2, 6))
    assert (found.max_abs_error, found.max_lsb_error, found.mismatches) == (3.0, 3, 2)


def test_the_nearest_range_of_the_same_instruction_is_found() -> None:
    ranges = (
        PlacedRange(1, 100, 16, True, "a"), PlacedRange(1, 200, 16, False, "b"), PlacedRange(1, 150, 0, False, "none"),
        PlacedRange(2, 140, 8, True, "other"),
    )  # fmt: skip
    assert nearest(ranges, 1, 115) == (ranges[0], 0)
    assert nearest(ranges, 1, 116) == (ranges[0], 1)
    assert nearest(ranges, 1, 158) == (ranges[1], -42)
    assert nearest(ranges, 1, 157) == (ranges[0], 42)
    assert nearest(ranges, 3, 100) is None


def test_a_dequantised_float_must_be_equal_another_nearly(tmp_path: Path) -> None:
    """Scales along an axis keep a view behind the node that reads the codes."""
    dequantise = helper.make_node("DequantizeLinear", ["x", "s", "z"], ["a"], "read", axis=1)
    flat = helper.make_node("Flatten", ["a"], ["flat"], "flat")
    root = helper.make_node("Sqrt", ["f"], ["b"], "root")
    constants = {"s": np.array([0.1, 0.2], np.float32), "z": np.array([3, 1], np.int8)}
    model = onnx_model(
        [dequantise, flat, root],
        {"x": [2, 2, 2], "f": [5]},
        ["flat", "b"],
        constants,
        types={"x": onnx.TensorProto.INT8},
    )
    onnx.save(model, tmp_path / "m.onnx")
    plan = compile_model(tmp_path / "m.onnx", CompileOptions(), load_target("host")).plan
    near = np.float32(1) + np.float32(1e-6)
    matches = [
        compare_slot(plan, slot, np.full(shape, near, np.float32), np.ones(shape, np.float32), RunOptions()).match
        for slot in plan.output_slots
        for shape in [plan.slots[slot].tensor.shape]
    ]  # fmt: skip
    assert dict(zip(plan.output_names, matches, strict=True)) == {"flat": False, "b": True}
    assert any(slot.storage is not None for slot in plan.slots)


def test_wide_codes_behind_floats_may_be_a_few_steps_apart(tmp_path: Path) -> None:
    """A float's last bit decides between two codes of 16 bits every so often; between exact integers nothing does."""
    nodes = [
        helper.make_node("Tanh", ["x"], ["t"], "tanh"),
        *(
            each
            for source, kind in (("t", "wide"), ("t", "narrow"), ("x", "plain"))
            for each in (
                helper.make_node("QuantizeLinear", [source, "s", f"z_{kind}"], [f"q_{kind}"], f"q_{kind}"),
                helper.make_node("DequantizeLinear", [f"q_{kind}", "s", f"z_{kind}"], [kind], f"d_{kind}"),
            )
        ),
    ]
    constants = {"s": np.float32(0.01), "z_wide": np.int16(0), "z_plain": np.int16(0), "z_narrow": np.int8(0)}
    outputs = ["wide", "narrow", "plain"]
    onnx.save(onnx_model(nodes, {"x": [3]}, outputs, constants, opset=21), tmp_path / "m.onnx")
    plan = compile_model(tmp_path / "m.onnx", CompileOptions(), load_target("host")).plan
    for steps, expected in ((4, {"wide": True, "narrow": False, "plain": False}), (5, dict.fromkeys(outputs, False))):
        off = np.full(3, np.float32(steps * 0.01))
        matches = [compare_slot(plan, s, off, np.zeros_like(off), RunOptions()).match for s in plan.output_slots]
        assert dict(zip(plan.output_names, matches, strict=True)) == expected, steps


def test_integers_may_be_as_far_apart_as_is_said() -> None:
    left, right = np.array([-32768, 5], np.int16), np.array([-32764, 5], np.int16)
    assert compare(left, right, leeway=4).match
    assert compare(left, right, leeway=3).mismatches == 1
    assert compare(left, right).mismatches == 1
