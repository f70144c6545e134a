"""Functions, of the model and of the standard, and branches whose condition is known, take the place of their call."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from graphs import execute, node, onnx_model, random_feeds, reference, same_as_onnx_runtime
from onnx import TensorProto, helper
from tilewright.errors import ModelError, UnsupportedNode
from tilewright.frontend import shapes
from tilewright.frontend.load import load
from tilewright.ops.operator import Operator
from tilewright.ops.registry import find

ACME = [helper.make_opsetid("", 17), helper.make_opsetid("acme", 1)]


def function(
    name: str, inputs: str, outputs: str, nodes: list[onnx.NodeProto], attributes: str = ""
) -> onnx.FunctionProto:
    return helper.make_function("acme", name, inputs.split(), outputs.split(), nodes, ACME, attributes.split())


def test_functions_of_the_model_are_expanded_with_names_apart() -> None:
    leaky = function("Scaled", "a", "b", [node("Mul", "a a", "t"), node("Relu", "t", "b")])
    proto = onnx_model(
        [node("Scaled", "x", "t", "one", "acme"), node("Scaled", "t", "y", "two", "acme")],
        {"x": [3]},
        ["y"],
        functions=[leaky],
    )
    model = load(proto)
    assert [each.name for each in model.nodes] == ["one/Mul", "one/Relu", "two/Mul", "two/Relu"]
    assert set(model.tensors) == {"x", "one/t", "t", "two/t", "y"}
    same_as_onnx_runtime(proto)


def test_attributes_reach_the_inner_nodes_and_nested_functions() -> None:
    inner_node = node("LeakyRelu", "a", "b")
    inner_node.attribute.append(
        onnx.AttributeProto(name="alpha", ref_attr_name="slope", type=onnx.AttributeProto.FLOAT)
    )
    call = node("Inner", "a", "b", domain="acme")
    call.attribute.append(onnx.AttributeProto(name="slope", ref_attr_name="steep", type=onnx.AttributeProto.FLOAT))
    functions = [function("Inner", "a", "b", [inner_node], "slope"), function("Outer", "a", "b", [call], "steep")]
    proto = onnx_model([node("Outer", "x", "y", domain="acme", steep=0.25)], {"x": [3]}, ["y"], functions=functions)
    model = load(proto)
    assert [(each.op, dict(each.attributes)) for each in model.nodes] == [("LeakyRelu", {"alpha": 0.25})]
    same_as_onnx_runtime(proto)


def test_a_function_that_hands_an_input_through_or_twice_out_copies_it() -> None:
    odd = function(
        "Odd",
        "a b",
        "c d e",
        [node("Relu", "a", "r"), node("Identity", "r", "c"), node("Identity", "b", "d"), node("Identity", "r", "e")],
    )
    proto = onnx_model(
        [node("Odd", "x z", "p q r", domain="acme")], {"x": [3], "z": [3]}, ["p", "q", "r"], functions=[odd]
    )
    assert sorted(each.op for each in load(proto).nodes) == ["Identity", "Identity", "Identity", "Relu"]
    same_as_onnx_runtime(proto)


def test_a_call_with_too_many_inputs_is_refused() -> None:
    short = function("Short", "a", "b", [node("Relu", "a", "b")])
    proto = onnx_model([node("Short", "x x", "y", "n", "acme")], {"x": [3]}, ["y"], functions=[short])
    with pytest.raises(
        ModelError, match=r"node 'n' \(Short\) does not fit its function: it takes 1 inputs and gives 1"
    ):
        load(proto)


@pytest.mark.parametrize("length", [1, 2, 5])
def test_recursive_functions_are_refused(length: int) -> None:
    functions = [
        function(f"F{i}", "a", "b", [node(f"F{(i + 1) % length}", "a", "b", domain="acme")]) for i in range(length)
    ]
    proto = onnx_model([node("F0", "x", "y", domain="acme")], {"x": [3]}, ["y"], functions=functions)
    with pytest.raises(ModelError) as caught:
        load(proto)
    why = "function 'F0' calls itself, directly or through others"
    assert str(caught.value) == f"recursive functions cannot be expanded: {why}; check how the model was exported"


def test_defaults_of_attributes_are_used_unless_they_are_graphs() -> None:
    inner = node("LeakyRelu", "a", "b")
    inner.attribute.append(onnx.AttributeProto(name="alpha", ref_attr_name="slope", type=onnx.AttributeProto.FLOAT))
    made = function("Leaky", "a", "b", [inner])
    made.attribute_proto.append(helper.make_attribute("slope", 0.5))
    proto = onnx_model([node("Leaky", "x", "y", domain="acme")], {"x": [3]}, ["y"], functions=[made])
    assert load(proto).nodes[0].attributes["alpha"] == 0.5
    proto.functions[0].attribute_proto[0].CopyFrom(helper.make_attribute("slope", onnx.GraphProto()))
    with pytest.raises(
        ModelError, match="function 'Leaky' is invalid: attribute 'slope' has a default that is a graph"
    ):
        load(proto)


def test_functions_that_double_forty_times_are_refused_in_time() -> None:
    functions = [
        function(
            f"F{i}", "a", "b", [node(f"F{i + 1}", "a", "t", domain="acme"), node(f"F{i + 1}", "t", "b", domain="acme")]
        )
        for i in range(40)
    ]
    functions.append(function("F40", "a", "b", [node("Relu", "a", "b")]))
    proto = onnx_model([node("F0", "x", "y", domain="acme")], {"x": [3]}, ["y"], functions=functions)
    with pytest.raises(ModelError, match="with its functions expanded it has more than 30000 nodes"):
        load(proto)


def without(*names: str) -> shapes.Find:
    def other(op: str, domain: str = "") -> Operator | None:
        return None if op in names else find(op, domain)

    return other


@pytest.mark.parametrize(
    ("made", "opset"),
    [
        (node("HardSwish", "x", "y"), 17),
        (node("Celu", "x", "y", alpha=2.0), 17),
        (node("Elu", "x", "y"), 13),
        (node("Gelu", "x", "y", approximate="tanh"), 20),
        (node("MeanVarianceNormalization", "x", "y", axes=[0, 2]), 13),
        (node("LayerNormalization", "x s", "y", axis=-1), 17),
        (node("Softmax", "x", "y", axis=1), 17),
        (node("ReduceL2", "x", "y", axes=[1], keepdims=0), 13),
        (node("Softsign", "x", "y"), 9),
    ],
)
def test_operators_that_we_lack_are_computed_as_the_standard_says(made: onnx.NodeProto, opset: int) -> None:
    proto = onnx_model([made], {"x": [2, 3, 4]}, ["y"], {"s": np.linspace(1, 2, 4, dtype=np.float32)}, opset)
    model = load(proto, find=without(made.op_type))
    assert made.op_type not in [each.op for each in model.nodes]
    feeds = random_feeds(model)
    np.testing.assert_allclose(execute(model, feeds)["y"], reference(proto, feeds)["y"], rtol=1e-5, atol=1e-6)


def branches(condition: str, inputs: dict[str, list[int]]) -> onnx.ModelProto:
    constant = helper.make_tensor("w", TensorProto.FLOAT, [3], [1.0, 2.0, 3.0])
    out = [helper.make_tensor_value_info("out", TensorProto.FLOAT, [3])]
    then = helper.make_graph([node("Add", "x w", "t"), node("Relu", "t", "out")], "then", [], out, [constant])
    otherwise = helper.make_graph([node("Neg", "x", "out")], "else", [], out)
    choice = node("If", condition, "c", "choose", then_branch=then, else_branch=otherwise)
    types = {"cond": TensorProto.BOOL}
    return onnx_model(
        [choice, node("Abs", "c", "y")], {"x": [3], **inputs}, ["y"], {"yes": np.bool_(True)}, types=types
    )


def test_an_if_with_a_known_condition_is_its_branch() -> None:
    proto = branches("yes", {})
    assert [each.op for each in load(proto).nodes] == ["Add", "Relu", "Abs"]
    same_as_onnx_runtime(proto)
    frozen = load(branches("cond", {"cond": []}), frozen={"cond": np.array(False)})
    assert [each.op for each in frozen.nodes] == ["Neg", "Abs"]


def test_an_if_that_is_decided_at_run_time_computes_both_branches() -> None:
    proto = branches("cond", {"cond": []})
    model = load(proto)
    both = "node 'choose' (If): its condition is computed at run time, so both branches are in the code"
    assert model.notes == (both,)
    for condition in (True, False):
        feeds = {"x": np.array([-5, 1, 2], np.float32), "cond": np.array(condition)}
        np.testing.assert_array_equal(execute(model, feeds)["y"], reference(proto, feeds)["y"])


def test_branches_of_different_shapes_are_refused() -> None:
    proto = branches("cond", {"cond": []})
    (other,) = (each.g for each in proto.graph.node[0].attribute if each.name == "else_branch")
    other.node[0].output[0] = "long"
    other.node.append(node("Unsqueeze", "long axes", "out"))
    other.initializer.append(onnx.numpy_helper.from_array(np.array([0]), "axes"))
    del other.output[0].type.tensor_type.shape.dim[:]
    with pytest.raises(UnsupportedNode) as caught:
        load(proto)
    why = "its condition is computed at run time, and its branches give results of different shapes or types"
    fix = "export the model without control flow, or freeze the input that decides with --freeze"
    assert str(caught.value) == f"node 'choose' (If): {why}; {fix}"
