"""A Loop whose turns are known at compile time is its turns; another one is refused in a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from graphs import execute, node, onnx_model, same_as_onnx_runtime
from onnx import TensorProto, helper, numpy_helper
from tilewright.errors import ModelError, UnsupportedNode
from tilewright.frontend.load import load

KINDS = {"i": TensorProto.INT64, "again": TensorProto.BOOL, "go": TensorProto.BOOL}


def body(nodes: Sequence[onnx.NodeProto], outputs: str, constants: Mapping[str, Any] | None = None) -> onnx.GraphProto:
    """A body that takes the number of the turn, the condition and one carried tensor `v`."""
    scalars = [helper.make_tensor_value_info(name, KINDS[name], []) for name in ("i", "again")]
    inputs = [*scalars, helper.make_tensor_value_info("v", 1, None)]
    made = [helper.make_tensor_value_info(name, KINDS.get(name, 1), None) for name in outputs.split()]
    held = [numpy_helper.from_array(np.asarray(value), name) for name, value in (constants or {}).items()]
    return helper.make_graph(list(nodes), "body", inputs, made, held)


def loop(
    inside: onnx.GraphProto, operands: str, results: str = "y", constants: Mapping[str, Any] | None = None
) -> onnx.ModelProto:
    return onnx_model(
        [node("Loop", operands, results, "loop", body=inside)], {"x": [2, 3]}, results.split(), constants or {}
    )


def counted() -> onnx.GraphProto:
    held = {"w": np.array([2, 3, 5], np.float32)}
    return body([node("Identity", "again", "go"), node("Mul", "v w", "out")], "go out", held)


def test_a_number_of_turns_that_is_known_is_unrolled_and_all_turns_share_the_constants() -> None:
    proto = loop(counted(), "n - x", constants={"n": np.int64(3)})
    model = load(proto)
    assert [each.op for each in model.nodes] == ["Mul", "Mul", "Mul", "Identity"]
    assert len(model.constants) == 1
    same_as_onnx_runtime(proto)


def test_what_every_turn_gives_is_stacked_and_the_turn_has_its_number() -> None:
    steps = [node("Cast", "i", "f", to=1), node("Add", "v f", "out"), node("ReduceSum", "out", "sum", keepdims=0)]
    inside = body([*steps, node("Identity", "again", "go")], "go out sum")
    proto = loop(inside, "n - x", "y sums", {"n": np.int64(4)})
    assert load(proto).tensors["sums"].shape == (4,)
    same_as_onnx_runtime(proto)


def test_a_condition_that_follows_from_the_turn_ends_the_loop() -> None:
    inside = body([node("Neg", "v", "out"), node("Less", "i last", "go")], "go out", {"last": np.int64(2)})
    proto = loop(inside, "- yes x", constants={"yes": np.bool_(True)})
    assert [each.op for each in load(proto).nodes].count("Neg") == 3
    same_as_onnx_runtime(proto)
    proto = loop(inside, "- no x", constants={"no": np.bool_(False)})
    assert [each.op for each in load(proto).nodes] == ["Identity"]
    same_as_onnx_runtime(proto)


@pytest.mark.parametrize("operands", ["n yes x", "n - x", "- yes x"])
def test_a_loop_of_too_many_turns_is_refused(operands: str) -> None:
    constants = {"n": np.int64(1 << 62), "yes": np.bool_(True)}
    proto = loop(counted(), operands, constants={k: v for k, v in constants.items() if k in operands.split()})
    with pytest.raises(ModelError, match="with its functions expanded it has more than 30000 nodes"):
        load(proto)


def asked(operands: str, results: str = "y", **constants: Any) -> onnx.ModelProto:
    """A loop that goes on while a sum is small, and gives the sum of every turn where that is asked for."""
    steps = [node("Cast", "i", "f", to=1), node("Add", "v f", "out"), node("ReduceSum", "out", "sum", keepdims=0)]
    held = {"most": np.float32(30)}
    again = node("Identity", "again", "go") if " - " in operands else node("Less", "sum most", "go")
    inside = body([*steps, again], "go out sum" if results != "y" else "go out", held)
    inputs: dict[str, list[int]] = {"x": [2, 3], **({"n": []} if "n" not in constants and "n" in operands else {})}
    types = {"n": TensorProto.INT64}
    return onnx_model(
        [node("Loop", operands, results, "loop", body=inside)], inputs, results.split(), constants, types=types
    )


@pytest.mark.parametrize(
    ("operands", "constants", "bounds"),
    [
        ("n - x", {}, {"loop": 5}),
        ("n yes x", {"yes": np.bool_(True)}, {"n": 5}),
        ("n yes x", {"yes": np.bool_(True), "n": np.int64(6)}, {}),
        ("- yes x", {"yes": np.bool_(True)}, {"sums": 9}),
        ("n yes x", {"yes": np.bool_(True), "n": np.int64(1 << 62)}, {"loop": 9}),
    ],
)
def test_turns_that_data_decides_end_where_onnx_runtime_ends_them(
    operands: str, constants: Mapping[str, Any], bounds: Mapping[str, int]
) -> None:
    proto = asked(operands, "y sums", **constants)
    model = load(proto, bounds=bounds)
    (length,) = model.tensors["sums"].lengths
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    for turns, factor in ((0, 1.0), (1, 0.5), (3, -2.0), (4, 4.0), (5, 6.0)):
        feeds: dict[str, Any] = {"x": np.full((2, 3), factor, np.float32), "n": np.array(turns)}
        feeds = {name: feeds[name] for name in model.inputs}
        wanted, sums = session.run(None, feeds)
        found = execute(model, feeds)
        np.testing.assert_array_equal(found["y"], wanted)
        np.testing.assert_array_equal(found["sums"][: found[length.count][0]], sums)
        assert not found["sums"][len(sums) :].any()


def test_a_loop_that_has_ended_stays_so_where_its_condition_would_hold_again() -> None:
    inside = body([node("Equal", "i last", "end"), node("Not", "end", "go"), node("Add", "v v", "out")], "go out")
    proto = onnx_model([node("Loop", "- yes x", "y", "loop", body=inside)], {"x": [2], "last": []}, ["y"],
                       {"yes": np.bool_(True)}, types={"last": TensorProto.INT64})  # fmt: skip
    model = load(proto, bounds={"loop": 6})
    for last in (0, 2, 9):
        feeds = {"x": np.ones(2, np.float32), "last": np.array(last)}
        np.testing.assert_array_equal(execute(model, feeds)["y"], 2.0 ** min(last + 1, 6))


def test_an_output_of_its_own_says_that_a_loop_ended_at_its_bound() -> None:
    model = load(asked("n yes x", yes=np.bool_(True)), bounds={"loop": 3})
    assert model.outputs == ("y", "loop_cut")
    assert [model.tensors[name].tells_end for name in model.outputs] == [False, True]
    for turns, factor, cut in ((0, 0.5, False), (3, 0.5, False), (4, 0.5, True), (9, 6.0, False)):
        found = execute(model, {"x": np.full((2, 3), factor, np.float32), "n": np.array(turns)})
        assert found["loop_cut"] == [cut]


def inner_loop() -> onnx.NodeProto:
    """A Loop over `v` whose turns are `m`."""
    scalars = [helper.make_tensor_value_info(name, kind, []) for name, kind in (("j", 7), ("more", 9), ("on", 9))]
    values = [helper.make_tensor_value_info(name, 1, None) for name in ("u", "left")]
    steps = [node("Identity", "more", "on"), node("Add", "u u", "left")]
    inside = helper.make_graph(steps, "inner", [*scalars[:2], values[0]], [scalars[2], values[1]])
    return node("Loop", "m - v", "out", "inner", body=inside)


def test_the_outer_loop_tells_of_an_inner_one_where_that_runs() -> None:
    proto = loop(body([inner_loop(), node("Identity", "again", "go")], "go out"), "n - x")
    proto.graph.input.extend(helper.make_tensor_value_info(name, TensorProto.INT64, []) for name in "nm")
    model = load(proto, bounds={"n": 2, "m": 3})
    assert model.outputs == ("y", "loop_cut")
    for outer, inner, cut in ((2, 3, False), (3, 3, True), (1, 4, True), (0, 4, False)):
        feeds = {"x": np.ones((2, 3), np.float32), "n": np.array(outer), "m": np.array(inner)}
        assert execute(model, feeds)["loop_cut"] == [cut]


def test_a_loop_in_a_branch_tells_its_end_where_the_branch_is_taken() -> None:
    value = helper.make_tensor_value_info("out", 1, None)
    sides = [helper.make_graph([each], "side", [], [value]) for each in (inner_loop(), node("Neg", "v", "out"))]
    nodes = [node("Identity", "x", "v"), node("If", "c", "y", "if", then_branch=sides[0], else_branch=sides[1])]
    types = {"c": TensorProto.BOOL, "m": TensorProto.INT64}
    model = load(onnx_model(nodes, {"x": [2], "c": [1], "m": []}, ["y"], types=types), bounds={"m": 3})
    assert model.outputs == ("y", "if/inner_cut")
    for taken, turns, cut in ((True, 3, False), (True, 4, True), (False, 4, False)):
        feeds = {"x": np.ones(2, np.float32), "c": np.array([taken]), "m": np.array(turns)}
        assert execute(model, feeds)["if/inner_cut"] == [cut]


def test_turns_without_a_bound_are_refused() -> None:
    fix = "say how often it may at the most with --bound loop=N, or freeze the input that decides with --freeze"
    told = f"node 'loop' (Loop): its number of iterations is computed at run time; {fix}"
    for proto in (
        asked("n - x"),
        asked("- yes x", yes=np.bool_(True)),
        asked("n yes x", yes=np.bool_(True), n=np.int64(1 << 62)),
    ):
        with pytest.raises(UnsupportedNode) as caught:
            load(proto)
        assert str(caught.value) == told
    frozen = load(asked("n - x"), frozen={"n": np.array(2, np.int64)})
    assert [each.op for each in frozen.nodes].count("Add") == 2


def test_what_is_carried_keeps_its_shape_where_data_decides_of_turns() -> None:
    inside = body([node("Identity", "again", "go"), node("Concat", "v v", "out", axis=0)], "go out")
    proto = onnx_model([node("Loop", "n - x", "y", "loop", body=inside)], {"x": [2], "n": []}, ["y"],
                       types={"n": TensorProto.INT64})  # fmt: skip
    with pytest.raises(
        UnsupportedNode, match="what it carries changes its shape or type, and its number of iterations depends"
    ):
        load(proto, bounds={"loop": 3})


def test_results_of_no_turn_are_refused() -> None:
    inside = body([node("Identity", "again", "go"), node("Relu", "v", "out")], "go out out2")
    inside.node.append(node("Neg", "v", "out2"))
    with pytest.raises(UnsupportedNode, match=r"node 'loop' \(Loop\): it makes no turn, so 'rows' has no elements"):
        load(loop(inside, "n - x", "y rows", {"n": np.int64(0)}))


def test_a_body_of_another_arity_is_refused() -> None:
    inside = body([node("Identity", "again", "go")], "go")
    proto = loop(inside, "n - x", constants={"n": np.int64(2)})
    with pytest.raises(ModelError, match=r"its body takes 3 and gives 1 tensors, 1 are carried"):
        load(proto)


def test_a_scan_is_its_turns() -> None:
    kinds = [helper.make_tensor_value_info(name, 1, [3]) for name in ("total", "row")]
    made = [helper.make_tensor_value_info(name, 1, [3]) for name in ("more", "scaled")]
    held = [numpy_helper.from_array(np.array([2, 3, 5], np.float32), "w")]
    steps = [node("Add", "total row", "more"), node("Mul", "more w", "scaled")]
    inside = helper.make_graph(steps, "body", kinds, made, held)
    turned: dict[str, Any]
    for turned in ({}, {"scan_input_directions": [1], "scan_output_directions": [1], "scan_output_axes": [1]}):
        shape = {"s": [3], "x": [4, 3]}
        more: Any = {"body": inside, "num_scan_inputs": 1, **turned}
        proto = onnx_model([node("Scan", "s x", "last all", "scan", **more)], shape, ["last", "all"])
        same_as_onnx_runtime(proto)
        assert [each.op for each in load(proto).nodes].count("Add") == 4


def summed_by_batch(lengths: str, **constants: Any) -> onnx.ModelProto:
    """A Scan of opset 8 over 2 sequences of 4 rows."""
    kinds = [helper.make_tensor_value_info(name, 1, [3]) for name in ("total", "row")]
    made = [helper.make_tensor_value_info(name, 1, [3]) for name in ("more", "scaled")]
    steps = [node("Add", "total row", "more"), node("Mul", "more more", "scaled")]
    inside = helper.make_graph(steps, "body", kinds, made)
    scan = node("Scan", f"{lengths} s x", "last all", "scan", body=inside, num_scan_inputs=1, directions=[1])
    return onnx_model([scan], {"s": [2, 3], "x": [2, 4, 3]}, ["last", "all"], constants, opset=8)


def test_a_scan_of_opset_8_is_one_for_each_element_of_its_batch() -> None:
    same_as_onnx_runtime(summed_by_batch("-"))
    same_as_onnx_runtime(summed_by_batch("n", n=np.array([4, 4])))
    with pytest.raises(UnsupportedNode, match="it takes fewer iterations for some sequences"):
        load(summed_by_batch("n", n=np.array([4, 2])))
    wrong = summed_by_batch("-")
    wrong.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 1
    with pytest.raises(ModelError, match="do not have one batch and one number of turns"):
        load(wrong)


def test_what_is_no_scan_is_refused() -> None:
    row = helper.make_tensor_value_info("row", 1, [3])
    inside = helper.make_graph(
        [node("Neg", "row", "out")], "body", [row], [helper.make_tensor_value_info("out", 1, [3])]
    )
    proto = onnx_model([node("Scan", "x z", "all", "scan", body=inside, num_scan_inputs=1)],
                       {"x": [4, 3], "z": [2]}, ["all"])  # fmt: skip
    with pytest.raises(ModelError, match=r"node 'scan' \(Scan\) is invalid: its body takes 1 and gives 1 tensors"):
        load(proto)
