"""NumPy against ONNX Runtime: inside of chains too, nothing skipped in silence, exact arithmetic decides."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
import quantised_nodes as nodes
from graphs import onnx_model
from onnx import helper
from row_networks import chained, inverted_residual
from tilewright.compile import Compiled, compile_model
from tilewright.model import Array
from tilewright.ops.operator import Call
from tilewright.options import CompileOptions
from tilewright.plan.execute import evaluate_call
from tilewright.plan.plan import ExecutionPlan
from tilewright.run import reference
from tilewright.run.inputs import input_arrays
from tilewright.run.reference import Reference, compare_with_reference, differing
from tilewright.target import load_target

HOST = load_target("host")
Change = Callable[[str, Array], Array]


@pytest.fixture(scope="module")
def block(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Compiled]:
    """A block of MobileNetV2 whose convolutions are a chain."""
    folder = tmp_path_factory.mktemp("block")
    model = onnx.load(inverted_residual(folder))
    compiled = chained(model, folder, "host", rows=2)
    return folder / f"{model.graph.name}.onnx", compiled


def calls(plan: ExecutionPlan) -> list[Call]:
    return [call for i in plan.instructions for call in i.call.chain or (i.call,)]


def other_runtime(plan: ExecutionPlan, inputs: Sequence[Array], change: Change) -> dict[str, Array]:
    """Every tensor by name as another runtime computes it: as we do, but for what `change` makes of some."""
    values = {plan.slots[s].tensor.name: array for s, array in zip(plan.input_slots, inputs, strict=True)}
    for call in calls(plan):
        operands = [None if t is None else values.get(t.name) for t in call.inputs]
        for tensor, result in zip(call.outputs, evaluate_call(call, operands), strict=True):
            values[tensor.name] = change(tensor.name, result)
    return values


def one_step(wanted: str, place: int = 7) -> Change:
    """One code of a tensor moved by a step, away from the ends of its type."""

    def change(name: str, values: Array) -> Array:
        if name != wanted:
            return values
        moved = values.copy()
        moved.reshape(-1)[place] += 1 if moved.reshape(-1)[place] < 100 else -1
        return moved

    return change


def inner_name(compiled: Compiled) -> str:
    """A tensor that lives only inside of the chain, the result of its depthwise convolution."""
    chain = max((i.call.chain for i in compiled.plan.instructions), key=len)
    name = chain[1].outputs[0].name
    assert name not in {slot.tensor.name for slot in compiled.plan.slots}
    return name


def test_a_chain_is_compared_node_by_node(block: tuple[Path, Compiled]) -> None:
    path, compiled = block
    plan = compiled.plan
    found, missing = compare_with_reference(path, plan, input_arrays(plan, None, 0))
    assert found is not None
    assert missing == ""
    named = {name for node in onnx.load(path).graph.node for name in node.output}
    expected = {t.name for call in calls(plan) for t in call.outputs} & named
    assert inner_name(compiled) in expected
    assert found.tensors == len(expected)
    assert found.unlike == ()
    assert found.mismatches == found.explained


def test_a_difference_inside_of_a_chain_is_counted_where_it_arises(
    block: tuple[Path, Compiled], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, compiled = block
    inputs = input_arrays(compiled.plan, None, 0)
    inner = inner_name(compiled)
    theirs = other_runtime(compiled.plan, inputs, one_step(inner))
    monkeypatch.setattr(Reference, "_computed", lambda self, wanted: [theirs[name] for name in wanted])
    found, _ = compare_with_reference(path, compiled.plan, inputs)
    assert found is not None
    (one,) = found.differing
    assert (one.tensor, one.mismatches, one.explained, one.exact) == (inner, 1, 1, 1)
    assert one.layer != one.node
    assert one.layer.split(" + ")[1] == one.node
    assert (found.mismatches, found.explained, found.exact) == (1, 1, 1)


def test_our_own_fault_inside_of_a_chain_is_not_explained(
    block: tuple[Path, Compiled], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, compiled = block
    inputs = input_arrays(compiled.plan, None, 0)
    inner = inner_name(compiled)
    theirs = other_runtime(compiled.plan, inputs, lambda name, values: values)
    monkeypatch.setattr(Reference, "_computed", lambda self, wanted: [theirs[name] for name in wanted])

    def faulty(call: Call, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
        change = one_step(inner)
        return tuple(change(t.name, a) for t, a in zip(call.outputs, evaluate_call(call, arrays), strict=True))

    monkeypatch.setattr(reference, "evaluate_call", faulty)
    found, _ = compare_with_reference(path, compiled.plan, inputs)
    assert found is not None
    assert [(each.tensor, each.mismatches, each.explained) for each in found.differing] == [(inner, 1, 0)]


@pytest.mark.parametrize("ours_wrong", [False, True])
def test_where_both_disagree_with_a_tie_far_off_exact_arithmetic_decides(
    ours_wrong: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = nodes.convolution(tmp_path, pads=[1, 1, 1, 1])
    plan = compile_model(path, CompileOptions(), HOST).plan
    inputs = input_arrays(plan, None, 0)
    right = other_runtime(plan, inputs, lambda name, values: values)
    wrong = other_runtime(plan, inputs, lambda name, values: values + np.int8(3) if name == "y" else values)
    monkeypatch.setattr(
        Reference, "_computed", lambda self, names: [(right if ours_wrong else wrong)[n] for n in names]
    )
    if ours_wrong:
        monkeypatch.setattr(reference, "evaluate_call", lambda call, arrays: (wrong[call.outputs[0].name],))
    found, _ = compare_with_reference(path, plan, inputs)
    assert found is not None
    assert found.mismatches == right["y"].size
    assert (found.explained, found.exact) == ((0, 0) if ours_wrong else (right["y"].size,) * 2)


def test_next_to_a_tie_both_neighbours_are_explained_and_neither_is_exact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = nodes.function_between_borders(tmp_path, "Relu", scale=2 * nodes.IN)  # odd codes lie on ties
    plan = compile_model(path, CompileOptions(), HOST).plan
    x = np.full((1, 4, 9, 8), 3, np.int8)
    x[0, 0, 0, :3] = 4, 6, 7  # half a step, a step and a half, two steps
    ours = other_runtime(plan, [x], lambda name, values: values)["y"]
    assert ours[0, 0, 0, :4].tolist() == [-6, -4, -4, -6]
    for place, explained in ((0, 1), (1, 1), (2, 0), (3, 0)):
        step = -1 if place == 1 else 1
        theirs = ours.copy()
        theirs[0, 0, 0, place] += step
        monkeypatch.setattr(Reference, "_computed", lambda self, names, theirs=theirs: [theirs for _ in names])
        monkeypatch.setattr(reference, "evaluate_call", lambda call, arrays: (ours,))
        found, _ = compare_with_reference(path, plan, [x])
        assert found is not None
        assert (found.mismatches, found.explained, found.exact) == (1, 1, 1 - explained)
        swapped = ours.copy(), theirs  # and the other way round
        monkeypatch.setattr(Reference, "_computed", lambda self, names, a=swapped[0]: [a for _ in names])
        monkeypatch.setattr(reference, "evaluate_call", lambda call, arrays, b=swapped[1]: (b,))
        found, _ = compare_with_reference(path, plan, [x])
        assert found is not None
        assert (found.mismatches, found.explained, found.exact) == (1, explained, 0)


def test_a_softmax_with_a_scale_that_onnxruntime_rounds_is_exact_here(tmp_path: Path) -> None:
    path = nodes.one_operand(tmp_path, "QLinearSoftmax", scale=0.0039, axis=-1, opset=13)
    plan = compile_model(path, CompileOptions(), HOST).plan
    found, _ = compare_with_reference(path, plan, input_arrays(plan, None, 0))
    assert found is not None
    assert found.mismatches > 0
    assert found.mismatches == found.explained == found.exact


@pytest.mark.parametrize(
    ("move", "attributes"), [("MaxPool", {"kernel_shape": [2, 2]}), ("Transpose", {"perm": [0, 1, 3, 2]})]
)
def test_ties_of_an_operator_before_a_move_are_found_where_they_arise(
    move: str, attributes: dict[str, list[int]], tmp_path: Path
) -> None:
    """The file has no codes of the convolution, and nothing but the convolution tells which code is right."""
    path = nodes.convolution_and_move(tmp_path, move, **attributes)
    plan = compile_model(path, CompileOptions(), HOST).plan
    found, _ = compare_with_reference(path, plan, input_arrays(plan, None, 0))
    assert found is not None
    assert [each.tensor for each in found.differing] == ["conv"]
    assert found.mismatches > 0
    assert found.mismatches == found.explained == found.exact


def test_what_has_another_shape_or_type_is_said_and_not_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = nodes.product(tmp_path)
    plan = compile_model(path, CompileOptions(), HOST).plan
    inputs = input_arrays(plan, None, 0)
    for value, sentence in (
        (np.zeros((2, 3, 4), np.int8), "'y' is int8[2, 3, 5] here and int8[2, 3, 4] in onnxruntime"),
        (np.zeros((2, 3, 5), np.int16), "'y' is int8[2, 3, 5] here and int16[2, 3, 5] in onnxruntime"),
    ):
        monkeypatch.setattr(Reference, "_computed", lambda self, names, value=value: [value for _ in names])
        found, missing = compare_with_reference(path, plan, inputs)
        assert found is not None
        assert (found.unlike, found.tensors, found.mismatches, missing) == ((sentence,), 0, 0, "")


def test_an_output_is_compared_under_the_name_that_the_file_gives_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = nodes.product(tmp_path)
    plan = compile_model(path, CompileOptions(), HOST).plan
    slot = plan.slots[plan.output_slots[0]]
    renamed = list(plan.slots)
    renamed[slot.index] = replace(slot, tensor=replace(slot.tensor, name="inner"))
    instructions = [replace(i, call=replace(i.call, outputs=(replace(i.call.outputs[0], name="inner"),)))
                    for i in plan.instructions]  # fmt: skip
    changed = replace(plan, slots=tuple(renamed), instructions=tuple(instructions))
    inputs = input_arrays(plan, None, 0)
    found, _ = compare_with_reference(path, changed, inputs)
    assert found is not None
    assert (found.tensors, found.mismatches) == (1, 0)
    monkeypatch.setattr(Reference, "_computed", lambda self, names: [np.full(slot.tensor.shape, 77, np.int8)])
    found, _ = compare_with_reference(path, changed, inputs)
    assert found is not None
    assert found.mismatches > found.explained


def test_why_nothing_is_compared_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = nodes.product(tmp_path)
    plan = compile_model(path, CompileOptions(), HOST).plan
    inputs = input_arrays(plan, None, 0)
    monkeypatch.setattr(Reference, "values", lambda self, names: {})
    no_name = "no node of the file computes a tensor that the plan holds too"
    assert compare_with_reference(path, plan, inputs) == (None, no_name)
    monkeypatch.undo()
    short = [array[:, :1] for array in inputs]
    found, missing = compare_with_reference(path, plan, short)
    assert found is None
    assert missing.startswith("onnxruntime refuses the file: ")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert compare_with_reference(path, plan, inputs) == (None, "onnxruntime is not installed")


def test_floats_differ_by_more_than_another_order_of_sums() -> None:
    ours = np.array([1.0, 100.0, np.nan, np.inf], np.float32)
    assert differing(ours, ours.copy()) == 0
    assert differing(ours + np.float32(0.09), ours) == 0
    assert differing(ours + np.array([0, 0.2, 0, 0], np.float32), ours) == 1
    assert differing(np.array([np.inf, 100, 1, 1], np.float32), ours) == 3
    half = np.array([1.0, 0.001], np.float16)
    assert differing(half, half + 4 * np.spacing(half)) == 0
    assert differing(half, half + np.array([6 * 2**-10, 0], np.float16)) == 1


def test_inputs_of_half_floats_and_truth_values_are_fed(tmp_path: Path) -> None:
    types = {"m": onnx.TensorProto.BOOL, "x": onnx.TensorProto.FLOAT16, "y": onnx.TensorProto.FLOAT16}
    model = onnx_model(
        [helper.make_node("Where", ["m", "x", "low"], ["y"], "mask")], {"m": [3, 4], "x": [3, 4]}, ["y"],
        {"low": np.array(-100, np.float16)}, types=types,
    )  # fmt: skip
    onnx.save(model, tmp_path / "mask.onnx")
    plan = compile_model(tmp_path / "mask.onnx", CompileOptions(), HOST).plan
    found, missing = compare_with_reference(tmp_path / "mask.onnx", plan, input_arrays(plan, None, 0))
    assert missing == ""
    assert found is not None
    assert (found.tensors, found.mismatches) == (1, 0)
