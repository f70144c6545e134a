"""Graphs that contradict themselves: one sentence each, never a traceback."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from graphs import execute, node, onnx_model
from onnx import TensorProto, helper
from tilewright.errors import ModelError, UnsupportedError, UnsupportedNode
from tilewright.frontend.load import load
from tilewright.frontend.names import c_identifier

ONES = {"w": np.ones(4, np.float32)}


def chain() -> onnx.ModelProto:
    return onnx_model([node("Add", "x w", "a", "first"), node("Relu", "a", "y", "second")], {"x": [1, 4]}, ["y"], ONES)


def written_twice(proto: onnx.ModelProto) -> None:
    proto.graph.node.append(node("Relu", "x", "a"))


def shadows_input(proto: onnx.ModelProto) -> None:
    proto.graph.node.append(node("Relu", "a", "x"))


def shadows_initialiser(proto: onnx.ModelProto) -> None:
    proto.graph.node.append(node("Relu", "a", "w"))


def dangling(proto: onnx.ModelProto) -> None:
    proto.graph.node[1].input[0] = "b"


def cycle(proto: onnx.ModelProto) -> None:
    proto.graph.node[0].input[1] = "y"


def self_loop(proto: onnx.ModelProto) -> None:
    proto.graph.node[0].input[0] = "a"


def no_such_output(proto: onnx.ModelProto) -> None:
    proto.graph.output[0].name = "z"


def output_twice(proto: onnx.ModelProto) -> None:
    proto.graph.output.append(proto.graph.output[0])


def no_output(proto: onnx.ModelProto) -> None:
    del proto.graph.output[:]


def initialiser_twice(proto: onnx.ModelProto) -> None:
    proto.graph.initializer.append(proto.graph.initializer[0])


def input_twice(proto: onnx.ModelProto) -> None:
    proto.graph.input.append(proto.graph.input[0])


def nameless_input(proto: onnx.ModelProto) -> None:
    proto.graph.input[0].name = ""


def no_opset(proto: onnx.ModelProto) -> None:
    del proto.opset_import[:]


def two_opsets(proto: onnx.ModelProto) -> None:
    proto.opset_import.append(helper.make_opsetid("ai.onnx", 11))


def wrong_count(proto: onnx.ModelProto) -> None:
    proto.graph.node[1].input.append("x")


def wrong_attribute(proto: onnx.ModelProto) -> None:
    proto.graph.node.append(node("Gemm", "x w", "g", "dense", alpha=[1, 2]))


def untyped_attribute(proto: onnx.ModelProto) -> None:
    proto.graph.node[0].attribute.add().name = "axis"


def misfilled_attribute(proto: onnx.ModelProto) -> None:
    attribute = proto.graph.node[0].attribute.add()
    attribute.name, attribute.type, attribute.f = "axis", onnx.AttributeProto.INT, 1.0


def attribute_twice(proto: onnx.ModelProto) -> None:
    proto.graph.node.append(node("Softmax", "x", "s", "soft", axis=1))
    proto.graph.node[-1].attribute.append(proto.graph.node[-1].attribute[0])


def broken_text(proto: onnx.ModelProto) -> None:
    attribute = proto.graph.node[0].attribute.add()
    attribute.name, attribute.type, attribute.s = "mode", onnx.AttributeProto.STRING, b"\xff\xfe"


FIX = "; check how the model was exported"
FAULTS: list[tuple[Callable[[onnx.ModelProto], None], str]] = [
    (written_twice, "the graph is invalid: tensor 'a' is written twice"),
    (shadows_input, "the graph is invalid: tensor 'x' is written twice"),
    (shadows_initialiser, "the graph is invalid: tensor 'w' is written twice"),
    (dangling, "node 'second' (Relu) is invalid: nothing writes its input 'b'"),
    (cycle, "the graph has a cycle: node 'first' (Add) depends on itself"),
    (self_loop, "the graph has a cycle: node 'first' (Add) depends on itself"),
    (no_such_output, "output 'z' of the graph is written by no node: there are 'a', 'w', 'x', 'y'"),
    (output_twice, "output 'y' of the graph is there twice"),
    (no_output, "the model has no output: nothing would be computed"),
    (initialiser_twice, "the graph is invalid: initialiser 'w' is there twice"),
    (input_twice, "the graph is invalid: input 'x' is there twice"),
    (nameless_input, "the graph is invalid: an input has no name"),
    (no_opset, "the model is invalid: it imports no version of the standard operators (opset)"),
    (wrong_count, "the model is invalid: node 'second' has input size 2 not in range [min=1, max=1]"),
    (
        wrong_attribute,
        "the model is invalid: Mismatched attribute type in 'dense : alpha'. Expected: 'FLOAT', actual: 'INTS'",
    ),
    (untyped_attribute, "node 'first' (Add) is invalid: attribute 'axis' has no type that we read (0)"),
    (misfilled_attribute, "node 'first' (Add) is invalid: attribute 'axis' does not hold a value of its own type"),
    (attribute_twice, "node 'soft' (Softmax) is invalid: attribute 'axis' is there twice"),
    (broken_text, "node 'first' (Add) is invalid: attribute 'mode' is not valid UTF-8 text"),
]


@pytest.mark.parametrize(("fault", "text"), FAULTS, ids=[fault.__name__ for fault, _ in FAULTS])
def test_each_fault_has_its_sentence(fault: Callable[[onnx.ModelProto], None], text: str) -> None:
    proto = chain()
    fault(proto)
    with pytest.raises(ModelError) as caught:
        load(proto)
    assert str(caught.value) == text + FIX
    assert caught.value.code == 3


@pytest.mark.parametrize(("version", "fix"), [(5, "export it again with opset 17"), (999, "upgrade the onnx package")])
def test_opsets_out_of_range_are_refused(version: int, fix: str) -> None:
    proto = chain()
    proto.opset_import[0].version = version
    with pytest.raises(UnsupportedError, match=f"the model uses opset {version}: opsets 6 to .* are read; {fix}"):
        load(proto)


def test_an_old_opset_is_read_where_its_operators_mean_the_same() -> None:
    graph = onnx_model(
        [node("MatMul", "x w", "y"), node("Softsign", "y", "z")],
        {"x": [2, 3]},
        ["z"],
        {"w": np.eye(3, dtype=np.float32)},
    )
    graph.opset_import[0].version = 1
    assert [made.op for made in load(graph).nodes] == ["MatMul", "Softsign"]
    graph.graph.node.append(node("Relu", "z", "v"))  # opset 6 gave it another form
    with pytest.raises(UnsupportedError, match="the model uses opset 1"):
        load(graph)


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (node("Reluu", "x", "y", "n1"), "node 'n1': there is no operator 'Reluu': the standard has none of this name"),
        (node("NonMaxSuppresion", "x", "y"), "did you mean 'NonMaxSuppression'?"),
        (node("Swish", "x", "y"), "'Swish': the model uses opset 17, the operator is of opset 24; export the model"),
        (node("Foo", "x", "y", domain="acme"), "node 'Foo': operator 'Foo' of domain 'acme' is not supported: "),
        (
            node("CategoryMapper", "x", "y", domain="ai.onnx.ml"),
            "operator 'CategoryMapper' of domain 'ai.onnx.ml' is not supported",
        ),
    ],
)
def test_unknown_operators_name_node_domain_and_the_nearest(made: onnx.NodeProto, text: str) -> None:
    proto = onnx_model([made], {"x": [1, 4]}, ["y"])
    for domain in ("acme", "ai.onnx.ml"):
        proto.opset_import.append(helper.make_opsetid(domain, 1))
    with pytest.raises(UnsupportedNode) as caught:
        load(proto)
    assert text in str(caught.value)
    assert caught.value.where.node == (made.name or made.op_type)


def test_nodes_out_of_order_are_sorted_and_otherwise_stay() -> None:
    proto = chain()
    nodes = [node("Relu", "x", "b", "third"), proto.graph.node[1], proto.graph.node[0], node("Neg", "b", "c", "fourth")]
    proto.graph.output.append(helper.make_tensor_value_info("c", TensorProto.FLOAT, None))
    copies = [onnx.NodeProto.FromString(each.SerializeToString()) for each in nodes]
    del proto.graph.node[:]
    proto.graph.node.extend(copies)
    assert [each.name for each in load(proto).nodes] == ["third", "first", "second", "fourth"]


HOSTILE = [
    "a b",
    "int",
    '"); system("',
    "*/",
    "x" * 4096,
    "Ünïcödé 層",
    "a\nb\0c",
    "%s%n",
    "../../etc",
    "${x}",
    "<b>",
    "\\",
]


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_names_stay_as_they_are_and_the_model_s_own_name_is_an_identifier(name: str) -> None:
    proto = onnx_model(
        [node("Add", "x w", "y", "n")], {"x": [1, 4]}, ["y"], {"w": np.ones(4, np.float32)}
    )  # the builder splits at blanks
    proto.graph.name = proto.graph.node[0].name = name
    proto.graph.node[0].input[1] = proto.graph.initializer[0].name = name
    proto.graph.node[0].output[0] = proto.graph.output[0].name = f"{name}2"
    model = load(proto)
    assert model.outputs == (f"{name}2",)
    assert model.nodes[0].name == name
    assert name in model.constants
    assert model.name == c_identifier(name, set(), 32)
    result = execute(model, {"x": np.zeros((1, 4), np.float32)})
    np.testing.assert_array_equal(result[f"{name}2"], np.ones((1, 4)))


def test_nodes_without_a_name_get_one_and_equal_names_stay_apart() -> None:
    nodes = [node("Relu", "x", "a"), node("Neg", "a", "b"), node("Abs", "b", "c", "n"), node("Relu", "c", "y", "n")]
    assert [each.name for each in load(onnx_model(nodes, {"x": [4]}, ["y"])).nodes] == ["Relu_0", "Neg_1", "n", "n_2"]


def test_an_output_that_is_an_input_is_refused() -> None:
    proto = onnx_model([node("Relu", "x", "y")], {"x": [1, 4]}, ["y", "x"])
    with pytest.raises(UnsupportedError, match="output 'x' cannot be used: it is an input too"):
        load(proto)


def test_three_thousand_nodes_in_reverse_order_do_not_recurse() -> None:
    count = 3_000
    nodes = [node("Relu", f"t{i}", f"t{i + 1}") for i in range(count)]
    proto = onnx_model(list(reversed(nodes)), {"t0": [4]}, [f"t{count}"])
    with pytest.raises(ModelError, match="nothing writes its input"):
        load(onnx_model([*nodes[:5], *nodes[6:]], {"t0": [4]}, [f"t{count}"]))
    assert len(load(proto).nodes) == count


@pytest.mark.parametrize("field", ["op_type", "input", "name"])
def test_names_that_are_no_text_are_refused(field: str) -> None:
    made = node("Marker", "Marker", "y", "Marker")
    if field != "op_type":
        made.op_type = "Relu"
    if field != "input":
        made.input[0] = "x"
    if field != "name":
        made.name = "n"
    content = onnx_model([made], {"x": [4]}, ["y"]).SerializeToString().replace(b"Marker", b"\xff\xfe\xfdker")
    with pytest.raises(ModelError) as caught:
        load(content)
    why = "the name of a node or of a tensor that it reads or writes is not valid UTF-8 text"
    assert str(caught.value) == f"the model is invalid: {why}; check how the model was exported"


def test_a_model_of_very_many_parts_is_refused_at_once() -> None:
    proto = onnx_model([node("Relu", "x", "y")] * 30_001, {"x": [4]}, ["y"])
    with pytest.raises(ModelError) as caught:
        load(proto)
    why = "it has 30001 nodes, 30000 are the most"
    assert str(caught.value) == f"the model is too large: {why}; keep the part to deploy"


def test_an_operator_that_its_opset_has_taken_back_asks_for_another() -> None:
    made = node("GroupNormalization", "x s s", "y", num_groups=2)
    with pytest.raises(ModelError, match="is deprecated in domain_version of 18; export the model with a newer opset"):
        load(onnx_model([made], {"x": [2, 4, 3]}, ["y"], {"s": np.ones(2, np.float32)}, 18))
